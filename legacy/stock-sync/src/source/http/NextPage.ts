/** The address of the next page: by a `Link` header (RFC 8288) or by a cursor. */
import * as Link from "@plaza-legacy/tabular/Link"

/** The target of the first link with the relation `next`, which may be relative. */
export const ofLink = (value: string): string | undefined => Link.parse(value).find(({ relations }) => relations.includes("next"))?.target

const nameOf = (one: string): string => one.split("=", 1)[0] ?? ""

/**
 * An address with the parameter `cursor`. The other parameters stay as they are written, because they may be signed.
 */
export const withCursor = (url: URL, cursor: string): URL => {
  const others = url.search.slice(1).split("&").filter((one) => one !== "" && nameOf(one) !== "cursor")
  const next = new URL(url)
  next.search = [...others, `cursor=${encodeURIComponent(cursor)}`].join("&")
  return next
}
