/**
 * Checks without the network: Node, the profile, the form of address and key, and the rate limit settings.
 *
 * Source: interface v1, "Authentication", "Limits" and "Versioning".
 */
import * as ConfigIssue from "@plaza/cli-kit/ConfigIssue"
import { Settings } from "@plaza/client"
import * as ApiKey from "@plaza/domain/ApiKey"
import * as Limits from "@plaza/domain/Limits"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { type ConnectionSettings, variables } from "../profiles/ConnectionSettings.ts"
import { masked } from "../profiles/Profiles.ts"
import { type Check, failed, ok, unknown, warning } from "./Check.ts"

// The program doesn't start on a version that is too old.
export const node: Check = ok("node", `Node ${process.version}`, { version: process.versions.node })

/** The end of every base URL of the service. */
const versionSegment = "/open/v1"

const isOfOtherAddress = ({ apiKey, profile, profileBaseUrl }: ConnectionSettings, baseUrl: string): boolean =>
  profileBaseUrl !== undefined && apiKey?.from === `profile ${profile}` && profileBaseUrl.replace(/\/+$/, "") !== baseUrl

/** Checks the base URL. `http` to another machine requires permission. */
export const address = (settings: ConnectionSettings, allowInsecureHttp: boolean): readonly [check: Check, url: URL | undefined] => {
  const { baseUrl, profile, profileBaseUrl } = settings
  if (baseUrl === undefined) {
    return [failed("address", "no base URL is set", `Run plaza auth login, set ${variables.baseUrl} or use --base-url.`), undefined]
  }
  const { from } = baseUrl
  return Result.match(Settings.checkBaseUrl(baseUrl.value, { allowInsecureHttp }), {
    // Without the value, which may have a password.
    onFailure: (
      why
    ) => [failed("address", `the base URL from ${from} ${why}`, `Correct it in ${from}.`, { baseUrl: null, from }), undefined],
    onSuccess: (text) => {
      const url = new URL(text)
      const described = `${text} from ${from}`
      const details = { baseUrl: text, from }
      return [
        !url.pathname.endsWith(versionSegment)
          ? failed("address", `${described} does not end with ${versionSegment}`, `Add ${versionSegment} to the base URL in ${from}.`,
            details)
          : url.protocol === "http:" && !Settings.isLoopback(url.hostname)
          ? warning("address", `${described}: http exposes the key to the network`, "Use https.", details)
          : isOfOtherAddress(settings, text)
          ? warning("address", `${described}, but the key of profile ${profile} was created for ${profileBaseUrl}`,
            `Remove the base URL from ${from}, or log in there with another profile.`, details)
          : ok("address", described, details),
        url
      ]
    }
  })
}

/** Checks the form of the key, and reports where it comes from. */
export const key = ({ apiKey }: ConnectionSettings): readonly [check: Check, key: Redacted.Redacted | undefined] => {
  if (apiKey === undefined) {
    return [failed("key", "no API key is set", `Run plaza auth login, or set ${variables.apiKey} or PLAZA_API_KEY_FILE.`), undefined]
  }
  const { from, value } = apiKey
  return Result.match(ApiKey.parse(Redacted.value(value)), {
    onFailure: ({ message }) => [
      failed("key", `the API key from ${from} is invalid: ${message}`, `Put the whole key into ${from}.`, { from }),
      undefined
    ],
    onSuccess: (key) => [ok("key", `${masked(key)} from ${from}`, { from, masked: masked(key) }), key]
  })
}

const sharedSettings = Config.all([Settings.sharedConfig, Settings.allowInsecureHttp])

/** Checks the settings that are the same for every account. */
export const allowance: Effect.Effect<Check> = Effect.match(sharedSettings, {
  onFailure: (error) => {
    const { message, variable } = ConfigIssue.of(error)
    return failed("allowance", message, "Correct or remove that variable.", { variable })
  },
  onSuccess: ([{ rateLimit, rateWindow, timeout }]) => {
    const text = `${rateLimit} requests in ${Duration.format(rateWindow)}, timeout of an attempt ${Duration.format(timeout)}`
    const details = { rateLimit, rateWindowMillis: Duration.toMillis(rateWindow), timeoutMillis: Duration.toMillis(timeout) }
    const isMore = rateLimit / Duration.toMillis(rateWindow) > Limits.requestsPerWindow / Duration.toMillis(Limits.rateWindow)
    return isMore
      ? warning("allowance", `${text}: the service allows ${Limits.requestsPerWindow} in ${Duration.format(Limits.rateWindow)}`,
        "Unset PLAZA_RATE_LIMIT and PLAZA_RATE_WINDOW, unless this is a sandbox with a higher limit.", details)
      : ok("allowance", text, details)
  }
})

/**
 * The permission to write. The document shows neither a user's photo and cover nor a key's scopes, so only a write can reveal it.
 * Source: interface v1, "Resources and their fields", gaps.
 */
export const writes: Check = unknown(
  "writes",
  "the interface shows neither the scopes of the key nor whether the user has a photo and a cover, which writes require",
  "Check both in the web app. Or follow a user whom the account already follows: an error names what is missing."
)
