/**
 * An allowance that several processes share through a database. In each process, one fiber runs the statements for all requests: it
 * claims slots for those that wait, records those that completed, and renews the leases of those in flight. If a process dies, its slots
 * become free when their leases end.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import type { SqlError } from "effect/sql/SqlError"
import * as Durations from "../../Durations.ts"
import * as Shutdown from "../delivery/Shutdown.ts"
import * as Setting from "../Setting.ts"
import type { MonotonicMillis } from "../Time.ts"
import { monotonicNow, monotonicWith, roundUp, sleepUntil } from "../Time.ts"
import * as Acquire from "./Acquire.ts"
import { check } from "./MemoryRateLimit.ts"
import type { SharedAllowance } from "./Models.ts"
import { Pacing, Pauses } from "./Pauses.ts"
import * as SqlSlots from "./SqlSlots.ts"
import type { AcquireSlot, Forecast } from "./WaitQueue.ts"
import { earliestGrant, safetyMillis } from "./WaitQueue.ts"
import * as WaitQueue from "./WaitQueue.ts"

// The default timeout of an attempt.
const defaultGrace = Duration.seconds(30)

// A waiting process renews its registration when it polls. A process that is later than this has stopped or was killed.
const livenessMillis = 2_000

// The poll interval while other processes have requests in flight, unless a quarter of the window is shorter.
const longestPoll = 1_000

// How long a waiter waits beyond its deadline for the database.
const databaseMillis = 1_000

// SQLite rejects statements for a short time while another process writes. Only a longer outage is logged.
const longOutage = 5_000
const shortestRetry = 5
const longestRetry = 1_000

// How long the release of the layer waits for its last statements.
const shutdownTimeout = Duration.seconds(2)

// A key has 40 random characters, so a hash without salt can't be reversed by brute force.
const hashOf = (key: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(key))),
    (hash) => Hex.encode(new Uint8Array(hash))
  )

const checkShared = Effect.fnUntraced(function*(allowance: SharedAllowance) {
  const { limit, window } = yield* Effect.fromResult(check(allowance))
  const lease = roundUp(
    yield* Effect.fromResult(Setting.named("lease", Durations.parsePositive(allowance.lease ?? Duration.sum(window, defaultGrace))))
  )
  if (Duration.isLessThanOrEqualTo(lease, window)) {
    return yield* Setting.invalid("lease", "must be longer than the window: use the window plus the timeout of an attempt")
  }
  if (allowance.apiKey === undefined && allowance.name === "") {
    return yield* Setting.invalid("name", "must not be empty")
  }
  const name = allowance.apiKey === undefined ? `name:${allowance.name}` : `key:${yield* hashOf(Redacted.value(allowance.apiKey))}`
  return { name, limit, window, lease }
})

/** A slot that this process holds. */
interface HeldSlot {
  readonly claim: SqlSlots.Claim
  /** The moment before the last successful renewal. */
  renewedAt: MonotonicMillis
  isSent: boolean
}

const reasonOf = ({ message, reason: { cause } }: SqlError): string =>
  cause instanceof Error && cause.message !== "" ? cause.message : message

