/**
 * The key's allowance: at most 120 requests in any 60 seconds as the service counts them, whatever its kind of window.
 * A slot is taken before a request is sent and comes free a whole window after its answer, because the service counted
 * the request somewhere between the two. Knows nothing of requests.
 *
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 */
import * as Limits from "@plaza/domain/Limits"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { RateLimitWaitExceeded } from "./Failures.js"
import type { InvalidSettings } from "./Failures.js"
import type { SharedAllowance } from "./RateLimit/SharedAllowance.js"
import { Slots } from "./RateLimit/Slots.js"

/** @since 0.1.0 @category models */
export interface Allowance {
  /** Requests in a window; 120 unless told. */
  readonly limit?: number
  /** 60 seconds unless told. */
  readonly window?: Duration.DurationInput
}

/**
 * A place in the allowance, for one request.
 *
 * @since 0.1.0
 * @category models
 */
export interface Slot {
  /** Runs the request. The slot counts as used from then on, until a window after the request has ended. */
  readonly use: <A, E, R>(request: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** @since 0.1.0 @category services */
export class RateLimit extends Context.Tag("@plaza/client/RateLimit")<RateLimit, {
  /**
   * Waits for a slot, in the order of asking, no longer than `patience`, and fails at once where it is known that the
   * wait will be longer. What is sent in it can be chosen when it is there. A slot that isn't used by the time its scope
   * closes goes to the next one, as does the place of a wait that is interrupted.
   */
  readonly reserve: (
    patience: Duration.Duration
  ) => Effect.Effect<Slot, RateLimitWaitExceeded, Scope.Scope>
  /**
   * Lets no request go for a while, those that wait already included: what a 429 with `Retry-After` asks for. A shorter
   * time than one that runs already changes nothing.
   */
  readonly closeFor: (time: Duration.Duration) => Effect.Effect<void>
}>() {}

/**
 * Runs one request in a slot of its own.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withSlot =
  (rateLimit: RateLimit["Type"], patience: Duration.Duration) =>
  <A, E, R>(request: Effect.Effect<A, E, R>): Effect.Effect<A, E | RateLimitWaitExceeded, R> =>
    Effect.scopedWith((scope) =>
      Effect.flatMap(Scope.extend(rateLimit.reserve(patience), scope), ({ use }) => use(request)))

const reserved = FiberRef.unsafeMake<Slot | undefined>(undefined)

/**
 * Has the first attempt of a call go out in a slot that was reserved before the call was chosen. Attempts after it wait
 * for slots of their own.
 *
 * @since 0.1.0
 * @category combinators
 */
export const inSlot = (slot: Slot) => <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.locally(call, reserved, slot)

/**
 * Takes the slot that {@link inSlot} left for this call, if one is left.
 *
 * @since 0.1.0
 * @category combinators
 */
export const takeReserved: Effect.Effect<Slot | undefined> = Effect.flatMap(
  FiberRef.get(reserved),
  // Set only where there is something to take away: a reference that was set costs at every fork and join from then on.
  (slot) => slot === undefined ? Effect.succeed(undefined) : Effect.as(FiberRef.set(reserved, undefined), slot)
)

interface Waiter {
  readonly deadline: number
  readonly place: Deferred.Deferred<void, RateLimitWaitExceeded>
  granted: boolean
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Alarm {
  readonly at: number
  readonly fiber: Fiber.RuntimeFiber<void>
}

// Moments are milliseconds of the monotonic clock: a wall clock that is set back or forth must not open the gate.
const now: Effect.Effect<number> = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000n) / 1_000)

const waitExceeded = (at: number, goesAt: number): Effect.Effect<never, RateLimitWaitExceeded> =>
  Effect.flatMap(DateTime.now, (wallNow) => {
    const retryAt = DateTime.add(wallNow, { millis: Math.ceil(goesAt - at) })
    const message = `the key's allowance is used up for now; come back at ${DateTime.formatIso(retryAt)}`
    return new RateLimitWaitExceeded({ retryAt, message })
  })

/**
 * An allowance that this process has for itself.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeMemory = (allowance: Allowance = {}): Effect.Effect<RateLimit["Type"], never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const slots = new Slots(
      allowance.limit ?? Limits.requestsPerWindow,
      Duration.toMillis(allowance.window ?? Limits.rateWindow)
    )
    // In the order of asking.
    const waiters = new Set<Waiter>()
    let alarm: Alarm | undefined

    /** Hands out what is free, sends away those who can't be served in time, and sees to waking up for the rest. */
    const serve: Effect.Effect<void> = Effect.flatMap(now, (at) =>
      Effect.suspend(() => {
        let wakeAt = Number.POSITIVE_INFINITY
        let free = slots.free(at)
        const notBefore = slots.nextFree(at) ?? at
        for (const waiter of waiters) {
          if (free > 0) {
            free--
            slots.take()
            waiters.delete(waiter)
            waiter.granted = true
            Deferred.unsafeDone(waiter.place, Effect.void)
          } else if (waiter.deadline <= at || waiter.deadline < notBefore) {
            waiters.delete(waiter)
            Deferred.unsafeDone(waiter.place, waitExceeded(at, Math.max(at, notBefore)))
          } else {
            wakeAt = Math.min(wakeAt, waiter.deadline)
          }
        }
        return waiters.size === 0 ? Effect.void : wake(at, Math.min(wakeAt, slots.nextFree(at) ?? wakeAt))
      }))

