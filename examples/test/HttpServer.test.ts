/** The HTTP server in process, in virtual time: each failure of the client has its response. */
import { describe, expect, it } from "@effect/vitest"
import { TestTime } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Effect } from "effect"
import { makeCall } from "./support/Shop.ts"
import { commitsOf, world } from "./support/World.ts"

const shop = Effect.map(makeCall, (call) => ({
  setStock: (product: string, pieces: number) => call("PUT", `/products/${product}/stock`, { pieces }),
  announce: call("POST", "/announcements", { text: "Back in stock" })
}))

describe("the HTTP server", () => {
  it.effect("sets a stock, and creates a post", () =>
    Effect.gen(function*() {
      const { announce, setStock } = yield* shop
      expect(yield* setStock("MUG-BLUE-350", 7)).toEqual({ status: 204, body: undefined })
      const { body, status } = yield* announce
      const [post] = yield* commitsOf("createPost")
      expect([status, body]).toEqual([201, { post: post?.createdId }])
    }).pipe(TestTime.advancing, Effect.provide(world())))

  it.effect("responds with what the caller can do about a failure", () =>
    Effect.gen(function*() {
      const { announce, setStock } = yield* shop
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const failing = (fault: Parameters<typeof addFault>[0]) => clearFaults.pipe(Effect.andThen(addFault(fault)), Effect.andThen(announce))
      expect(yield* setStock("NONE", 7)).toEqual({ status: 404, body: { _tag: "UnknownProduct", product: "NONE" } })
      expect(yield* setStock("MUG-BLUE-350", -1)).toMatchObject({
        status: 400,
        body: { _tag: "InvalidRequest", reason: "Expected a value greater than or equal to 0\n  at [\"pieces\"]" }
      })
      expect(yield* failing({ kind: "status", when: "before", status: 400, code: "VALIDATION_ERROR", message: "too long" }))
        .toMatchObject({ status: 422, body: { _tag: "Rejected", reason: "too long" } })
      // A response that may follow a created post.
      expect(yield* failing({ kind: "delay", when: "before", millis: 3_600_000 }))
        .toEqual({ status: 502, body: { _tag: "OutcomeUnknown" } })
      expect(yield* failing({ kind: "status", when: "before", status: 403, code: "PROFILE_INCOMPLETE" }))
        .toEqual({ status: 500, body: { _tag: "Misconfigured" } })
      expect(yield* failing({ kind: "status", when: "before", status: 429, retryAfter: "43200" }))
        .toMatchObject({ status: 503, body: { _tag: "TryLater", retryAfterSeconds: 43_200 } })
    }).pipe(TestTime.advancing, Effect.provide(world())))

  it.effect("creates a post once when the service fails after it has stored the post", () =>
    Effect.gen(function*() {
      const { announce } = yield* shop
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "status", when: "after", status: 503, path: "/posts", times: 2 })
      expect(yield* announce).toMatchObject({ status: 201 })
      expect(yield* commitsOf("createPost")).toHaveLength(1)
    }).pipe(TestTime.advancing, Effect.provide(world())))
})
