/**
 * Where a secret of an account is, such as its API key: in an environment variable, in a file, or sealed in the database. A reference
 * never holds a key in the clear, so it may be printed, except for the content of a sealed one.
 */
import { nearest } from "@plaza/cli-kit/CommandLine"
import * as Text from "@plaza/cli-kit/Text"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Transformation from "effect/SchemaTransformation"
import * as LedgerCommands from "../ledger/LedgerCommands.ts"
import { InvalidAccount } from "./FleetError.ts"
import * as FleetSecret from "./FleetSecret.ts"

const Parts = Schema.TaggedUnion({
  Env: { name: Schema.String },
  File: { path: Schema.String },
  Sealed: { text: Schema.String }
})

export type KeyReference = typeof Parts.Type

/** How a reference is stored. */
export const encode = (reference: KeyReference): string => {
  switch (reference._tag) {
    case "Env":
      return `env:${reference.name}`
    case "File":
      return `file:${reference.path}`
    case "Sealed":
      return `sealed:${reference.text}`
  }
}

/** The reference of a stored or written text; none for a key in the clear. */
export const decode = (text: string): Option.Option<KeyReference> => {
  const [, kind, rest = ""] = /^(env|file|sealed):(.+)$/s.exec(text) ?? []
  return kind === "env"
    ? Option.some({ _tag: "Env", name: rest })
    : kind === "file"
    ? Option.some({ _tag: "File", path: rest })
    : kind === "sealed"
    ? Option.some({ _tag: "Sealed", text: rest })
    : Option.none()
}

/**
 * The reference of a text in the database. Any other text, which only somebody else can have written there, counts as sealed: it is never
 * shown, and can't be opened.
 */
export const stored = (text: string): KeyReference => Option.getOrElse(decode(text), () => ({ _tag: "Sealed" as const, text }))

/** A reference as the database stores it. */
export const FromText = Schema.String.pipe(Schema.decodeTo(Parts, Transformation.transform({ decode: stored, encode })))

/** For listings: a sealed key shows only that it is sealed. */
export const display = (reference: KeyReference): string => reference._tag === "Sealed" ? "sealed" : encode(reference)

/** What to do with a new key of an account, as the end of a sentence. */
export const setKey = (account: string, reference: KeyReference): string => {
  switch (reference._tag) {
    case "Env":
      return `set ${reference.name} to it for each runner, and restart the runners`
    case "File":
      return `write it to ${reference.path} for each runner, and run "${LedgerCommands.updateKey(account, encode(reference))}"`
    case "Sealed":
      return `and set it with "${LedgerCommands.updateKey(account, "-")}"`
  }
}

/** What is wrong with an account, as a sentence after its id. */
export const invalid = (account: string, message: string): InvalidAccount =>
  new InvalidAccount({ id: account, message: `account ${account}: ${message}` })

/** Seals a text. A text that `before` holds already stays as it is there, so that importing again changes nothing. */
export const seal = (
  account: string,
  text: string,
  secret: FleetSecret.FleetSecret["Service"],
  before: string | undefined
): Effect.Effect<string> => {
  const isSame = before !== undefined && secret.isCurrent(before) &&
    Option.exists(Result.getSuccess(secret.open(account, before)), (opened) => Redacted.value(opened) === text)
  return isSame ? Effect.succeed(before) : secret.seal(account, Redacted.make(text))
}

/** What a reference stands for, in messages. */
const key = "key"

const kinds = ["env", "file"]

const lettersOf = (word: string): string => word.split("").toSorted().join("")

// A key that begins with a misspelt `env:` would be sealed, and only the service would refuse it.
const misspelt = (text: string): string | undefined => {
  const [, word] = /^([A-Za-z]{2,6}):/.exec(text) ?? []
  if (word === undefined) return undefined
  return kinds.find((kind) => lettersOf(kind) === lettersOf(word.toLowerCase())) ?? nearest(word.toLowerCase(), kinds)
}

/**
 * The reference for a secret as it was written: `env:NAME`, `file:PATH`, or the secret in the clear, which is sealed. `what` names the
 * secret in messages. A secret that `before` holds already keeps its sealed text.
 */
