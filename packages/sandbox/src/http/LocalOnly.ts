/**
 * Which requests come from this machine, which name it, and which a page of the sandbox's own has sent.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type { ServerRequest } from "./ServerRequest.js"

const isLoopbackAddress = (address: string): boolean => address === "::1" || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(address)

/** A host as the `Host` header has it, in lower case and without its port; undefined when it is none. */
const nameOf = (host: string): string | undefined => {
  const written = /^(\[[0-9a-f:.]+\]|[^\s/?#@:[\]]+)(?::\d*)?$/i.exec(host)?.[1]
  return written !== undefined && URL.canParse(`http://${written}`) ? new URL(`http://${written}`).hostname : undefined
}

const isLoopbackName = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(name)

/** The hosts that a request names: in its header and, when it is written for a proxy, in its target. */
const hostsOf = ({ headers, originalUrl }: ServerRequest): ReadonlyArray<string> =>
  [headers["host"], /^https?:\/\/([^/?#]*)/i.exec(originalUrl)?.[1]].filter((host) => host !== undefined)

/**
 * Who is answered by a sandbox that listens to an address.
 *
 * @since 0.1.0
 * @category models
 */
export interface Local {
  /**
   * Whether a request names a host that the sandbox answers for: a name of this machine, the configured host, or one that
   * is allowed. A page elsewhere can make a name of its own lead here (DNS rebinding), but it can't change what the browser
   * says it asked for.
   */
  readonly answersFor: (request: ServerRequest) => boolean
  /** Whether a request comes from this machine, and names a host that the sandbox answers for. */
  readonly isLocal: (request: ServerRequest) => boolean
}

/** Written as a host that is allowed, it stands for every host. */
const anyHost = "*"

const written = (host: string): string => host.includes(":") && !host.startsWith("[") ? `[${host}]` : host

/**
 * Whether something is a host that can be allowed: a name or an address without a port, or `*` for every host.
 *
 * @since 0.1.0
 * @category checks
 */
export const isHost = (host: string): boolean =>
  host === anyHost || (!host.includes(anyHost) && nameOf(written(host)) !== undefined && !/\]:\d*$/.test(host))

/** @since 0.1.0 @category constructors */
export const make = (bound: string, allowed: ReadonlyArray<string> = []): Local => {
  const names = new Set([bound, ...allowed].map((host) => nameOf(written(host))))
  const isAny = allowed.includes(anyHost)
  const isOwnName = (host: string): boolean => {
    const name = nameOf(host)
    return name !== undefined && (isLoopbackName(name) || names.has(name))
  }
  const namesUs = (request: ServerRequest) => isAny || hostsOf(request).every(isOwnName)
  return {
    answersFor: (request) => Option.isNone(request.remoteAddress) || namesUs(request),
    isLocal: (request) => Option.isNone(request.remoteAddress) || (isLoopbackAddress(request.remoteAddress.value) && namesUs(request))
  }
}

/**
 * Whether the origin that a request states, if it states one, is the one that it is sent to.
 *
 * @since 0.1.0
 * @category checks
 */
export const hasOwnOrigin = ({ headers }: ServerRequest): boolean => {
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
export const isSameOrigin = (request: ServerRequest, allowed: { readonly addressBar: boolean }): boolean => {
  const site = request.headers["sec-fetch-site"]
  return (site === undefined || site === "same-origin" || (site === "none" && allowed.addressBar)) && hasOwnOrigin(request)
}
