/** Options of single calls: on Effects, on Streams, and with invalid durations. */
import { describe, expect, it } from "@effect/vitest"
import { type ClientError, Plaza, Posts, Profiles } from "@plaza-legacy/client"
import { Duration, Effect, Fiber, Layer, Option, Redacted, Schedule, Stream, TestClock } from "effect"
import { current } from "../src/CallOptions.ts"
import * as Fake from "./support/FakeService.ts"
import * as Virtual from "./support/Virtual.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)
const posts = Stream.unwrap(Effect.map(Posts, ({ list }) => list({ pageSize: 1 })))
const page = (cursor: string | null) => Fake.json({ data: [{ id: "1" }], next_cursor: cursor })

describe("the retry schedule", () => {
  it.effect("of a stream applies to every page, also to prefetched pages, and not to the calls of its consumer", () =>
    Effect.gen(function*() {
      const { calls, layer } = Fake.scripted([page("a"), page("b"), { status: 503 }])
      const consumer: Array<boolean> = []
      const list = posts.pipe(
        Plaza.withRetry(Schedule.stop),
        Stream.tap(() => Effect.map(current, ({ retry }) => consumer.push(retry !== undefined)))
      )
      const failure = yield* Virtual.run(Effect.flip(Effect.provide(Stream.runDrain(list), layer)))
      expect(failure).toMatchObject({ status: 503 })
      expect(calls).toHaveLength(3)
      expect(consumer).toEqual([false, false])
    }))

  it.effect("receives the failure", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const twice = Schedule.recurs(5).pipe(
        Schedule.zipRight(Schedule.identity<ClientError.AttemptFailure>()),
        Schedule.whileInput((failure: ClientError.AttemptFailure) => {
          seen.push(failure._tag)
          return failure._tag === "ConnectionLost"
        })
      )
      const { calls, layer } = Fake.scripted([Fake.lost, { status: 503 }, Fake.json({ id: "1" })])
      const failure = yield* Virtual.run(Effect.flip(Effect.provide(Plaza.withRetry(twice)(me), layer)))
      expect(failure).toMatchObject({ status: 503, attempts: 2 })
      expect(seen).toEqual(["ConnectionLost", "UnrecognizedError"])
      expect(calls).toHaveLength(2)
    }))
})

describe("the timeout", () => {
  /** Whether the calls have ended after each of some times. */
  const endedAt = (calls: Effect.Effect<unknown, unknown, Plaza.Services>, times: ReadonlyArray<Duration.DurationInput>) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.flip(Effect.provide(calls, Fake.scripted(["hang"], { timeout: "1 hour" }).layer)))
      const ended: Array<boolean> = []
      for (const time of times) {
        yield* TestClock.adjust(time)
        ended.push(Option.isSome(yield* Fiber.poll(fiber)))
      }
      return { ended, failure: yield* Fiber.join(fiber) }
    })
  const once = Plaza.withRetry(Schedule.stop)

  for (
    const [name, calls] of [
      ["a call", once(Plaza.withTimeout("1 second")(me))],
      ["a list", Stream.runDrain(once(Plaza.withTimeout("1 second")(posts)))],
      ["a call, where one is set further out as well,", once(me.pipe(Plaza.withTimeout("1 second"), Plaza.withTimeout("1 minute")))]
    ] as const
  ) {
    it.effect(`ends ${name} that has no response by then, whatever the layer's timeout is`, () =>
      Effect.gen(function*() {
        const { ended, failure } = yield* endedAt(calls, ["999 millis", "1 millis"])
        expect(ended).toEqual([false, true])
        expect(failure).toMatchObject({ _tag: "AttemptTimeout", attempts: 1 })
      }))
  }

  it.effect("applies to each attempt", () =>
    Effect.gen(function*() {
      const twice = Plaza.withRetry(Schedule.recurs(1))(Plaza.withTimeout("1 second")(me))
      const { ended, failure } = yield* endedAt(twice, ["1999 millis", "1 millis"])
      expect(ended).toEqual([false, true])
      expect(failure).toMatchObject({ _tag: "AttemptTimeout", attempts: 2 })
    }))
})

// Durations that the types don't allow come from programs in JavaScript, and from calculations.
const wrong: ReadonlyArray<unknown> = [
  "30s",
  "soon",
  "-1 seconds",
  Number.NaN,
  -1,
  Number.NEGATIVE_INFINITY,
  Number.POSITIVE_INFINITY,
  "Infinity",
  Duration.infinity,
  [0, -5],
  -1n
]

// The test passes what a program without types can pass.
const untyped = (value: unknown) => value as Duration.DurationInput

describe("an invalid duration", () => {
  it.effect("fails the layer with the option's name and a valid example", () =>
    Effect.gen(function*() {
      for (const setting of ["timeout", "maxWait", "rateWindow"]) {
        for (const value of wrong) {
          const layer = Plaza.layer({ baseUrl: Fake.baseUrl, apiKey: Redacted.make(Fake.key), [setting]: untyped(value) }).pipe(
            Layer.provide(Fake.layerHttpClient(() => Effect.succeed(Fake.json({}))))
          )
          const failure = yield* Effect.flip(Effect.provide(me, layer))
          expect(failure, `${setting} ${String(value)}`).toMatchObject({ _tag: "InvalidSettings", setting })
          expect(failure.message).toContain(`"30 seconds"`)
        }
      }
    }))

  it.effect("makes the calls within fail with InvalidInput, without a request", () =>
    Effect.gen(function*() {
      const { calls, layer } = Fake.scripted([page(null)])
      for (const value of wrong) {
        for (
          const [field, set] of [["maxWait", Plaza.withMaxWait(untyped(value))], ["timeout", Plaza.withTimeout(untyped(value))]] as const
        ) {
          const fromCall = yield* Effect.flip(Effect.provide(set(me), layer))
          const fromList = yield* Effect.flip(Effect.provide(Stream.runDrain(set(posts)), layer))
          expect(fromCall).toMatchObject({ _tag: "InvalidInput", field })
          expect(fromList).toMatchObject({ _tag: "InvalidInput", field })
        }
      }
      expect(calls).toHaveLength(0)
    }))

  it.effect("is not a maximum wait of zero, which means no wait", () =>
    Effect.gen(function*() {
      const { layer } = Fake.scripted([Fake.json({ id: "1" })])
      expect(yield* Effect.provide(Plaza.withMaxWait(0)(me), layer)).toEqual({ id: "1" })
      expect(yield* Effect.provide(Plaza.withTimeout("2 seconds")(current), layer)).toMatchObject({ timeout: Duration.seconds(2) })
    }))
})
