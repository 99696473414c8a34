import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Duration, Option, Result } from "effect"
import * as Durations from "../src/Durations.ts"

const millis = (text: string) => Option.getOrUndefined(Option.map(Durations.fromText(text), Duration.toMillis))

describe("a duration in text", () => {
  // Fifteen years: Effect formats longer ones with some nanoseconds too many.
  it.prop("is parsed to the duration that was formatted, with and without blanks", [
    Generate.between(1, 5e11),
    Generate.boolean
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
    for (const [text, expected] of Object.entries(written)) {
      expect([text, millis(text)]).toEqual([text, expected])
    }
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
        "365251d",
        "1001 years",
        `${"9".repeat(400)}s`
      ]
    ) {
      expect([text, millis(text)]).toEqual([text, undefined])
    }
  })
})

const notUsable = `must be a finite duration of zero or more, such as "30 seconds"`
const notPositive = `must be a finite duration above zero, such as "30 seconds"`

/** As JavaScript code passes it. */
const parsed = (input: unknown) => {
  // False for most of these inputs, as in code without types.
  const untyped = input as Duration.Input
  return { any: Durations.parse(untyped), positive: Durations.parsePositive(untyped) }
}

describe("a duration in an option", () => {
  const usable: ReadonlyArray<readonly [input: Duration.Input, millis: number]> = [
    ["30 seconds", 30_000],
    ["1.5 hours", 5_400_000],
    ["1 milli", 1],
    ["250 micros", 0.25],
    [1.5, 1.5],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [5_000_000n, 5],
    [[1, 500_000_000], 1_500],
    [{ minutes: 1, seconds: 30 }, 90_000],
    [{ hours: 1, minutes: undefined }, 3_600_000],
    [Duration.days(10_000), 864_000_000_000],
    [Duration.nanos(1n), 0.000_001]
  ]

  it.each(usable)("%o is usable", (input, millis) => {
    const { any, positive } = parsed(input)
    expect(Result.map(any, Duration.toMillis)).toEqual(Result.succeed(millis))
    expect(positive).toEqual(any)
  })

  it.each([0, -0, 0n, "0 seconds", [0, 0], { seconds: 0 }, Duration.zero])("%o is zero", (input) => {
    const { any, positive } = parsed(input)
    expect(Result.map(any, Duration.toMillis)).toEqual(Result.succeed(0))
    expect(positive).toEqual(Result.fail(notPositive))
  })

  it.each([
    Number.NaN,
    -1,
    -0.001,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    -1n,
    10n ** 400n,
    "Infinity",
    "-Infinity",
    "-1 seconds",
    "-0.5 minutes",
    "",
    "30",
    "30s",
    "30 second s",
    "soon",
    "1e3 seconds",
    "NaN seconds",
    `${"9".repeat(400)} seconds`,
    [Number.NaN, 0],
    [0, Number.NaN],
    [-1, 0],
    [1, -2_000_000_000],
    [Number.POSITIVE_INFINITY, 0],
    [],
    [1],
    [1, 2, 3],
    ["1", 0],
    {},
    { second: 5 },
    { seconds: 5, minute: 1 },
    { seconds: -5 },
    { seconds: Number.NaN },
    { seconds: "soon" },
    { seconds: Number.POSITIVE_INFINITY },
    { minutes: 1, seconds: -61 },
    new Date(1_000),
    Duration.infinity,
    Duration.negativeInfinity,
    Duration.seconds(-1),
    Duration.nanos(-1n),
    Duration.subtract(Duration.seconds(1), Duration.seconds(2)),
    null,
    undefined,
    true,
    Symbol("30 seconds"),
    () => "30 seconds"
  ].map((input) => [input]))("%o is rejected with the requirement", (input) => {
    expect(parsed(input)).toEqual({ any: Result.fail(notUsable), positive: Result.fail(notPositive) })
  })

  it("in text has to be above zero where zero makes no sense", () => {
    expect(Result.map(Durations.parsePositiveText(" 1h30m "), Duration.toMillis)).toEqual(Result.succeed(5_400_000))
    for (const text of ["0", "0s", "0 seconds", "", "-5s", "-1 seconds", "soon", "Infinity", "NaN", `${"9".repeat(400)} days`]) {
      expect(Durations.parsePositiveText(text)).toEqual(Result.fail("must be a duration above zero, such as 30s or 1h30m"))
    }
  })

  it("in a very long text takes linear time", () => {
    expect(millis(`1d${" ".repeat(100_000)}x`)).toBeUndefined()
    expect(millis(`${"9".repeat(100_000)}x`)).toBeUndefined()
  })
})
