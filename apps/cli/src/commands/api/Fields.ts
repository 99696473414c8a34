/** Parses `--field` (`name=text`, or `name:=json` for other values) and the query of a path. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Either from "effect/Either"
import { parse as parseJson } from "../Input.ts"

export interface Field {
  readonly name: string
  readonly value: unknown
}

const invalid = (message: string) => Either.left(new UsageError({ message }))

const field = (written: string): Either.Either<Field, UsageError> => {
  const equals = written.indexOf("=")
  if (equals === -1) return invalid(`--field "${written}" has no value: write name=value or name:=json`)
  const isJson = written[equals - 1] === ":"
  const name = written.slice(0, isJson ? equals - 1 : equals)
  const value = written.slice(equals + 1)
  if (name === "") return invalid(`--field "${written}" has no name: write name=value or name:=json`)
  return isJson ? Either.map(parseJson(value, `the value of --field ${name}`), (value) => ({ name, value })) : Either.right({ name, value })
}

/** Parses fields, in order. Fails if a name is given twice. */
export const parse = (written: ReadonlyArray<string>): Either.Either<ReadonlyMap<string, unknown>, UsageError> =>
  Either.flatMap(Either.all(written.map(field)), (fields) => {
    const duplicate = fields.find(({ name }, index) => fields.findIndex((other) => other.name === name) !== index)
    return duplicate === undefined
      ? Either.right(new Map(fields.map(({ name, value }) => [name, value])))
      : invalid(`--field ${duplicate.name} is given twice: remove one of them`)
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
  if (new Set(names).size !== names.length) return invalid(`the query of "${written}" has a duplicate parameter: remove one of them`)
  return Either.right({ path: path.startsWith("/") ? path : `/${path}`, query: Object.fromEntries(query) })
}

/** Adds fields to the query of a path: text unchanged, other values as JSON. Fails if a name is in both. */
export const query = (
  target: Target,
  fields: ReadonlyMap<string, unknown>
): Either.Either<Readonly<Record<string, string>>, UsageError> => {
  const duplicate = [...fields.keys()].find((name) => Object.hasOwn(target.query, name))
  return duplicate === undefined
    ? Either.right({
      ...target.query,
      ...Object.fromEntries([...fields].map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]))
    })
    : invalid(`${duplicate} is in the path and in --field: remove one of them`)
}
