import { describe, expect, it } from "@effect/vitest"
import { Duration, FastCheck, Option } from "effect"
import * as Durations from "../src/Durations.ts"

const millis = (text: string) => Option.getOrUndefined(Option.map(Durations.fromText(text), Duration.toMillis))

describe("a duration in text", () => {
  // Fifteen years: Effect formats longer ones with some nanoseconds too many.
  it.prop("is parsed to the duration that was formatted, with and without blanks", [
    FastCheck.integer({ min: 1, max: 5e11 }),
    FastCheck.boolean()
  ], ([each, blanks]) => {
    const text = Duration.format(Duration.millis(each))
    expect(millis(blanks ? text : text.replaceAll(" ", ""))).toBe(each)
  })

  it("has short or long units", () => {
    const written = {
      "30s": 30_000,
      "5m": 300_000,
      "500ms": 500,
      "1h30m": 5_400_000,
      "2d": 172_800_000,
      "1.5h": 5_400_000,
      " 30 seconds ": 30_000,
      "1 minute": 60_000,
      "0s": 0
    }
    for (const [text, expected] of Object.entries(written)) expect([text, millis(text)]).toEqual([text, expected])
  })

  it("has a unit, its parts from the longest to the shortest, and is finite", () => {
    for (
      const text of [
        "",
        " ",
        "30",
        "-5s",
        "- 5 s",
        "30m1h",
        "1h1h",
        "5x",
        "s",
        "soon",
        "Infinity",
        "-1 seconds",
        "1e3s",
        "30ss",
        `${"9".repeat(400)}s`
      ]
    ) {
      expect([text, millis(text)]).toEqual([text, undefined])
    }
  })
})
