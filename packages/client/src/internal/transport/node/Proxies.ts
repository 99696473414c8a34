/**
 * Parses the settings of proxies, and decides which proxy a request uses.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { BlockList, isIP } from "node:net"
import { isLoopback } from "../../BaseUrl.ts"

/** @since 0.1.0 @category models */
export interface Proxy {
  /** Without user and password. */
  readonly url: string
  /** The value of `Proxy-Authorization`; undefined without a user. */
  readonly authorization: string | undefined
}

/** @since 0.1.0 @category models */
export interface Proxies {
  /** For `http` URLs. */
  readonly http: Proxy | undefined
  /** For `https` URLs. */
  readonly https: Proxy | undefined
  /** Whether a host is reached without a proxy. */
  readonly isExcepted: (url: URL) => boolean
}

const example = "must be the address of a proxy, such as proxy:3128 or http://user:password@proxy:3128"

/** The bytes of a percent-encoded text. A `%` without two hexadecimal digits stands for itself, as in curl. */
const bytesOf = (text: string): Buffer =>
  Buffer.concat(text.split(/(%[0-9a-f]{2})/i).map((part, index) => index % 2 === 1 ? Buffer.from(part.slice(1), "hex") : Buffer.from(part)))

/**
 * Parses the address of a proxy. Without a scheme it is that of an `http` proxy. The failure is the violated requirement, without the
 * text, which may hold a password.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parse = (given: string): Result.Result<Proxy, string> => {
  const text = given.trim()
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme !== undefined && scheme.startsWith("socks")) {
    return Result.fail("must be the address of an http or https proxy: SOCKS proxies are not supported")
  }
  if (scheme !== undefined && scheme !== "http" && scheme !== "https") {
    return Result.fail(`${example}: the scheme is http or https`)
  }
  const address = scheme === undefined ? `http://${text}` : text
  // `URL` removes white space, and accepts several slashes.
  if (/[\s\p{Cc}\\]/u.test(text) || /^\w+:\/\/\//.test(address) || !URL.canParse(address)) {
    return Result.fail(`${example}; write / ? # @ and \\ in the user or the password as %2F %3F %23 %40 and %5C`)
  }
  const { hash, origin, password, pathname, search, username } = new URL(address)
  // A password with an unescaped `/`, `?` or `#` ends up here too.
  if (pathname !== "/" || search !== "" || hash !== "") {
    return Result.fail(`${example}, without a path; write / ? and # in the user or the password as %2F %3F and %23`)
  }
  const credentials = Buffer.concat([bytesOf(username), Buffer.from(":"), bytesOf(password)])
  return Result.succeed({
    url: origin,
    authorization: username === "" && password === "" ? undefined : `Basic ${credentials.toString("base64")}`
  })
}

const defaultPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" }

const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, "$1")

/** A host in the form of `URL.hostname`, without brackets and the dot of the root; empty if it is none. */
const canonical = (host: string): string => {
  const address = `http://${isIP(host) === 6 ? `[${host}]` : host}`
  return /[/?#@\\]/.test(host) || !URL.canParse(address) ? "" : withoutBrackets(new URL(address).hostname).replace(/\.$/, "")
}

type IsExcepted = (host: string) => boolean

const nothing: IsExcepted = () => false

/** The hosts of a network. Takes an IPv4 address in the form of an IPv6 address as well. */
const inNetwork = (address: string, prefix: number): IsExcepted => {
  const family = isIP(address)
  if (family === 0 || prefix > (family === 4 ? 32 : 128)) return nothing
  const list = new BlockList()
  list.addSubnet(address, prefix, family === 4 ? "ipv4" : "ipv6")
  return (host) => isIP(host) !== 0 && list.check(host, isIP(host) === 4 ? "ipv4" : "ipv6")
}

const inDomain = (domain: string): IsExcepted => domain === "" ? nothing : (host) => host === domain || host.endsWith(`.${domain}`)

/** The hosts of an entry without its port. */
const hostsOf = (name: string, prefix: string | undefined): IsExcepted => {
  if (prefix !== undefined) return inNetwork(withoutBrackets(name), Number(prefix))
  const host = canonical(withoutBrackets(name.replace(/^\*?\./, "")))
  return isIP(host) === 0 ? inDomain(host) : inNetwork(host, isIP(host) === 4 ? 32 : 128)
}

/** Whether an entry of `NO_PROXY` matches. An invalid entry matches no host. */
const exceptionOf = (entry: string): (host: string, port: string) => boolean => {
  if (entry === "*") return () => true
  // An IPv6 address has a port only behind brackets.
  const [, name = entry, prefix, port] = isIP(entry) === 6 ? [] : /^(.*?)(?:\/(\d{1,3}))?(?::(\d+))?$/.exec(entry) ?? []
  const isExcepted = hostsOf(name, prefix)
  return (host, hostPort) => (port === undefined || Number(port) === Number(hostPort)) && isExcepted(host)
}

/**
 * Parses a list such as `NO_PROXY`: names, which include their subdomains, with or without a dot before them; addresses, in any form
 * that a URL can have; networks as `10.0.0.0/8`; each with a port or without; `*` for every host. Commas or blanks separate them. As in
 * curl and Go, an address or network excepts hosts that are addresses: a name is not resolved.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parseExceptions = (list: string): (url: URL) => boolean => {
  const exceptions = list.split(/[\s,]+/).filter((entry) => entry !== "").map(exceptionOf)
  return ({ hostname, port, protocol }) => {
    const host = withoutBrackets(hostname).replace(/\.$/, "")
    return exceptions.some((isExcepted) => isExcepted(host, port === "" ? defaultPorts[protocol] ?? "" : port))
  }
}

/**
 * Returns the proxy for a URL; undefined to connect directly. A host of this machine is never reached through a proxy, which would look
 * for it on its own machine.
 *
 * @since 0.1.0
 * @category getters
 */
export const proxyFor = ({ http, https, isExcepted }: Proxies, url: URL): Proxy | undefined =>
  isLoopback(url.hostname) || isExcepted(url) ? undefined : url.protocol === "https:" ? https ?? http : http

/**
 * Connects directly to every host.
 *
 * @since 0.1.0
 * @category constructors
 */
export const none: Proxies = { http: undefined, https: undefined, isExcepted: () => false }
