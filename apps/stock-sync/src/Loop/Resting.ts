/**
 * Products that failed and rest before they come again, each a little longer than the time before. In memory alone: a new process
 * tries them at once. Knows nothing of why they failed.
 *
 * @since 0.1.0
 */
import type { ProductId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import * as Moment from "./Moment.js"

const growth: Moment.Growth = { first: 500, most: 60_000 }

/** @since 0.1.0 @category models */
export interface Resting {
  readonly add: (productId: ProductId) => Effect.Effect<void>
  readonly remove: (productId: ProductId) => Effect.Effect<void>
  /** None of them failed for what it is: whatever kept them from arriving is over. */
  readonly clear: Effect.Effect<void>
  /** Those that rest at a moment. */
  readonly at: (moment: number) => Iterable<ProductId>
  /** When the first of those that rest at a moment comes again. */
  readonly next: (moment: number) => number
}

/** @since 0.1.0 @category constructors */
export const make = (): Resting => {
  // One that has rested is remembered until it is confirmed or refused, so that it rests longer the next time.
  const rests = new Map<ProductId, { readonly until: number; readonly failures: number }>()
  return {
    add: (productId) =>
      Effect.gen(function*() {
        const failures = (rests.get(productId)?.failures ?? 0) + 1
        const pause = yield* Moment.pause(growth, failures)
        rests.set(productId, { until: (yield* Moment.now) + pause, failures })
      }),
    remove: (productId) => Effect.sync(() => void rests.delete(productId)),
    clear: Effect.sync(() => rests.clear()),
    *at(moment) {
      for (const [productId, { until }] of rests) if (until > moment) yield productId
    },
    next: (moment) => {
      let first = Number.POSITIVE_INFINITY
      for (const { until } of rests.values()) if (until > moment) first = Math.min(first, until)
      return first
    }
  }
}