export const parse = (
  account: string,
  text: string,
  secret: FleetSecret.Given,
  { before, what = key }: { readonly what?: string; readonly before?: KeyReference | undefined } = {}
): Effect.Effect<KeyReference, InvalidAccount> => {
  const written = text.trim()
  if (written === "") return invalid(account, `the ${what} is missing: write env:NAME, file:PATH or the ${what} itself`)
  if (written.startsWith("sealed:"))
    return invalid(account,
      `the ${what} begins with sealed:, which only the database uses: write env:NAME, file:PATH or the ${what} itself`)
  return Option.match(decode(written), {
    onSome: (reference) => Effect.as(reference._tag === "Env" ? checkVariable(account, reference.name) : Effect.void, reference),
    onNone: () => {
      const meant = misspelt(written)
      if (meant !== undefined) return invalid(account, `the ${what} has an unknown prefix: did you mean ${meant}:?`)
      return Option.match(secret, {
        onNone: () => invalid(account, `a ${what} in the clear requires ${FleetSecret.variable}: set it, or write env:NAME or file:PATH`),
        onSome: (service) =>
          Effect.map(seal(account, written, service, before?._tag === "Sealed" ? before.text : undefined), (text): KeyReference => ({
            _tag: "Sealed",
            text
          }))
      })
    }
  })
}

/** Fails unless a text is the name of an environment variable. */
export const checkVariable = (account: string, name: string): Effect.Effect<void, InvalidAccount> =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
    ? Effect.void
    : invalid(account, "the name behind env: is not a variable name: use letters, digits and underscores")

const problems: Readonly<Record<FleetSecret.SealProblem, (what: string) => string>> = {
  malformed: (what) => `its sealed ${what} is damaged: set it again with fleet accounts update`,
  otherSecret: (what) => `its ${what} is sealed with another secret: set ${FleetSecret.variable} to that secret`,
  damaged: (what) => `its sealed ${what} is damaged or belongs to another account: set it again with fleet accounts update`
}

/** Opens a sealed text. */
export const open = (
  account: string,
  text: string,
  secret: FleetSecret.Given,
  what: string
): Effect.Effect<Redacted.Redacted, InvalidAccount> =>
  Option.match(secret, {
    onNone: () => invalid(account, `its ${what} is sealed: set ${FleetSecret.variable} for this runner`),
    onSome: (service) =>
      Effect.mapError(Effect.fromResult(service.open(account, text)), (problem) => invalid(account, problems[problem](what)))
  })

/** The text of a variable or a file without white space around it. Fails if nothing is left. */
const nonBlank =
  (account: string, place: string, what: string) =>
  <E, R>(text: Effect.Effect<string, E, R>): Effect.Effect<Redacted.Redacted, E | InvalidAccount, R> =>
    text.pipe(
      Effect.map((text) => text.trim()),
      Effect.filterOrFail((text) => text !== "", () => invalid(account, `the ${place} is empty: write the ${what} there`)),
      Effect.map((text) => Redacted.make(text))
    )

/** Reads a variable of the runner. */
export const fromVariable = (account: string, name: string, what: string): Effect.Effect<Redacted.Redacted, InvalidAccount> =>
  Config.String(name).pipe(
    Effect.mapError(() => invalid(account, `the variable ${name} with its ${what} is not set: set it for this runner`)),
    nonBlank(account, `variable ${name}`, what)
  )

const fromFile = (account: string, path: string, what: string): Effect.Effect<Redacted.Redacted, InvalidAccount, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (files) => files.readFile(path)).pipe(
    Effect.map(Text.decode),
    Effect.mapError(() =>
      invalid(account, `the file ${path} with its ${what} can't be read: create it on this runner and let its user read it`)
    ),
    nonBlank(account, `file ${path}`, what)
  )

/** Reads the secret that a reference names. */
export const resolve = (
  account: string,
  reference: KeyReference,
  secret: FleetSecret.Given,
  what = key
): Effect.Effect<Redacted.Redacted, InvalidAccount, FileSystem.FileSystem> => {
  switch (reference._tag) {
    case "Env":
      return fromVariable(account, reference.name, what)
    case "File":
      return fromFile(account, reference.path, what)
    case "Sealed":
      return open(account, reference.text, secret, what)
  }
}
