/**
 * A file with a GraphQL query as a setting of a source. Refuses a query that does not only read, whose next page can't be requested, or whose
 * responses would not show that they are a part.
 */
import * as AcceptPartial from "@plaza/tabular/AcceptPartial"
import { SourceError } from "@plaza/tabular/SourceError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { Wording } from "../../Wording.ts"
import type { SourceFailure } from "../Source.ts"
import * as WholeFile from "../WholeFile.ts"
import type * as GraphqlDocument from "./GraphqlDocument.ts"

export interface GraphqlQuery {
  readonly text: string
  readonly fields: ReadonlyArray<GraphqlDocument.Field>
  /** The variable that takes the cursor of a page. */
  readonly variable: string
  /** The path of the connection whose pages are followed. */
  readonly connection: string
  /** The path of the items. */
  readonly items: string
}

/** The settings that decide about a query. */
export interface Options {
  /** Default: the `nodes` or `edges` of the connection whose pages are followed. */
  readonly items: string | undefined
  readonly accepted: AcceptPartial.AcceptPartial
  /** The setting with the path of the items, for messages. */
  readonly itemsSetting: string
}

const example = "query($after: String) { products(first: 100, after: $after) { nodes { sku stock } pageInfo { hasNextPage endCursor } } }"

// Arguments that limit a list. A list without them is whole.
const limiting = /^(?:first|last|limit|take|top|page_?size|per_?page)$/i

/** Whether a field holds a list that may be a page of a longer one. */
export const isConnection = ({ arguments: args, fields }: GraphqlDocument.Field): boolean =>
  fields.length > 0 &&
  (fields.some(({ name }) => name === "pageInfo" || name === "edges" || name === "nodes") ||
    [...args.keys()].some((name) => limiting.test(name)))

/** Whether a selection has a field under its own name. */
const selects = (fields: ReadonlyArray<GraphqlDocument.Field>, name: string): GraphqlDocument.Field | undefined =>
  fields.find((each) => each.key === name && each.name === name)

interface Connection {
  readonly path: string
  readonly field: GraphqlDocument.Field
  /** The path of the connection around it. */
  readonly outer: string | undefined
}

const connectionsIn = (fields: ReadonlyArray<GraphqlDocument.Field>, path: string, outer?: string): ReadonlyArray<Connection> =>
  fields.flatMap((field) => {
    const own = `${path}.${field.key}`
    return isConnection(field)
      ? [{ path: own, field, outer }, ...connectionsIn(field.fields, own, own)]
      : connectionsIn(field.fields, own, outer)
  })

const cursorOf = ({ field }: Connection): string | undefined => field.arguments.get("after")

/** The connection with the cursor, and its variable; else what is wrong. */
const followed = (
  { variables }: GraphqlDocument.Operation,
  connections: ReadonlyArray<Connection>
): Result.Result<Connection & { readonly variable: string }, string> => {
  const [found, ...others] = connections.filter((each) => cursorOf(each) !== undefined)
  const name = found && cursorOf(found)
  if (found === undefined || name === undefined) {
    return Result.fail(`no connection of it takes its cursor from a variable: write it as ${example}`)
  }
  if (others.length > 0) {
    return Result.fail(
      `${
        [found, ...others].map(({ path }) => path).join(" and ")
      } take a cursor, and the pages of one connection are followed: leave one of them`
    )
  }
  if (found.outer !== undefined) {
    return Result.fail(
      `${found.path} takes the cursor within the connection ${found.outer}, whose pages would be missing: give the cursor to ${found.outer}, ` +
        "or query the inner connection on its own"
    )
  }
  const declared = variables.find((each) => each.name === name)
  if (declared === undefined) return Result.fail(`it does not declare $${name}: begin it with query($${name}: String)`)
  if (declared.isRequired) {
    return Result.fail(`$${name} is required, and the first request has no cursor: declare it without the exclamation mark`)
  }
  if (declared.hasDefault) return Result.fail(`$${name} has a default, which would replace the first page: remove the default`)
  const unset = variables.find(({ hasDefault, isRequired, name }) => name !== declared.name && isRequired && !hasDefault)
  return unset === undefined
    ? Result.succeed({ ...found, variable: name })
    : Result.fail(`$${unset.name} has no value: write the value into the query, or declare a default`)
}

