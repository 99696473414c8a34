/**
 * Validates the base URL of the service.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"

// The IPv6 form of 127.0.0.0/8 as `URL` writes it.
const loopbackAddress = /^(127(\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/

/**
 * Whether a host name, in the form of `URL.hostname`, is this machine: `localhost`, `*.localhost`, `127.0.0.0/8`, also as an IPv6
 * address, or `[::1]`.
 *
 * @since 0.1.0
 * @category guards
 */
export const isLoopback = (hostname: string): boolean => /(^|\.)localhost\.?$/.test(hostname) || loopbackAddress.test(hostname)

// `URL` removes tabs and line ends, and trims other control characters.
const hasBlank = (text: string): boolean => /[\s\p{Cc}]/u.test(text)

const parts = /^https?:\/\/([^/\\]*)(.*)$/i

interface BaseUrlOptions {
  /** Whether to accept plain `http` to another machine (default: false). */
  readonly allowInsecureHttp?: boolean | undefined
  /** How the caller can accept it, for the violated requirement (default: the variable). */
  readonly allowedBy?: string | undefined
}

/**
 * Returns the base URL without a trailing slash, or the violated requirement. A request path can be appended to the result: no part
 * of either path changes, nor does the origin.
 *
 * @since 0.1.0
 * @category parsing
 */
export const checkBaseUrl = (text: string, options: BaseUrlOptions = {}): Result.Result<string, string> => {
  if (typeof text !== "string") {
    return Result.fail("must be a text such as https://host/open/v1")
  }
  if (hasBlank(text)) {
    return Result.fail("must not contain white space; remove blanks and line ends, also at the end")
  }
  if (text.includes("?") || text.includes("#")) {
    return Result.fail("must end with its path (/open/v1), without ? or #")
  }
  if (!URL.canParse(text)) {
    return Result.fail("must be an address such as https://host/open/v1")
  }
  const url = new URL(text)
  const [, authority, path = ""] = parts.exec(text) ?? []
  if (authority === undefined) {
    return Result.fail("must begin with http:// or https://")
  }
  if (authority.includes("@")) {
    return Result.fail("must not contain a user name or a password; the key is sent in a header")
  }
  if ((path === "" ? "/" : path) !== url.pathname) {
    return Result.fail(`must have the path in its normal form: write ${url.pathname} instead of ${path}`)
  }
  if (url.protocol === "http:" && options.allowInsecureHttp !== true && !isLoopback(url.hostname)) {
    return Result.fail(
      "must begin with https://, because plain http shows the key to the network; " +
        `use https, or set ${options.allowedBy ?? "PLAZA_ALLOW_INSECURE_HTTP=true"}`
    )
  }
  return Result.succeed(text.replace(/\/+$/, ""))
}
