import { describe, expect, it } from "@effect/vitest"
import { Duration } from "effect"
import { BurstLimit } from "../src/internal/rate-limit/BurstLimit.ts"

const minute = Duration.minutes(1)

describe("the backoff after refusals without Retry-After", () => {
  it("doubles from one interval to a window, and starts again after an accepted request", () => {
    const burstLimit = new BurstLimit(120, minute)
    const pauses = Array.from({ length: 10 }, (_, at) => Duration.toMillis(burstLimit.backoff(at, at)))
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
    burstLimit.accepted(10)
    expect(Duration.toMillis(burstLimit.backoff(11, 11))).toBe(500)
  })

  it("is no shorter than an interval for a request that was sent before the last pause", () => {
    const burstLimit = new BurstLimit(120, minute)
    burstLimit.backoff(10, 5)
    burstLimit.accepted(11)
    expect(Duration.toMillis(burstLimit.backoff(12, 6))).toBe(500)
  })

  it("is a window if the limit is one request", () => {
    const burstLimit = new BurstLimit(1, minute)
    expect(burstLimit.backoff(0, 0)).toEqual(minute)
  })
})
