/** Commits writes some time after their requests failed, by the caller's clock. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"

/** A write that is carried out later. */
interface LateCommit {
  readonly commit: Effect.Effect<unknown>
  /** Releases resources of the write, such as a stored file. Runs instead of `commit` when the write is cancelled. */
  readonly discard: Effect.Effect<void>
}

const make = Effect.map(FiberSet.make(), (fibers) => ({
  /** Commits after a delay in milliseconds. If the sandbox resets or stops first, runs `discard`. */
  schedule: (delayMillis: number, { commit, discard }: LateCommit): Effect.Effect<void> =>
    Effect.interruptible(Effect.sleep(delayMillis)).pipe(
      Effect.onInterrupt(() => discard),
      Effect.andThen(commit),
      // The fiber starts in this region, so that a cancellation before its first step discards too.
      Effect.uninterruptible,
      FiberSet.run(fibers, { startImmediately: true }),
      Effect.asVoid
    ),
  /** Cancels and discards all scheduled writes. */
  clear: FiberSet.clear(fibers)
}))

export class LateCommits extends Context.Service<LateCommits, Effect.Success<typeof make>>()("@plaza/sandbox/LateCommits") {
  static readonly layer = Layer.effect(LateCommits, make)
}
