import { describe, expect, it } from "@effect/vitest"
import { Effect, Logger, References } from "effect"
import * as RepeatedFailure from "../../src/fleet/operations/RepeatedFailure.ts"

describe("a failure that repeats", () => {
  it.effect("is a warning when it begins, and again after a success", () =>
    Effect.gen(function*() {
      const levels: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void levels.push(`${logLevel} ${String(message)}`))
      const logged = RepeatedFailure.logged("runner.unrecorded")
      const fail = Effect.fail({ message: "the table is missing" })
      yield* Effect.forEach([fail, fail, Effect.void, fail], logged).pipe(
        Effect.provide(Logger.layer([logger])),
        Effect.provideService(References.MinimumLogLevel, "All")
      )
      expect(levels).toEqual(["Warn runner.unrecorded", "Debug runner.unrecorded", "Warn runner.unrecorded"])
    }))
})
