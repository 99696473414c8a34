/**
 * Assumptions: their defaults, how they are changed, and their tables in the documentation.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, layer } from "@effect/vitest"
import { Latitude, Sandbox } from "@plaza/sandbox"
import { Effect, Layer, Result } from "effect"
import * as FileSystem from "effect/FileSystem"
import { pages } from "../scripts/reference.ts"
import { allScopes, decode, defaults, fixedAssumptions, meanings, merge } from "../src/Assumptions.ts"
import { openApi, operationsOf } from "../src/OpenApiDocument.ts"
import { call, field, layerInProcess, layerSocket, refusal, someone } from "./support.ts"

const document = [
  "What the service does",
  "Resources and their fields",
  "States and transitions",
  "Endpoints",
  "Authentication",
  "Errors",
  "Limits"
]

describe("the documentation", () => {
  it.each(pages)("has the current tables: $name", ({ committed, name, text }) => {
    assert.strictEqual(committed, text, `docs/reference/${name}: run \`pnpm --filter @plaza/sandbox reference\``)
  })

  it("explains every value", () => {
    assert.deepStrictEqual(Object.keys(meanings), Object.keys(defaults))
  })

  it("names the section of the document for every built-in assumption, and each id once", () => {
    assert.strictEqual(new Set(fixedAssumptions.map(({ id }) => id)).size, fixedAssumptions.length)
    for (const { id, section } of fixedAssumptions) {
      assert.include(document, section, id)
    }
  })
})

describe("the default scopes", () => {
  it("have an entry for every operation: without one any key may call it", () => {
    const operations = operationsOf(openApi(defaults)).map(({ operation }) => operation.operationId)
    assert.deepStrictEqual(Object.keys(defaults.scopes).toSorted(), operations.toSorted())
  })
})

describe("assumptions in JSON", () => {
  it("are partial, and merged over the defaults, scopes operation by operation", () => {
    const read = Result.getOrThrowWith(decode({ maxStock: 5, rateWindow: 1_000, scopes: { getMe: null, getUser: "people:read" } }),
      (problem) => new Error(problem))
    const merged = merge(defaults, read)
    assert.strictEqual(merged.maxStock, 5)
    assert.strictEqual(merged.maxTextLength, defaults.maxTextLength)
    assert.deepStrictEqual(
      [merged.scopes["getMe"], merged.scopes["getUser"], merged.scopes["createPost"]],
      [undefined, "people:read", "posts:write"]
    )
    assert.strictEqual(allScopes.length, 13)
  })

  it("are refused with one sentence that names the invalid field", () => {
    for (
      const [data, problem] of [
        [{ maxStok: 5 }, /^"maxStok" is not a known assumption: did you mean "maxStock"\?$/],
        [{ maxStock: "many" }, /^"maxStock" has an invalid value: /],
        [{ maxStock: -1 }, /^"maxStock" has an invalid value: /],
        [{ countRefused: 1 }, /^"countRefused" has an invalid value: /],
        [{ defaultPageSize: 101 }, /^"defaultPageSize" has an invalid value: /],
        [{ scopes: { getMee: "a:b" } }, /^"scopes\.getMee" is not a known assumption: did you mean "getMe"\?$/],
        [{ scopes: { getMe: 1 } }, /^"scopes\.getMe" has an invalid value: /],
        [[], /./],
        [null, /./],
        ["text", /./]
      ] as const
    ) {
      const read = decode(data)
      assert.isTrue(Result.isFailure(read), JSON.stringify(data))
      assert.match(Result.isFailure(read) ? read.failure : "", problem)
      assert.notInclude(Result.isFailure(read) ? read.failure : "", "\n")
    }
  })
})

describe("a file of assumptions", () => {
  const withFile = <A, E>(text: string, use: (path: string) => Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* fs.makeTempDirectoryScoped()}/assumptions.json`
      yield* fs.writeFileString(path, text)
      return yield* use(path)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

  it.effect("changes the assumptions of a sandbox; options of the program take precedence", () =>
    withFile(`\uFEFF{ "maxTextLength": 3, "maxStock": 7 }`, (assumptionsFile) =>
      Effect.gen(function*() {
        assert.strictEqual(refusal(yield* call("POST", "/posts", { json: { text: "four" } })), "400 VALIDATION_ERROR text")
        assert.strictEqual((yield* call("PATCH", "/store/products/0042/stock", { json: { stock: 8 } })).status, 200)
      }).pipe(Effect.provide(layerInProcess({ assumptionsFile, assumptions: { maxStock: 9 } })))))

  it.effect("sets the latitude too; fields of the program's latitude take precedence", () =>
    withFile(`{ "maxStock": 7, "latitude": { "createStatus": 201, "listOrder": "oldestFirst" } }`, (assumptionsFile) =>
      Effect.gen(function*() {
        const { latitude, reset, setLatitude } = yield* Sandbox.Sandbox
        const expected = { ...Latitude.defaults, createStatus: 201, listOrder: "shuffled" }
        assert.deepStrictEqual(yield* latitude, expected)
        assert.strictEqual(refusal(yield* call("PATCH", "/store/products/0042/stock", { json: { stock: 8 } })),
          "400 VALIDATION_ERROR stock")
        yield* setLatitude({ createStatus: 204 })
        yield* reset
        assert.deepStrictEqual(yield* latitude, expected)
      }).pipe(Effect.provide(layerInProcess({ assumptionsFile, latitude: { listOrder: "shuffled" } })))))

  for (
    const [text, problem] of [
      ["{", "is not valid JSON"],
      ["[]", "must contain a JSON object"],
      [`{ "maxStok": 1 }`, `"maxStok" is not a known assumption: did you mean "maxStock"?`],
      [`{ "latitude": { "listLag": 1 } }`, `the service variant in it is invalid: "listLag" is not one of its fields`],
      [`{ "latitude": { "listOrder": "random" } }`, `the service variant in it is invalid: "listOrder" must be one of newestFirst`],
      [`{ "latitude": 42 }`, "the service variant in it is invalid: it must be a JSON object"]
    ] as const
  ) {
    it.effect(`prevents the sandbox from starting when it is invalid: ${text}`, () =>
      withFile(text, (assumptionsFile) =>
        Effect.gen(function*() {
          const { message } = yield* Effect.flip(Effect.scoped(Layer.build(Sandbox.layerHttpClient({ assumptionsFile }))))
          assert.include(message, `the assumptions ${assumptionsFile} can't be used: `)
          assert.include(message, problem)
        })))
  }
})

layer(
  layerInProcess({
    assumptions: { maxBotNameLength: 3, maxKeyNameLength: 4, maxFileNameLength: 5, maxJsonDepth: 2, privateVisibleToFollowers: false }
  })
)(
  "a changed assumption",
  (it) => {
    it.effect("takes effect: limits of names, the depth of JSON, and the visibility of a private account", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const newcomer = yield* sandbox.createAccount({ access: "none" })
        const request = yield* Effect.flip(sandbox.requestAccess(newcomer.id, { useCase: "a", botName: "four" }))
        assert.deepStrictEqual(request.details, { field: "botName" })
        assert.deepStrictEqual((yield* Effect.flip(sandbox.createKey("1001", { name: "fives" }))).code, "VALIDATION_ERROR")
        const form = new FormData()
        form.append("file", new File(["x"], "six.tx", { type: "a/b" }))
        assert.strictEqual(refusal(yield* call("POST", "/media", { form })), "400 VALIDATION_ERROR file")
        assert.strictEqual(refusal(yield* call("POST", "/stories", { json: { a: { b: { c: ["x".repeat(500)] } } } })),
          "400 VALIDATION_ERROR body")
        const { id } = yield* sandbox.createAccount({ availability: "private" })
        yield* sandbox.setRelation("1001", id, { follows: true })
        assert.strictEqual(refusal(yield* call("GET", `/users/${id}`)), "403 USER_UNAVAILABLE")
      }))
  }
)

layer(layerInProcess({ assumptions: { maxStock: 5, defaultPageSize: 2, maxShippingFieldLength: 3, maxTextLength: 4 } }))(
  "a changed limit",
  (it) => {
    it.effect("takes effect for stock, pages, shipments and texts", () =>
      Effect.gen(function*() {
        const refused = (method: "POST" | "PATCH", path: string, json: object) => Effect.map(call(method, path, { json }), refusal)
        assert.strictEqual(yield* refused("PATCH", "/store/products/0042/stock", { stock: 6 }), "400 VALIDATION_ERROR stock")
        assert.strictEqual(yield* refused("POST", "/store/orders/000021/ship", { carrier: "four", trackingNumber: "1" }),
          "400 VALIDATION_ERROR carrier")
        for (const path of ["/posts", "/posts/9007199254740993/comments", "/conversations/conv_301/messages"]) {
          assert.strictEqual(yield* refused("POST", path, { text: "fives" }), "400 VALIDATION_ERROR text")
        }
        for (const path of ["/me/posts", "/conversations"]) {
          assert.lengthOf(field(yield* call("GET", path), "data") as ReadonlyArray<unknown>, 2)
        }
      }))
  }
)

layer(layerInProcess({ assumptions: { requestsPerWindow: 2, rateWindow: defaults.rateWindow, countRefused: true } }))(
  "a rate that counts refused requests",
  (it) => {
    it.effect("is free again one window after the last of them", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        yield* Effect.replicateEffect(call("GET", "/me"), 2)
        yield* sandbox.advanceClock("30 seconds")
        assert.strictEqual(refusal(yield* call("GET", "/me")), "429 RATE_LIMITED")
        yield* sandbox.advanceClock("30 seconds")
        assert.strictEqual((yield* call("GET", "/me")).status, 200)
        assert.strictEqual((yield* call("GET", "/me")).headers["retry-after"], "60")
      }))
  }
)

for (
  const [way, world] of [
    ["in process", layerInProcess({ assumptions: { maxBodyBytes: 500 } })],
    ["over a socket", layerSocket({ assumptions: { maxBodyBytes: 500 } })]
  ] as const
) {
  layer(world, { excludeTestServices: true })(`a body that the endpoint does not take, ${way}`, (it) => {
    it.effect("is ignored up to the size limit of bodies, and refused beyond it", () =>
      Effect.gen(function*() {
        const { id } = yield* someone
        for (const [path, status] of [[`/users/${id}/follow`, 204], ["/posts/9007199254740993/like", 204]] as const) {
          for (const text of ["", "{", `{"a":1}`, "x".repeat(500)]) {
            const reply = yield* call("POST", path, { text, headers: { "content-type": "text/plain" } })
            assert.strictEqual(reply.status, status, `${path} ${text}`)
          }
          assert.strictEqual(refusal(yield* call("POST", path, { text: "x".repeat(501) })), "413 PAYLOAD_TOO_LARGE")
        }
        assert.strictEqual(refusal(yield* call("DELETE", "/posts/9007199254740993", { text: "x".repeat(501) })), "413 PAYLOAD_TOO_LARGE")
      }))

    it.effect("keeps a property named __proto__ in a story, and pollutes no prototype", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const text = `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"a":[{"__proto__":1}]}`
        assert.strictEqual((yield* call("POST", "/stories", { text })).status, 200)
        assert.strictEqual(JSON.stringify((yield* sandbox.state).stories.at(-1)?.payload), text)
        assert.isFalse("polluted" in {})
      }))
  })
}
