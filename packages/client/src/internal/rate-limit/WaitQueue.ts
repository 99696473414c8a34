/**
 * The queue of requests in a process that wait for slots, first in, first out, each until its deadline. The owner of the queue decides
 * when a slot is free.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { ClientClosed } from "../../ClientError.ts"
import { RateLimitWaitExceeded } from "../../ClientError.ts"
import type { Shutdown } from "../delivery/Shutdown.ts"
import { clientClosed } from "../delivery/Shutdown.ts"
import type { MonotonicMillis } from "../Time.ts"
import { monotonicWith, sleepUntil } from "../Time.ts"
import type { WaitOptions } from "./Models.ts"

/** Restores the interruptibility of the caller that acquires the slot. @since 0.1.0 @category models */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** A slot; none if the operation was paused while the request waited. @since 0.1.0 @category models */
export type Granted<S> = { readonly slot: S } | undefined

/** @since 0.1.0 @category models */
export type WaitFailure = RateLimitWaitExceeded | ClientClosed

/**
 * Acquires a slot or joins the wait queue, at this moment. The returned effect waits for the slot until the deadline.
 *
 * @since 0.1.0
 * @category models
 */
export type AcquireSlot<S> = (
  now: MonotonicMillis,
  deadline: MonotonicMillis,
  options: WaitOptions,
  restore: Restore
) => Effect.Effect<Granted<S>, WaitFailure>

interface Waiter<S> {
  readonly deadline: MonotonicMillis
  readonly options: WaitOptions
  granted: Granted<S>
  readonly result: Deferred.Deferred<Granted<S>, WaitFailure>
}

/** The earliest moment for a waiter with this many others ahead of it. @since 0.1.0 @category models */
export type Forecast = (ahead: number) => MonotonicMillis

/** A service may still count a request that is exactly one window old. @since 0.1.0 @category constants */
export const safetyMillis = 1

/** The slots of an allowance, as one process sees them. */
interface Slots {
  readonly limit: number
  /** How long a slot is in use after the response. */
  readonly cooldownMillis: number
  /** When each slot whose request has ended becomes free, earliest first. */
  readonly cooling: ReadonlyArray<MonotonicMillis>
  /** The number of slots with a request in flight. All others may become free at any moment. */
  readonly sent: number
  readonly pausedUntil: MonotonicMillis
}

/**
 * The earliest moment at which a waiter with this many others ahead of it can get a slot: each slot serves one request per window.
 * The actual moment may be later. It is earlier only if the service refuses a request in flight.
 *
 * @since 0.1.0
 * @category conversions
 */
export const earliestGrant = (
  { cooldownMillis, cooling, limit, pausedUntil, sent }: Slots,
  now: MonotonicMillis,
  ahead: number
): MonotonicMillis => {
  const from = Math.max(now, pausedUntil)
  // Below zero for a slot that may be free now.
  const index = ahead % limit - (limit - sent - cooling.length)
  const free = index < 0 ? from : Math.max(from, cooling[index] ?? now + cooldownMillis)
  return free + Math.floor(ahead / limit) * cooldownMillis
}

/**
 * Fails a wait that would exceed the maximum wait.
 *
 * @since 0.1.0
 * @category constructors
 */
export const waitExceeded = (
  now: MonotonicMillis,
  grantAt: MonotonicMillis,
  reason = "the key's allowance is exhausted"
): Effect.Effect<never, RateLimitWaitExceeded> =>
  Effect.flatMap(DateTime.now, (wallNow) => {
    const retryAt = DateTime.add(wallNow, { milliseconds: Math.ceil(grantAt - now) })
    return Effect.fail(new RateLimitWaitExceeded({ retryAt, message: `${reason}; retry after ${DateTime.formatIso(retryAt)}` }))
  })

/**
 * Runs a function at a moment, and then at each moment that it returns.
 *
 * @since 0.1.0
 * @category models
 */
