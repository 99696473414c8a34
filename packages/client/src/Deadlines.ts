/**
 * Time limits for attempts. One sleeping fiber watches over all that are under way, because a fiber and a timer for each
 * would cost more than the rest of an attempt. Knows nothing of what is limited.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"

/**
 * What runs within a time limit.
 *
 * @since 0.1.0
 * @category models
 */
export interface Watched {
  /** The last moment at which something moved, in milliseconds since the epoch; the limit counts from it. */
  movedAt: number
}

/** @since 0.1.0 @category models */
export interface Deadlines {
  /**
   * Runs an effect until nothing has moved in it for the time limit; then it is interrupted and the failure given
   * instead. The clock is that of the caller.
   */
  readonly limit: <A, E, R, E2>(
    effect: Effect.Effect<A, E, R>,
    watched: Watched,
    outOfTime: () => E2
  ) => Effect.Effect<A, E | E2, R>
  /**
   * The same for what reports by a callback and gives back how it is stopped, without a fiber of its own.
   */
  readonly limitAsync: <A, E, E2>(
    begin: (resume: (result: Effect.Effect<A, E>) => void) => Effect.Effect<void>,
    watched: Watched,
    outOfTime: () => E2
  ) => Effect.Effect<A, E | E2>
}

interface Entry {
  readonly watched: Watched
  readonly expire: () => void
}

/** @since 0.1.0 @category constructors */
export const make = (limit: Duration.Duration): Effect.Effect<Deadlines, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const limitMillis = Duration.toMillis(limit)
    const entries = new Set<Entry>()
    let watching = false

    /** Sleeps until the first of those under way may be out of time, and ends when there are none. */
    const watch: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (now) => {
      let next = Number.POSITIVE_INFINITY
      for (const entry of entries) {
        const expiresAt = entry.watched.movedAt + limitMillis
        if (expiresAt <= now) {
          entries.delete(entry)
          entry.expire()
        } else {
          next = Math.min(next, expiresAt)
        }
      }
      if (entries.size === 0) {
        watching = false
        return Effect.void
      }
      return Effect.zipRight(Effect.sleep(Duration.millis(next - now)), watch)
    })

    const start = Effect.suspend(() => {
      watching = true
      return Effect.forkIn(Effect.interruptible(watch), scope)
    })

    const limitAsync = <A, E, E2>(
      begin: (resume: (result: Effect.Effect<A, E>) => void) => Effect.Effect<void>,
      watched: Watched,
      outOfTime: () => E2
    ): Effect.Effect<A, E | E2> => {
      const ended = Effect.async<A, E | E2>((resume) => {
        const entry: Entry = {
          watched,
          expire: () => resume(Effect.zipRight(stop, Effect.fail(outOfTime())))
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
      return watching ? ended : Effect.zipRight(start, ended)
    }

    return {
      limitAsync,
      limit: <A, E, R, E2>(effect: Effect.Effect<A, E, R>, watched: Watched, outOfTime: () => E2) =>
        Effect.flatMap(Effect.runtime<R>(), (runtime) =>
          limitAsync<A, E, E2>((resume) => {
            // Begun in here, so that there is no moment at which it runs and nobody would interrupt it. As an exit, so
            // that an attempt which fails isn't logged as a fiber whose failure nobody handles.
            const fiber = Runtime.runFork(runtime)(Effect.exit(Effect.interruptible(effect)))
            fiber.addObserver((exit) => resume(Exit.flatten(exit)))
            return Fiber.interrupt(fiber)
          }, watched, outOfTime))
    }
  })
