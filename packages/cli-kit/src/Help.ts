/** Converts the parser's description of the commands to the plain data of a `Manual`. */
import * as Args from "@effect/cli/Args"
import type * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as Commands from "./Commands.js"
import type { Entry, Manual, Page } from "./Manual.js"
import { oneLine, withoutColour } from "./Text.js"

const plain = (doc: HelpDoc.HelpDoc): string => oneLine(withoutColour(HelpDoc.toAnsiText(doc)))

/** The description of a command: a sentence, and examples without the program's name. */
export const about = (sentence: string, ...examples: ReadonlyArray<string>): HelpDoc.HelpDoc => {
  const [first, ...rest] = examples.map((example) => HelpDoc.p(example))
  return first === undefined ? HelpDoc.p(sentence) : HelpDoc.sequence(HelpDoc.p(sentence), HelpDoc.enumeration([first, ...rest]))
}

/** The parts of a text, in order. */
const parts = (doc: HelpDoc.HelpDoc): ReadonlyArray<Exclude<HelpDoc.HelpDoc, HelpDoc.Sequence | HelpDoc.Empty>> =>
  doc._tag === "Sequence" ? [...parts(doc.left), ...parts(doc.right)] : doc._tag === "Empty" ? [] : [doc]

// The parser adds this, and the usage line shows it already.
const noise =
  /^(A true or false value\.|A user-defined piece of text\.|An? (integer|floating point number)\.|This setting is optional\.|This (option|argument) (may|must) be repeated .*)$/

interface Definition extends Entry {
  /** The option is required. */
  readonly required: boolean
}

/** Names and descriptions. */
const definitions = (doc: HelpDoc.HelpDoc): ReadonlyArray<Definition> =>
  parts(doc).flatMap((part) =>
    part._tag !== "DescriptionList" ? [] : part.definitions.map(([span, definition]) => {
      const texts = parts(definition).map(plain)
      return {
        name: plain(HelpDoc.p(span)).replace(/(\.\.\.| \d+\+)$/, "").replace(/^<(.*)>$/, "$1"),
        said: texts.filter((text) => !noise.test(text)).join(" "),
        required: !texts.some((text) =>
          text.startsWith("This setting is optional.") || text === "A true or false value." || text.includes("zero or more")
        )
      }
    })
  )

const entriesOf = (defined: ReadonlyArray<Definition>): ReadonlyArray<Entry> => defined.map(({ name, said }) => ({ name, said }))

const usageOf = (node: Commands.Node, args: ReadonlyArray<Definition>, options: ReadonlyArray<Definition>): string => {
  if (node.children.size > 0) return "COMMAND"
  const repeated = Args.getMaxSize(node.args) > args.length
  return [
    ...args.map(({ name, required }, index) => {
      const word = repeated && index === args.length - 1 ? `${name}...` : name
      return required ? word : `[${word}]`
    }),
    ...options.filter(({ required }) => required).map(({ name }) => name),
    ...(options.every(({ required }) => required) ? [] : ["[OPTION]..."])
  ].join(" ")
}

/** The options that a command takes, without their values. */
export const takenBy = (node: Commands.Node): ReadonlyArray<string> =>
  definitions(Options.getHelp(node.options)).map(({ name }) => name.split(" ")[0] ?? name)

/** The page of a command, with the pages of its subcommands. */
export const page = (node: Commands.Node): Page => {
  const description = parts(node.description)
  const args = definitions(Args.getHelp(node.args))
  const options = definitions(Options.getHelp(node.options))
  return {
    name: node.name,
    about: description.filter((part) => part._tag === "Paragraph").map(plain).join(" "),
    usage: usageOf(node, args, options),
    args: entriesOf(args),
    options: entriesOf(options),
    examples: description.flatMap((part) => part._tag === "Enumeration" ? part.elements.map(plain) : []),
    commands: [...node.children.values()].map(page)
  }
}

/** The manual of a program. */
export const manual = <Name extends string, R, E, A>(
  command: Command.Command<Name, R, E, A>,
  { grammar, name, version }: Pick<Manual, "name" | "version" | "grammar">
): Manual => {
  const top = page(Commands.tree(command))
  return { name, version, grammar, page: { ...top, options: [...top.options, ...grammar.global ?? []] } }
}
