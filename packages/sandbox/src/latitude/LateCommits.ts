/**
 * Runs writes after the request that asked for them has failed, by the clock of its caller.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"

/** @since 0.1.0 @category services */
export class LateCommits extends Context.Tag("@plaza/sandbox/LateCommits")<LateCommits, {
  /** Runs an effect after a delay in milliseconds, unless the sandbox is reset or stopped first. */
  readonly schedule: (delayMillis: number, commit: Effect.Effect<unknown, unknown>) => Effect.Effect<void>
  /** Cancels all scheduled writes. */
  readonly clear: Effect.Effect<void>
}>() {}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<LateCommits> = Layer.scoped(
  LateCommits,
  Effect.map(FiberSet.make(), (fibers) => ({
    schedule: (delayMillis, commit) =>
      Effect.asVoid(FiberSet.run(
        fibers,
        Effect.zipRight(Effect.interruptible(Effect.sleep(Duration.millis(delayMillis))), Effect.ignore(commit))
      )),
    clear: FiberSet.clear(fibers)
  }))
)
