import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as Pace from "../src/internal/rate-limit/Pace.js"

const minute = Duration.minutes(1)

describe("the backoff after refusals without Retry-After", () => {
  it.effect("doubles from one interval to a window, and starts again after an accepted request", () =>
    Effect.map(Pace.make(120, minute), (pace) => {
      const pauses = Array.from({ length: 10 }, (_, at) => Duration.toMillis(pace.backoff(at, at)))
      expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
      pace.accepted(10)
      expect(Duration.toMillis(pace.backoff(11, 11))).toBe(500)
    }))

  it.effect("is no shorter than an interval for a request that was sent before the last pause", () =>
    Effect.map(Pace.make(120, minute), (pace) => {
      pace.backoff(10, 5)
      pace.accepted(11)
      expect(Duration.toMillis(pace.backoff(12, 6))).toBe(500)
    }))

  it.effect("is a window if the limit is one request", () =>
    Effect.map(Pace.make(1, minute), (pace) => {
      expect(pace.backoff(0, 0)).toEqual(minute)
    }))
})
