/**
 * What follows from what is wanted and what is remembered: which products are sent, why, and in which order. Pure; knows nothing
 * of how entries are kept or values travel.
 *
 * @since 0.1.0
 */
import type { ProductId } from "@plaza/domain/Ids"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type Entry, urgencies, type Urgency } from "./Entry.js"

/**
 * Why a product is sent.
 *
 * @since 0.1.0
 * @category models
 */
export const reasons = ["soldOut", "falling", "backInStock", "rising", "unconfirmed", "asserted", "doubtful"] as const
/** @since 0.1.0 @category models */
export type Reason = (typeof reasons)[number]

/**
 * One product to be sent. It names no value for the sender to keep: what is wanted is read when its turn comes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Step {
  readonly productId: ProductId
  readonly reason: Reason
  readonly from: number | undefined
  readonly to: number
}

/**
 * What is to be done about one product.
 *
 * @since 0.1.0
 * @category models
 */
export type Decision =
  | { readonly _tag: "Send"; readonly step: Step }
  | { readonly _tag: "Unchanged" }
  | { readonly _tag: "Quarantined" }

const unchanged: Decision = { _tag: "Unchanged" }
const quarantined: Decision = { _tag: "Quarantined" }

/**
 * Decides about one product.
 *
 * @since 0.1.0
 * @category planning
 */
export const decide = (entry: Entry): Decision => {
  if (entry.state === "quarantined" && entry.refusal?.value === entry.wanted) return quarantined
  if (entry.state === "settled" && entry.confirmed === entry.wanted) return unchanged
  const { confirmed, productId, wanted } = entry
  return { _tag: "Send", step: { productId, reason: reasonOf(entry), from: confirmed, to: wanted } }
}

const reasonOf = ({ confirmed, sent, state, wanted }: Entry): Reason => {
  const inDoubt = state === "doubtful" || state === "sending"
  // What the service may hold. Undefined stands for anything.
  const held = inDoubt ? [confirmed, sent] : [confirmed]
  // Looked at before the doubt: as long as nobody confirmed the zero, the product may be on sale.
  if (wanted === 0 && held.some((stock) => stock !== 0)) return "soldOut"
  if (inDoubt && sent === wanted) return "doubtful"
  if (held.some((stock) => stock !== undefined && stock > wanted)) return "falling"
  if (wanted > 0 && held.includes(0)) return "backInStock"
  if (confirmed === undefined) return "unconfirmed"
  return wanted === confirmed ? "asserted" : "rising"
}

/**
 * How urgent a reason is. Rising, never confirmed and asserted again are "the rest": none of them is more urgent than the other.
 *
 * @since 0.1.0
 * @category planning
 */
export const urgencyOf: Readonly<Record<Reason, Urgency>> = {
  soldOut: "soldOut",
  falling: "falling",
  backInStock: "backInStock",
  rising: "rest",
  unconfirmed: "rest",
  asserted: "rest",
  doubtful: "doubtful"
}
// Found once: a million steps are compared twenty million times.
const ranks: ReadonlyMap<Reason, number> = new Map(reasons.map((reason) => [reason, urgencies.indexOf(urgencyOf[reason])]))
const rank = (reason: Reason): number => ranks.get(reason) ?? urgencies.length

/**
 * The order of sending. Equal steps go by the product's id, by code units, so that two runs send alike.
 *
 * @since 0.1.0
 * @category planning
 */
export const compare = (one: Step, other: Step): number =>
  rank(one.reason) - rank(other.reason) ||
  (one.productId < other.productId ? -1 : one.productId > other.productId ? 1 : 0)

/**
 * Everything that is to be sent, in order.
 *
 * @since 0.1.0
 * @category planning
 */
export const make = (entries: Iterable<Entry>): ReadonlyArray<Step> => inOrder([...entries].flatMap(stepsOf))

/**
 * The same for entries that come as a stream. Only steps are kept of them: with a million products that is the difference between
 * a hundred megabytes and a gigabyte.
 *
 * @since 0.1.0
 * @category planning
 */
export const collect = <E, R>(entries: Stream.Stream<Entry, E, R>): Effect.Effect<ReadonlyArray<Step>, E, R> =>
  Effect.suspend(() => {
    const steps: Array<Step> = []
    return Effect.map(
      Stream.runForEachChunk(entries, (page) => Effect.sync(() => Chunk.forEach(page, (entry) => steps.push(...stepsOf(entry))))),
      () => inOrder(steps)
    )
  })

const stepsOf = (entry: Entry): ReadonlyArray<Step> => {
  const decision = decide(entry)
  return decision._tag === "Send" ? [decision.step] : []
}

const inOrder = (steps: Array<Step>): ReadonlyArray<Step> => steps.sort(compare)
