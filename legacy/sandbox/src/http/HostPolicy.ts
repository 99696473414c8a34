/**
 * Checks where a request comes from: this machine, a known host name, the sandbox's own pages.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import type { ServerRequest } from "./ServerRequest.ts"

const isLoopbackAddress = (address: string): boolean => address === "::1" || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(address)

/** The usual forms of a `Host` header, whose names need no normalization. */
const usual = /^(localhost|127\.0\.0\.1)(?::\d{1,5})?$/

/** The host name of a `Host` header, in lower case and without its port; undefined if it is invalid. */
const nameOf = (host: string): string | undefined => {
  const name = usual.exec(host)?.[1]
  if (name !== undefined) {
    return name
  }
  const written = /^(\[[0-9a-f:.]+\]|[^\s/?#@:[\]]+)(?::\d*)?$/i.exec(host)?.[1]
  return written !== undefined && URL.canParse(`http://${written}`) ? new URL(`http://${written}`).hostname : undefined
}

const isLoopbackName = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(name)

/** The hosts of a request: of its `Host` header and, in the absolute form for proxies, of its target. */
const hostsOf = ({ headers, originalUrl }: ServerRequest): ReadonlyArray<string> =>
  [headers["host"], /^https?:\/\/([^/?#]*)/i.exec(originalUrl)?.[1]].filter((host) => host !== undefined)

/**
 * The checks of a sandbox that listens on an address.
 *
 * @since 0.1.0
 * @category models
 */
export interface HostPolicy {
  /**
   * Whether the `Host` of a request is a name of this machine, the configured host or an allowed host. A foreign page can
   * make its own name resolve to this machine (DNS rebinding), but it can't change the `Host` that the browser sends.
   */
  readonly hasKnownHost: (request: ServerRequest) => boolean
  /** Whether a request comes from this machine and has a known host. */
  readonly isLocal: (request: ServerRequest) => boolean
}

/** The allowed host that matches every host. */
const anyHost = "*"

/** Puts an IPv6 address in brackets. */
const bracketed = (host: string): string => host.includes(":") && !host.startsWith("[") ? `[${host}]` : host

/**
 * Whether a text is a valid allowed host: a name or an address without a port, or `*` for every host.
 *
 * @since 0.1.0
 * @category checks
 */
export const isHost = (host: string): boolean =>
  host === anyHost || (!host.includes(anyHost) && nameOf(bracketed(host)) !== undefined && !/\]:\d*$/.test(host))

/** @since 0.1.0 @category constructors */
export const make = (bound: string, allowed: ReadonlyArray<string> = []): HostPolicy => {
  let names: ReadonlySet<string | undefined> | undefined
  // Made when a request names another host than this machine.
  const isGiven = (name: string) => (names ??= new Set([bound, ...allowed].map((host) => nameOf(bracketed(host))))).has(name)
  const isAny = allowed.includes(anyHost)
  const isOwnName = (host: string): boolean => {
    const name = nameOf(host)
    return name !== undefined && (isLoopbackName(name) || isGiven(name))
  }
  const hasOwnName = (request: ServerRequest) => isAny || hostsOf(request).every(isOwnName)
  return {
    hasKnownHost: (request) => Option.isNone(request.remoteAddress) || hasOwnName(request),
    isLocal: (request) => Option.isNone(request.remoteAddress) || (isLoopbackAddress(request.remoteAddress.value) && hasOwnName(request))
  }
}

/**
 * Whether the `Origin` of a request is absent or the origin that it is sent to.
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
 * Whether no page of another origin can have sent a request. Browsers send `Sec-Fetch-Site` and `Origin`, and no page can
 * forge them. Programs send neither and are accepted, because they carry no cookies of a browser. `addressBar` also accepts
 * requests from the address bar.
 *
 * @since 0.1.0
 * @category checks
 */
export const isSameOrigin = (request: ServerRequest, allowed: { readonly addressBar: boolean }): boolean => {
  const site = request.headers["sec-fetch-site"]
  return (site === undefined || site === "same-origin" || (site === "none" && allowed.addressBar)) && hasOwnOrigin(request)
}
