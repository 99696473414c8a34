/**
 * Reads one page of a list by keyset pagination, newest item first by default. Applies the fields of the latitude for lists: order, lag
 * and page size.
 *
 * Source: interface v1, "List behaviour". That lists begin with the newest item is assumed.
 */
import type { ValidationError } from "@plaza/domain/Errors"
import type { PageQuery } from "@plaza/domain/Requests"
import type { Page } from "@plaza/domain/Resources"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import * as Layer from "effect/Layer"
import { CurrentAssumptions } from "../Assumptions.ts"
import type { Latitude } from "../Latitude.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import type { PageStart } from "./Cursors.ts"
import { Cursors } from "./Cursors.ts"

/** The sort key of a row: its sequence number, or a timestamp and the sequence number. Empty before the first row. */
type Position = ReadonlyArray<number>

/** A list in the database. */
export interface List<Row, Item> {
  /** Unique among all lists: a cursor is valid for the list of its name only. */
  readonly name: string
  /** The account that reads the list. */
  readonly accountId: string
  /** Rows older than a position, newest first. */
  readonly findOlder: (position: Position, limit: number) => ReadonlyArray<Row>
  readonly positionOf: (row: Row) => Position
  /** When a row was committed, in milliseconds since 1970; absent for a list that shows its writes at once. */
  readonly committedAt?: (row: Row) => number
  readonly toItem: (row: Row) => Item
}

/** Greater than every sequence number and every timestamp: the part of a position before the first row. */
export const newest = Number.MAX_SAFE_INTEGER

/** A hundred times the items that fixtures can generate, so that no list reaches it. */
const allRows = 1_000_000_000

const compareAscending = (a: Position, b: Position): number => {
  const index = a.findIndex((part, position) => part !== b[position])
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0)
}

/** A number from 0 up to 1, always the same for a position of a list. */
const hashFraction = (name: string, position: Position): number => (Hash.string(`${name} ${position.join(" ")}`) >>> 0) / 2 ** 32

const comparator = (order: Latitude["listOrder"], name: string) => (a: Position, b: Position): number => {
  switch (order) {
    case "newestFirst":
      return compareAscending(b, a)
    case "oldestFirst":
      return compareAscending(a, b)
    case "shuffled":
      return hashFraction(name, a) - hashFraction(name, b) || compareAscending(a, b)
  }
}

/** The rows after a position. Any other order than the stored one, and a lag, are applied to all rows in memory. */
const rowsAfter = <Row, Item>(
  { committedAt, findOlder, name, positionOf }: List<Row, Item>,
  after: Position,
  limit: number,
  { listLagMillis, listOrder }: Latitude,
  now: number
): ReadonlyArray<Row> => {
  const lag = committedAt === undefined ? 0 : listLagMillis
  if (listOrder === "newestFirst" && lag === 0) {
    return findOlder(after, limit)
  }
  const compare = comparator(listOrder, name)
  return findOlder([], allRows)
    .filter((row) =>
      (lag === 0 || committedAt === undefined || committedAt(row) + lag <= now) &&
      (after.length === 0 || compare(positionOf(row), after) > 0)
    )
    .sort((a, b) => compare(positionOf(a), positionOf(b)))
    .slice(0, limit)
}

/** The number of items on a page while more follow. */
const pageSize = (pages: Latitude["pages"], name: string, { after, isAfterEmptyPage = false }: PageStart, limit: number): number => {
  switch (pages) {
    case "full":
      return limit
    case "short":
      return Math.max(1, Math.ceil(limit * hashFraction(name, after)))
    case "someEmpty":
      return isAfterEmptyPage || hashFraction(name, after) < 0.5 ? limit : 0
  }
}

const firstPage: PageStart = { after: [] }

export class Pagination extends Context.Service<Pagination>()("@plaza/sandbox/Pagination", {
  make: Effect.gen(function*() {
    const cursors = yield* Cursors
    const current = yield* CurrentLatitude
    const assumed = yield* CurrentAssumptions
    return {
      /** Fails when the cursor isn't one of this list and account. */
      readPage: Effect.fnUntraced(
        function*<Row, Item>(list: List<Row, Item>, { cursor, limit }: PageQuery): Effect.fn.Return<Page<Item>, ValidationError> {
          const { accountId, name, positionOf, toItem } = list
          const latitude = current.value
          const now = yield* Clock.currentTimeMillis
          const start = cursor === undefined ? firstPage : yield* Effect.fromResult(cursors.verify(name, accountId, cursor, now))
          const requested = limit ?? latitude.defaultPageSize ?? assumed.defaultPageSize
          const size = pageSize(latitude.pages, name, start, requested)
          // One more than the page holds shows whether there is a next page.
          const rows = rowsAfter(list, start.after, size + 1, latitude, now)
          const page = rows.slice(0, size)
          const last = page.at(-1)
          const next: PageStart = last === undefined ? { after: start.after, isAfterEmptyPage: true } : { after: positionOf(last) }
          return {
            data: page.map(toItem),
            nextCursor: rows.length > size ? cursors.issue(name, accountId, next, now) : null
          }
        }
      )
    }
  })
}) {
  static readonly layer = Layer.effect(Pagination, Pagination.make)
}
