/**
 * The cost of a call does not grow with the stored data: SQLite explains every statement of an operation, and
 * none scans a table or sorts its result.
 */
import { FileSystem } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, layer } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Context, Effect, Layer, Schema } from "effect"
import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { afterAll } from "vitest"
import { openApi } from "../src/OpenApiDocument.ts"
import * as Database from "../src/storage/Database.ts"
import { type Client, Sql } from "../src/storage/Sql.ts"
import * as SqlSchema from "../src/storage/SqlSchema.ts"
import { call, layerInProcess, pageOf, someone } from "./support.ts"

// With a file, so that the requests counted against the limits are stored too.
const world = Layer.unwrapScoped(
  Effect.map(
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()),
    (folder) => layerInProcess({ data: `${folder}/sandbox.db`, assumptions: { requestsPerWindow: 10_000 } })
  )
).pipe(Layer.provide(NodeContext.layer))

/** The tables that always stay small. */
const small: ReadonlyArray<string> = ["meta", "sqlite_sequence"]
const growing = Database.tableNames.filter((name) => !small.includes(name)).join("|")
const costly = new RegExp(`^SCAN (?:${growing})\\b|TEMP B-TREE`)

interface Step {
  readonly statement: string
  readonly detail: string
}

/** The latest statements of the driver. */
const asked: Array<string> = []
// The unbound method; it is called with its own `this` below.
const prepare = Reflect.get<DatabaseSync, "prepare">(DatabaseSync.prototype, "prepare")
const recording = function(this: DatabaseSync, text: string) {
  const statement = prepare.call(this, text)
  for (const method of ["all", "get", "run"] as const) {
    const run = statement[method].bind(statement)
    Reflect.set(statement, method, (...values: Array<SQLInputValue>) => {
      asked.push(text)
      return run(...values)
    })
  }
  return statement
}
DatabaseSync.prototype.prepare = recording
afterAll(() => {
  DatabaseSync.prototype.prepare = prepare
})

/** An empty database with the same tables, whose query plans do not depend on its content. */
class Planner extends Context.Tag("test/Planner")<Planner, Client>() {}
const planner = Layer.effect(Planner, Sql).pipe(Layer.provide(Database.layer(":memory:")))

const Plan = Schema.Struct({ detail: Schema.String })

/** The steps that SQLite takes for every statement of an effect, with one for the statement itself. */
const stepsOf = <E, R>(effect: Effect.Effect<unknown, E, R>) =>
  Effect.gen(function*() {
    const sql = yield* Planner
    asked.length = 0
    yield* effect
    return yield* Effect.map(
      Effect.forEach([...asked], (statement) =>
        Effect.map(
          SqlSchema.findAll({ Result: Plan, execute: () => sql`${sql.literal(`EXPLAIN QUERY PLAN ${statement}`)}` })(),
          (plan): ReadonlyArray<Step> => [{ statement, detail: "" }, ...plan.map(({ detail }) => ({ statement, detail }))]
        )),
      (steps) => steps.flat()
    )
  })

const costlyOf = (steps: ReadonlyArray<Step>) => steps.filter(({ detail }) => costly.test(detail))

const lists = ["/me/posts", "/conversations", "/store/products", "/store/orders", "/conversations/conv_303/messages"]

/** One successful request for every operation; deletions come last. */
const requests = [
  ["GET", "/me"],
  ["GET", "/users/1002"],
  ["GET", "/users/by-username/chloe"],
  ["POST", "/users/1004/follow"],
  ["POST", "/media"],
  ["POST", "/posts", { text: "a", mediaIds: ["media-000001"] }],
  ["GET", "/me/posts?limit=2"],
  ["POST", "/posts/9007199254740993/comments", { text: "nice" }],
  ["POST", "/posts/9007199254740993/like"],
  ["POST", "/stories", { any: "thing" }],
  ["PATCH", "/store/products/0042/stock", { stock: 3 }],
  ["POST", "/store/orders/000021/ship", { carrier: "DHL", trackingNumber: "1" }],
  ["GET", "/conversations?limit=2"],
  ["POST", "/conversations/conv_303/messages", { text: "one" }],
  ["GET", "/posts/9007199254740993"],
  ["GET", "/store"],
  ["GET", "/store/products?limit=2"],
  ["GET", "/store/products/TIDE-TIN-01"],
  ["GET", "/store/orders?limit=2"],
  ["GET", "/store/orders/000022"],
  ["GET", "/conversations/conv_303/messages?limit=2"],
  ["PATCH", "/posts/9007199254741008", { text: "b", mediaIds: ["media-000001"] }],
  ["DELETE", "/posts/9007199254741008"]
] as const

const picture = () => {
  const form = new FormData()
  form.append("file", new File(["x"], "a.png", { type: "image/png" }))
  return form
}

const send = ([method, path, json]: typeof requests[number]) => call(method, path, path === "/media" ? { form: picture() } : { json })

describe("the cost of a call", () => {
  layer(Layer.merge(world, planner))((it) => {
    it.effect("is measured for every operation", () =>
      Effect.sync(() => {
        const routes = requests.map(([method, path]) => `${method} ${path.replace(/\?.*/, "").split("/").length}`)
        const operations = Object.entries(openApi({ undocumented: true }).paths).flatMap(([path, methods]) =>
          Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.split("/").length}`)
        )
        assert.deepStrictEqual(routes.sort(), operations.sort())
      }))

    it.effect("would be detected if it grew: reading the whole state scans every table", () =>
      Effect.gen(function*() {
        const { state } = yield* Sandbox.Sandbox
        assert.isAbove(costlyOf(yield* stepsOf(state)).length, 10)
      }))

    it.effect("does not grow with the stored data, for any operation", () =>
      Effect.gen(function*() {
        for (const request of requests) {
          let status = 0
          const steps = yield* stepsOf(Effect.tap(send(request), (reply) => {
            status = reply.status
          }))
          assert.include([200, 204], status, `${request[0]} ${request[1]}`)
          assert.isNotEmpty(steps, `${request[0]} ${request[1]}`)
          assert.deepStrictEqual(costlyOf(steps), [], `${request[0]} ${request[1]}`)
        }
      }))

    it.effect("does not grow with the depth of a list: the next page starts at its position in an index", () =>
      Effect.gen(function*() {
        for (let time = 0; time < 3; time++) {
          yield* call("POST", "/conversations/conv_303/messages", { json: { text: "more" } })
        }
        for (const path of lists) {
          const { next } = pageOf(yield* call("GET", `${path}?limit=2`))
          const steps = yield* stepsOf(call("GET", `${path}?limit=2&cursor=${next ?? "none"}`))
          assert.deepStrictEqual(costlyOf(steps), [], path)
          const [found] = steps.filter(({ detail, statement }) => / LIMIT /.test(statement) && detail.startsWith("SEARCH"))
          assert.match(found?.detail ?? "",
            /^SEARCH \w+ USING INDEX \w+ \((?:account_id|pair)=\? AND (?:seq<\?|\(created_at,sort_seq\)<\(\?,\?\))\)$/, path)
        }
      }))

    it.effect("does not grow for requests refused for a key, a relation or an unknown id", () =>
      Effect.gen(function*() {
        const { key } = yield* someone
        const steps = yield* stepsOf(Effect.all([
          call("GET", "/me", { key: `key_${"x".repeat(40)}` }),
          call("GET", "/users/nobody", { key }),
          call("GET", "/store/products/K17-GUM"),
          call("GET", "/conversations/conv_301/messages", { key })
        ]))
        assert.isNotEmpty(steps)
        assert.deepStrictEqual(costlyOf(steps), [])
      }))
  })
})
