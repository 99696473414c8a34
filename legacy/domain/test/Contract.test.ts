/**
 * The contract beside the tables of the document and of the design, row by row.
 */
import type { HttpApiGroup } from "@effect/platform"
import { HttpApi } from "@effect/platform"
import { Context, Option } from "effect"
import * as AST from "effect/SchemaAST"
import { describe, expect, it } from "vitest"
import { Delivery } from "../src/Delivery.ts"
import { byCode } from "../src/Errors.ts"
import { PlazaApi, PlazaApiWithStories } from "../src/PlazaApi.ts"

interface Row {
  readonly route: string
  readonly delivery: string | undefined
  readonly codes: ReadonlyArray<string>
  readonly successes: ReadonlyArray<number>
}

const codeOf = new Map(Object.entries(byCode).map(([code, { _tag }]) => [String(_tag), code]))

const codesOf = (ast: AST.AST): ReadonlyArray<string> =>
  AST.isUnion(ast)
    ? ast.types.flatMap(codesOf)
    : Option.match(Option.orElse(AST.getIdentifierAnnotation(ast), () => AST.getIdentifierAnnotation(AST.typeAST(ast))), {
      onNone: () => ["an error without a name"],
      // The framework's own failure, which never reaches the wire.
      onSome: (tag) => tag === "HttpApiDecodeError" ? [] : [codeOf.get(tag) ?? tag]
    })

const rowsOf = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyArray<Row> => {
  const rows: Array<Row> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, errors, mergedAnnotations, successes }) => {
      rows.push({
        route: `${endpoint.method} ${endpoint.path.replaceAll(/:(\w+)/g, "{$1}")}`,
        delivery: Option.getOrUndefined(Context.getOption(mergedAnnotations, Delivery)),
        codes: [...errors.values()].flatMap(({ ast }) => Option.match(ast, { onNone: () => [], onSome: codesOf })).sort(),
        successes: [...successes.keys()].sort((a, b) => a - b)
      })
    }
  })
  return rows
}

const rows = rowsOf(PlazaApi)
const rowOf = (route: string) => rows.find((row) => row.route === route)

// What the document says of each endpoint beyond what it says of all of them.
const user = ["NOT_FOUND", "USER_UNAVAILABLE"]
const store = ["INVALID_JSON", "NOT_FOUND", "STORE_BLOCKED"]
const table = [
  ["GET /me", "Read", "nothing", []],
  ["GET /users/{id}", "Read", "parameters", user],
  ["GET /users/by-username/{username}", "Read", "parameters", user],
  ["POST /media", "Repeatable", "write", []],
  ["POST /posts", "Checkable", "write", ["INVALID_JSON", "NOT_FOUND"]],
  ["GET /me/posts", "Read", "parameters", []],
  ["POST /posts/{id}/comments", "Once", "write", ["INVALID_JSON", ...user]],
  ["POST /posts/{id}/like", "Repeatable", "write", user],
  ["POST /users/{id}/follow", "Repeatable", "write", user],
  ["PATCH /store/products/{id}/stock", "Repeatable", "write", store],
  ["POST /store/orders/{id}/ship", "Checkable", "write", [...store, "CONFLICT"]],
  ["GET /conversations", "Read", "parameters", []],
  ["POST /conversations/{id}/messages", "Once", "write", ["INVALID_JSON", "CHAT_BLOCKED", "CHAT_NOT_ALLOWED", ...user]]
] as const

const always = ["INVALID_API_KEY", "INSUFFICIENT_SCOPE", "DEVELOPER_ACCESS_REVOKED", "FORBIDDEN", "RATE_LIMITED", "INTERNAL_ERROR"]
const bySent = {
  nothing: [],
  parameters: ["VALIDATION_ERROR"],
  write: ["VALIDATION_ERROR", "PROFILE_INCOMPLETE", "PAYLOAD_TOO_LARGE"]
}

describe("the contract", () => {
  it("has the 13 endpoints of the document and no others", () => {
    expect(rows.map((row) => row.route).sort()).toEqual(table.map(([route]) => route).sort())
    expect(rows).toHaveLength(13)
  })

  it.each(table)("%s is delivered as %s", (route, delivery) => {
    expect(rowOf(route)?.delivery).toBe(delivery)
  })

  it.each(table)("%s (%s) fails with the documented errors and no others", (route, _delivery, sent, own) => {
    expect(rowOf(route)?.codes).toEqual([...always, ...bySent[sent], ...own].sort())
  })

  it("accepts a response without a body exactly where the request determines the result", () => {
    expect(rows.filter((row) => row.successes.includes(204)).map((row) => row.route).sort()).toEqual([
      "PATCH /store/products/{id}/stock",
      "POST /conversations/{id}/messages",
      "POST /posts/{id}/comments",
      "POST /posts/{id}/like",
      "POST /store/orders/{id}/ship",
      "POST /users/{id}/follow"
    ])
    expect(rows.every((row) => row.successes.includes(200))).toBe(true)
  })

  it("doesn't contain stories, which are never sent twice because the interface can't list them", () => {
    const more = rowsOf(PlazaApiWithStories).filter((row) => !rows.some((known) => known.route === row.route))
    expect(more).toMatchObject([{ route: "POST /stories", delivery: "Once" }])
    expect(always.filter((code) => more[0]?.codes.includes(code) !== true)).toEqual([])
  })

  it("gives every endpoint the same delivery class with and without stories", () => {
    expect(rowsOf(PlazaApiWithStories).filter((row) => row.route !== "POST /stories")).toEqual(rows)
  })
})
