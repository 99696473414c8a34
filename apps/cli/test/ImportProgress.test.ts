/** The rate and the estimated time left of an import. */
import { describe, expect, it } from "@effect/vitest"
import { Duration } from "effect"
import * as ImportProgress from "../src/import/ImportProgress.ts"

const { hours, minutes, seconds } = Duration
const allowance = { limit: 120, window: minutes(1) }

describe("the estimated time left", () => {
  it("follows the rate limit, however fast the first window was", () => {
    // The first 120 of 10,000 rows take three seconds. The last 40 start after 83 windows.
    expect(ImportProgress.remaining(9_880, 120, seconds(3), allowance)).toEqual(seconds(83 * 60 - 3))
    expect(ImportProgress.format(10_000, 120, 0, seconds(3), allowance)).toBe("120 per minute · 1 h 23 min left")
  })

  it("follows the rate so far if it is below the rate limit", () => {
    expect(ImportProgress.remaining(600, 300, minutes(5), allowance)).toEqual(minutes(10))
    expect(ImportProgress.format(900, 300, 2, minutes(5), allowance)).toBe("60 per minute · 10 min left · 2 failed")
  })

  it("is absent without an estimate", () => {
    expect(ImportProgress.format(50, 50, 0, seconds(2), allowance)).toBe("50 per minute")
    expect(ImportProgress.format(5, 0, 0, Duration.zero, allowance)).toBe("0.0 per minute")
  })

  it("has few digits", () => {
    const durations = [Duration.zero, Duration.millis(400), seconds(89), seconds(90), minutes(59), hours(1), hours(24)]
    expect(durations.map(ImportProgress.formatDuration)).toEqual(["0 s", "1 s", "89 s", "2 min", "59 min", "1 h 0 min", "24 h 0 min"])
  })
})
