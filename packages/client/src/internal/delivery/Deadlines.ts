/**
 * Time limits for attempts, and their end when the client is closed. One fiber watches all attempts in flight, because a fiber
 * and a timer for each would cost more than the rest of an attempt.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { ClientClosed } from "../../ClientError.js"
import type { MonotonicMillis } from "../Compat.js"
import { monotonicWith, sleepUntil } from "../Compat.js"
import { clientClosed } from "./Shutdown.js"
import type { Shutdown } from "./Shutdown.js"

/**
 * An attempt that runs within a time limit.
 *
 * @since 0.1.0
 * @category models
 */
export interface Watched {
  /** The last progress. The limit counts from it. */
  movedAt: MonotonicMillis
  readonly limit: Duration.Duration
}

/**
 * The failures of an attempt that is interrupted.
 *
 * @since 0.1.0
 * @category models
 */
export interface Endings<E> {
  readonly onTimeout: () => E
  /** The client was closed. */
  readonly onShutdown: () => E
}

/** @since 0.1.0 @category models */
export interface Deadlines {
  /**
   * Interrupts an effect that makes no progress for the time limit, or when the client is closed, and fails instead. Starts
   * nothing once the client is closed. Uses the clock of the caller.
   */
  readonly limit: <A, E, R, E2>(
    effect: Effect.Effect<A, E, R>,
    watched: Watched,
    endings: Endings<E2>
  ) => Effect.Effect<A, E | E2 | ClientClosed, R>
  /**
   * The same for an operation that reports by a callback. `begin` starts it and returns the effect that stops it.
   */
  readonly limitAsync: <A, E, E2>(
    begin: (resume: (result: Effect.Effect<A, E>) => void) => Effect.Effect<void>,
    watched: Watched,
    endings: Endings<E2>
  ) => Effect.Effect<A, E | E2 | ClientClosed>
}

interface Entry {
  readonly watched: Watched
  readonly onTimeout: () => void
  readonly onShutdown: () => void
}

const expiresAt = ({ limit, movedAt }: Watched): MonotonicMillis => movedAt + Duration.toMillis(limit)

/** @since 0.1.0 @category constructors */
export const make = (shutdown: Shutdown): Effect.Effect<Deadlines, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const entries = new Set<Entry>()
    // The fiber that watches, and the moment at which it wakes.
    let watcher: Fiber.RuntimeFiber<void> | undefined
    let wakesAt = Number.POSITIVE_INFINITY

    shutdown.onShutdown(() => {
      for (const entry of entries) {
        entries.delete(entry)
        entry.onShutdown()
      }
    })

    /** Sleeps until the first attempt may time out. Ends when there is none. */
    const watch: Effect.Effect<void> = monotonicWith((now) => {
      const expired: Array<Entry> = []
      let next = Number.POSITIVE_INFINITY
      for (const entry of entries) {
        const moment = expiresAt(entry.watched)
        if (moment <= now) {
          entries.delete(entry)
          expired.push(entry)
        } else {
          next = Math.min(next, moment)
        }
      }
      wakesAt = next
      const isDone = entries.size === 0
      if (isDone) {
        watcher = undefined
      }
      // After the state is complete: an attempt that fails may be followed by another one at once.
      for (const entry of expired) {
        entry.onTimeout()
      }
      return isDone ? Effect.void : Effect.andThen(sleepUntil(next), watch)
    })

    /** Makes the watcher wake no later than this. */
    const watchUntil = (moment: MonotonicMillis): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (watcher !== undefined && wakesAt <= moment) {
          return Effect.void
        }
        // It sleeps first, because the attempt that it watches begins after this.
        return Effect.forkIn(Effect.interruptible(Effect.andThen(sleepUntil(moment), watch)), scope).pipe(
          Effect.flatMap((fiber) => {
            const previous = watcher
            watcher = fiber
            wakesAt = moment
            return previous === undefined ? Effect.void : Fiber.interruptFork(previous)
          }),
          // Otherwise an interrupted attempt could leave a watcher that is not the recorded one.
          Effect.uninterruptible
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
          onTimeout: () => resume(Effect.andThen(stop, Effect.fail(endings.onTimeout()))),
          onShutdown: () => resume(Effect.andThen(stop, Effect.fail(endings.onShutdown())))
        }
        // Before the start, because the operation may end at once.
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
        shutdown.isShutDown
          ? Effect.fail(clientClosed())
          : watcher !== undefined && wakesAt <= expiresAt(watched)
          ? ended
          : Effect.andThen(watchUntil(expiresAt(watched)), ended)
      )
    }

    return {
      limitAsync,
      limit: <A, E, R, E2>(effect: Effect.Effect<A, E, R>, watched: Watched, endings: Endings<E2>) =>
        Effect.flatMap(Effect.runtime<R>(), (runtime) =>
          limitAsync<A, E, E2>((resume) => {
            // Forked in here, so that it never runs without an owner that interrupts it. As an exit, so that Effect does not
            // log a failed attempt as an unhandled failure of a fiber.
            const fiber = Runtime.runFork(runtime)(Effect.exit(Effect.interruptible(effect)))
            fiber.addObserver((exit) => resume(Exit.flatten(exit)))
            return Fiber.interrupt(fiber)
          }, watched, endings))
    }
  })
