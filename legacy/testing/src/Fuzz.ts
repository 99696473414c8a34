/**
 * Fuzz tests: mutations of valid inputs. The tests run a few hundred of them with a fixed seed; `npm run fuzz -- TARGET SECONDS` runs a
 * target for that time with a new seed.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as fc from "effect/FastCheck"
import { env } from "node:process"
import { inspect } from "node:util"

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
const position = fc.nat({ max: 0xffff })

const mutation = (inserted: ReadonlyArray<string | Uint8Array>): fc.Arbitrary<Mutation> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("replace" as const), at: position, byte: fc.nat({ max: 255 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), at: position, length: fc.nat({ max: 64 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("repeat" as const),
        at: position,
        length: fc.nat({ max: 64 }),
        times: fc.oneof(fc.constant(2), fc.nat({ max: 500 }))
      })
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("insert" as const), at: position, word: fc.constantFrom(...inserted) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("truncate" as const), at: position }) }
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
const hangsAfterMillis = 60_000

/** Checks a target. Fails with the smallest mutations that violate it. */
export const run = ({ check, runs = 60, seeds, words: own = [] }: Target): Promise<void> => {
  const seconds = Number(env["PLAZA_FUZZ_SECONDS"] ?? 0)
  const texts = [...words, ...own, ...own, ...seeds]
  const input = fc.record({
    seed: fc.constantFrom(...seeds),
    mutations: fc.array(mutation(texts), { maxLength: 6 }),
    choice: fc.nat()
  })
  const property = fc.asyncProperty(input, async ({ choice, mutations, seed }) => {
    const bytes = mutations.reduce(mutate, Buffer.from(seed))
    const exit = await Effect.runPromiseExit(check(bytes, choice))
    if (Exit.isFailure(exit)) {
      throw new Error(
        `${Cause.pretty(exit.cause, { renderErrorCause: true })}\ninput: ${inspect(bytes.toString("latin1"), { maxStringLength: 2_000 })}`
      )
    }
  })
  return fc.assert(property, {
    timeout: hangsAfterMillis,
    ...(seconds === 0 ? { numRuns: runs } : { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: seconds * 1_000 })
  })
}

/** The value or the typed error of an effect. Dies if the effect does, or if it is interrupted. */
export const outcome = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Exit.Exit<A, E>, never, R> =>
  Effect.flatMap(Effect.exit(effect), (exit) =>
    Exit.isFailure(exit) && (Cause.isDie(exit.cause) || Cause.isInterrupted(exit.cause))
      ? Effect.die(new Error(`a defect: ${Cause.pretty(exit.cause, { renderErrorCause: true })}`))
      : Effect.succeed(exit))

/** Every form in which a log or a report shows a value. */
export const shown = (value: unknown): string => {
  const json = JSON.stringify(value, (_, inner: unknown) => typeof inner === "bigint" ? String(inner) : inner)
  return [String(value), inspect(value, { depth: 12, maxStringLength: null, maxArrayLength: null }), json].join("\n")
}