/** @since 0.1.0 @category constructors */
export const make = Effect.fnUntraced(function*(allowance: SharedAllowance) {
  const { lease, limit, name, window } = yield* checkShared(allowance)
  const slots = yield* SqlSlots.make({ name, process: crypto.randomUUID(), limit, window, lease })
  const windowMillis = Duration.toMillis(window)
  const cooldownMillis = windowMillis + safetyMillis
  // A request may be sent this long after a renewal. The service then counts it at least one window before the lease ends.
  const graceMillis = Duration.toMillis(lease) - windowMillis
  // Maximum jitter of a poll. Without it, one process would always claim first. Longer than most statements, so that the processes claim
  // in a random order, and much shorter than a window, because a slot is unused in this time. Slots that are free for longer are for any
  // process: every waiting process has polled since.
  const spread = Math.ceil(Math.min(30, Math.max(3, windowMillis / 2_000)))
  const pacing = new Pacing(limit, window)
  const pauses = new Pauses()

  // The last known state of the database: the end of the key's pause, and when slots become free.
  let pausedUntil: MonotonicMillis = Number.NEGATIVE_INFINITY
  let cooling: ReadonlyArray<MonotonicMillis> = []
  let nextPollAt: MonotonicMillis = Number.NEGATIVE_INFINITY

  const held = new Set<HeldSlot>()
  const sentSlots = (): ReadonlyArray<SqlSlots.Claim> => [...held].flatMap(({ claim, isSent }) => isSent ? [claim] : [])

  // Changes to write to the database.
  const completed: Array<SqlSlots.Claim> = []
  let completedAt: MonotonicMillis = Number.NEGATIVE_INFINITY
  const released: Array<SqlSlots.Claim> = []
  const unpublished = new Map<string | undefined, MonotonicMillis>()
  /** The end of this process's registration as waiting. */
  let registeredUntil: MonotonicMillis = Number.NEGATIVE_INFINITY

  // When the fiber wakes, and the latch that wakes it earlier.
  let dueAt: MonotonicMillis = Number.POSITIVE_INFINITY
  const wake = Latch.makeUnsafe(false)
  /** The failed statements in a row, since the database is unavailable. */
  let outage: { since: MonotonicMillis; failures: number; reason: string; retryAt: MonotonicMillis; isLogged: boolean } | undefined

  const discard = (slot: HeldSlot): Effect.Effect<void> =>
    Effect.sync(() => {
      held.delete(slot)
      released.push(slot.claim)
      wake.openUnsafe()
    })
  const release = (slot: HeldSlot): Effect.Effect<void> =>
    Effect.suspend(() => {
      pacing.release()
      return discard(slot)
    })

  const forecastAt = (now: MonotonicMillis): Forecast => {
    const sent = Math.min(sentSlots().length, limit - cooling.length)
    return (ahead) => Math.max(earliestGrant({ limit, cooldownMillis, cooling, sent, pausedUntil }, now, ahead), pacing.earliest(ahead))
  }

  const queue = yield* WaitQueue.make<HeldSlot>({
    forecastAt,
    release,
    grace: () => outage === undefined ? databaseMillis : 0,
    reason: () => outage?.reason,
    // When a waiter leaves, the others may get slots earlier. When the last one leaves, the registration ends.
    onLeave: Effect.sync(() => wake.openUnsafe())
  })

  /** Applies the pauses that other processes published. */
  const applyPauses = ({ operations, pausedFor }: SqlSlots.Snapshot, now: MonotonicMillis): void => {
    pausedUntil = Math.max(pausedUntil, now + pausedFor)
    for (const { millis, operation } of operations) {
      const wasOpen = pauses.until(operation, now) === undefined
      pauses.add(operation, now + millis)
      if (wasOpen) {
        queue.requeue(operation)
      }
    }
  }

  /** Writes the pending changes. Changes recorded meanwhile stay pending. */
  const write: Effect.Effect<void, SqlError> = Effect.gen(function*() {
    for (const [operation, until] of unpublished) {
      yield* slots.pauseFor(Math.ceil(until - (yield* monotonicNow)), operation)
      if (unpublished.get(operation) === until) {
        unpublished.delete(operation)
      }
    }
    if (completed.length > 0) {
      const [written, endedAt] = [[...completed], completedAt]
      yield* slots.complete(written, endedAt)
      completed.splice(0, written.length)
      nextPollAt = Math.min(nextPollAt, endedAt + cooldownMillis)
    }
    if (released.length > 0) {
      const written = [...released]
      yield* slots.release(written)
      released.splice(0, written.length)
      nextPollAt = Number.NEGATIVE_INFINITY
    }
  })

  /** Claims slots for waiting requests, and grants them first in, first out. Otherwise finds out when to poll again. */
  const poll: Effect.Effect<void, SqlError> = Effect.gen(function*() {
    const before = yield* monotonicNow
    const claims = yield* slots.claim(Math.min(queue.length(), limit, pacing.free(before)), spread)
    if ((claims[0]?.paused ?? 0) > pauses.count(before)) {
      applyPauses(yield* slots.snapshot, yield* monotonicNow)
    }
    const now = yield* monotonicNow
    for (const { slot, turn } of claims) {
      const claimed: HeldSlot = { claim: { slot, turn }, renewedAt: before, isSent: false }
      held.add(claimed)
      pacing.acquire(now)
      if (now < pausedUntil || !queue.grant(claimed)) {
        yield* release(claimed)
      }
    }
    if (queue.length() === 0) {
      // The snapshot becomes outdated while no request waits.
      cooling = []
      nextPollAt = Number.NEGATIVE_INFINITY
      return
    }
    const snapshot = yield* slots.snapshot
    const at = yield* monotonicNow
    applyPauses(snapshot, at)
    const { busy, free, others } = snapshot
    cooling = busy.flatMap(({ state, wait }) => state === "cooling" ? [at + wait] : []).sort((one, other) => one - other)
    const delay = others > 0 ? yield* Random.nextIntBetween(0, spread) : 0
    const nextFree = Math.min(...busy.map(({ wait }) => wait)) + delay
    nextPollAt = at < pausedUntil
      ? pausedUntil + delay
      // These slots are for other waiting processes. This process claims what is left after `spread`.
      : free > 0 && others > 0
      ? at + 1 + spread + delay
      // Requests joined the queue after the claim.
      : free > 0
      ? at + (claims.length > 0 ? 0 : 1)
      : at + (busy.some(({ state }) => state === "in flight elsewhere") ? Math.min(nextFree, longestPoll, windowMillis / 4) : nextFree)
    if (snapshot.slots < limit) {
      yield* slots.seed
      nextPollAt = at
    }
    yield* queue.expire
    if (registeredUntil < nextPollAt + livenessMillis / 2) {
      const millis = Math.ceil(Math.max(0, nextPollAt - at) + livenessMillis)
      registeredUntil = at + millis
      yield* slots.register(millis)
    }
  })

  /** When to renew the leases next. */
  const renewAt = (): MonotonicMillis => Math.min(...Array.from(held, ({ renewedAt }) => renewedAt)) + graceMillis / 3

  const renew: Effect.Effect<void, SqlError> = Effect.gen(function*() {
    const before = yield* monotonicNow
    const due = [...held]
    const turns = new Map((yield* slots.renew(due.map(({ claim }) => claim))).map(({ slot, turn }) => [slot, turn]))
    for (const slot of due) {
      if (turns.get(slot.claim.slot) === slot.claim.turn) {
        slot.renewedAt = before
      } else {
        // The lease ended while the process was suspended. A request that was about to use the slot gets another one.
        slot.renewedAt = Number.NEGATIVE_INFINITY
        held.delete(slot)
      }
    }
  })

  const nextClaimAt = (): MonotonicMillis => queue.length() === 0 ? Number.POSITIVE_INFINITY : Math.max(nextPollAt, pacing.earliest(0))

  /** Runs the statements that are due. */
  const step: Effect.Effect<void, SqlError> = Effect.gen(function*() {
    yield* write
    if ((yield* monotonicNow) >= nextClaimAt()) {
      yield* poll
    }
    if ((yield* monotonicNow) >= renewAt()) {
      yield* renew
    }
    if (queue.length() === 0 && Number.isFinite(registeredUntil)) {
      yield* slots.unregister
      registeredUntil = Number.NEGATIVE_INFINITY
    }
    outage = undefined
  })

  /** Records a failed statement. Delays the next one. */
  const failed = (error: SqlError): Effect.Effect<void> =>
    Effect.gen(function*() {
      const now = yield* monotonicNow
      const current = outage ??= { since: now, failures: 0, reason: "", retryAt: now, isLogged: false }
      const delay = Math.min(longestRetry, shortestRetry * 2 ** current.failures++)
      current.retryAt = now + delay * (yield* Random.nextBetween(0.5, 1.5))
      current.reason = `the database of the key's allowance is unavailable (${reasonOf(error)})`
      if (!current.isLogged && now >= current.since + longOutage) {
        current.isLogged = true
        yield* Effect.logWarning(current.reason)
      }
    })

  const sleepUntilDue: Effect.Effect<void> = Effect.suspend(() => {
    dueAt = outage?.retryAt ?? Math.min(nextClaimAt(), renewAt())
    const woken = outage === undefined ? wake.await : Effect.never
    return Number.isFinite(dueAt) ? Effect.raceFirst(woken, sleepUntil(dueAt)) : woken
  })

  // Finalizers run in reverse order: first the fiber ends, then these statements run.
  yield* Effect.addFinalizer(() =>
    write.pipe(
      Effect.andThen(Effect.suspend(() => slots.releaseAllExcept(sentSlots()))),
      Effect.andThen(Effect.suspend(() => Number.isFinite(registeredUntil) ? slots.unregister : Effect.void)),
      Effect.timeout(shutdownTimeout),
      Effect.ignore
    )
  )
  yield* Effect.suspend(() => {
    wake.closeUnsafe()
    return step.pipe(Effect.catch(failed), Effect.andThen(sleepUntilDue))
  }).pipe(Effect.forever, Effect.forkScoped)

  // Added last, so it runs first: no request waits for a fiber that has ended.
  const shutdown = yield* Shutdown.make
  shutdown.onShutdown(queue.close)

  const acquire: AcquireSlot<HeldSlot> = (now, deadline, options, restore) => {
    const wait = queue.join(now, deadline, options, restore)
    if (nextClaimAt() < dueAt) {
      wake.openUnsafe()
    }
    return wait
  }

  /** Publishes a pause. The first try runs before this returns, so that other processes pause at once. */
  const publish = (now: MonotonicMillis, time: Duration.Duration, operation?: string): Effect.Effect<void> =>
    slots.pauseFor(Math.ceil(Duration.toMillis(time)), operation).pipe(Effect.catch(() =>
      Effect.sync(() => {
        unpublished.set(operation, now + Duration.toMillis(time))
        wake.openUnsafe()
      })
    ))

  return {
    ...Acquire.from<HeldSlot>({
      window,
      pacing,
      pauses,
      shutdown,
      acquire,
      send: (slot, acquireOther) =>
        monotonicWith((now) => {
          // The lease may have ended because the process or the database was suspended.
          const isCurrent = now <= slot.renewedAt + graceMillis
          const current = isCurrent ? Effect.succeed(slot) : Effect.andThen(release(slot), acquireOther)
          return Effect.map(current, (slot) => {
            slot.isSent = true
            return slot
          })
        }),
      complete: (slot) =>
        monotonicWith((now) => {
          held.delete(slot)
          completed.push(slot.claim)
          completedAt = now
          wake.openUnsafe()
          return Effect.void
        }),
      discard,
      release,
      pausedUntil: () => pausedUntil,
      pauseKey: (now, time) =>
        Effect.suspend(() => {
          pausedUntil = now + Duration.toMillis(time)
          return Effect.andThen(queue.expire, publish(now, time))
        }),
      pauseOperation: (operation, time) =>
        monotonicWith((now) => {
          queue.requeue(operation)
          return publish(now, time, operation)
        }),
      counts: Effect.gen(function*() {
        const snapshot = yield* Effect.option(slots.snapshot)
        if (Option.isNone(snapshot)) {
          return { free: 0, inFlight: sentSlots().length }
        }
        applyPauses(snapshot.value, yield* monotonicNow)
        const { busy, free } = snapshot.value
        return { free, inFlight: busy.filter(({ state }) => state !== "cooling").length }
      }),
      waiting: queue.length
    }),
    // Not needed, because the database counts the requests of other processes.
    occupy: () => Effect.void
  }
})
