/**
 * A setting of the program: an option of the command line, for which a variable or a name in the config file can stand in. The name of the
 * variable, the default in the help and the place in an error message derive from the option.
 */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Flags from "@plaza/cli-kit/Flags"
import { excerpt } from "@plaza/cli-kit/Text"
import { Durations } from "@plaza/client"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { variableOf, Wording } from "../Wording.ts"

/** Looks a setting up: the option, else its variable, else the config file, else the default. */
export type Value<A> = Effect.Effect<A, UsageError | Config.ConfigError>

export interface Names {
  /** The option without its dashes, and the name in the config file. */
  readonly flag: string
  readonly variable: string
}

/** What the help says about a setting. */
export interface Documented extends Names {
  /** The placeholder of the value; undefined for a flag. */
  readonly placeholder: string | undefined
  /** The description with its default, without the variable. */
  readonly about: string
  /** Whether the option may be repeated. */
  readonly isList?: boolean
}

export type Setting<A> = Flag.Flag<Value<A>> & Documented & {
  /** Looks the setting up without an option of the command line. */
  readonly fromConfig: Value<A>
}

/** What the parser returns for a group of settings. */
export type Parsed<Group extends Command.Command.Config> = Command.Command.Config.Infer<Group>

/** Looks up a group of settings without options of the command line. */
export const fromConfig = <Group extends Readonly<Record<string, Setting<unknown>>>>(group: Group): Parsed<Group> =>
  // Each setting of the group yields the value that its option yields.
  Record.map(group, (setting) => setting.fromConfig) as Parsed<Group>

/** How the text of a setting is read. */
export interface Type<A> {
  /** The placeholder in the help, as in `--poll DURATION`. */
  readonly placeholder: string
  readonly parse: (text: string) => Option.Option<A>
  /** The end of the sentence that begins with a rejected text. */
  readonly complaint: string
}

export interface Description {
  /** Without the final full stop. */
  readonly about: string
  /** What holds if nothing is set, for the help. */
  readonly absent?: string
}

export const usageError = (message: string): UsageError => new UsageError({ message })

const documented = (flag: string, placeholder: string | undefined, { about, absent }: Description): Documented => ({
  flag,
  variable: variableOf(flag),
  placeholder,
  about: `${about}${absent === undefined ? "" : ` (default: ${absent})`}.`
})

const helpOf = ({ about, variable }: Documented): string => `${about} [${variable}]`

/** A blank text counts as not set, because many deployments leave a variable out in this way. */
const lookUp = (option: Option.Option<string>, variable: string): Effect.Effect<Option.Option<string>, Config.ConfigError> =>
  Effect.map(
    Option.isSome(option) ? Effect.succeed(option) : Config.option(Config.String(variable)),
    Option.filter((text) => text.trim() !== "")
  )

const parsed = <A>(names: Names, type: Type<A>, text: string): Value<A> =>
  Option.match(type.parse(text), {
    onNone: () =>
      Effect.flatMap(Wording, ({ place }) => usageError(`"${excerpt(text)}" ${type.complaint}: change ${place(names.flag, text)}`)),
    onSome: (value) => Effect.succeed(value)
  })

const read = <A, B>(names: Names, type: Type<A>, absent: B) => (option: Option.Option<string>): Value<A | B> =>
  Effect.flatMap(
    lookUp(option, names.variable),
    (text): Value<A | B> => Option.isNone(text) ? Effect.succeed(absent) : parsed(names, type, text.value)
  )

const make = <A, B>(flag: string, type: Type<A>, description: Description, value: B): Setting<A | B> => {
  const about = documented(flag, type.placeholder, description)
  const lookedUp = read(about, type, value)
  return Object.assign(
    Flags.text(flag, type.placeholder, helpOf(about)).pipe(Flag.optional, Flag.map(lookedUp)),
    { ...about, fromConfig: lookedUp(Option.none()) }
  )
}

/** A setting that may be undefined. `absent` describes in the help what holds then. */
export const optional = <A>(flag: string, type: Type<A>, description: Description): Setting<A | undefined> =>
  make(flag, type, description, undefined)

