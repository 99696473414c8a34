/**
 * One page of any list, the newest item first by default. A page goes on after a place among the rows, not after a number
 * of them, so it stays where it is while items come and go, and costs the same at any depth. What a latitude changes about
 * order, visibility and the size of pages is all here.
 *
 * Source: interface v1, "List behaviour". That lists begin with what is newest is assumed.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza/domain/Errors"
import type { PageQuery } from "@plaza/domain/Requests"
import type { Page } from "@plaza/domain/Resources"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import { Assumed } from "../Assumptions.js"
import type { Place } from "./Cursors.js"
import { Cursors } from "./Cursors.js"
import type { Latitude } from "../Latitude.js"
import { CurrentLatitude } from "../latitude/CurrentLatitude.js"

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
  /** At most so many rows older than a place, the newest first. */
  readonly older: (place: ReadonlyArray<number>, most: number) => Effect.Effect<ReadonlyArray<Row>>
  readonly placeOf: (row: Row) => ReadonlyArray<number>
  /** When a row was committed, in milliseconds since 1970, of a list that may lag its writes. */
  readonly committedAt?: (row: Row) => number
  readonly item: (row: Row) => Item
}

/**
 * Above every sequence number and every moment: the part of a place before the first row.
 *
 * @since 0.1.0
 * @category constants
 */
export const newest = Number.MAX_SAFE_INTEGER

/** More rows than any list has; SQLite takes no greater limit exactly. */
const allRows = 1_000_000_000

/** @since 0.1.0 @category models */
export type ReadPage = <Row, Item>(
  list: Listed<Row, Item>,
  query: PageQuery
) => Effect.Effect<Page<Item>, ValidationError>

type Numbers = ReadonlyArray<number>

const ascending = (a: Numbers, b: Numbers): number => {
  const index = a.findIndex((part, position) => part !== b[position])
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0)
}

/** A number from 0 up to 1 that a place always has. */
const lotOf = (name: string, place: Numbers): number => (Hash.string(`${name} ${place.join(" ")}`) >>> 0) / 2 ** 32

const orderOf = (order: Latitude["listOrder"], name: string) => (a: Numbers, b: Numbers): number => {
  switch (order) {
    case "newestFirst":
      return ascending(b, a)
    case "oldestFirst":
      return ascending(a, b)
    case "shuffled":
      return lotOf(name, a) - lotOf(name, b) || ascending(a, b)
  }
}

/** The rows after a place. Any order but the kept one, and a lag, need all rows at hand. */
const rowsAfter = <Row, Item>(
  { committedAt, name, older, placeOf }: Listed<Row, Item>,
  after: Numbers,
  most: number,
  { listLagMillis, listOrder }: Latitude,
  now: number
): Effect.Effect<ReadonlyArray<Row>> => {
  const lag = committedAt === undefined ? 0 : listLagMillis
  if (listOrder === "newestFirst" && lag === 0) {
    return older(after, most)
  }
  const compare = orderOf(listOrder, name)
  return Effect.map(older([], allRows), (rows) =>
    rows
      .filter((row) => (lag === 0 || committedAt === undefined || committedAt(row) + lag <= now) &&
        (after.length === 0 || compare(placeOf(row), after) > 0))
      .sort((a, b) => compare(placeOf(a), placeOf(b)))
      .slice(0, most))
}

/** How many of the items that were asked for a page holds while more follow. */
const sizeOf = (pages: Latitude["pages"], name: string, { after, isAfterNone = false }: Place, limit: number): number => {
  switch (pages) {
    case "full":
      return limit
    case "short":
      return Math.max(1, Math.ceil(limit * lotOf(name, after)))
    case "someEmpty":
      return isAfterNone || lotOf(name, after) < 0.5 ? limit : 0
  }
}

const start: Place = { after: [] }

/** @since 0.1.0 @category reading */
export const makeReadPage: Effect.Effect<ReadPage, never, Assumed | Cursors | CurrentLatitude> = Effect.gen(function*() {
  const cursors = yield* Cursors
  const current = yield* CurrentLatitude
  const assumed = yield* Assumed
  return (list, { cursor, limit }) =>
    Effect.gen(function*() {
      const { accountId, item, name, placeOf } = list
      const latitude = current.value
      const now = yield* Clock.currentTimeMillis
      const place = cursor === undefined ? start : yield* cursors.open(name, accountId, cursor, now)
      const asked = limit ?? latitude.defaultPageSize ?? assumed.defaultPageSize
      const most = sizeOf(latitude.pages, name, place, asked)
      // One more than the page holds says whether there is a next page.
      const rows = yield* rowsAfter(list, place.after, most + 1, latitude, now)
      const page = rows.slice(0, most)
      const last = page.at(-1)
      const next: Place = last === undefined ? { after: place.after, isAfterNone: true } : { after: placeOf(last) }
      return {
        data: page.map(item),
        nextCursor: rows.length > most ? cursors.seal(name, accountId, next, now) : null
      }
    })
})
