/** The default retry schedule. */
import { describe, expect, it } from "@effect/vitest"
import { Profiles } from "@plaza-legacy/client"
import { Effect } from "effect"
import * as Fake from "./support/FakeService.ts"
import * as Virtual from "./support/Virtual.ts"

const hour = 3_600_000
const me = Effect.flatMap(Profiles, ({ me }) => me)

/** A call of a service with scripted responses, each after a time and with a change of the wall clock. */
const call = (replies: ReadonlyArray<Fake.Reply>, millis: number, setByMillis: number) =>
  Effect.flatMap(Virtual.wallClock, ({ clock, setBy }) => {
    let requests = 0
    const layer = Fake.layerPlaza(
      () => Effect.as(Effect.zipRight(Effect.sleep(millis), Effect.sync(() => setBy(setByMillis))), replies[requests++] ?? { status: 503 }),
      { timeout: "1 hour" }
    )
    return Effect.map(Virtual.run(Effect.either(Effect.provide(me, layer)), "1 second"), (result) => ({ result, requests })).pipe(
      Effect.withClock(clock)
    )
  })

describe("the default retries", () => {
  for (const [name, setBy] of [["goes on", 0], ["is set forward by an hour", hour], ["is set back by an hour", -hour]] as const) {
    it.effect(`are four, while the wall clock ${name}`, () =>
      Effect.gen(function*() {
        const fault = { status: 503 }
        const { requests, result } = yield* call([fault, fault, fault, fault, Fake.json({ id: "1" })], 1_000, setBy)
        expect(result).toMatchObject({ _tag: "Right" })
        expect(requests).toBe(5)
      }))

    it.effect(`are over after two minutes, while the wall clock ${name}`, () =>
      Effect.gen(function*() {
        const { requests, result } = yield* call([], 50_000, setBy)
        expect(result).toMatchObject({ _tag: "Left", left: { status: 503 } })
        // A fourth retry would begin more than two minutes after the first failure.
        expect(requests).toBe(4)
      }))
  }
})
