/** Parses `--field` and the query of a path: `name=text`, or `name:=json` for a value that isn't text. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Either from "effect/Either"
import { parse as parseJson } from "./Input.js"

export interface Field {
  readonly name: string
  readonly value: unknown
}

const refuse = (message: string) => Either.left(new UsageError({ message }))

const field = (written: string): Either.Either<Field, UsageError> => {
  const equals = written.indexOf("=")
  if (equals === -1) return refuse(`--field "${written}" has no value: write name=value, or name:=json`)
  const isJson = written[equals - 1] === ":"
  const name = written.slice(0, isJson ? equals - 1 : equals)
  const value = written.slice(equals + 1)
  if (name === "") return refuse(`--field "${written}" has no name: write name=value, or name:=json`)
  return isJson ? Either.map(parseJson(value, `the value of --field ${name}`), (value) => ({ name, value })) : Either.right({ name, value })
}

/** Parses fields, in order. Fails if a name is given twice. */
export const parse = (written: ReadonlyArray<string>): Either.Either<ReadonlyMap<string, unknown>, UsageError> =>
  Either.flatMap(Either.all(written.map(field)), (fields) => {
    const twice = fields.find(({ name }, index) => fields.findIndex((other) => other.name === name) !== index)
    return twice === undefined
      ? Either.right(new Map(fields.map(({ name, value }) => [name, value])))
      : refuse(`--field ${twice.name} is given twice: leave one of them out`)
  })

export interface Target {
  /** The path with a leading slash. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

/** Parses a path with or without a leading slash and a query. */
export const target = (written: string): Either.Either<Target, UsageError> => {
  const mark = written.indexOf("?")
  const path = mark === -1 ? written : written.slice(0, mark)
  const query = new URLSearchParams(mark === -1 ? "" : written.slice(mark + 1))
  const names = [...query.keys()]
  if (new Set(names).size !== names.length) return refuse(`the query of "${written}" names one thing twice: leave one of them out`)
  return Either.right({ path: path.startsWith("/") ? path : `/${path}`, query: Object.fromEntries(query) })
}

/** Adds fields to the query of a path: text unchanged, other values as JSON. Fails if a name is in both. */
export const query = (
  target: Target,
  fields: ReadonlyMap<string, unknown>
): Either.Either<Readonly<Record<string, string>>, UsageError> => {
  const twice = [...fields.keys()].find((name) => Object.hasOwn(target.query, name))
  return twice === undefined
    ? Either.right({
      ...target.query,
      ...Object.fromEntries([...fields].map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]))
    })
    : refuse(`${twice} is in the path and in --field: leave one of them out`)
}
