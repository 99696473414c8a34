/** The HTTP server in process, in virtual time: each failure of the client has its response. */
import { HttpApiBuilder, HttpApp, HttpServer } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { type Plaza, TestTime } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer } from "effect"
import { ShopApi } from "../src/http-server/ShopApi.ts"
import { ShopHandlers } from "../src/http-server/ShopHandlers.ts"
import { commitsOf, world } from "./support/World.ts"

const application = (options: Partial<Plaza.Options> = {}) =>
  Layer.mergeAll(
    HttpApiBuilder.api(ShopApi).pipe(Layer.provide(ShopHandlers)),
    HttpApiBuilder.Router.Live,
    HttpApiBuilder.Middleware.layer,
    HttpServer.layerContext
  ).pipe(Layer.provideMerge(world(options)))

/** Sends a request to the application, whose fibers run on the test's clock. */
const call = (method: string, path: string, body: unknown) =>
  Effect.gen(function*() {
    const app = yield* HttpApiBuilder.httpApp
    const handle = HttpApp.toWebHandlerRuntime(yield* Effect.runtime<Layer.Layer.Success<ReturnType<typeof application>>>())(app)
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    return yield* Effect.promise(async () => {
      const response = await handle(request)
      const text = await response.text()
      const json: unknown = text === "" ? undefined : JSON.parse(text)
      return { status: response.status, body: json }
    })
  })

const setStock = (product: string, pieces: number) => call("PUT", `/products/${product}/stock`, { pieces })
const announce = call("POST", "/announcements", { text: "Back in stock" })

describe("the HTTP server", () => {
  it.effect("sets a stock, and creates a post", () =>
    Effect.gen(function*() {
      expect(yield* setStock("MUG-BLUE-350", 7)).toEqual({ status: 204, body: undefined })
      const { body, status } = yield* announce
      const [post] = yield* commitsOf("createPost")
      expect([status, body]).toEqual([201, { post: post?.createdId }])
    }).pipe(TestTime.advancing, Effect.provide(application())))

  it.effect("responds with what the caller can do about a failure", () =>
    Effect.gen(function*() {
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const failing = (fault: Parameters<typeof addFault>[0]) => Effect.zipRight(Effect.zipRight(clearFaults, addFault(fault)), announce)
      expect(yield* setStock("NONE", 7)).toEqual({ status: 404, body: { _tag: "UnknownProduct", product: "NONE" } })
      expect(yield* setStock("MUG-BLUE-350", -1)).toMatchObject({ status: 400, body: { _tag: "HttpApiDecodeError" } })
      expect(yield* failing({ kind: "status", when: "before", status: 400, code: "VALIDATION_ERROR", message: "too long" }))
        .toMatchObject({ status: 422, body: { _tag: "Rejected", reason: "too long" } })
      // A response that may follow a created post.
      expect(yield* failing({ kind: "delay", when: "before", millis: 3_600_000 }))
        .toEqual({ status: 502, body: { _tag: "OutcomeUnknown" } })
      expect(yield* failing({ kind: "status", when: "before", status: 403, code: "PROFILE_INCOMPLETE" }))
        .toEqual({ status: 500, body: { _tag: "Misconfigured" } })
      expect(yield* failing({ kind: "status", when: "before", status: 429, retryAfter: "43200" }))
        .toMatchObject({ status: 503, body: { _tag: "TryLater", retryAfterSeconds: 43_200 } })
    }).pipe(TestTime.advancing, Effect.provide(application())))

  it.effect("creates a post once when the service fails after it has stored the post", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "status", when: "after", status: 503, path: "/posts", times: 2 })
      expect(yield* announce).toMatchObject({ status: 201 })
      expect(yield* commitsOf("createPost")).toHaveLength(1)
    }).pipe(TestTime.advancing, Effect.provide(application())))
})
