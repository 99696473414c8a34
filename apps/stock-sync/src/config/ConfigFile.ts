/** Reads the settings of a TOML or JSON file. */
import { UsageError } from "@plaza/cli-kit/CliError"
import { nearest } from "@plaza/cli-kit/CommandLine"
import * as Text from "@plaza/cli-kit/Text"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Predicate from "effect/Predicate"

export interface Entry {
  /** The name in the file, such as `source-timeout`. */
  readonly name: string
  readonly text: string
}

export interface Names {
  /** The variable of each name that a file may use. */
  readonly variables: ReadonlyMap<string, string>
  /** For each name that a file may not use: what to do instead. */
  readonly refused: ReadonlyMap<string, string>
}

const refuse = (message: string) => new UsageError({ message })

/** Has the line only: messages of both parsers quote the text, which may contain a password. */
class Malformed extends Data.TaggedError("Malformed")<{ readonly line: number | undefined }> {}

const toml = (text: string): Effect.Effect<unknown, Malformed> =>
  Effect.flatMap(Effect.promise(() => import("smol-toml")), ({ parse }) =>
    Effect.try({
      try: (): unknown => parse(text),
      catch: (error) =>
        new Malformed({ line: Predicate.hasProperty(error, "line") && Predicate.isNumber(error.line) ? error.line : undefined })
    }))

const json = (text: string): Effect.Effect<unknown, Malformed> =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: (error) => {
      const [, position] = /at position (\d+)/.exec(error instanceof Error ? error.message : "") ?? []
      return new Malformed({ line: position === undefined ? undefined : text.slice(0, Number(position)).split("\n").length })
    }
  })

const parsers = { toml, json }

const parse = (path: string, text: string): Effect.Effect<unknown, UsageError> => {
  const format = (["toml", "json"] as const).find((ending) => path.toLowerCase().endsWith(`.${ending}`))
  if (format === undefined) return refuse(`the config file ${path} must end with .toml or .json`)
  return Effect.mapError(parsers[format](text),
    ({ line }) => refuse(`the config file ${path} is not valid ${format.toUpperCase()}${line === undefined ? "" : `: see line ${line}`}`))
}

const kindOf = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
    ? "a list"
    : value instanceof Date
    ? "a date"
    : typeof value === "object"
    ? "a table"
    : typeof value

const entryOf = (
  path: string,
  names: Names,
  [name, value]: readonly [string, unknown]
): Effect.Effect<readonly [variable: string, entry: Entry], UsageError> => {
  const variable = names.variables.get(name)
  if (variable === undefined) {
    const instead = names.refused.get(name)
    if (instead !== undefined) return refuse(`${name} can't be set in the config file ${path}: ${instead}`)
    const meant = nearest(name, names.variables.keys())
    // A value without its name may contain a password.
    const shown = /^[\w-]{1,30}$/.test(name) ? name : "an unusual name"
    return refuse(
      `${shown} in the config file ${path} is not a setting${
        meant === undefined ? `: remove it, or see plaza-stock-sync run --help for the names` : `: did you mean ${meant}?`
      }`
    )
  }
  return Predicate.isString(value) || Predicate.isNumber(value) || Predicate.isBoolean(value)
    ? Effect.succeed([variable, { name, text: String(value) }])
    : refuse(`${name} in the config file ${path} is ${kindOf(value)}: it must be a text, a number, true or false`)
}

/** The settings of a file, by the names of their variables. */
export const read = (path: string, names: Names): Effect.Effect<ReadonlyMap<string, Entry>, UsageError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const bytes = yield* Effect.mapError(files.readFile(path), (error) => {
      const reason = error.reason._tag
      const what = reason === "NotFound"
        ? "does not exist"
        : reason === "PermissionDenied"
        ? "may not be read by this user"
        : "can't be read"
      return refuse(`the config file ${path} ${what}: correct --config or STOCK_SYNC_CONFIG`)
    })
    const settings = yield* parse(path, Text.decode(bytes))
    if (!Predicate.isObject(settings)) return yield* refuse(`the config file ${path} must hold one object with a name for each setting`)
    return new Map(yield* Effect.forEach(Object.entries(settings), (entry) => entryOf(path, names, entry)))
  })
