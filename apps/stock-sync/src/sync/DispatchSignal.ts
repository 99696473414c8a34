/** Signals to the dispatcher that a product may be due. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"

export class DispatchSignal extends Context.Service<DispatchSignal, {
  /** Several notifications before the next `wait` count as one. */
  readonly notify: Effect.Effect<void>
  /**
   * Runs work that may make products due, and notifies at its end. If it succeeds with false, it has made none due: then it only ends `wait`,
   * so that a source that is polled more often than the dispatcher looks does not keep the dispatcher.
   */
  readonly during: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Whether there was a notification since `wait`, or work of `during` is running. */
  readonly isExpected: Effect.Effect<boolean>
  readonly wait: Effect.Effect<void>
  /** The same for the loop of sold-out products, independent of `wait`. */
  readonly waitSoldOut: Effect.Effect<void>
}>()("@plaza/stock-sync/sync/DispatchSignal") {}

/** For work without a dispatcher. */
export const none: DispatchSignal["Service"] = {
  notify: Effect.void,
  during: (work) => work,
  isExpected: Effect.succeed(false),
  wait: Effect.never,
  waitSoldOut: Effect.never
}

export const make: Effect.Effect<DispatchSignal["Service"]> = Effect.gen(function*() {
  const queue = yield* Queue.sliding<void>(1)
  const running = yield* Ref.make(0)
  const soldOut = yield* Queue.sliding<void>(1)
  const notified = yield* Ref.make(false)
  const wake = Effect.andThen(Queue.offer(queue, undefined), Effect.asVoid(Queue.offer(soldOut, undefined)))
  const notify = Effect.andThen(Ref.set(notified, true), wake)
  const add = (count: number) => Ref.update(running, (before) => before + count)
  return {
    notify,
    // Notifies first: in between, the dispatcher must not find nothing expected.
    during: (work) =>
      Effect.acquireUseRelease(add(1), () => work, (_, exit) =>
        Effect.andThen(Exit.isSuccess(exit) && exit.value === false ? wake : notify, add(-1))),
    isExpected: Effect.zipWith(Ref.get(running), Ref.get(notified), (works, isNotified) => works > 0 || isNotified),
    // The dispatcher looks for a product afterwards, and finds what was notified until then.
    wait: Effect.andThen(Queue.take(queue), Ref.set(notified, false)),
    waitSoldOut: Queue.take(soldOut)
  }
})
