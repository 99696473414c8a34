/** Reads a page of a numbered in-memory log: the newest entries, or those after an id, up to a number and a size. */
import * as Schema from "effect/Schema"
import { described } from "../Validation.ts"

/** The maximum and default number of entries of a page. */
export const maxItems = 1_000

/** The maximum size of a page in bytes. A page has at least one entry, whatever its size. */
export const maxBytes = 4 * 1024 * 1024

/** The `limit` of a page in a query. */
export const Limit = described(
  Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: maxItems })),
  `a whole number from 1 to ${maxItems}`
)

export interface PageQuery {
  /** Returns the entries after this number (default: the newest entries). */
  readonly after: number | undefined
  /** Default: {@link maxItems}. */
  readonly limit: number | undefined
}

export interface Page<A> {
  /** Oldest first. */
  readonly data: ReadonlyArray<A>
  /** The last entry of the page; undefined if no entry follows. */
  readonly last: A | undefined
}

/** The number in an id, such as 7 in `req_7`. */
export const numberOf = (id: string): number => Number(id.slice(id.indexOf("_") + 1))

/**
 * Returns a page of the matching entries, which are sorted oldest first. `newest` is the last number assigned. Numbers
 * restart with the sandbox, so an `after` above `newest` is from an earlier run and means the beginning.
 */
export const read = <A extends { readonly id: string }>(
  matching: ReadonlyArray<A>,
  { after, limit = maxItems }: PageQuery,
  options: { readonly newest: number; readonly bytesOf: (entry: A) => number }
): Page<A> => {
  const first = after === undefined || after > options.newest ? 0 : after
  const found = first === 0 ? matching : matching.filter(({ id }) => numberOf(id) > first)
  const isForward = after !== undefined
  const page: Array<A> = []
  let bytes = 0
  for (const entry of isForward ? found : [...found].reverse()) {
    bytes += options.bytesOf(entry)
    if (page.length === limit || (bytes > maxBytes && page.length > 0)) {
      break
    }
    page.push(entry)
  }
  const data = isForward ? page : page.reverse()
  return { data, last: isForward && data.length < found.length ? data.at(-1) : undefined }
}
