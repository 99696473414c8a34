/** Virtual time for applications. */
import { describe, expect, it } from "@effect/vitest"
import { Plaza, Profiles } from "@plaza-legacy/client"
import { Clock, Effect, Schedule } from "effect"
import * as TestTime from "../src/TestTime.ts"
import * as Fake from "./support/FakeService.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)

describe("an effect under TestTime.advancing", () => {
  it.effect("ends although it sleeps, and the clock is at the end of its last sleep", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const sleeper = (name: string, seconds: number) =>
        Effect.zipRight(Effect.sleep(`${seconds} seconds`), Effect.sync(() => order.push(name)))
      yield* TestTime.advancing(Effect.all([sleeper("late", 90), sleeper("early", 5)], { concurrency: 2 }))
      expect(order).toEqual(["early", "late"])
      expect(yield* Clock.currentTimeMillis).toBe(90_000)
    }))

  it.effect("retries a service that fails twice", () =>
    Effect.gen(function*() {
      const { calls, layer } = Fake.scripted([{ status: 503 }, { status: 503 }, Fake.json({ id: "1" })])
      expect(yield* TestTime.advancing(Effect.provide(me, layer))).toEqual({ id: "1" })
      expect(calls).toHaveLength(3)
    }))

  it.effect("keeps its failure", () =>
    Effect.gen(function*() {
      const { layer } = Fake.scripted([Fake.refusal(404, "NOT_FOUND")])
      expect(yield* Effect.flip(TestTime.advancing(Effect.provide(Plaza.withRetry(Schedule.stop)(me), layer)))).toMatchObject({
        status: 404
      })
    }))
})
