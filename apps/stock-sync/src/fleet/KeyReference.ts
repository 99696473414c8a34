/**
 * Where the API key of an account is: in an environment variable, in a file, or sealed in the database. A reference never holds a key in
 * the clear, so it may be printed, except for the content of a sealed one.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { InvalidAccount } from "./FleetError.js"
import * as FleetSecret from "./FleetSecret.js"

const Parts = Schema.Union(
  Schema.TaggedStruct("Env", { name: Schema.String }),
  Schema.TaggedStruct("File", { path: Schema.String }),
  Schema.TaggedStruct("Sealed", { text: Schema.String })
)

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
  switch (kind) {
    case "env":
      return Option.some({ _tag: "Env", name: rest })
    case "file":
      return Option.some({ _tag: "File", path: rest })
    case "sealed":
      return Option.some({ _tag: "Sealed", text: rest })
    default:
      return Option.none()
  }
}

/** A reference as the database stores it. */
export const FromText: Schema.Schema<KeyReference, string> = Schema.transformOrFail(Schema.String, Parts, {
  strict: true,
  decode: (text, _options, ast) =>
    Option.match(decode(text), {
      onNone: () => ParseResult.fail(new ParseResult.Type(ast, text, "not a reference to a key")),
      onSome: ParseResult.succeed
    }),
  encode: (reference) => ParseResult.succeed(encode(reference))
})

/** For listings: a sealed key shows only that it is sealed. */
export const display = (reference: KeyReference): string => reference._tag === "Sealed" ? "sealed" : encode(reference)

/** The reference for a `key` as it was written: `env:NAME`, `file:PATH`, or a key in the clear, which is sealed. */
export const parse = (
  account: string,
  text: string,
  secret: Option.Option<FleetSecret.FleetSecret["Type"]>
): Effect.Effect<KeyReference, InvalidAccount> => {
  const invalid = (message: string) => new InvalidAccount({ id: account, message: `account ${account}: ${message}` })
  const written = text.trim()
  if (written === "") return invalid("the key is missing: write env:NAME, file:PATH or the key itself")
  if (written.startsWith("sealed:"))
    return invalid("the key begins with sealed:, which only the database uses: write env:NAME, file:PATH or the key itself")
  return Option.match(decode(written), {
    onSome: (reference) =>
      reference._tag === "Env" && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(reference.name)
        ? invalid("the name behind env: is not a variable name: use letters, digits and underscores")
        : Effect.succeed(reference),
    onNone: () =>
      Option.match(secret, {
        onNone: () => invalid(`a key in the clear requires ${FleetSecret.variable}: set it, or write env:NAME or file:PATH`),
        onSome: (service) =>
          Effect.map(service.seal(account, Redacted.make(written)), (sealed): KeyReference => ({ _tag: "Sealed", text: sealed }))
      })
  })
}

const problems: Readonly<Record<FleetSecret.SealProblem, string>> = {
  malformed: "its sealed key is damaged: set the key again with fleet accounts update",
  otherSecret: `its key is sealed with another secret: set ${FleetSecret.variable} to that secret`,
  damaged: "its sealed key is damaged or belongs to another account: set the key again with fleet accounts update"
}

/** Reads the key that a reference names. */
export const resolve = (
  account: string,
  reference: KeyReference,
  secret: Option.Option<FleetSecret.FleetSecret["Type"]>
): Effect.Effect<Redacted.Redacted, InvalidAccount, FileSystem.FileSystem> => {
  const invalid = (message: string) => new InvalidAccount({ id: account, message: `account ${account}: ${message}` })
  const present = (text: string, where: string) =>
    text.trim() === "" ? invalid(`${where} is empty: write the key there`) : Effect.succeed(Redacted.make(text.trim()))
  switch (reference._tag) {
    case "Env":
      return Config.string(reference.name).pipe(
        Effect.mapError(() => invalid(`the variable ${reference.name} with its key is not set: set it for this runner`)),
        Effect.flatMap((text) => present(text, `the variable ${reference.name}`))
      )
    case "File":
      return FileSystem.FileSystem.pipe(
        Effect.flatMap((files) => files.readFileString(reference.path)),
        Effect.mapError(() =>
          invalid(`the file ${reference.path} with its key can't be read: create it on this runner and let its user read it`)
        ),
        Effect.flatMap((text) => present(text, `the file ${reference.path}`))
      )
    case "Sealed":
      return Option.match(secret, {
        onNone: () => invalid(`its key is sealed: set ${FleetSecret.variable} for this runner`),
        onSome: (service) => Either.mapLeft(service.open(account, reference.text), (problem) => invalid(problems[problem]))
      })
  }
}
