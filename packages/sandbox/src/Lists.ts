/**
 * One page of any list, the newest item first: where it goes on is a place among the rows, not a number of them, so it
 * stays where it is while items come and go, and costs the same at any depth. Knows nothing of what is listed.
 *
 * Source: interface v1, "List behaviour". That lists begin with what is newest is assumed.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza/domain/Errors"
import type { PageQuery } from "@plaza/domain/Requests"
import type { Page } from "@plaza/domain/Resources"
import * as Effect from "effect/Effect"
import { Assumed } from "./Assumptions.js"
import { Cursors } from "./Cursors.js"

/**
 * A list as it is kept.
 *
 * @since 0.1.0
 * @category models
 */
export interface Listed<Row, Item> {
  /** Its name, which no other list has: a cursor of one is none of another. */
  readonly name: string
  /** Whose view of it is read. */
  readonly accountId: string
  /** At most so many rows older than a place. */
  readonly older: (place: ReadonlyArray<number>, most: number) => Effect.Effect<ReadonlyArray<Row>>
  readonly placeOf: (row: Row) => ReadonlyArray<number>
  readonly item: (row: Row) => Item
}

/**
 * Above every sequence number and every moment: the part of a place before the first row.
 *
 * @since 0.1.0
 * @category constants
 */
export const newest = Number.MAX_SAFE_INTEGER

/** @since 0.1.0 @category models */
export type ReadPage = <Row, Item>(
  list: Listed<Row, Item>,
  query: PageQuery
) => Effect.Effect<Page<Item>, ValidationError>

/** @since 0.1.0 @category reading */
export const makeReadPage: Effect.Effect<ReadPage, never, Assumed | Cursors> = Effect.gen(function*() {
  const cursors = yield* Cursors
  const { defaultPageSize } = yield* Assumed
  return ({ accountId, item, name, older, placeOf }, { cursor, limit = defaultPageSize }) =>
    Effect.gen(function*() {
      const place = cursor === undefined ? [] : yield* cursors.open(name, accountId, cursor)
      // One more than asked for tells whether there is a next page.
      const rows = yield* older(place, limit + 1)
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      return {
        data: page.map(item),
        nextCursor: rows.length > limit && last !== undefined
          ? cursors.seal(name, accountId, placeOf(last))
          : null
      }
    })
})
