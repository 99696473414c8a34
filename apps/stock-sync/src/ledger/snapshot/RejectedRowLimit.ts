/** How many rejected rows a snapshot may have. A few are mistakes; many are a broken export, which is not applied. */
import type { Unit } from "../../source/Source.ts"

export interface Rows {
  readonly all: number
  readonly rejected: number
}

// In a short source a single mistake is a large share.
const defaultCount = 10
const defaultShare = 0.2

/**
 * Whether a snapshot has too many: more than the given share (0 to 1), by default more than 20% and more than ten, or
 * nothing but rejected rows.
 */
export const exceeded = (share: number | undefined, { all, rejected }: Rows): boolean =>
  (all > 0 && rejected === all) || (rejected > all * (share ?? defaultShare) && (share !== undefined || rejected > defaultCount))

/** The message for an exceeded limit, with the first rejected row. `setting` names that of the limit. */
export const sentence = (
  { all, rejected }: Rows,
  first: { readonly line: number; readonly reason: string } | undefined,
  unit: Unit,
  setting: string
): string => {
  const share = rejected < all
    ? `${rejected} of ${all} rows are rejected`
    : all === 1
    ? "its only row is rejected"
    : `all of its ${all} rows are rejected`
  const where = first === undefined ? "" : `, the first in ${unit} ${first.line}: ${first.reason}`
  return `${share}${where}${rejected < all ? `; ${setting} says how many may be` : ""}`
}
