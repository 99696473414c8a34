/**
 * Decides when a snapshot is implausible: a source that sells out, lowers, raises or omits much of the catalogue within a day is more
 * often broken than correct.
 */
import type * as Duration from "effect/Duration"

/**
 * Implausible changes of a product since the start of the window:
 *
 * - `soldOut`: had stock, and has none.
 * - `fell`: has a third of its stock or less, and at least two pieces fewer.
 * - `rose`: has more than ten times its stock, and more than 100 pieces.
 * - `missing`: the source no longer names the product.
 * - `reverted`: the product gets a stock that a revert undid.
 */
export const kinds = ["soldOut", "fell", "rose", "missing", "reverted"] as const
export type Kind = (typeof kinds)[number]

/** The kind of a change in SQL, null for a plausible one. `missing` and `reverted` are not decided here. */
export const kindSql = (base: string, stock: string): string =>
  `CASE WHEN ${base} > 0 AND ${stock} = 0 THEN 'soldOut'
    WHEN ${stock} > 0 AND ${base} >= 3 * ${stock} AND ${base} - ${stock} >= 2 THEN 'fell'
    WHEN ${stock} > 100 AND ${stock} > 10 * ${base} THEN 'rose' END`

/** Products by kind, and the number of products that the source named at the start of the window. */
export interface Figures extends Readonly<Record<Kind, number>> {
  readonly catalogue: number
  /** Missing products whose wanted stock becomes 0. */
  readonly zeroed: number
}

export interface Limits {
  /** Share of the catalogue, 0 to 1. */
  readonly share: number
  /** Products. */
  readonly count: number
  /** How far back changes are added up. */
  readonly window: Duration.Duration
}

/** How many products of one kind are plausible. */
export const limitOf = ({ count, share }: Limits, { catalogue }: Pick<Figures, "catalogue">): number => Math.max(count, share * catalogue)

/** Whether the figures exceed both limits in one respect: less stock, more stock, or fewer rows. What a person reverted has no limit. */
export const exceeds = (limits: Limits, figures: Figures): boolean => {
  const { fell, missing, reverted, rose, soldOut, zeroed } = figures
  const limit = limitOf(limits, figures)
  return soldOut + fell + zeroed > limit || rose > limit || missing > limit || reverted > 0
}
