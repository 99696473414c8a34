/**
 * One page of a numbered record that is kept in memory: the newest entries, or those that follow a known one, bounded in
 * number and in bytes.
 *
 * @since 0.1.0
 */

/**
 * Most entries of a page, and how many there are without a `limit`.
 *
 * @since 0.1.0
 * @category constants
 */
export const maxItems = 1_000

/**
 * Most bytes of the entries of a page, beyond its first one.
 *
 * @since 0.1.0
 * @category constants
 */
export const maxBytes = 4 * 1024 * 1024

/** @since 0.1.0 @category models */
export interface PageQuery {
  /** The number of the entry before the first one; without it the page ends with the newest. */
  readonly after: number | undefined
  /** Default: {@link maxItems}. */
  readonly limit: number | undefined
}

/** @since 0.1.0 @category models */
export interface Page<A> {
  /** Oldest first. */
  readonly data: ReadonlyArray<A>
  /** The last entry of the page; undefined when no known entry follows. */
  readonly last: A | undefined
}

/**
 * The number in an id, such as 7 in `req_7`.
 *
 * @since 0.1.0
 * @category ids
 */
export const numberOf = (id: string): number => Number(id.slice(id.indexOf("_") + 1))

/**
 * Takes a page of the entries that match, which are given oldest first. Numbers begin again with every start, so an
 * `after` above `newest`, the number that was given last, is of an earlier run and stands for the beginning.
 *
 * @since 0.1.0
 * @category reading
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
