/** The documents that the control API serves for other tools: its own OpenAPI document and a Postman collection. */
import { OpenApi } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { PostmanValidator } from "@har-sdk/validator"
import { ControlApi, Sandbox } from "@plaza-legacy/sandbox"
import { Effect, Redacted, Schema } from "effect"
import { openApi } from "../src/OpenApiDocument.ts"
import { call, control, layerInProcess, layerSocket } from "./support.ts"

const Request = Schema.Struct({
  name: Schema.String,
  request: Schema.Struct({
    method: Schema.String,
    url: Schema.Struct({
      raw: Schema.String,
      path: Schema.Array(Schema.String),
      query: Schema.Array(Schema.Struct({ key: Schema.String, disabled: Schema.Boolean })),
      variable: Schema.Array(Schema.Struct({ key: Schema.String }))
    }),
    body: Schema.optional(Schema.Struct({ mode: Schema.String, raw: Schema.optional(Schema.String) }))
  })
})
const Collection = Schema.Struct({
  info: Schema.Struct({ name: Schema.String, schema: Schema.String }),
  variable: Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.String })),
  item: Schema.Array(Schema.Struct({ name: Schema.String, item: Schema.Array(Request) }))
})
const requestsOf = (json: unknown) => Schema.decodeUnknownSync(Collection)(json).item.flatMap(({ item }) => item)

/** Ids of the seeded data for the variables of a path. */
const ids: ReadonlyArray<readonly [path: RegExp, id: string]> = [
  [/^users\/by-username/, "tea-and-tide"],
  [/^users/, "1002"],
  [/^store\/products/, "0042"],
  [/^store\/orders/, "500001"],
  [/^conversations/, "conv_301"],
  [/^posts/, "9007199254740993"]
]

const operationsOf = (undocumented: boolean) =>
  Object.entries(openApi({ undocumented }).paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} {{baseUrl}}${path.replace(/\{(\w+)\}/g, ":$1")}`)
  )

describe("the Postman collection", () => {
  for (const undocumented of [true, false]) {
    it.effect(`is valid in format 2.1 and has every operation${undocumented ? "" : " of the document"} once`, () =>
      Effect.gen(function*() {
        const { json } = yield* control("GET", "/postman.json")
        // True of every JSON value that it accepts: it validates the document by the schema of the format.
        const problems = yield* Effect.promise(() => new PostmanValidator().verify(json as never))
        assert.deepStrictEqual(problems, [])
        assert.deepStrictEqual(
          requestsOf(json).map(({ request: { method, url } }) => `${method} ${url.raw}`).sort(),
          operationsOf(undocumented).sort()
        )
      }).pipe(Effect.provide(layerInProcess({ assumptions: { undocumented } }))))
  }

  it.effect("is not valid with another value in place of its requests", () =>
    Effect.gen(function*() {
      const { json } = yield* control("GET", "/postman.json")
      const changed: unknown = { ...Schema.decodeUnknownSync(Collection)(json), item: "none" }
      const problems = yield* Effect.promise(() => new PostmanValidator().verify(changed as never))
      assert.isNotEmpty(problems)
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("has the base URL of this sandbox, no key, and examples that it accepts", () =>
    Effect.gen(function*() {
      const { apiKey, baseUrl } = yield* Sandbox.Sandbox
      const { json, text } = yield* control("GET", "/postman.json")
      assert.notInclude(text, Redacted.value(apiKey))
      assert.notInclude(text, "key_***")
      const { variable } = Schema.decodeUnknownSync(Collection)(json)
      assert.deepStrictEqual(variable.map(({ key, value }) => [key, value]), [["baseUrl", baseUrl], ["apiKey", ""]])
      for (const { name, request: { body, method, url } } of requestsOf(json)) {
        const id = ids.find(([pattern]) => pattern.test(url.path.join("/")))?.[1] ?? ""
        const path = url.path.map((segment) => segment.startsWith(":") ? id : segment).join("/")
        if (body?.mode !== "formdata") {
          const reply = yield* call(
            // True of every method of the interface.
            method as "GET",
            `/${path}`,
            body?.raw === undefined ? {} : { text: body.raw }
          )
          // Some seeded items are of other accounts.
          assert.oneOf(reply.status, [200, 204, 403], `${name}: ${reply.text}`)
        }
      }
    }).pipe(Effect.provide(layerSocket())))
})

describe("the OpenAPI document of the control API", () => {
  it.effect("is served by the sandbox, with its own address", () =>
    Effect.gen(function*() {
      const { origin } = new URL((yield* Sandbox.Sandbox).baseUrl)
      const document = { ...OpenApi.fromApi(ControlApi), servers: [{ url: origin, description: "This sandbox" }] }
      assert.deepStrictEqual((yield* control("GET", "/openapi.json")).json, JSON.parse(JSON.stringify(document)))
    }).pipe(Effect.provide(layerSocket())))
})
