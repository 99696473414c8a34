/**
 * Which requests come from this machine, which name it, and which a page of the sandbox's own has sent.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type { Incoming } from "./Incoming.js"

const isLoopbackAddress = (address: string): boolean =>
  address === "::1" || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(address)

/** A host as the `Host` header has it, in lower case and without its port; undefined when it is none. */
const nameOf = (host: string): string | undefined => {
  const written = /^(\[[0-9a-f:.]+\]|[^\s/?#@:[\]]+)(?::\d*)?$/i.exec(host)?.[1]
  return written !== undefined && URL.canParse(`http://${written}`) ? new URL(`http://${written}`).hostname : undefined
}

const isLoopbackName = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(name)

/** The hosts that a request names: in its header and, when it is written for a proxy, in its target. */
const hostsOf = ({ headers, target }: Incoming): ReadonlyArray<string> =>
  [headers["host"], /^https?:\/\/([^/?#]*)/i.exec(target)?.[1]].filter((host) => host !== undefined)

/**
 * Who is answered by a sandbox that listens to an address.
 *
 * @since 0.1.0
 * @category models
 */
export interface Local {
  /**
   * Whether a request names a host that the sandbox answers for. Bound to loopback it answers for this machine's own names
   * and the configured host: a page elsewhere can make a name of its own lead here, but it can't change what the browser
   * says it asked for. Bound to another address it answers any name, since nobody knows by which it is reached.
   */
  readonly answersFor: (incoming: Incoming) => boolean
  /** Whether a request comes from this machine, and names it or the configured host. */
  readonly isLocal: (incoming: Incoming) => boolean
}

/** @since 0.1.0 @category constructors */
export const make = (bound: string): Local => {
  const configured = nameOf(bound.includes(":") && !bound.startsWith("[") ? `[${bound}]` : bound)
  const isOpen = configured === undefined || !isLoopbackName(configured)
  const isOwnName = (host: string): boolean => {
    const name = nameOf(host)
    return name !== undefined && (isLoopbackName(name) || name === configured)
  }
  const namesUs = (incoming: Incoming) => hostsOf(incoming).every(isOwnName)
  return {
    answersFor: (incoming) => isOpen || Option.isNone(incoming.remoteAddress) || namesUs(incoming),
    isLocal: (incoming) =>
      Option.isNone(incoming.remoteAddress) || (isLoopbackAddress(incoming.remoteAddress.value) && namesUs(incoming))
  }
}

/**
 * Whether the origin that a request states, if it states one, is the one that it is sent to.
 *
 * @since 0.1.0
 * @category checks
 */
export const hasOwnOrigin = ({ headers }: Incoming): boolean => {
  const origin = headers["origin"]
  return origin === undefined ||
    (URL.canParse(origin) && new URL(origin).host === headers["host"]?.toLowerCase())
}

/**
 * Whether nothing but a page of our own can have sent this. A browser states both headers, and no page can forge them. A
 * program states neither and is taken: it acts for itself, and brings no cookie that somebody else put there. So is what a
 * visitor asked for in the address bar, where that is allowed.
 *
 * @since 0.1.0
 * @category checks
 */
export const isSameOrigin = (incoming: Incoming, allowed: { readonly addressBar: boolean }): boolean => {
  const site = incoming.headers["sec-fetch-site"]
  return (site === undefined || site === "same-origin" || (site === "none" && allowed.addressBar)) && hasOwnOrigin(incoming)
}
