/**
 * The marks by which a server tells one state of what it serves from another: from the headers of an answer to a version, and from a
 * version to the headers that ask for another one only. Knows nothing of requests.
 *
 * @since 0.1.0
 */
import type { Headers } from "@effect/platform/Headers"
import * as Option from "effect/Option"

// A mark begins with the header it came in. The stronger of the two goes first: seconds are coarse.
const marks = [["etag", "if-none-match"], ["last-modified", "if-modified-since"]] as const

/** @since 0.1.0 @category constructors */
export const of = (headers: Headers): Option.Option<string> =>
  Option.firstSomeOf(marks.map(([name]) => Option.map(Option.fromNullable(headers[name]), (value) => `${name} ${value}`)))

/** @since 0.1.0 @category headers */
export const headers = (version: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    marks.flatMap(([name, asking]) => version.startsWith(`${name} `) ? [[asking, version.slice(name.length + 1)]] : [])
  )
