/** Parses `--field` (`name=text`, or `name:=json` for other values) and the path of `plaza api` with its query. */
import { UsageError } from "@plaza/cli-kit/CliError"
import { excerpt } from "@plaza/cli-kit/Text"
import * as Result from "effect/Result"
import { parse as parseJson } from "../Input.ts"

export interface Field {
  readonly name: string
  readonly value: unknown
}

const invalid = (message: string) => Result.fail(new UsageError({ message }))

const field = (written: string): Result.Result<Field, UsageError> => {
  const equals = written.indexOf("=")
  if (equals === -1) return invalid(`--field "${written}" has no value: write name=value or name:=json`)
  const isJson = written[equals - 1] === ":"
  const name = written.slice(0, isJson ? equals - 1 : equals)
  const value = written.slice(equals + 1)
  if (name === "") return invalid(`--field "${written}" has no name: write name=value or name:=json`)
  return isJson
    ? Result.map(parseJson(value, `the value of --field ${name}`), (value) => ({ name, value }))
    : Result.succeed({ name, value })
}

/** Parses fields, in order. Fails if a name is given twice. */
export const parse = (written: ReadonlyArray<string>): Result.Result<ReadonlyMap<string, unknown>, UsageError> =>
  Result.flatMap(Result.all(written.map(field)), (fields) => {
    const duplicate = fields.find(({ name }, index) => fields.findIndex((other) => other.name === name) !== index)
    return duplicate === undefined
      ? Result.succeed(new Map(fields.map(({ name, value }) => [name, value])))
      : invalid(`--field ${duplicate.name} is given twice: remove one of them`)
  })

export interface Target {
  /** The path with a leading slash. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

/** The path and the query of a URL: `/me` of `https://host/open/v1/me`. Undefined for a path. */
const pathOfUrl = (written: string): string | undefined =>
  /^[a-z][a-z\d+.-]*:\/\/[^/?#]*(?:\/open\/v\d+(?=[/?#]|$))?(.*)$/is.exec(written)?.[1]

/** Parses a path with or without a leading slash and a query. */
export const target = (written: string): Result.Result<Target, UsageError> => {
  const ofUrl = pathOfUrl(written)
  if (ofUrl !== undefined) {
    return invalid(
      `PATH is a path below the base URL, not a whole URL: write ${
        ofUrl.startsWith("/") ? excerpt(ofUrl) : "/me"
      }, and set another base URL with --base-url`
    )
  }
  const mark = written.indexOf("?")
  const path = mark === -1 ? written : written.slice(0, mark)
  const query = new URLSearchParams(mark === -1 ? "" : written.slice(mark + 1))
  const names = [...query.keys()]
  if (new Set(names).size !== names.length) return invalid(`the query of "${written}" has a duplicate parameter: remove one of them`)
  return Result.succeed({ path: path.startsWith("/") ? path : `/${path}`, query: Object.fromEntries(query) })
}

/** Adds fields to the query of a path: text unchanged, other values as JSON. Fails if a name is in both. */
export const query = (
  target: Target,
  fields: ReadonlyMap<string, unknown>
): Result.Result<Readonly<Record<string, string>>, UsageError> => {
  const duplicate = [...fields.keys()].find((name) => Object.hasOwn(target.query, name))
  return duplicate === undefined
    ? Result.succeed({
      ...target.query,
      ...Object.fromEntries([...fields].map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]))
    })
    : invalid(`${duplicate} is in the path and in --field: remove one of them`)
}
