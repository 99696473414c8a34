/**
 * How many bad rows are few. A few are somebody's slips and are set aside; many are a broken export, of which nothing is taken. Knows
 * nothing of what makes a row bad.
 *
 * @since 0.1.0
 */
import * as Refused from "@plaza/rows/Refused"
import type { Row } from "@plaza/rows/Stock"
import * as Stream from "effect/Stream"

// In a short source a single slip is a large share. So many rows are few in any.
const few = 10
const unlessTold = 0.2

/**
 * Lets rows through, and fails behind the last one where too many of them were bad: more than the share (0 to 1) that was told; unless
 * told, more than a fifth and more than ten. Fails as well where none was good.
 *
 * @since 0.1.0
 * @category streams
 */
export const bounded = (source: string, told: number | undefined) =>
<E, R>(rows: Stream.Stream<Row, E, R>): Stream.Stream<Row, E | Refused.SourceRefused, R> =>
  Stream.suspend(() => {
    let all = 0
    let bad = 0
    let first: Row | undefined
    return rows.pipe(
      Stream.mapChunks((chunk) => {
        for (const row of chunk) {
          all++
          if (row._tag === "Bad") {
            bad++
            first ??= row
          }
        }
        return chunk
      }),
      Stream.concat(Stream.suspend(() => {
        const tooMany = bad > all * (told ?? unlessTold) && (told !== undefined || bad > few)
        if (first?._tag !== "Bad" || !(tooMany || bad === all)) return Stream.empty
        const how = bad === all ? `${all === 1 ? "its only row is" : `all of its ${all} rows are`} bad` : `${bad} of ${all} rows are bad`
        const advice = bad === all ? "" : "; --max-bad-rows (STOCK_SYNC_MAX_BAD_ROWS) says how many may be"
        return Stream.fail(Refused.content(source, `${how}, the first on line ${first.line}: ${first.reason}${advice}`))
      }))
    )
  })
