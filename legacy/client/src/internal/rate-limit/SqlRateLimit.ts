/**
 * An allowance that several processes share through a database. In each process, one fiber claims slots for all waiting requests.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import type { ClientClosed, InvalidSettings, RateLimitWaitExceeded } from "../../ClientError.ts"
import type { RateLimit, WaitOptions } from "../../RateLimit.ts"
import type { MonotonicMillis } from "../Compat.ts"
import { monotonicNow, monotonicWith, roundUp, sleepUntil } from "../Compat.ts"
import * as Shutdown from "../delivery/Shutdown.ts"
import * as Acquire from "./Acquire.ts"
import { BurstLimit } from "./BurstLimit.ts"
import { Pauses } from "./Pauses.ts"
import { checked } from "./SharedAllowance.ts"
import type { SharedAllowance } from "./SharedAllowance.ts"
import { AvailabilityCache } from "./sql/AvailabilityCache.ts"
import { DbBackoff } from "./sql/DbBackoff.ts"
import { Leases } from "./sql/Leases.ts"
import type { HeldSlot } from "./sql/Leases.ts"
import * as ReleaseQueue from "./sql/ReleaseQueue.ts"
import * as SqlSlots from "./sql/SqlSlots.ts"
import type { Forecast, Granted } from "./WaitQueue.ts"
import { waitExceeded, WaitQueue } from "./WaitQueue.ts"

// A waiting process renews its registration when it polls. A process that is later than this has stopped or was killed.
const livenessMillis = 2_000

// How long the release of the layer waits for the writes of completed requests.
const shutdownTimeout = Duration.seconds(2)

/** @since 0.1.0 @category constructors */
export const make = (
  allowance: SharedAllowance
): Effect.Effect<RateLimit["Type"], SqlError | InvalidSettings, SqlClient.SqlClient | Scope.Scope> =>
  Effect.gen(function*() {
    const { lease, limit, name, window } = yield* checked(allowance)
    const windowMillis = Duration.toMillis(window)
    const slots = yield* SqlSlots.make({ name, process: crypto.randomUUID(), limit, window, lease })
    const leases = new Leases(slots, Duration.subtract(lease, window))
    const availability = new AvailabilityCache(limit, window)
    const backoff = new DbBackoff()
    const burstLimit = new BurstLimit(limit, window)
    const pauses = new Pauses()

    // When requests of this process completed, within the last window.
    const completedAt: Array<MonotonicMillis> = []
    const recent = (now: MonotonicMillis): number => {
      while ((completedAt[0] ?? now) < now - windowMillis) {
        completedAt.shift()
      }
      return completedAt.length
    }

    // When the claiming fiber wakes, and the latch that wakes it earlier.
    let wakeAt: MonotonicMillis = Number.POSITIVE_INFINITY
    const wake = Effect.unsafeMakeLatch(false)

    const releases = yield* ReleaseQueue.make({
      slots,
      lease,
      window,
      onFree: (moment) => {
        availability.pollFrom(moment)
        if (queue.length > 0 && availability.nextPollAt < wakeAt) {
          wake.unsafeOpen()
        }
      }
    })

    const release = (slot: HeldSlot): Effect.Effect<void> =>
      Effect.suspend(() => {
        leases.remove(slot)
        burstLimit.release()
        return releases.release(slot.claim)
      })

    // When a waiter leaves, the others may get slots earlier. When the last one leaves, the registration ends.
    const queue = new WaitQueue<HeldSlot>({ onLeave: Effect.sync(() => wake.unsafeOpen()), release })

    const forecastAt = (now: MonotonicMillis): Forecast => ({
      earliest: (ahead) => Math.max(availability.earliest(now, ahead, leases.sent), burstLimit.earliest(ahead)),
      missesDeadlineFrom: (ahead, deadline) => availability.missesDeadlineFrom(ahead, deadline, leases.sent)
    })

    /** Grants claimed slots, first in, first out. A slot has its lease before its waiter resumes. */
    const grantClaims = (
      claims: ReadonlyArray<SqlSlots.Claim>,
      claimedAt: MonotonicMillis,
      at: MonotonicMillis
    ): Effect.Effect<void> =>
      Effect.forEach(claims, (claim) => {
        const slot = leases.add(claim, claimedAt)
        burstLimit.acquire(at)
        return !availability.isPaused(at) && queue.grant(slot) ? Effect.void : release(slot)
      }, { discard: true })

    // The end of this process's registration as waiting.
    let registeredUntil: MonotonicMillis = Number.NEGATIVE_INFINITY

    const register = (at: MonotonicMillis): Effect.Effect<void, SqlError> =>
      Effect.suspend(() => {
        if (registeredUntil >= availability.nextPollAt + livenessMillis / 2) {
          return Effect.void
        }
        const millis = Math.ceil(Math.max(0, availability.nextPollAt - at) + livenessMillis)
        registeredUntil = at + millis
        return slots.register(Duration.millis(millis))
      })

    const unregister: Effect.Effect<void> = Effect.suspend(() => {
      registeredUntil = Number.NEGATIVE_INFINITY
      return releases.run(slots.unregister)
    })

    /** Applies the pauses that other processes published. */
    const applyPauses = ({ operations }: SqlSlots.Snapshot, at: MonotonicMillis): void => {
      for (const { millis, operation } of operations) {
        const wasOpen = pauses.until(operation, at) === undefined
        pauses.add(operation, at + millis)
        if (wasOpen) {
          queue.requeue(operation)
        }
      }
    }

    const claimSlots: Effect.Effect<void, SqlError> = Effect.gen(function*() {
      const before = yield* monotonicNow
      const claims = yield* slots.claim(Math.min(queue.length, limit, burstLimit.free(before)), availability.spread)
      if ((claims[0]?.paused ?? 0) > pauses.count(before)) {
        applyPauses(yield* slots.snapshot, yield* monotonicNow)
      }
      yield* grantClaims(claims, before, yield* monotonicNow)
      if (queue.length === 0) {
        availability.clear()
        return
      }
      const snapshot = yield* slots.snapshot
      const at = yield* monotonicNow
      applyPauses(snapshot, at)
      availability.update(snapshot, at, yield* Random.nextIntBetween(0, availability.spread + 1))
      if (availability.nextPollAt < burstLimit.earliest(0)) {
        availability.pollNotBefore(burstLimit.earliest(0))
      }
      if (snapshot.slots < limit) {
        yield* slots.seed
        availability.pollFrom(at)
      }
      yield* register(at)
    })

    // Set while the database is unavailable, to delay the next try.
    let renewAfter: MonotonicMillis = Number.NEGATIVE_INFINITY
    const renewAt = () => Math.max(leases.renewAt, renewAfter)

    /** Runs statements. Returns the moment of the next try if the database is unavailable. */
    const attempt = (statements: Effect.Effect<void, SqlError>): Effect.Effect<MonotonicMillis | undefined> =>
      Effect.matchEffect(statements, {
        onFailure: (error) => backoff.failed(error),
        onSuccess: () => Effect.as(backoff.reset, undefined)
      })

    /** One iteration of the claiming fiber. Sets `wakeAt`. */
    const poll: Effect.Effect<void> = Effect.gen(function*() {
      if (queue.length > 0 && (yield* monotonicNow) >= Math.max(availability.nextPollAt, burstLimit.earliest(0))) {
        const retryAt = yield* attempt(claimSlots)
        if (retryAt !== undefined) {
          availability.pollNotBefore(retryAt)
        }
      }
      if ((yield* monotonicNow) >= renewAt()) {
        renewAfter = (yield* attempt(leases.renew)) ?? Number.NEGATIVE_INFINITY
      }
      const at = yield* monotonicNow
      queue.expire(at, forecastAt(at), backoff.outage)
      if (queue.length === 0 && Number.isFinite(registeredUntil)) {
        yield* unregister
      }
      wakeAt = Math.min(
        renewAt(),
        queue.nextDeadline,
        queue.length === 0 ? Number.POSITIVE_INFINITY : Math.max(availability.nextPollAt, burstLimit.earliest(0))
      )
    })

    const sleepUntilWake: Effect.Effect<void> = Effect.suspend(() =>
      Number.isFinite(wakeAt) ? Effect.raceFirst(wake.await, sleepUntil(wakeAt)) : wake.await
    )

    const acquire = (
      now: MonotonicMillis,
      deadline: MonotonicMillis,
      options: WaitOptions,
      restore: Acquire.Restore
    ): Effect.Effect<Granted<HeldSlot>, RateLimitWaitExceeded | ClientClosed> => {
      const forecast = forecastAt(now)
      const grantAt = forecast.earliest(queue.ahead(options))
      if (now < availability.nextPollAt && grantAt > deadline) {
        return waitExceeded(now, grantAt, backoff.outage)
      }
      const waiter = queue.enqueue(now, deadline, options, forecast)
      if (now >= availability.nextPollAt || queue.nextDeadline < wakeAt) {
        wake.unsafeOpen()
      }
      return Effect.andThen(pauses.reportWait(now, grantAt), queue.wait(waiter, restore))
    }

    /** Returns the slot, or acquires another slot if the lease may have ended. */
    const currentSlot = <E>(slot: HeldSlot, acquireOther: Effect.Effect<HeldSlot, E>): Effect.Effect<HeldSlot, E> =>
      monotonicWith((now) =>
        leases.isCurrent(slot, now)
          ? Effect.succeed(slot)
          : shutdown.isShutDown
          ? acquireOther
          : Effect.andThen(release(slot), acquireOther)
      )

    // Finalizers run in reverse order: first the fiber ends, then these writes run.
    yield* Effect.addFinalizer(() =>
      Effect.all([
        releases.drained,
        Effect.suspend(() => Effect.ignore(slots.releaseAllExcept(leases.inUse))),
        Effect.suspend(() => Number.isFinite(registeredUntil) ? Effect.ignore(slots.unregister) : Effect.void)
      ], { discard: true }).pipe(Effect.interruptible, Effect.timeout(shutdownTimeout), Effect.ignore)
    )
    yield* Effect.suspend(() => {
      wake.unsafeClose()
      return Effect.andThen(poll, sleepUntilWake)
    }).pipe(Effect.forever, Effect.interruptible, Effect.forkScoped)

    // Added last, so it runs first: no request waits for a fiber that has ended.
    const shutdown = yield* Shutdown.make
    shutdown.onShutdown(() => queue.close())

    // The first try runs before this returns, so that other processes pause at once.
    const publish = (pause: Effect.Effect<void, SqlError>) => Effect.asVoid(Effect.orElse(pause, () => releases.run(pause)))

    return {
      ...Acquire.from<HeldSlot>({
        window,
        burstLimit,
        pauses,
        shutdown,
        acquire,
        send: (slot, acquireOther) =>
          Effect.map(currentSlot(slot, acquireOther), (current) => {
            leases.markSent(current)
            return current
          }),
        complete: (slot) =>
          Effect.suspend(() => {
            leases.remove(slot)
            return monotonicWith((now) => {
              recent(now)
              completedAt.push(now)
              return releases.complete(slot.claim)
            })
          }),
        discard: (slot) =>
          Effect.suspend(() => {
            leases.remove(slot)
            return releases.release(slot.claim)
          }),
        release,
        recent,
        pausedUntil: () => availability.pausedUntil,
        pauseKey: (now, time) =>
          Effect.suspend(() => {
            availability.pauseUntil(now + Duration.toMillis(time))
            queue.expire(now, forecastAt(now))
            wake.unsafeOpen()
            return publish(slots.pauseFor(roundUp(time)))
          }),
        pauseOperation: (operation, time) =>
          Effect.suspend(() => {
            queue.requeue(operation)
            return publish(slots.pauseFor(roundUp(time), operation))
          })
      }),
      // Not needed, because the database counts the requests of other processes.
      occupy: () => Effect.void,
      status: Effect.gen(function*() {
        const snapshot = yield* Effect.option(slots.snapshot)
        const at = yield* monotonicNow
        const wallNow = yield* DateTime.now
        Option.map(snapshot, (snapshot) => {
          applyPauses(snapshot, at)
          availability.pauseUntil(at + snapshot.pausedFor)
        })
        const isPaused = availability.isPaused(at)
        return {
          free: isPaused ? 0 : Option.match(snapshot, { onNone: () => 0, onSome: ({ free }) => free }),
          inFlight: Option.match(snapshot, {
            onNone: () => leases.sent,
            onSome: ({ busy }) => busy.filter(({ state }) => state !== "cooling").length
          }),
          waiting: queue.length + pauses.waiting,
          pausedUntil: isPaused
            ? DateTime.add(wallNow, { millis: Math.ceil(availability.pausedUntil - at) })
            : undefined,
          pausedOperations: yield* pauses.list(at)
        }
      })
    }
  })
