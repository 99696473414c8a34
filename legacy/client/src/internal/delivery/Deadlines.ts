/**
 * Interrupts attempts that time out, and all attempts when the client's layer is released. One fiber watches all attempts in flight,
 * because a fiber and a timer for each attempt would cost more than the rest of the attempt.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { ClientClosed } from "../../ClientError.ts"
import type { MonotonicMillis } from "../Compat.ts"
import { monotonicWith, sleepUntil } from "../Compat.ts"
import { clientClosed } from "./Shutdown.ts"
import type { Shutdown } from "./Shutdown.ts"

/**
 * The deadline of an attempt: its timeout, counted from its last progress.
 *
 * @since 0.1.0
 * @category models
 */
export interface Deadline {
  lastProgressAt: MonotonicMillis
  readonly timeout: Duration.Duration
}

/** The failures of an interrupted attempt. */
interface InterruptionFailures<E> {
  readonly onTimeout: () => E
  /** The layer of the client was released. */
  readonly onShutdown: () => E
}

/** @since 0.1.0 @category models */
export interface Deadlines {
  /**
   * Interrupts an effect at its deadline, or when the layer is released, and fails. After the release it fails with `ClientClosed`
   * and doesn't start the effect. Uses the clock of the caller.
   */
  readonly limit: <A, E, R, E2>(
    effect: Effect.Effect<A, E, R>,
    deadline: Deadline,
    failures: InterruptionFailures<E2>
  ) => Effect.Effect<A, E | E2 | ClientClosed, R>
  /**
   * The same for an operation with a callback. `start` starts the operation and returns the effect that stops it.
   */
  readonly limitAsync: <A, E, E2>(
    start: (resume: (result: Effect.Effect<A, E>) => void) => Effect.Effect<void>,
    deadline: Deadline,
    failures: InterruptionFailures<E2>
  ) => Effect.Effect<A, E | E2 | ClientClosed>
}

interface Entry {
  readonly deadline: Deadline
  readonly onTimeout: () => void
  readonly onShutdown: () => void
}

const expiresAt = ({ lastProgressAt, timeout }: Deadline): MonotonicMillis => lastProgressAt + Duration.toMillis(timeout)

/** @since 0.1.0 @category constructors */
export const make = (shutdown: Shutdown): Effect.Effect<Deadlines, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const entries = new Set<Entry>()
    // The fiber that watches the attempts, and the moment at which it wakes.
    let watcher: Fiber.RuntimeFiber<void> | undefined
    let wakesAt = Number.POSITIVE_INFINITY

    shutdown.onShutdown(() => {
      for (const entry of entries) {
        entries.delete(entry)
        entry.onShutdown()
      }
    })

    /** Interrupts the expired attempts and sleeps until the next deadline. Ends when no attempt is in flight. */
    const watch: Effect.Effect<void> = monotonicWith((now) => {
      const expired: Array<Entry> = []
      let next = Number.POSITIVE_INFINITY
      for (const entry of entries) {
        const moment = expiresAt(entry.deadline)
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
      // Last, when the state is complete: a failed attempt may start another attempt synchronously.
      for (const entry of expired) {
        entry.onTimeout()
      }
      return isDone ? Effect.void : Effect.andThen(sleepUntil(next), watch)
    })

    /** Starts a watcher that wakes at this moment, unless the current watcher wakes earlier. */
    const watchUntil = (moment: MonotonicMillis): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (watcher !== undefined && wakesAt <= moment) {
          return Effect.void
        }
        // It sleeps first, because the attempt starts after this.
        return Effect.forkIn(Effect.interruptible(Effect.andThen(sleepUntil(moment), watch)), scope).pipe(
          Effect.flatMap((fiber) => {
            const previous = watcher
            watcher = fiber
            wakesAt = moment
            return previous === undefined ? Effect.void : Fiber.interruptFork(previous)
          }),
          // Otherwise an interruption could leave a watcher that `watcher` doesn't reference.
          Effect.uninterruptible
        )
      })

    const limitAsync = <A, E, E2>(
      start: (resume: (result: Effect.Effect<A, E>) => void) => Effect.Effect<void>,
      deadline: Deadline,
      failures: InterruptionFailures<E2>
    ): Effect.Effect<A, E | E2 | ClientClosed> => {
      const ended = Effect.async<A, E | E2>((resume) => {
        const entry: Entry = {
          deadline,
          onTimeout: () => resume(Effect.andThen(stop, Effect.fail(failures.onTimeout()))),
          onShutdown: () => resume(Effect.andThen(stop, Effect.fail(failures.onShutdown())))
        }
        // Before the start, because the operation may end synchronously.
        entries.add(entry)
        const stop = start((result) => {
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
          : watcher !== undefined && wakesAt <= expiresAt(deadline)
          ? ended
          : Effect.andThen(watchUntil(expiresAt(deadline)), ended)
      )
    }

    return {
      limitAsync,
      limit: <A, E, R, E2>(effect: Effect.Effect<A, E, R>, deadline: Deadline, failures: InterruptionFailures<E2>) =>
        Effect.flatMap(Effect.runtime<R>(), (runtime) =>
          limitAsync<A, E, E2>((resume) => {
            // Forked inside the callback, so that the caller always interrupts it. As an exit, so that Effect doesn't log a failed
            // attempt as an unhandled failure of a fiber.
            const fiber = Runtime.runFork(runtime)(Effect.exit(Effect.interruptible(effect)))
            fiber.addObserver((exit) => resume(Exit.flatten(exit)))
            return Fiber.interrupt(fiber)
          }, deadline, failures))
    }
  })