/** A setting with a default, which is written as its text and read like one. */
export const withDefault = <A>(flag: string, type: Type<A>, standard: string, about: string): Setting<A> =>
  make(flag, type, { about, absent: standard }, Option.getOrThrow(type.parse(standard)))

/** A flag that may be given several times. The texts are one, with commas between them. */
export const repeated = (flag: string, placeholder: string, description: string): Flag.Flag<Option.Option<string>> =>
  Flags.text(flag, placeholder, description).pipe(
    Flag.atLeast(0),
    // Without a default, the platform's help calls it required.
    Flag.withDefault<ReadonlyArray<string>>([]),
    Flag.map((texts) => texts.length === 0 ? Option.none() : Option.some(texts.join(",")))
  )

/** A list of texts: an option that may be repeated, each a text or several with commas between them. */
export const list = (flag: string, placeholder: string, description: Description): Setting<ReadonlyArray<string>> => {
  const type: Type<ReadonlyArray<string>> = {
    ...text,
    placeholder,
    parse: (texts) => Option.some(texts.split(",").map((each) => each.trim()).filter((each) => each !== ""))
  }
  const about = { ...documented(flag, placeholder, description), isList: true }
  const lookedUp = read<ReadonlyArray<string>, ReadonlyArray<string>>(about, type, [])
  return Object.assign(
    Flag.map(repeated(flag, placeholder, helpOf(about)), lookedUp),
    { ...about, fromConfig: lookedUp(Option.none()) }
  )
}

/** A flag. Its variable and its name in the config file are `true` or `false`. */
export const flag = (flag: string, about: string): Setting<boolean> => {
  const described = documented(flag, undefined, { about, absent: "false" })
  const lookedUp = read(described, boolean, false)
  return Object.assign(
    Flag.Boolean(flag).pipe(
      // It takes its value only after `=`, as the flags of cli-kit.
      Flag.withOptionalValue("true"),
      Flag.withoutNegation,
      Flag.withDescription(helpOf(described)),
      Flag.optional,
      Flag.map((given) => lookedUp(Option.map(given, String)))
    ),
    { ...described, fromConfig: lookedUp(Option.none()) }
  )
}

/** A text as it is written. */
export const text: Type<string> = { placeholder: "TEXT", parse: Option.some, complaint: "is not a text" }
export const file: Type<string> = { ...text, placeholder: "FILE" }

/** A text without white space around it. */
export const trimmed = <A>(placeholder: string, parse: (text: string) => Option.Option<A>, complaint: string): Type<A> => ({
  placeholder,
  parse: (text) => parse(text.trim()),
  complaint
})

const boolean = trimmed(
  "boolean",
  (text) => text === "true" || text === "false" ? Option.some(text === "true") : Option.none(),
  "is neither true nor false"
)

/** A duration of zero or more, such as `30s`, `1h30m` or `30 seconds`. */
export const durationOrZero = trimmed("DURATION", Durations.fromText, "is not a duration such as 30s")

/** A duration above zero. */
export const duration = trimmed(
  "DURATION",
  (text) => Option.filter(Durations.fromText(text), Duration.isGreaterThan(Duration.zero)),
  "is not a duration such as 30s"
)

/** A share from 0 to 1, written as 5% or 0.05. */
export const share = trimmed("SHARE", (text) => {
  const [, digits, percent] = /^(\d{1,3}(?:\.\d+)?)\s*(%?)$/.exec(text) ?? []
  const share = Number(digits) / (percent === "%" ? 100 : 1)
  return share >= 0 && share <= 1 ? Option.some(share) : Option.none()
}, "is not a share such as 5%")

export const integer = (least: number, most: number): Type<number> =>
  trimmed(
    "N",
    (text) => /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most ? Option.some(Number(text)) : Option.none(),
    `is not a whole number from ${least} to ${most}`
  )

/** One of several words, in upper or lower case. */
export const oneOf = <A extends string>(...words: ReadonlyArray<A>): Type<A> =>
  trimmed(
    words.join("|"),
    (text) => Option.fromUndefinedOr(words.find((word) => word === text.toLowerCase())),
    words.length === 2 ? `is neither ${words.join(" nor ")}` : `is none of ${words.slice(0, -1).join(", ")} and ${words.at(-1)}`
  )
