import { describe, expect, it } from "@effect/vitest"
import { Plaza, Profiles, TestTime } from "@plaza/client"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import { Clock, Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { inVirtualTime, unusable } from "./support/AllowanceRules.ts"
import * as Database from "./support/Database.ts"
import { apiKey } from "./support/Sharing.ts"

describe("the allowance of a key, in a database", () => {
  inVirtualTime((allowance) => Layer.provide(Layer.orDie(RateLimitSql.layer({ ...allowance, name: "shared" })), Database.memory), 15)
})

describe("calls of several processes with one key", () => {
  it.effect("stay within the shared allowance", () =>
    Effect.gen(function*() {
      const sentAt: Array<number> = []
      const service = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.map(Clock.currentTimeMillis, (at) => {
            sentAt.push(at)
            return HttpClientResponse.fromWeb(request, Response.json({ id: "1" }))
          })
        )
      )
      const options = { apiKey, baseUrl: "https://service.example/open/v1" }
      const plaza = Plaza.layerWithoutRateLimit(options).pipe(
        Layer.provideMerge(RateLimitSql.layer({ apiKey, limit: 3 })),
        Layer.provide(service)
      )
      const calls = Effect.provide(
        Effect.flatMap(Profiles, ({ me }) => Effect.forEach([1, 2, 3], () => me, { concurrency: "unbounded", discard: true })),
        Layer.fresh(plaza)
      )
      yield* TestTime.advancing(Effect.all([calls, calls], { concurrency: "unbounded", discard: true }))
      expect(sentAt).toHaveLength(6)
      expect(sentAt.filter((at) => at < 60_000)).toHaveLength(3)
    }).pipe(Effect.scoped, Effect.provide(Database.memory)))
})

describe("a shared allowance with an invalid setting", () => {
  const failureOf = (allowance: Parameters<typeof RateLimitSql.layer>[0]) =>
    Effect.flip(Layer.build(RateLimitSql.layer(allowance))).pipe(Effect.scoped, Effect.provide(Database.memory))

  it.effect("fails with the name of the setting", () =>
    Effect.gen(function*() {
      for (const [setting, values] of Object.entries(unusable)) {
        for (const value of values) {
          expect(yield* failureOf({ apiKey, [setting]: value })).toMatchObject({ _tag: "InvalidSettings", setting })
        }
      }
      // The test passes what a program without types can pass.
      expect(yield* failureOf({ apiKey, lease: "90s" as "90 seconds" })).toMatchObject({ _tag: "InvalidSettings", setting: "lease" })
      expect(yield* failureOf({ apiKey, lease: "1 minute" })).toMatchObject({ _tag: "InvalidSettings", setting: "lease" })
      expect(yield* failureOf({ name: "" })).toMatchObject({ _tag: "InvalidSettings", setting: "name" })
    }))
})
