/** The default retry schedule. */
import { describe, expect, it } from "@effect/vitest"
import { Profiles, TestTime } from "@plaza/client"
import { Clock, Effect } from "effect"
import * as Fake from "./support/FakeService.ts"
import * as Virtual from "./support/Virtual.ts"

const hour = 3_600_000
const me = Effect.flatMap(Profiles, ({ me }) => me)

/** A call of a service with scripted responses, each after a time and with a change of the wall clock. */
const call = (replies: ReadonlyArray<Fake.Reply>, millis: number, setByMillis: number) =>
  TestTime.advancing(Effect.flatMap(Virtual.wallClock, ({ clock, setBy }) => {
    let requests = 0
    const layer = Fake.layerPlaza(
      () => Effect.as(Effect.andThen(Effect.sleep(millis), Effect.sync(() => setBy(setByMillis))), replies[requests++] ?? { status: 503 }),
      { timeout: "1 hour" }
    )
    return Effect.result(Effect.provide(me, layer)).pipe(
      Effect.map((result) => ({ result, requests })),
      Effect.provideService(Clock.Clock, clock)
    )
  }))

describe("the default retries", () => {
  for (const [name, setBy] of [["goes on", 0], ["is set forward by an hour", hour], ["is set back by an hour", -hour]] as const) {
    it.effect(`are four, while the wall clock ${name}`, () =>
      Effect.gen(function*() {
        const fault = { status: 503 }
        const { requests, result } = yield* call([fault, fault, fault, fault, Fake.json({ id: "1" })], 1_000, setBy)
        expect(result).toMatchObject({ _tag: "Success" })
        expect(requests).toBe(5)
      }))

    it.effect(`are over after two minutes, while the wall clock ${name}`, () =>
      Effect.gen(function*() {
        const { requests, result } = yield* call([], 50_000, setBy)
        expect(result).toMatchObject({ _tag: "Failure", failure: { status: 503 } })
        // A fourth retry would begin more than two minutes after the first failure.
        expect(requests).toBe(4)
      }))
  }
})
