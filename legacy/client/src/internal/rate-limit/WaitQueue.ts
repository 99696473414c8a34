/**
 * The queue of requests in a process that wait for slots, first in, first out, each until its deadline. The owner of the queue decides
 * when a slot is free.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ClientClosed } from "../../ClientError.ts"
import { RateLimitWaitExceeded } from "../../ClientError.ts"
import type { WaitOptions } from "../../RateLimit.ts"
import type { MonotonicMillis } from "../Compat.ts"
import type { Shutdown } from "../delivery/Shutdown.ts"
import { clientClosed } from "../delivery/Shutdown.ts"
import type { Restore } from "./Acquire.ts"

/** A slot; none if the operation was paused while the request waited. @since 0.1.0 @category models */
export type Granted<S> = Option.Option<S>

type Wait<S> = Effect.Effect<Granted<S>, RateLimitWaitExceeded | ClientClosed>

interface Waiter<S> {
  readonly deadline: MonotonicMillis
  readonly options: WaitOptions
  granted: Granted<S>
  /** Set when the wait has ended. */
  result: Wait<S> | undefined
  /** Resumes the fiber, once it waits. */
  resume: ((result: Wait<S>) => void) | undefined
}

/** Waiters in the order of their arrival. Each can leave at any time. */
class Waiters<S> implements Iterable<Waiter<S>> {
  private readonly members = new Set<Waiter<S>>()
  // A new iterator would pass the places of all members that left. This one also visits members that arrive later, until it is done.
  private rest = this.members.values()

  get size(): number {
    return this.members.size
  }

  [Symbol.iterator](): Iterator<Waiter<S>> {
    return this.members.values()
  }

  add(waiter: Waiter<S>): void {
    this.members.add(waiter)
  }

  delete(waiter: Waiter<S>): boolean {
    return this.members.delete(waiter)
  }

  /** Removes the first waiter. */
  shift(): Waiter<S> | undefined {
    let next = this.rest.next()
    if (next.done === true) {
      this.rest = this.members.values()
      next = this.rest.next()
    }
    if (next.done === true) {
      return undefined
    }
    this.members.delete(next.value)
    return next.value
  }
}

/** Estimates when waiters get their slots. @since 0.1.0 @category models */
export interface Forecast {
  /** The earliest moment for a waiter with this many others ahead of it. */
  readonly earliest: (ahead: number) => MonotonicMillis
  /** From this moment no slot can become free before the deadline of a waiter with this many others ahead of it. */
  readonly missesDeadlineFrom: (ahead: number, deadline: MonotonicMillis) => MonotonicMillis
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
    const retryAt = DateTime.add(wallNow, { millis: Math.ceil(grantAt - now) })
    return Effect.fail(new RateLimitWaitExceeded({ retryAt, message: `${reason}; retry after ${DateTime.formatIso(retryAt)}` }))
  })

// The minimum time between two scans of the queue, in milliseconds. A deadline may cause an earlier scan.
const scanInterval = 1_000

/**
 * The queue updates its state before it resumes a waiter, because the waiter may acquire or release a slot synchronously.
 *
 * @since 0.1.0
 * @category models
 */
export class WaitQueue<S> {
  /** Requests that the service refused. They get slots before the others. */
  private readonly retried = new Waiters<S>()
  private readonly waiters = new Waiters<S>()
  /** The clients whose release ends the waits of their requests. */
  private readonly clients = new WeakSet<Shutdown>()
  private nextScan = Number.POSITIVE_INFINITY

  private readonly onLeave: Effect.Effect<void>
  private readonly release: (slot: S) => Effect.Effect<void>

  constructor(options: {
    /** Runs when a waiter is interrupted without a slot. */
    readonly onLeave: Effect.Effect<void>
    /** Releases the slot of a waiter that was interrupted after the grant. */
    readonly release: (slot: S) => Effect.Effect<void>
  }) {
    this.onLeave = options.onLeave
    this.release = options.release
  }

  get length(): number {
    return this.retried.size + this.waiters.size
  }

  /** The number of waiters ahead of a request that is enqueued now. */
  ahead(options: WaitOptions): number {
    return options.isRetry === true ? this.retried.size : this.length
  }

  /** When to call `expire` next; no later than the first deadline. */
  get nextDeadline(): MonotonicMillis {
    return this.nextScan
  }