export interface Alarm {
  /** Starts the alarm, or wakes it earlier. */
  readonly wakeAt: (moment: MonotonicMillis) => Effect.Effect<void>
  /** Stops the alarm. Otherwise its timer would keep a program alive that has nothing left to do. */
  readonly stop: () => void
}

/**
 * Creates an alarm, which runs in one fiber.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeAlarm = Effect.fnUntraced(function*(
  run: (now: MonotonicMillis) => MonotonicMillis
): Effect.fn.Return<Alarm, never, Scope.Scope> {
  const handle = yield* FiberHandle.make<void>()
  let wakesAt = Number.POSITIVE_INFINITY
  const loop: Effect.Effect<void> = Effect.suspend(() =>
    Number.isFinite(wakesAt)
      ? Effect.flatMap(sleepUntil(wakesAt), () =>
        monotonicWith((now) => {
          wakesAt = run(now)
          return loop
        }))
      : Effect.void
  )
  return {
    wakeAt: (moment) =>
      moment >= wakesAt ? Effect.void : Effect.uninterruptible(Effect.suspend(() => {
        wakesAt = Math.min(wakesAt, moment)
        return Effect.asVoid(FiberHandle.run(handle, loop))
      })),
    stop: () => {
      wakesAt = Number.POSITIVE_INFINITY
      Option.map(FiberHandle.getUnsafe(handle), (fiber) => fiber.interruptUnsafe())
    }
  }
})

// A shorter wait for the allowance is normal, in milliseconds.
const longWait = 5_000

// The minimum time between two scans of the queue, in milliseconds. A deadline may cause an earlier scan.
const scanInterval = 1_000

/**
 * Creates an empty queue. It updates its state before it resumes a waiter, because the waiter may acquire or release a slot synchronously.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(
  function*<S>({ forecastAt, grace = () => 0, onEmpty = () => {}, onLeave = Effect.void, reason, release }: {
    readonly forecastAt: (now: MonotonicMillis) => Forecast
    /** How much longer than its deadline a waiter waits for a slot that may be free, in milliseconds (default: 0). */
    readonly grace?: () => number
    /** Why no slot is free, for the failure of a wait (default: the allowance is exhausted). */
    readonly reason?: () => string | undefined
    /** Runs when the last waiter leaves (default: nothing). */
    readonly onEmpty?: () => void
    /** Runs when a waiter leaves without a slot, except at its deadline (default: nothing). */
    readonly onLeave?: Effect.Effect<void>
    /** Releases the slot of a waiter that was interrupted after the grant. */
    readonly release: (slot: S) => Effect.Effect<void>
  }) {
    // In the order of their arrival. Requests that the service refused get slots before the others.
    const retried = new Set<Waiter<S>>()
    const waiters = new Set<Waiter<S>>()
    /** The clients whose release ends the waits of their requests. */
    const clients = new WeakSet<Shutdown>()

    const all = (): ReadonlyArray<Waiter<S>> => [...retried, ...waiters]
    const length = (): number => retried.size + waiters.size
    const remove = (waiter: Waiter<S>): boolean => {
      const isRemoved = retried.delete(waiter) || waiters.delete(waiter)
      if (isRemoved && length() === 0) {
        scan.stop()
        onEmpty()
      }
      return isRemoved
    }

    /** Ends a wait, unless it has already ended. */
    const end = (waiter: Waiter<S>, result: Effect.Effect<Granted<S>, WaitFailure>): void => {
      if (remove(waiter)) {
        Deferred.doneUnsafe(waiter.result, result)
      }
    }
    const endAll = (which: (waiter: Waiter<S>) => boolean, result: Effect.Effect<Granted<S>, WaitFailure>): void => {
      for (const waiter of all()) {
        if (which(waiter)) {
          end(waiter, result)
        }
      }
    }

    // The earliest moment of a grant moves by no more than the time that has passed. So a waiter can't be late before its spare time has
    // passed. A millisecond more, because a slot at the deadline is in time.
    const nextScanOf = (now: MonotonicMillis, deadline: MonotonicMillis, grantAt: MonotonicMillis): MonotonicMillis =>
      1 + Math.min(deadline + grace(), now + Math.max(scanInterval, deadline - grantAt))

    /** Fails the waiters that can't get a slot before their deadlines. Returns when to do so again. */
    const expire = (now: MonotonicMillis): MonotonicMillis => {
      const earliest = forecastAt(now)
      let nextScan = Number.POSITIVE_INFINITY
      let ahead = 0
      const expired: Array<readonly [waiter: Waiter<S>, grantAt: MonotonicMillis]> = []
      for (const waiter of all()) {
        const grantAt = Math.max(now, earliest(ahead))
        if (waiter.deadline < grantAt && (now < grantAt || waiter.deadline + grace() < now)) {
          expired.push([waiter, grantAt])
        } else {
          nextScan = Math.min(nextScan, nextScanOf(now, waiter.deadline, grantAt))
          ahead++
        }
      }
      for (const [waiter, grantAt] of expired) {
        end(waiter, waitExceeded(now, grantAt, reason?.()))
      }
      return nextScan
    }
    const scan = yield* makeAlarm(expire)

    /** Logs a long wait, once for all waiters until it ends. */
    let reportedUntil = Number.NEGATIVE_INFINITY
    const report = (now: MonotonicMillis, grantAt: MonotonicMillis): Effect.Effect<void> => {
      if (grantAt <= now + longWait || now < reportedUntil) {
        return Effect.void
      }
      reportedUntil = grantAt
      return Effect.annotateLogs(Effect.logInfo("rate_limit.waiting"), { seconds: Math.ceil((grantAt - now) / 1_000) })
    }

    // One listener for a client, not one for each of its requests.
    const watch = (client: Shutdown | undefined): void => {
      if (client !== undefined && !clients.has(client)) {
        clients.add(client)
        const closed = Effect.andThen(onLeave, Effect.fail(clientClosed()))
        client.onShutdown(() => endAll(({ options }) => options.shutdown === client, closed))
      }
    }

    return {
      /** The number of waiters. */
      length,
      /** Fails at once if the wait would exceed the deadline. Otherwise adds a waiter at the end, and returns its wait. */
      join: ((now, deadline, options, restore) => {
        const isRetry = options.isRetry === true
        const grantAt = forecastAt(now)(isRetry ? retried.size : length())
        if (grantAt > deadline) {
          return waitExceeded(now, grantAt, reason?.())
        }
        const waiter: Waiter<S> = { deadline, options, granted: undefined, result: Deferred.makeUnsafe() }
        watch(options.shutdown)
        const queue = isRetry ? retried : waiters
        queue.add(waiter)
        // Outside of `restore`, because the interruption may come when the slot is granted and the fiber has not resumed yet.
        const wait = Effect.onInterrupt(restore(Deferred.await(waiter.result)), () => {
          remove(waiter)
          return waiter.granted === undefined ? onLeave : release(waiter.granted.slot)
        })
        return report(now, grantAt).pipe(Effect.andThen(scan.wakeAt(nextScanOf(now, deadline, grantAt))), Effect.andThen(wait))
      }) satisfies AcquireSlot<S>,
      /** Grants a slot, which the owner has counted as acquired, to the first waiter. Returns false if the queue is empty. */
      grant: (slot: S): boolean => {
        const [waiter] = retried.size > 0 ? retried : waiters
        if (waiter === undefined) {
          return false
        }
        remove(waiter)
        waiter.granted = { slot }
        Deferred.doneUnsafe(waiter.result, Effect.succeed(waiter.granted))
        return true
      },
      /** Removes the waiters of this operation. They acquire again. */
      requeue: (operation: string): void => endAll(({ options }) => options.operation === operation, Effect.succeed(undefined)),
      /** Fails the waiters that now miss their deadlines, because slots become free later than before. */
      expire: monotonicWith((now) => scan.wakeAt(expire(now))),
      /** Ends every wait with `ClientClosed`. */
      close: (): void => endAll(() => true, Effect.fail(clientClosed()))
    }
  }
)
