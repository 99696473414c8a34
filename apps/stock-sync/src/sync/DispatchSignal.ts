/** Signals to the dispatcher that a product may be due. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"

export class DispatchSignal extends Context.Service<DispatchSignal, {
  /** Several notifications before the next `wait` count as one. */
  readonly notify: Effect.Effect<void>
  /** Runs work that may make products due, and notifies at its end. */
  readonly during: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Whether `wait` would return at once, or work of `during` is running. */
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
  const notify = Effect.andThen(Queue.offer(queue, undefined), Effect.asVoid(Queue.offer(soldOut, undefined)))
  const add = (count: number) => Ref.update(running, (before) => before + count)
  return {
    notify,
    // Notifies first: in between, the dispatcher must not find nothing expected.
    during: (work) => Effect.acquireUseRelease(add(1), () => work, () => Effect.andThen(notify, add(-1))),
    isExpected: Effect.zipWith(Ref.get(running), Queue.size(queue), (works, notifications) => works > 0 || notifications > 0),
    wait: Queue.take(queue),
    waitSoldOut: Queue.take(soldOut)
  }
})