  /** Adds a waiter at the end. The caller then runs `wait`. */
  enqueue(now: MonotonicMillis, deadline: MonotonicMillis, options: WaitOptions, forecast: Forecast): Waiter<S> {
    const waiter: Waiter<S> = { deadline, options, granted: Option.none(), result: undefined, resume: undefined }
    this.watch(options.shutdown)
    this.nextScan = Math.min(this.nextScan, nextScanAt(now, deadline, forecast.missesDeadlineFrom(this.ahead(options), deadline)))
    const queue = options.isRetry === true ? this.retried : this.waiters
    queue.add(waiter)
    return waiter
  }

  // One listener for a client, not one for each of its requests.
  private watch(client: Shutdown | undefined): void {
    if (client === undefined || this.clients.has(client)) {
      return
    }
    this.clients.add(client)
    client.onShutdown(() => {
      for (const waiter of this.all()) {
        if (waiter.options.shutdown === client) {
          this.end(waiter, Effect.andThen(this.onLeave, Effect.fail(clientClosed())))
        }
      }
    })
  }

  private remove(waiter: Waiter<S>): boolean {
    return this.retried.delete(waiter) || this.waiters.delete(waiter)
  }

  /** Ends a wait, unless it has already ended. */
  private end(waiter: Waiter<S>, result: Wait<S>): void {
    if (this.remove(waiter)) {
      resume(waiter, result)
    }
  }

  /** Waits until a slot is granted or the wait fails. */
  wait(waiter: Waiter<S>, restore: Restore): Wait<S> {
    const ended: Wait<S> = Effect.async((resume) => {
      if (waiter.result === undefined) {
        waiter.resume = resume
      } else {
        resume(waiter.result)
      }
    })
    // Outside of `restore`, because the interruption may come when the slot is granted and the fiber has not resumed yet.
    return Effect.onInterrupt(restore(ended), () => {
      this.remove(waiter)
      return Option.isSome(waiter.granted) ? this.release(waiter.granted.value) : this.onLeave
    })
  }

  /** Grants a slot, which the owner has counted as acquired, to the first waiter. Returns false if the queue is empty. */
  grant(slot: S): boolean {
    const waiter = this.retried.shift() ?? this.waiters.shift()
    if (waiter === undefined) {
      return false
    }
    waiter.granted = Option.some(slot)
    resume(waiter, Effect.succeed(waiter.granted))
    return true
  }

  /** Removes the waiters of this operation. They acquire again. */
  requeue(operation: string): void {
    for (const waiter of this.all()) {
      if (waiter.options.operation === operation) {
        this.end(waiter, Effect.succeed(Option.none()))
      }
    }
  }

  /** Ends every wait with `ClientClosed`. */
  close(): void {
    for (const waiter of this.all()) {
      this.end(waiter, Effect.fail(clientClosed()))
    }
  }

  private all(): ReadonlyArray<Waiter<S>> {
    return [...this.retried, ...this.waiters]
  }

  /** Fails the waiters whose deadline has passed, or will pass before they can get a slot. */
  expire(now: MonotonicMillis, { earliest, missesDeadlineFrom }: Forecast, reason?: string): void {
    this.nextScan = Number.POSITIVE_INFINITY
    let ahead = 0
    const expired: Array<readonly [waiter: Waiter<S>, grantAt: MonotonicMillis]> = []
    for (const waiter of this.all()) {
      const grantAt = Math.max(now, earliest(ahead))
      if (waiter.deadline <= now || waiter.deadline < grantAt) {
        expired.push([waiter, grantAt])
      } else {
        this.nextScan = Math.min(this.nextScan, nextScanAt(now, waiter.deadline, missesDeadlineFrom(ahead, waiter.deadline)))
        ahead++
      }
    }
    for (const [waiter, grantAt] of expired) {
      this.end(waiter, waitExceeded(now, grantAt, reason))
    }
  }
}

const resume = <S>(waiter: Waiter<S>, result: Wait<S>): void => {
  waiter.result = result
  waiter.resume?.(result)
}

// A millisecond later, because a slot at the deadline is in time.
const nextScanAt = (now: MonotonicMillis, deadline: MonotonicMillis, missesDeadlineFrom: MonotonicMillis): MonotonicMillis =>
  Math.min(deadline, Math.max(now + scanInterval, missesDeadlineFrom + 1))
