/** Tells the dispatcher that a product may be due. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"

export class DispatchSignal extends Context.Tag("@plaza/stock-sync/sync/DispatchSignal")<DispatchSignal, {
  /** Several notifications before the next `wait` count as one. */
  readonly notify: Effect.Effect<void>
  readonly wait: Effect.Effect<void>
}>() {}

export const layer: Layer.Layer<DispatchSignal> = Layer.effect(
  DispatchSignal,
  Effect.map(Queue.sliding<void>(1), (queue) => ({
    notify: Effect.asVoid(Queue.offer(queue, undefined)),
    wait: Queue.take(queue)
  }))
)