/** Why a connection would not show that it is a part. */
const complaintOf = (
  { field: { arguments: args, fields }, path }: Connection,
  isFollowed: boolean,
  { accepted }: Options
): string | undefined => {
  const backward = ["last", "before"].find((name) => args.has(name))
  if (backward !== undefined)
    return `${path} takes ${backward}, so hasNextPage does not show whether items before it are missing: use first`
  if (args.has("after") && !isFollowed) return `${path} takes after, so its first items would be missing: remove the argument`
  const info = selects(fields, "pageInfo")?.fields ?? []
  if (isFollowed) {
    return selects(info, "hasNextPage") !== undefined && selects(info, "endCursor") !== undefined
      ? undefined
      : `${path} does not select pageInfo { hasNextPage endCursor }, so nothing would show its next page: add it`
  }
  return selects(info, "hasNextPage") !== undefined || AcceptPartial.accepts(accepted, path)
    ? undefined
    : AcceptPartial.pageRefusal(accepted, [path],
      `${path} does not select pageInfo { hasNextPage }, so nothing would show whether it is whole`, "Add it")
}

/** The query of a text, or what is wrong with it. */
const parse = (text: string, options: Options): Effect.Effect<GraphqlQuery, string> =>
  Effect.gen(function*() {
    const { parse } = yield* Effect.promise(() => import("./GraphqlDocument.ts"))
    const operations = yield* Effect.fromResult(parse(text))
    const [operation, ...others] = operations
    if (operation === undefined) return yield* Effect.fail(`it has no query: write one, such as ${example}`)
    const writing = operations.find(({ type }) => type !== "query")
    if (writing !== undefined) return yield* Effect.fail(`it has a ${writing.type}, and a source is only read: leave one query in it`)
    if (others.length > 0) return yield* Effect.fail(`it has ${operations.length} queries: leave one in it`)
    const connections = connectionsIn(operation.fields, "data")
    const { field, path, variable } = yield* Effect.fromResult(followed(operation, connections))
    for (const each of connections) {
      const complaint = complaintOf(each, each.path === path, options)
      if (complaint !== undefined) return yield* Effect.fail(complaint)
    }
    const list = selects(field.fields, "nodes") ?? selects(field.fields, "edges")
    const items = options.items ?? (list === undefined ? undefined : `${path}.${list.name}`)
    if (items === undefined)
      return yield* Effect.fail(
        `${path} selects neither nodes nor edges: select one, or set ${options.itemsSetting}`
      )
    if (!items.startsWith(`${path}.`)) {
      return yield* Effect.fail(`the items ${items} are not in ${path}, whose pages are followed: correct ${options.itemsSetting}`)
    }
    return { text, fields: operation.fields, variable, connection: path, items }
  })

// Services accept no query that is longer.
const maxBytes = 65_536

/** Reads the query of a file, at each use: an edit applies to the next read of the source. */
export const ofFile = (
  path: string,
  options: Options
): Effect.Effect<Effect.Effect<GraphqlQuery, SourceFailure>, never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const { place } = yield* Wording
    const refused = (reason: string) => new SourceError({ source: path, line: undefined, message: `${path}: ${reason}` })
    const file = yield* WholeFile.make({
      path,
      // An unfinished query is none: its braces don't match.
      settle: Duration.zero,
      unfinishedWait: Duration.zero,
      lines: false,
      advice: `Name another file with ${place("graphql")}`
    })
    return Effect.gen(function*() {
      const { bytes } = Option.getOrThrow(yield* file.open(Option.none()))
      const text = yield* bytes.pipe(
        Stream.limitBytes(maxBytes, () => Stream.fail<SourceFailure>(refused("it is longer than 64 KiB, so it is no query"))),
        Stream.decodeText,
        Stream.mkString
      )
      return yield* Effect.mapError(parse(text, options), refused)
    })
  })
