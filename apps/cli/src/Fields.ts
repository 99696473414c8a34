/**
 * `--field` and the query of a path, as they are typed: `name=text`, or `name:=json` for a value that isn't text. Knows nothing of
 * where they are sent.
 */
import { UsageError } from "@plaza/terminal/Problem"
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

/** Fields by their names, in the order in which they are given. A name twice is refused. */
export const parse = (written: ReadonlyArray<string>): Either.Either<ReadonlyMap<string, unknown>, UsageError> =>
  Either.flatMap(Either.all(written.map(field)), (fields) => {
    const twice = fields.find(({ name }, index) => fields.findIndex((other) => other.name === name) !== index)
    return twice === undefined
      ? Either.right(new Map(fields.map(({ name, value }) => [name, value])))
      : refuse(`--field ${twice.name} is given twice: leave one of them out`)
  })


export interface Target {
  /** With a slash at its beginning. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

/** A path as it is typed, with or without the slash at its beginning, and with a query or none. */
export const target = (written: string): Either.Either<Target, UsageError> => {
  const mark = written.indexOf("?")
  const path = mark === -1 ? written : written.slice(0, mark)
  const query = new URLSearchParams(mark === -1 ? "" : written.slice(mark + 1))
  const names = [...query.keys()]
  if (new Set(names).size !== names.length) return refuse(`the query of "${written}" names one thing twice: leave one of them out`)
  return Either.right({ path: path.startsWith("/") ? path : `/${path}`, query: Object.fromEntries(query) })
}

/** The query of a path with fields added to it: text as it is, anything else as JSON. What is in both is refused. */
export const query = (target: Target, fields: ReadonlyMap<string, unknown>): Either.Either<Readonly<Record<string, string>>, UsageError> => {
  const twice = [...fields.keys()].find((name) => Object.hasOwn(target.query, name))
  return twice === undefined
    ? Either.right({
      ...target.query,
      ...Object.fromEntries([...fields].map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]))
    })
    : refuse(`${twice} is in the path and in --field: leave one of them out`)
}
