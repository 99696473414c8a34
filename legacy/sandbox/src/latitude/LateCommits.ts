/**
 * Carries out writes after their requests have failed, by the caller's clock.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Scope from "effect/Scope"

/** A write that is carried out later. */
interface LateCommit {
  readonly commit: Effect.Effect<unknown, unknown>
  /** Releases what the write holds, such as a stored file. Runs instead of `commit` when the write is cancelled. */
  readonly discard: Effect.Effect<void>
}

/** @since 0.1.0 @category services */
export class LateCommits extends Context.Tag("@plaza-legacy/sandbox/LateCommits")<LateCommits, {
  /** Commits after a delay in milliseconds. If the sandbox resets or stops first, runs `discard`. */
  readonly schedule: (delayMillis: number, write: LateCommit) => Effect.Effect<void>
  /** Cancels and discards all scheduled writes. */
  readonly clear: Effect.Effect<void>
}>() {}

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<LateCommits["Type"], never, Scope.Scope> = Effect.map(Effect.scope, (scope) => {
  let made: FiberSet.FiberSet | undefined
  // Made by the first late commit, because few sandboxes have one.
  const fibers = Effect.suspend(() =>
    made === undefined
      ? Effect.map(Scope.extend(FiberSet.make(), scope), (fibers) => made = fibers)
      : Effect.succeed(made)
  )
  return {
    schedule: (delayMillis, { commit, discard }) =>
      Effect.interruptible(Effect.sleep(Duration.millis(delayMillis))).pipe(
        Effect.onInterrupt(() => discard),
        Effect.zipRight(Effect.ignore(commit)),
        (write) => Effect.flatMap(fibers, (set) => FiberSet.run(set, write)),
        // The fiber starts in this region, so that a cancellation before its first step discards too.
        Effect.uninterruptible,
        Effect.asVoid
      ),
    clear: Effect.suspend(() => made === undefined ? Effect.void : FiberSet.clear(made))
  }
})
