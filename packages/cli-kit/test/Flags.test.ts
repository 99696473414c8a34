/**
 * Values of flags and arguments: their texts in help, and one sentence about an invalid value.
 */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { between, text as anyText } from "@plaza/testing/Generators"
import { Effect, Result } from "effect"
import type * as Argument from "effect/cli/Argument"
import type * as Flag from "effect/cli/Flag"
import * as Flags from "../src/Flags.ts"
import { run } from "./support/Shop.ts"

/** The value that these words give, or the message of the failure. */
const valueOf = <A>(flag: Flag.Flag<A>, name: string, ...values: ReadonlyArray<string>) =>
  flag.parse({ flags: { [name]: values }, arguments: [] }).pipe(
    Effect.match({ onFailure: ({ message }) => message, onSuccess: ([, value]) => value }),
    Effect.provide(NodeServices.layer)
  )
const argumentOf = <A>(argument: Argument.Argument<A>, ...words: ReadonlyArray<string>) =>
  argument.parse({ flags: {}, arguments: words }).pipe(
    Effect.match({ onFailure: ({ message }) => message, onSuccess: ([, value]) => value }),
    Effect.provide(NodeServices.layer)
  )

describe("a whole number", () => {
  const few = Flags.wholeNumber("limit", { description: "How many.", min: 1, max: 100, default: 20 })
  const many = Flags.wholeNumber("port", { description: "The port.", min: 0 })

  it.effect.prop("within its bounds is read as it is written", [between(1, 100)],
    ([number]) =>
      Effect.map(valueOf(few, "limit", String(number)), (value) => {
        expect(value).toBe(number)
      }))

  it.effect.prop("that is anything else fails with its bounds", [anyText],
    ([written]) =>
      Effect.map(valueOf(few, "limit", written), (value) => {
        if (/^\d{1,16}$/.test(written)) return
        expect(value).toMatch(/^--limit must be a whole number from 1 to 100, not "/)
      }))

  it.effect("names what is wrong in one sentence", () =>
    Effect.gen(function*() {
      for (const wrong of ["0", "101", "-5", "1.5", "1e1", "0x1", " 1", "", "٣"]) {
        expect(yield* valueOf(few, "limit", wrong)).toBe(`--limit must be a whole number from 1 to 100, not "${wrong.trim()}"`)
      }
      expect(yield* valueOf(many, "port", "-1")).toBe(`--port must be a whole number of at least 0, not "-1"`)
      // The last number that is exact.
      expect(yield* valueOf(many, "port", "9007199254740991")).toBe(9_007_199_254_740_991)
      expect(yield* valueOf(many, "port", "9007199254740992")).toBe(`--port must be a whole number of at least 0, not "9007199254740992"`)
    }))

  it.effect("has its default if it is absent, or is required", () =>
    Effect.gen(function*() {
      expect(yield* valueOf(few, "limit")).toBe(20)
      expect(yield* valueOf(many, "port")).toMatch(/port/)
      expect(Result.getOrThrow(Flags.parseWholeNumber("N", { min: 0 })("007"))).toBe(7)
    }))
})

describe("a flag without a value", () => {
  it.effect("is false if it is absent", () =>
    Effect.gen(function*() {
      const flag = Flags.boolean("draft", "Don't publish it.")
      expect([yield* valueOf(flag, "draft"), yield* valueOf(flag, "draft", "true"), yield* valueOf(flag, "draft", "false")])
        .toEqual([false, true, false])
    }))
})

describe("a repeatable flag", () => {
  it.effect("has all its values, and none if it is absent", () =>
    Effect.gen(function*() {
      const flag = Flags.repeatable("media", "FILE", "A file.")
      expect(yield* valueOf(flag, "media", "a", "b", "a")).toEqual(["a", "b", "a"])
      expect(yield* valueOf(flag, "media")).toEqual([])
    }))

  it.effect("refuses an empty value, which is most likely an unset variable", () =>
    Effect.gen(function*() {
      for (const words of [["--media="], ["--media", ""], ["--media", "a", "--media="]]) {
        expect(yield* run("things", "deep", "create", "1", "--text", "a", ...words)).toMatchObject({
          code: 2,
          stderr: "shop: --media requires a value, but it is empty: remove the option, or give it a value\n",
          received: undefined
        })
      }
    }))
})

describe("a parsed value", () => {
  const even: Flags.Parse<number> = (written) =>
    Number(written) % 2 === 0 ? Result.succeed(Number(written)) : Result.fail(`${written} is odd`)

  it.effect("has the message of its parser as it is", () =>
    Effect.gen(function*() {
      const flag = Flags.parsed("even", "N", "A number.", even)
      expect([yield* valueOf(flag, "even", "4"), yield* valueOf(flag, "even", "3")]).toEqual([4, "3 is odd"])
      const argument = Flags.parsedArgument("EVEN", "A number.", even)
      expect([yield* argumentOf(argument, "4"), yield* argumentOf(argument, "3")]).toEqual([4, "3 is odd"])
    }))

  it.effect("is reported as one sentence", () =>
    Effect.gen(function*() {
      expect((yield* run("things", "deep", "create", "1", "--text", "a", "--limit", "many\u001b[1A\n")).stderr).toBe(
        `shop: --limit must be a whole number from 1 to 100, not "many␛[1A"\n`
      )
    }))
})
