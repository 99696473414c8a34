/**
 * Time limits for attempts, and their end when the client is closed. One sleeping fiber watches all that are under way,
 * because a fiber and a timer for each would cost more than the rest of an attempt.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { closed } from "./Closing.js"
import type { Closing } from "./Closing.js"
import type { ClientClosed } from "../../ClientError.js"
import { at } from "../MonotonicTime.js"

/**
 * What runs within a time limit.
 *
 * @since 0.1.0
 * @category models
 */
export interface Watched {
  /** The last moment at which something moved, in milliseconds of the monotonic clock; the limit counts from it. */
  movedAt: number
  readonly limit: Duration.Duration
}

/**
 * What an effect ends in that is interrupted.
 *
 * @since 0.1.0
 * @category models
 */
export interface Endings<E> {
  readonly outOfTime: () => E
  /** The client was closed meanwhile. */
  readonly cutOff: () => E
}

/** @since 0.1.0 @category models */
export interface Deadlines {
  /**
   * Runs an effect until nothing has moved in it for the time limit or the client is closed; then it is interrupted and
   * the failure given instead. Once the client is closed nothing is begun. The clock is that of the caller.
   */
  readonly limit: <A, E, R, E2>(
    effect: Effect.Effect<A, E, R>,
    watched: Watched,
    endings: Endings<E2>
  ) => Effect.Effect<A, E | E2 | ClientClosed, R>
  /**
   * The same for what reports by a callback and gives back how it is stopped, without a fiber of its own.
   */
  readonly limitAsync: <A, E, E2>(
    begin: (resume: (result: Effect.Effect<A, E>) => void) => Effect.Effect<void>,
    watched: Watched,
    endings: Endings<E2>
  ) => Effect.Effect<A, E | E2 | ClientClosed>
}

interface Entry {
  readonly watched: Watched
  readonly expire: () => void
  readonly cutOff: () => void
}

const expiresAt = ({ limit, movedAt }: Watched): number => movedAt + Duration.toMillis(limit)

// What timers can hold.
const longestSleep = 2 ** 31 - 1

const sleepUntil = (now: number, moment: number): Effect.Effect<void> =>
  Effect.sleep(Duration.millis(Math.min(longestSleep, Math.max(0, Math.ceil(moment - now)))))

/** @since 0.1.0 @category constructors */
export const make = (closing: Closing): Effect.Effect<Deadlines, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const entries = new Set<Entry>()
    // The fiber that watches, and until when it sleeps.
    let watcher: Fiber.RuntimeFiber<void> | undefined
    let wakesAt = Number.POSITIVE_INFINITY

    closing.onClose(() => {
      for (const entry of entries) {
        entries.delete(entry)
        entry.cutOff()
      }
    })

    /** Sleeps until the first of those under way may be out of time, and ends when there are none. */
    const watch: Effect.Effect<void> = at((now) => {
      wakesAt = Number.POSITIVE_INFINITY
      for (const entry of entries) {
        const moment = expiresAt(entry.watched)
        if (moment <= now) {
          entries.delete(entry)
          entry.expire()
        } else {
          wakesAt = Math.min(wakesAt, moment)
        }
      }
      if (entries.size === 0) {
        watcher = undefined
        return Effect.void
      }
      return Effect.zipRight(sleepUntil(now, wakesAt), watch)
    })

    /** Sees to it that the watcher wakes no later than this. */
    const watchUntil = (moment: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (watcher !== undefined && wakesAt <= moment) {
          return Effect.void
        }
        const previous = watcher
        wakesAt = moment
        // It sleeps first: what it is to watch begins only after this.
        const fromThen = at((now) => Effect.zipRight(sleepUntil(now, moment), watch))
        return Effect.forkIn(Effect.interruptible(fromThen), scope).pipe(
          Effect.tap((fiber) => {
            watcher = fiber
          }),
          Effect.zipRight(previous === undefined ? Effect.void : Fiber.interruptFork(previous))
        )
      })

    const limitAsync = <A, E, E2>(
      begin: (resume: (result: Effect.Effect<A, E>) => void) => Effect.Effect<void>,
      watched: Watched,
      endings: Endings<E2>
    ): Effect.Effect<A, E | E2 | ClientClosed> => {
      const ended = Effect.async<A, E | E2>((resume) => {
        const entry: Entry = {
          watched,
          expire: () => resume(Effect.zipRight(stop, Effect.fail(endings.outOfTime()))),
          cutOff: () => resume(Effect.zipRight(stop, Effect.fail(endings.cutOff())))
        }
        // Before it begins, since it may end at once.
        entries.add(entry)
        const stop = begin((result) => {
          entries.delete(entry)
          resume(result)
        })
        return Effect.suspend(() => {
          entries.delete(entry)
          return stop
        })
      })
      return Effect.suspend((): Effect.Effect<A, E | E2 | ClientClosed> =>
        closing.isClosed
          ? closed()
          : watcher !== undefined && wakesAt <= expiresAt(watched)
          ? ended
          : Effect.zipRight(watchUntil(expiresAt(watched)), ended)
      )
    }

    return {
      limitAsync,
      limit: <A, E, R, E2>(effect: Effect.Effect<A, E, R>, watched: Watched, endings: Endings<E2>) =>
        Effect.flatMap(Effect.runtime<R>(), (runtime) =>
          limitAsync<A, E, E2>((resume) => {
            // Begun in here, so that there is no moment at which it runs and nobody would interrupt it. As an exit, so
            // that an attempt which fails isn't logged as a fiber whose failure nobody handles.
            const fiber = Runtime.runFork(runtime)(Effect.exit(Effect.interruptible(effect)))
            fiber.addObserver((exit) => resume(Exit.flatten(exit)))
            return Fiber.interrupt(fiber)
          }, watched, endings))
    }
  })
