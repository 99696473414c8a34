/** The leases of shards, the poll times and the wake times of accounts, in virtual time. */
import { MachineId, RunnerAddress, type RunnerStorage, ShardId } from "@effect/cluster"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Ref, TestClock } from "effect"
import * as Leases from "../../src/fleet/Leases.ts"
import * as PollPhase from "../../src/fleet/PollPhase.ts"
import { WakeQueue } from "../../src/fleet/WakeQueue.ts"

const address = RunnerAddress.make("runner", 0)
const shard = (id: number) => ShardId.make("default", id)

/** A storage that returns what a test sets, whatever is asked. */
const storage = (
  returned: Ref.Ref<ReadonlyArray<number>>,
  delay: Duration.Duration = Duration.zero
): RunnerStorage.RunnerStorage["Type"] => {
  const shards = Effect.zipRight(Effect.sleep(delay), Effect.map(Ref.get(returned), (ids) => ids.map(shard)))
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
      const fiber = yield* Effect.fork(leases.storage.acquire(address, [shard(1)]))
      yield* TestClock.adjust("3 seconds")
      yield* fiber
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

  it.effect("does not exist for a shard that was acquired without being asked for", () =>
    Effect.gen(function*() {
      const { leases } = yield* make(1, 7)
      expect(yield* leases.storage.acquire(address, [shard(1)])).toEqual([shard(1)])
      expect(leases.termOf(7)).toBeUndefined()
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
      // All are lost, and others acquired without being asked for.
      yield* TestClock.adjust("2 seconds")
      yield* Ref.set(returned, [7])
      yield* leases.storage.refresh(address, [shard(1), shard(2)])
      yield* leases.storage.releaseAll(address)
      expect(leases.renewedAt()).toBe(3_000)
    }))
})

describe("the poll times of accounts with one interval", () => {
  const interval = Duration.minutes(1)
  const ids = Array.from({ length: 10_000 }, (_, index) => `shop-${index}`)

  it.effect("are spread evenly over it, from the start", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_123)
      const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const seconds = Array.from({ length: 60 }, () => 0)
      for (const id of ids) {
        const second = Math.floor(((yield* PollPhase.next(PollPhase.of(id), interval)) - now) / 1_000)
        seconds[second] = (seconds[second] ?? 0) + 1
      }
      expect(seconds).toHaveLength(60)
      expect(Math.max(...seconds)).toBeLessThan(240)
      expect(Math.min(...seconds)).toBeGreaterThan(110)
    }))

  it.effect("stay the same from interval to interval", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_123)
      const first = yield* PollPhase.next(PollPhase.of("shop"), interval)
      yield* TestClock.setTime(Math.ceil(first))
      const second = yield* PollPhase.next(PollPhase.of("shop"), interval)
      expect(second - first).toBeCloseTo(60_000, 0)
      yield* TestClock.adjust("1 hour")
      expect(((yield* PollPhase.next(PollPhase.of("shop"), interval)) - first) % 60_000).toBeCloseTo(0, 0)
    }))
})

describe("the wake queue", () => {
  it("returns accounts by their last time, once, the earliest first", () => {
    const queue = new WakeQueue()
    queue.set("a", 30)
    queue.set("b", 10)
    queue.set("c", 20)
    queue.set("a", 5)
    queue.set("d", Number.POSITIVE_INFINITY)
    queue.delete("c")
    expect(queue.next).toBe(5)
    expect(queue.due(10, 5)).toEqual(["a", "b"])
    expect(queue.due(100, 5)).toEqual([])
    expect(queue.next).toBe(Number.POSITIVE_INFINITY)
  })
})