    const wake = (at: number, next: number): Effect.Effect<void> => {
      if (alarm !== undefined && alarm.at <= next) {
        return Effect.void
      }
      const previous = alarm?.fiber
      const ring = Effect.suspend(() => {
        alarm = undefined
        return serve
      })
      // A timer counts whole milliseconds, and one that rings early would only have to be set again.
      return Effect.delay(ring, Duration.millis(Math.ceil(next - at))).pipe(
        Effect.interruptible,
        Effect.forkIn(scope),
        Effect.tap((fiber) => {
          alarm = { at: next, fiber }
        }),
        Effect.zipRight(previous === undefined ? Effect.void : Fiber.interruptFork(previous))
      )
    }

    const wait = (at: number, deadline: number, restore: Restore) =>
      Effect.suspend(() => {
        const waiter: Waiter = { deadline, place: Deferred.unsafeMake(FiberId.none), granted: false }
        waiters.add(waiter)
        // A slot that was handed out at the very moment of the interruption goes to the next one.
        const leave = Effect.suspend(() => {
          waiters.delete(waiter)
          if (!waiter.granted) {
            return Effect.void
          }
          slots.giveBack()
          return serve
        })
        return wake(at, Math.min(slots.nextFree(at) ?? deadline, deadline)).pipe(
          Effect.zipRight(restore(Deferred.await(waiter.place))),
          Effect.onInterrupt(() => leave)
        )
      })

    const take = (patience: Duration.Duration, restore: Restore): Effect.Effect<void, RateLimitWaitExceeded> =>
      Effect.flatMap(now, (at) =>
        Effect.suspend(() => {
          if (waiters.size === 0 && slots.free(at) > 0) {
            slots.take()
            return Effect.void
          }
          const deadline = at + Duration.toMillis(patience)
          const goesAt = slots.earliest(at, waiters.size)
          return goesAt > deadline ? waitExceeded(at, goesAt) : wait(at, deadline, restore)
        }))

    const answered = Effect.flatMap(now, (at) =>
      Effect.suspend(() => {
        slots.answered(at)
        return waiters.size === 0 ? Effect.void : serve
      }))

    /** A slot that was taken: used once, or given back. */
    const slotOf = (): { readonly slot: Slot; readonly giveBackUnused: Effect.Effect<void> } => {
      let used = false
      return {
        slot: {
          use: (request) =>
            Effect.uninterruptibleMask((restore) => {
              if (used) {
                return Effect.dieMessage("a slot of the allowance serves one request")
              }
              used = true
              return Effect.ensuring(restore(request), answered)
            })
        },
        giveBackUnused: Effect.suspend(() => {
          if (used) {
            return Effect.void
          }
          slots.giveBack()
          return serve
        })
      }
    }

    return {
      reserve: (patience) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(take(patience, restore), () => {
            const { giveBackUnused, slot } = slotOf()
            return Effect.as(Effect.addFinalizer(() => giveBackUnused), slot)
          })
        ),
      closeFor: (time) =>
        Effect.flatMap(now, (at) =>
          Effect.suspend(() => {
            slots.closeUntil(at + Duration.toMillis(time))
            return waiters.size === 0 ? Effect.void : serve
          }))
    }
  })

/**
 * Keeps the allowance in the memory of this process. Two processes with one key use up the allowance twice as fast.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (allowance?: Allowance): Layer.Layer<RateLimit> =>
  Layer.scoped(RateLimit, makeMemory(allowance))

/**
 * Shares one key's allowance between all processes that use the same database: a SQLite file on one machine, Postgres
 * across machines. Fails when the tables can't be made. Later on nothing is sent while the database does not answer: who
 * waits fails with {@link RateLimitWaitExceeded} when its patience ends, which then says so.
 *
 * A call must not be made inside a transaction on the same SQLite file, since it waits for the slot that only another
 * writer of the file can give it. The client for SQLite wants a file that no transaction of the program keeps locked.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerSql = (
  allowance: SharedAllowance
): Layer.Layer<RateLimit, SqlError | InvalidSettings, SqlClient> =>
  Layer.scoped(
    RateLimit,
    // Loaded here, so that nobody else needs `@effect/sql`.
    Effect.flatMap(Effect.promise(() => import("./RateLimit/Sql.js")), ({ make }) => make(allowance))
  )
