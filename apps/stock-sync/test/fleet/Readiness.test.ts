/** When a runner is ready to serve accounts. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Ref } from "effect"
import { TestClock } from "effect/testing"
import type { FleetRunner, RunnerState } from "../../src/fleet/FleetRunner.ts"
import * as FleetReadiness from "../../src/fleet/operations/FleetReadiness.ts"
import * as MonotonicClock from "../../src/sync/MonotonicClock.ts"
import * as Support from "../support/fleetStatus.ts"

const reasons = Effect.map(FleetReadiness.current, ({ reasons }) => reasons.map(({ reason }) => reason))

const withRunner = <A, E>(use: (state: Ref.Ref<RunnerState>) => Effect.Effect<A, E, FleetRunner>) =>
  Effect.flatMap(Effect.flatMap(Support.readyState, Ref.make), (state) => Effect.provide(use(state), Support.layerRunner(state)))

/** The loop ends a turn. */
const turn = (state: Ref.Ref<RunnerState>, reached: boolean) =>
  Effect.flatMap(MonotonicClock.now, (now) =>
    Ref.update(state, (current) => ({
      ...current,
      loop: { lastTurnAt: now, lastReachedAt: reached ? now : current.loop.lastReachedAt }
    })))

describe("a runner", () => {
  it.effect("is ready while it owns shards and its loop reaches the database", () =>
    withRunner((state) =>
      Effect.gen(function*() {
        expect(yield* reasons).toEqual([])
        yield* TestClock.adjust("10 seconds")
        expect(yield* reasons).toEqual([])
        yield* turn(state, true)
        yield* TestClock.adjust("5 seconds")
        expect(yield* reasons).toEqual([])
      })
    ))

  it.effect("is not ready before it owns shards, and after it has lost them", () =>
    withRunner((state) =>
      Effect.gen(function*() {
        yield* Ref.update(state, (current) => ({ ...current, shards: 0 }))
        expect(yield* reasons).toEqual(["noShards"])
        yield* Ref.update(state, (current) => ({ ...current, shards: 1 }))
        expect(yield* reasons).toEqual([])
      })
    ))

  it.effect("is not ready without the database, and again as soon as it is back", () =>
    withRunner((state) =>
      Effect.gen(function*() {
        yield* TestClock.adjust("11 seconds")
        yield* turn(state, false)
        expect(yield* reasons).toEqual(["databaseUnreachable"])
        yield* turn(state, true)
        expect(yield* reasons).toEqual([])
      })
    ))

  it.effect("is not ready while its loop is stuck, with the time", () =>
    withRunner((state) =>
      Effect.gen(function*() {
        yield* TestClock.adjust("95 seconds")
        expect((yield* FleetReadiness.current).reasons).toEqual([
          { reason: "loopStuck", message: "the runner has been stuck for 1 min 35 s: restart it" }
        ])
        yield* turn(state, true)
        expect(yield* reasons).toEqual([])
      })
    ))

  it.effect("is not ready while it stops", () =>
    withRunner((state) =>
      Effect.gen(function*() {
        yield* Ref.update(state, (current) => ({ ...current, shards: 0, stopping: true }))
        expect(yield* reasons).toEqual(["stopping"])
      })
    ))
})
