/** The programs of the sandbox's documentation. */
import { describe, expect, it } from "@effect/vitest"
import { Latitude, Sandbox } from "@plaza/sandbox"
import { Arbitrary, Effect, Redacted } from "effect"
import { HttpClient } from "effect/http"
import { documentOnly, withQuota } from "../src/SandboxDocumentOnly.ts"
import { failsAfterCommit } from "../src/SandboxFault.ts"
import { anyService, delayedLists, drawnFromSeed, wholeSeconds } from "../src/SandboxLatitude.ts"

const latitude = Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.latitude)

const statusOf = (path: string) =>
  Effect.gen(function*() {
    const { apiKey, baseUrl } = yield* Sandbox.Sandbox
    const client = yield* HttpClient.HttpClient
    const response = yield* client.get(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${Redacted.value(apiKey)}` } })
    return response.status
  })

describe("the documentation of the sandbox", () => {
  it.effect("shows a post that is created although its response is a failure", () =>
    Effect.gen(function*() {
      expect(yield* failsAfterCommit).toEqual({ status: 500, newest: "hello" })
    }))

  it.effect("sets a latitude", () =>
    Effect.gen(function*() {
      expect(yield* Effect.provide(latitude, delayedLists)).toMatchObject({ listLagMillis: 700, createdAtPrecision: "milliseconds" })
      expect(yield* Effect.provide(latitude, drawnFromSeed)).toEqual(Latitude.fromSeed(42))
      expect(yield* Effect.provide(Effect.andThen(wholeSeconds, latitude), delayedLists))
        .toMatchObject({ listLagMillis: 700, createdAtPrecision: "seconds" })
      const drawn = yield* Arbitrary.sampleEffect(anyService, { count: 20, seed: 1 })
      expect(new Set(drawn.map((latitude) => JSON.stringify(latitude))).size).toBeGreaterThan(10)
    }))

  it.effect.each([["alone", documentOnly], ["with another quota", withQuota]] as const)("serves only what the document shows, %s",
    ([, layer]) =>
      Effect.gen(function*() {
        expect([yield* statusOf("/me/posts"), yield* statusOf("/store/orders")]).toEqual([200, 404])
      }).pipe(Effect.provide(layer)))
})
