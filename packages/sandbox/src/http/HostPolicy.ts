/** Checks where a request comes from: this machine, a known host name, the sandbox's own pages. */
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import { targetOf } from "./RequestReader.ts"

type Request = Pick<HttpServerRequest, "headers" | "remoteAddress" | "source" | "url">

/** The hosts of a request: of its `Host` header and, in the absolute form for proxies, of its target. */
const hostsOf = (request: Request): ReadonlyArray<string> =>
  [request.headers["host"], /^https?:\/\/([^/?#]*)/i.exec(targetOf(request))?.[1]].filter((host) => host !== undefined)

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

/** The checks of a sandbox that listens on an address. */
export interface HostPolicy {
  /**
   * Whether the `Host` of a request is a name of this machine, the configured host or an allowed host. A foreign page can
   * make its own name resolve to this machine (DNS rebinding), but it can't change the `Host` that the browser sends.
   */
  readonly hasKnownHost: (request: Request) => boolean
  /** Whether a request comes from this machine and has a known host. */
  readonly isLocal: (request: Request) => boolean
}

/** The allowed host that matches every host. */
const anyHost = "*"

/** Puts an IPv6 address in brackets. */
const bracketed = (host: string): string => host.includes(":") && !host.startsWith("[") ? `[${host}]` : host

/** Whether a text is a valid allowed host: a name or an address without a port, or `*` for every host. */
export const isHost = (host: string): boolean =>
  host === anyHost || (!host.includes(anyHost) && nameOf(bracketed(host)) !== undefined && !/\]:\d*$/.test(host))

export const make = (bound: string, allowed: ReadonlyArray<string> = []): HostPolicy => {
  const names = new Set([bound, ...allowed].map((host) => nameOf(bracketed(host))))
  const isAny = allowed.includes(anyHost)
  const isOwnName = (host: string): boolean => {
    const name = nameOf(host)
    return name !== undefined && (isLoopbackName(name) || names.has(name))
  }
  const hasKnownHost = (request: Request): boolean => isAny || Option.isNone(request.remoteAddress) || hostsOf(request).every(isOwnName)
  return {
    hasKnownHost,
    isLocal: (request) =>
      Option.match(request.remoteAddress, {
        // In process.
        onNone: () => true,
        onSome: (address) => isLoopbackAddress(address) && hasKnownHost(request)
      })
  }
}

/** Whether the `Origin` of a request is absent or the origin that it is sent to. */
export const hasOwnOrigin = ({ headers }: Request): boolean => {
  const origin = headers["origin"]
  return origin === undefined ||
    (URL.canParse(origin) && new URL(origin).host === headers["host"]?.toLowerCase())
}

/**
 * Whether no page of another origin can have sent a request. Browsers send `Sec-Fetch-Site` and `Origin`, and no page can
 * forge them. Programs send neither and are accepted, because they carry no cookies of a browser. `addressBar` also accepts
 * requests from the address bar.
 */
export const isSameOrigin = (request: Request, allowed: { readonly addressBar: boolean }): boolean => {
  const site = request.headers["sec-fetch-site"]
  return (site === undefined || site === "same-origin" || (site === "none" && allowed.addressBar)) && hasOwnOrigin(request)
}
