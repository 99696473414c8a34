/**
 * When a snapshot is implausible: a feed that sells out, lowers, raises or omits much of the catalogue within a day is more
 * often broken than true.
 */
import type * as Duration from "effect/Duration"

/**
 * - `soldOut`: had stock at the beginning of the window, and has none.
 * - `fell`: has a third of that stock or less, and at least two pieces fewer.
 * - `rose`: has more than ten times that stock, and more than 100 pieces.
 * - `missing`: the source does not name the product any longer.
 */
export const kinds = ["soldOut", "fell", "rose", "missing"] as const
export type Kind = (typeof kinds)[number]

/** The same as {@link Kind} says, in SQL: null where the change is plausible. */
export const kindSql = (base: string, stock: string): string =>
  `CASE WHEN ${base} > 0 AND ${stock} = 0 THEN 'soldOut'
    WHEN ${stock} > 0 AND ${base} >= 3 * ${stock} AND ${base} - ${stock} >= 2 THEN 'fell'
    WHEN ${stock} > 100 AND ${stock} > 10 * ${base} THEN 'rose' END`

/** Products by kind, and those that the source named at the beginning of the window. */
export interface Figures extends Readonly<Record<Kind, number>> {
  readonly catalogue: number
  /** Missing products whose wanted stock becomes 0 for that. */
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

/** Products of one kind that are still plausible. */
export const limitOf = ({ count, share }: Limits, { catalogue }: Pick<Figures, "catalogue">): number => Math.max(count, share * catalogue)

/** Whether figures exceed both limits in one respect: less on sale, more on sale, or fewer rows. */
export const exceeds = (limits: Limits, figures: Figures): boolean => {
  const { fell, missing, rose, soldOut, zeroed } = figures
  const limit = limitOf(limits, figures)
  return soldOut + fell + zeroed > limit || rose > limit || missing > limit
}
