/**
 * How long an import is said to take still: never less than the allowance lets, for it goes in bursts.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Pace from "../src/Import/Pace.js"

const allowance = { limit: 120, windowMillis: 60_000 }
const seconds = (count: number) => count * 1_000

describe("the time that an import still takes", () => {
  it("is that of the windows to come, however quick the first one was", () => {
    // The first 120 of 10,000 are gone within three seconds; the last 40 go when 83 windows are over.
    expect(Pace.left(9_880, 120, seconds(3), allowance)).toBe(83 * seconds(60) - seconds(3))
    expect(Pace.words(10_000, 120, 0, seconds(3), allowance)).toBe("120 a minute · 1 h 23 min left")
  })

  it("is longer where rows take longer than the allowance asks for", () => {
    expect(Pace.left(600, 300, seconds(300), allowance)).toBe(seconds(600))
    expect(Pace.words(900, 300, 2, seconds(300), allowance)).toBe("60 a minute · 10 min left · 2 failed")
  })

  it("is absent without an estimate", () => {
    expect(Pace.words(50, 50, 0, seconds(2), allowance)).toBe("50 a minute")
    expect(Pace.words(5, 0, 0, 0, allowance)).toBe("0.0 a minute")
  })

  it("is formatted with few digits", () => {
    expect([0, 400, 89_000, 90_000, 3_540_000, 3_600_000, 86_400_000].map(Pace.span)).toEqual([
      "0 s",
      "1 s",
      "89 s",
      "2 min",
      "59 min",
      "1 h 0 min",
      "24 h 0 min"
    ])
  })
})
