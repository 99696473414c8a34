/** The leases of shards, in virtual time. */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Ref } from "effect"
import { MachineId, RunnerAddress, type RunnerStorage, ShardId } from "effect/cluster"
import { TestClock } from "effect/testing"
import * as Leases from "../../src/fleet/Leases.ts"

const address = RunnerAddress.make("runner", 0)
const shard = (id: number) => ShardId.make("default", id)

/** A storage that returns what a test sets, whatever is asked. */
const storage = (
  returned: Ref.Ref<ReadonlyArray<number>>,
  delay: Duration.Duration = Duration.zero
): RunnerStorage.RunnerStorage["Service"] => {
  const shards = Effect.andThen(Effect.sleep(delay), Effect.map(Ref.get(returned), (ids) => ids.map(shard)))
  return {
    register: () => Effect.succeed(MachineId.make(1)),
    unregister: () => Effect.void,
    getRunners: Effect.succeed([]),
    setRunnerHealth: () => Effect.void,
    acquire: () => shards,
    refresh: () => shards,
    release: () => Effect.void,
    releaseAll: () => Effect.void
  }
}

const make = (...first: ReadonlyArray<number>) =>
  Effect.map(Ref.make(first), (returned) => ({ returned, leases: Leases.make(storage(returned), Duration.seconds(4)) }))

describe("a lease", () => {
  it.effect("is fresh for some seconds after each renewal", () =>
    Effect.gen(function*() {
      const { leases } = yield* make(1)
      yield* leases.storage.acquire(address, [shard(1)])
      yield* TestClock.adjust("3 seconds")
      expect(yield* leases.isFresh(1, 1)).toBe(true)
      yield* leases.storage.refresh(address, [shard(1)])
      yield* TestClock.adjust("3 seconds")
      expect(yield* leases.isFresh(1, 1)).toBe(true)
      yield* TestClock.adjust("1 second")
      expect(yield* leases.isFresh(1, 1)).toBe(false)
      yield* leases.storage.refresh(address, [shard(1)])
      expect(yield* leases.isFresh(1, 1)).toBe(true)
    }))

  it.effect("counts from the start of the statement that renewed it", () =>
    Effect.gen(function*() {
      const returned = yield* Ref.make<ReadonlyArray<number>>([1])
      const leases = Leases.make(storage(returned, Duration.seconds(3)), Duration.seconds(4))
      const acquiring = yield* Effect.forkChild(leases.storage.acquire(address, [shard(1)]), { startImmediately: true })
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(acquiring)
      expect(yield* leases.isFresh(1, 1)).toBe(true)
      yield* TestClock.adjust("1 second")
      expect(yield* leases.isFresh(1, 1)).toBe(false)
    }))

  it.effect("of an earlier term is never fresh again", () =>
    Effect.gen(function*() {
      const { leases } = yield* make(1)
      yield* leases.storage.acquire(address, [shard(1)])
      const term = leases.termOf(1)
      yield* leases.storage.release(address, shard(1))
      expect(leases.termOf(1)).toBeUndefined()
      yield* leases.storage.acquire(address, [shard(1)])
      expect(leases.termOf(1)).not.toBe(term)
      expect(yield* leases.isFresh(1, term ?? 0)).toBe(false)
    }))

  it.effect("is not renewed by a statement that no longer returns the shard", () =>
    Effect.gen(function*() {
      const { leases, returned } = yield* make(1, 2)
      yield* leases.storage.acquire(address, [shard(1), shard(2)])
      yield* TestClock.adjust("3 seconds")
      yield* Ref.set(returned, [2])
      yield* leases.storage.refresh(address, [shard(1), shard(2)])
      yield* TestClock.adjust("2 seconds")
      expect(yield* leases.isFresh(1, leases.termOf(1) ?? 0)).toBe(false)
      expect(yield* leases.isFresh(2, leases.termOf(2) ?? 0)).toBe(true)
    }))

  it.effect("begins with the renewal if the result of the statement that acquired it got lost", () =>
    Effect.gen(function*() {
      const { leases } = yield* make(1)
      yield* leases.storage.refresh(address, [shard(1)])
      expect(yield* leases.isFresh(1, leases.termOf(1) ?? 0)).toBe(true)
    }))
})

describe("the last renewal of the leases", () => {
  it.effect("is the start of the last statement that acquired or renewed one", () =>
    Effect.gen(function*() {
      const { leases, returned } = yield* make(1, 2)
      expect(leases.renewedAt()).toBeUndefined()
      yield* TestClock.adjust("1 second")
      yield* leases.storage.acquire(address, [shard(1), shard(2)])
      expect(leases.renewedAt()).toBe(1_000)
      yield* TestClock.adjust("2 seconds")
      yield* leases.storage.refresh(address, [shard(1), shard(2)])
      expect(leases.renewedAt()).toBe(3_000)
      // All are lost.
      yield* TestClock.adjust("2 seconds")
      yield* Ref.set(returned, [])
      yield* leases.storage.refresh(address, [shard(1), shard(2)])
      yield* leases.storage.releaseAll(address)
      expect(leases.renewedAt()).toBe(3_000)
    }))
})
