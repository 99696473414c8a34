/**
 * Fuzz tests: mutations of valid inputs. The tests run a few hundred of them with a fixed seed; `npm run fuzz -- TARGET SECONDS` runs a
 * target for that time with a new seed.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import { env } from "node:process"
import { inspect } from "node:util"
import { arrayOf, between, elementOf, oneOf, weighted } from "./Generators.ts"

export interface Target {
  /** Valid inputs. */
  readonly seeds: ReadonlyArray<string | Uint8Array>
  /** Texts with a meaning in the format. */
  readonly words?: ReadonlyArray<string>
  /** Fails with an error or a defect if the input violates a rule. `choice` is a random number for other inputs of the run. */
  readonly check: (input: Uint8Array, choice: number) => Effect.Effect<unknown, unknown>
  /** Inputs of a run in the tests (default: 60). */
  readonly runs?: number
}

// Line ends, encodings, numbers at the limits of their types, names of every object, and texts beyond the limits of most buffers.
const words: ReadonlyArray<string | Uint8Array> = [
  "",
  "\0",
  "\n",
  "\r",
  "\r\n",
  "\u2028",
  "\uFEFF",
  "\uFFFD",
  Uint8Array.of(0xff),
  Uint8Array.of(0xed, 0xa0, 0x80),
  Uint8Array.of(0xf0, 0x9f, 0x98),
  "😀",
  "\\",
  "\\ud800",
  "\"",
  "\"\"",
  "'",
  ",",
  ";",
  ":",
  "=",
  "#",
  "{",
  "}",
  "[",
  "]",
  "[".repeat(20_000),
  "{\"a\":".repeat(20_000),
  "null",
  "true",
  "-0",
  "1e999",
  "9007199254740993",
  "NaN",
  "__proto__",
  "constructor",
  "toString",
  "a".repeat(70_000),
  "-".repeat(1_000)
]

type Mutation =
  | { readonly kind: "replace"; readonly at: number; readonly byte: number }
  | { readonly kind: "remove"; readonly at: number; readonly length: number }
  | { readonly kind: "repeat"; readonly at: number; readonly length: number; readonly times: number }
  | { readonly kind: "insert"; readonly at: number; readonly word: string | Uint8Array }
  | { readonly kind: "truncate"; readonly at: number }

// Positions are parts of 2^16, so that they are in an input of any length.
const position = between(0, 0xffff)
const length = between(0, 64)

const mutation = (inserted: ReadonlyArray<string | Uint8Array>): Arbitrary.Arbitrary<Mutation> =>
  weighted<Mutation>(
    [2, Arbitrary.all({ kind: Arbitrary.Constant("replace"), at: position, byte: between(0, 255) })],
    [2, Arbitrary.all({ kind: Arbitrary.Constant("remove"), at: position, length })],
    [1, Arbitrary.all({ kind: Arbitrary.Constant("repeat"), at: position, length, times: oneOf(Arbitrary.Constant(2), between(0, 500)) })],
    [4, Arbitrary.all({ kind: Arbitrary.Constant("insert"), at: position, word: elementOf(inserted) })],
    [1, Arbitrary.all({ kind: Arbitrary.Constant("truncate"), at: position })]
  )

const mutate = (input: Buffer, change: Mutation): Buffer => {
  const at = Math.floor((change.at * (input.length + 1)) / 0x1_0000)
  const [before, after] = [input.subarray(0, at), input.subarray(at)]
  switch (change.kind) {
    case "replace":
      return Buffer.concat([before, Uint8Array.of(change.byte), after.subarray(1)])
    case "remove":
      return Buffer.concat([before, after.subarray(change.length)])
    case "repeat":
      return Buffer.concat([
        before,
        ...Array.from({ length: change.times }, () => after.subarray(0, change.length)),
        after.subarray(change.length)
      ])
    case "insert":
      return Buffer.concat([before, Buffer.from(change.word), after])
    case "truncate":
      return before
  }
}

// The slowest input of the targets takes less than a second.
const hangsAfter = Duration.minutes(1)

/** Checks a target. Fails with the smallest mutations that violate it. */
export const run = ({ check, runs = 60, seeds, words: own = [] }: Target): Promise<void> => {
  const inputs = Arbitrary.all({
    seed: elementOf(seeds),
    mutations: arrayOf(mutation([...words, ...own, ...own, ...seeds]), { maxLength: 6 }),
    choice: between(0, 0x7fff_ffff)
  })
  const batch = (options: Arbitrary.CheckOptions) =>
    Effect.flatMap(
      Arbitrary.checkEffect(inputs, ({ choice, mutations, seed }) => {
        const bytes = mutations.reduce(mutate, Buffer.from(seed))
        const violation = (cause: Cause.Cause<unknown>) =>
          `${Cause.pretty(cause)}\ninput: ${inspect(bytes.toString("latin1"), { maxStringLength: 2_000 })}`
        return Effect.suspend(() => check(bytes, choice)).pipe(
          Effect.timeout(hangsAfter),
          Effect.as(true),
          Effect.catchCause((cause) => Effect.fail(violation(cause)))
        )
      }, options),
      (result) => result._tag === "Passed" ? Effect.void : Effect.die(new Error(Arbitrary.formatCheckFailure(result)))
    )
  const seconds = Number(env["PLAZA_FUZZ_SECONDS"] ?? 0)
  return Effect.runPromise(
    seconds === 0
      ? batch({ runs })
      // Each batch draws a new seed.
      : Effect.asVoid(Effect.repeat(batch({ runs: 200 }), Schedule.during(Duration.seconds(seconds))))
  )
}

/** The value or the typed error of an effect. Dies if the effect does, or if it is interrupted. */
export const outcome = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Exit.Exit<A, E>, never, R> =>
  Effect.flatMap(Effect.exit(effect), (exit) =>
    Exit.isFailure(exit) && (Cause.hasDies(exit.cause) || Cause.hasInterrupts(exit.cause))
      ? Effect.die(new Error(`a defect: ${Cause.pretty(exit.cause)}`))
      : Effect.succeed(exit))

/** Every form in which a log or a report shows a value. */
export const shown = (value: unknown): string => {
  const json = JSON.stringify(value, (_, inner: unknown) => typeof inner === "bigint" ? String(inner) : inner)
  return [String(value), inspect(value, { depth: 12, maxStringLength: null, maxArrayLength: null }), json].join("\n")
}
