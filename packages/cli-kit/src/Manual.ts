/**
 * The help of a program's commands as data: `HelpDoc`s of the platform. Help, man page, completions and the reference pages are made of it.
 */
import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import type * as HelpDoc from "effect/cli/HelpDoc"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** A table of names and descriptions, such as the environment variables. */
export interface Section {
  readonly title: string
  readonly entries: ReadonlyArray<{ readonly name: string; readonly description: string }>
}

/** Further sections of a command's help and of the man page, as an annotation. */
export class Sections extends Context.Reference<ReadonlyArray<Section>>("@plaza/cli-kit/Sections", { defaultValue: () => [] }) {}

export interface Description {
  /** One sentence. The list of commands shows it too. */
  readonly summary: string
  /** Further paragraphs. */
  readonly details?: ReadonlyArray<string>
  /** Command lines with the program's name. */
  readonly examples: readonly [string, ...ReadonlyArray<string>]
}

/** Describes a command. */
export const describe = ({ details = [], examples, summary }: Description) =>
<const Name extends string, Input, ContextInput, E, R>(
  command: Command.Command<Name, Input, ContextInput, E, R>
): Command.Command<Name, Input, ContextInput, E, R> =>
  command.pipe(
    Command.withDescription([summary, ...details].join("\n\n")),
    Command.withShortDescription(summary),
    Command.withExamples(examples.map((command) => ({ command })))
  )

/** The flags of the platform that the programs have. */
export const builtIns: CliConfig.CliConfig.Service = { builtIns: [GlobalFlag.Help, GlobalFlag.Version] }

export interface Argument {
  /** In upper case, as `FILE`. */
  readonly name: string
  readonly description: string
  readonly required: boolean
  readonly variadic: boolean
}

export interface Flag {
  /** Without dashes. */
  readonly name: string
  /** With dashes. */
  readonly aliases: ReadonlyArray<string>
  /** The name of its value, as `N`; undefined if it takes none. */
  readonly value: string | undefined
  readonly description: string
  readonly required: boolean
}

/** Commands below one title; undefined for those without a title. */
export interface Group {
  readonly title: string | undefined
  readonly commands: ReadonlyArray<{ readonly name: string; readonly summary: string }>
}

/** The help of one command, as plain data. */
export interface Page {
  /** The words of the command, with the program's name. */
  readonly path: ReadonlyArray<string>
  readonly summary: string
  readonly details: ReadonlyArray<string>
  readonly args: ReadonlyArray<Argument>
  /** The command's own flags. */
  readonly flags: ReadonlyArray<Flag>
  /** The flags of every command. */
  readonly globals: ReadonlyArray<Flag>
  readonly commands: ReadonlyArray<Group>
  readonly examples: ReadonlyArray<string>
  readonly sections: ReadonlyArray<Section>
}

/** The pages of a program, its own first. */
export type Pages = readonly [Page, ...ReadonlyArray<Page>]

const textOfOption = Option.getOrElse(() => "")

/** The platform's own descriptions have no full stop. */
const sentenceOf = (text: string): string => /[.)\]]$/.test(text) ? text : `${text}.`

/** Whether a flag of this type takes no value, or takes it only after `=`. */
export const isSwitch = (type: string): boolean => type === "boolean" || type.startsWith("[=")

const flagOf = ({ aliases, description, name, required, type }: HelpDoc.FlagDoc): Flag => ({
  name,
  aliases,
  value: isSwitch(type) ? undefined : type,
  description: sentenceOf(textOfOption(description)),
  required
})

/** The page of the platform's help. */
export const pageOf = (doc: HelpDoc.HelpDoc): Page => {
  const [summary = "", ...details] = doc.description.split("\n\n")
  return {
    path: doc.commandPath ?? [],
    summary,
    details,
    args: (doc.args ?? []).map(({ description, name, required, variadic }) => ({
      name,
      description: textOfOption(description),
      required,
      variadic
    })),
    flags: doc.flags.map(flagOf),
    globals: (doc.globalFlags ?? []).map(flagOf),
    commands: (doc.subcommands ?? []).map(({ commands, group }) => ({
      title: group,
      commands: commands.map(({ description, name, shortDescription }) => ({ name, summary: shortDescription ?? description }))
    })),
    examples: (doc.examples ?? []).map(({ command }) => command),
    sections: Context.get(doc.annotations, Sections)
  }
}

/** The pages of a command and of those below it, the command itself first. */
export const pages = <Name extends string, Input, E, R, ContextInput>(
  command: Command.Command<Name, Input, ContextInput, E, R>
): Effect.Effect<Pages> => {
  const found: Array<Page> = []
  const presenter = CliOutput.layerPresenter({
    present: (event) => Effect.sync(() => event._tag === "Help" && found.push(pageOf(event.helpDoc)))
  })
  const run = Command.runWith(command, { version: "" })
  // The cast is true: `--help` runs no handler and reads no file, which are what the services are for.
  const help = (path: ReadonlyArray<string>) => run([...path, "--help"]) as Effect.Effect<void, unknown>
  const visit = (path: ReadonlyArray<string>): Effect.Effect<void, unknown> =>
    Effect.andThen(
      help(path),
      Effect.suspend(() =>
        Effect.forEach((found.at(-1)?.commands ?? []).flatMap(({ commands }) => commands), ({ name }) => visit([...path, name]))
      )
    )
  return visit([]).pipe(
    Effect.provide(presenter),
    Effect.provideService(CliConfig.CliConfig, builtIns),
    // `--help` never fails.
    Effect.orDie,
    Effect.flatMap(() => {
      const [root, ...others] = found
      return root === undefined ? Effect.die(new Error("the program has no help")) : Effect.succeed([root, ...others] as const)
    })
  )
}

/** Whether a page is of a command that can be run, not of a group. */
export const isRunnable = ({ commands }: Page): boolean => commands.length === 0

/** A flag with its value, as `--limit N`. */
export const labelOf = ({ name, value }: Flag): string => `--${name}${value === undefined ? "" : ` ${value}`}`

/** A flag with its short form, as `-n, --limit N`. */
export const fullLabelOf = (flag: Flag): string => [...flag.aliases, labelOf(flag)].join(", ")

/** The description of a flag. */
export const textOf = ({ description, required }: Flag): string => `${description}${required ? " (required)" : ""}`

/** The usage line of a command, without the command itself. */
export const usageOf = ({ args, commands, flags }: Page): string => {
  if (commands.length > 0) return "COMMAND"
  const required = flags.filter((flag) => flag.required)
  return [
    ...args.map(({ name, required, variadic }) => {
      const word = variadic ? `${name}...` : name
      return required ? word : `[${word}]`
    }),
    ...required.map(labelOf),
    "[OPTION]..."
  ].join(" ")
}
