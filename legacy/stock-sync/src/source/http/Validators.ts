/**
 * HTTP validators (`ETag`, `Last-Modified`) as versions of a source, and the request headers that ask for a newer one only.
 */
import type { Headers } from "@effect/platform/Headers"
import * as Option from "effect/Option"

// A version begins with its header. The stronger one is first: `Last-Modified` counts whole seconds.
const validators = [["etag", "if-none-match"], ["last-modified", "if-modified-since"]] as const

export const of = (headers: Headers): Option.Option<string> =>
  Option.firstSomeOf(validators.map(([name]) => Option.map(Option.fromNullable(headers[name]), (value) => `${name} ${value}`)))

export const headers = (version: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    validators.flatMap(([name, condition]) => version.startsWith(`${name} `) ? [[condition, version.slice(name.length + 1)]] : [])
  )
