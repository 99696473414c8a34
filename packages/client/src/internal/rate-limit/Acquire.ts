/**
 * What every allowance does alike, wherever its slots are kept: a slot serves one request or goes back unused, a paused
 * operation waits apart from the others, and a refusal decides what is paused.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { Closing } from "../delivery/Closing.js"
import { closed } from "../delivery/Closing.js"
import type { ClientClosed, RateLimitWaitExceeded } from "../../ClientError.js"
import { at } from "../MonotonicTime.js"
import type { RateLimit, Refusal, RequestOptions, Slot, WaitOptions } from "../../RateLimit.js"
import type { Granted } from "./WaitQueue.js"
import { waitExceeded } from "./WaitQueue.js"
import type { Pace } from "./Pace.js"
import type { Pauses } from "./Pauses.js"

/** Lets an effect be interrupted as much as whoever asked for the slot. @since 0.1.0 @category models */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Where slots come from and go to. Nothing interrupts these but what they restore themselves.
 *
 * @since 0.1.0
 * @category models
 */
export interface Source<S> {
  readonly windowMillis: number
  readonly pace: Pace
  readonly pauses: Pauses
  readonly closing: Closing
  /** Waits for a slot until the deadline. */
  readonly take: (
    deadline: number,
    options: WaitOptions,
    restore: Restore
  ) => Effect.Effect<Granted<S>, RateLimitWaitExceeded | ClientClosed>
  /** A request goes out in the slot, or in another one where that one is lost. */
  readonly send: (slot: S, restore: Restore) => Effect.Effect<S, ClientClosed>
  /** The request in the slot ended; the service may have counted it until now. */
  readonly answered: (slot: S) => Effect.Effect<void>
  /** The service did not count the request in the slot. */
  readonly refused: (slot: S) => Effect.Effect<void>
  /** Nothing was sent from a slot. */
  readonly giveBack: (slot: S) => Effect.Effect<void>
  /** Requests that the service accepted within the last window, as far as this process knows. */
  readonly recent: (now: number) => number
  /** Until when no request of the key may go. */
  readonly pausedUntil: () => number
  /** Lets no request of the key go for so long, which is longer than before. */
  readonly pauseKey: (now: number, millis: number) => Effect.Effect<void>
  /** Has those who wait for an operation ask again, now that it is paused for so long. */
  readonly pauseOperation: (operation: string, millis: number) => Effect.Effect<void>
}

/** @since 0.1.0 @category constructors */
export const from = <S>(source: Source<S>): Pick<RateLimit["Type"], "reserve" | "withSlot" | "closeFor"> => {
  const { closing, pace, pauses } = source

  const takeBy = (
    deadline: number,
    options: WaitOptions,
    restore: Restore
  ): Effect.Effect<S, RateLimitWaitExceeded | ClientClosed> =>
    at((now) => {
      if (closing.isClosed || options.closing?.isClosed === true) {
        return closed()
      }
      const until = pauses.until(options.operation, now)
      if (until === undefined) {
        return Effect.flatMap(
          source.take(deadline, options, restore),
          Option.match({ onNone: () => takeBy(deadline, options, restore), onSome: Effect.succeed })
        )
      }
      if (until > deadline) {
        return waitExceeded(now, until, `the service asked for a pause of ${options.operation}`)
      }
      const ended = options.closing === undefined ? closing.failed : Effect.raceFirst(closing.failed, options.closing.failed)
      const wait = Effect.sleep(Duration.millis(Math.ceil(until - now)))
      return Effect.zipRight(restore(Effect.raceFirst(wait, ended)), takeBy(deadline, options, restore))
    })

  const take = (maxWait: Duration.Duration, options: WaitOptions, restore: Restore) =>
    at((now) => takeBy(now + Duration.toMillis(maxWait), options, restore))

  const pauseKey = (now: number, millis: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const before = source.pausedUntil()
      if (now + millis <= before) {
        return Effect.void
      }
      const report = before <= now && millis > 0 ? pauses.report(undefined, now, now + millis) : Effect.void
      return Effect.zipRight(report, source.pauseKey(now, millis))
    })

  const pauseOperation = (now: number, operation: string, millis: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const wasOpen = pauses.until(operation, now) === undefined
      if (!pauses.add(operation, now + millis)) {
        return Effect.void
      }
      const report = wasOpen ? pauses.report(operation, now, now + millis) : Effect.void
      return Effect.zipRight(report, source.pauseOperation(operation, millis))
    })

  const afterRefusal = (
    slot: S,
    { counted, retryAfter }: Refusal,
    sentAt: number,
    operation: string | undefined
  ): Effect.Effect<void> =>
    at((now) => {
      const asked = retryAfter === undefined ? 0 : Duration.toMillis(retryAfter)
      if (asked > source.windowMillis && operation !== undefined) {
        return Effect.zipRight(pauseOperation(now, operation, asked), source.answered(slot))
      }
      // A refused request is not counted here, so a shorter pause could exceed the limit by refusals alone.
      const millis = counted ? asked : asked > 0 ? Math.max(asked, pace.interval) : pace.backoff(now, sentAt)
      if (!counted) {
        pace.refused(now, sentAt, source.recent(now), now + millis)
      }
      return Effect.zipRight(pauseKey(now, millis), counted ? source.answered(slot) : source.refused(slot))
    })

  const spend = <A, E, R>(slot: S, request: Effect.Effect<A, E, R>, options: RequestOptions<E>, restore: Restore) =>
    Effect.flatMap(source.send(slot, restore), (current) =>
      at((sentAt) =>
        Effect.onExit(restore(request), (exit) => {
          const refusal = options.refusal === undefined || Exit.isSuccess(exit)
            ? undefined
            : Option.getOrUndefined(Option.map(Cause.failureOption(exit.cause), options.refusal))
          if (refusal !== undefined) {
            return afterRefusal(current, refusal, sentAt, options.operation)
          }
          pace.accepted(sentAt)
          return source.answered(current)
        })))

  return {
    reserve: (maxWait, options = {}) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(take(maxWait, options, restore), (taken) => {
          let gone = false
          const slot: Slot = {
            use: (request, options = {}) =>
              Effect.uninterruptibleMask((restore) => {
                if (gone) {
                  return Effect.dieMessage("a slot of the allowance serves one request, as long as its scope is open")
                }
                gone = true
                return spend(taken, request, options, restore)
              })
          }
          const giveBackUnused = Effect.suspend(() => {
            if (gone) {
              return Effect.void
            }
            gone = true
            return source.giveBack(taken)
          })
          return Effect.as(Effect.addFinalizer(() => giveBackUnused), slot)
        })
      ),
    withSlot: (maxWait, request, options = {}) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(take(maxWait, options, restore), (taken) => spend(taken, request, options, restore))
      ),
    closeFor: (time, operation) =>
      at((now) => {
        const millis = Duration.toMillis(time)
        return operation === undefined ? pauseKey(now, millis) : pauseOperation(now, operation, millis)
      })
  }
}
