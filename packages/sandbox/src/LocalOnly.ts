/**
 * Who is taken for this machine, and what for sent by a page of our own. Pure; knows nothing of what is asked.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type { Incoming } from "./Incoming.js"

const isLoopbackAddress = (address: string): boolean =>
  address === "::1" || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(address)

const isLoopbackName = (host: string): boolean => {
  try {
    const { hostname } = new URL(`http://${host}`)
    return hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" ||
      /^127(?:\.\d{1,3}){3}$/.test(hostname)
  } catch {
    return false
  }
}

/**
 * Whether a request comes from this machine. A page in a browser on it is a loopback peer too; it is told by the origin it
 * states, or, where it made its own name point here, by the host it asked for.
 *
 * @since 0.1.0
 * @category checks
 */
export const isLocal = ({ headers, remoteAddress }: Incoming): boolean =>
  Option.isNone(remoteAddress) || (
    isLoopbackAddress(remoteAddress.value) &&
    (headers["host"] === undefined || isLoopbackName(headers["host"])) &&
    (headers["origin"] === undefined || isLoopbackName(headers["origin"].replace(/^https?:\/\//i, "")))
  )

/**
 * Whether nothing but a page of our own can have sent this. A browser states both headers, and no page can forge them. A
 * program states neither and is taken: it acts for itself, and brings no cookie that somebody else put there.
 *
 * @since 0.1.0
 * @category checks
 */
export const isSameOrigin = ({ headers }: Incoming): boolean => {
  const site = headers["sec-fetch-site"]
  const origin = headers["origin"]
  return (site === undefined || site === "same-origin") &&
    (origin === undefined || (URL.canParse(origin) && new URL(origin).host === headers["host"]?.toLowerCase()))
}
