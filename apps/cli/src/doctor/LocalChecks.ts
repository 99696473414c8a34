/**
 * Checks without the network: Node, the profile, the form of address and key, and the rate limit settings.
 *
 * Source: interface v1, "Authentication", "Limits" and "Versioning".
 */
import { Settings } from "@plaza-legacy/client"
import * as ApiKey from "@plaza-legacy/domain/ApiKey"
import * as Limits from "@plaza-legacy/domain/Limits"
import { ofFailure } from "@plaza/cli-kit/Report"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { type ConnectionSettings, variables } from "../profiles/ConnectionSettings.ts"
import { masked } from "../profiles/Profiles.ts"
import { type Check, failed, ok, unknown, warning } from "./Check.ts"

const minNode = [22, 19] as const

export const node = (version: string): Check => {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number)
  return major > minNode[0] || (major === minNode[0] && minor >= minNode[1])
    ? ok("node", `Node ${version}`)
    : failed("node", `Node ${version} is too old`, `Install Node ${minNode.join(".")} or a later version.`)
}

/** The end of every base URL of the service. */
const versionSegment = "/open/v1"

const otherAddress = ({ apiKey, profile, profileBaseUrl }: ConnectionSettings, baseUrl: string): boolean =>
  profileBaseUrl !== undefined && apiKey?.from === `profile ${profile}` && profileBaseUrl.replace(/\/+$/, "") !== baseUrl

/** Checks the base URL. `http` to another machine requires permission. */
export const address = (settings: ConnectionSettings, allowInsecureHttp: boolean): readonly [check: Check, url: URL | undefined] => {
  const { baseUrl } = settings
  if (baseUrl === undefined)
    return [
      failed("address", "no base URL is set", `Run plaza auth login, set ${variables.baseUrl} or use --base-url.`),
      undefined
    ]
  return Either.match(Settings.checkBaseUrl(baseUrl.value, { allowInsecureHttp }), {
    onLeft: (why) => [failed("address", `the base URL from ${baseUrl.from} ${why}`, `Correct it in ${baseUrl.from}.`), undefined],
    onRight: (text) => {
      const url = new URL(text)
      const described = `${text} from ${baseUrl.from}`
      if (!url.pathname.endsWith(versionSegment))
        return [
          failed("address", `${described} does not end with ${versionSegment}`,
            `Add ${versionSegment} to the base URL in ${baseUrl.from}.`),
          url
        ]
      if (url.protocol === "http:" && !Settings.isLoopback(url.hostname))
        return [warning("address", `${described}: http exposes the key to the network`, "Use https."), url]
      if (otherAddress(settings, text)) {
        return [
          warning("address", `${described}, but the key of profile ${settings.profile} was created for ${settings.profileBaseUrl}`,
            `Remove the base URL from ${baseUrl.from}, or log in there with another profile.`),
          url
        ]
      }
      return [ok("address", described), url]
    }
  })
}

/** Checks the form of the key, and reports where it comes from. */
export const key = ({ apiKey }: ConnectionSettings): readonly [check: Check, key: Redacted.Redacted | undefined] => {
  if (apiKey === undefined)
    return [failed("key", "no API key is set", `Run plaza auth login, or set ${variables.apiKey} or PLAZA_API_KEY_FILE.`), undefined]
  return Either.match(ApiKey.parse(Redacted.value(apiKey.value)), {
    onLeft: (
      { message }
    ) => [failed("key", `the API key from ${apiKey.from} is invalid: ${message}`, `Put the whole key into ${apiKey.from}.`), undefined],
    onRight: (key) => [ok("key", `${masked(key)} from ${apiKey.from}`), key]
  })
}

// All settings are read together. Other checks cover these two.
const placeholders = new Map([[variables.baseUrl, `https://host${versionSegment}`], [
  variables.apiKey,
  `key_${"x".repeat(Limits.keySecretLength)}`
]])

export const allowance: Effect.Effect<Check> = Effect.configProviderWith((environment) =>
  Settings.config.pipe(
    Effect.withConfigProvider(ConfigProvider.orElse(ConfigProvider.fromMap(placeholders, { pathDelim: "_" }), () => environment)),
    Effect.match({
      onFailure: (error) => failed("allowance", ofFailure(error).message, "Correct or remove that variable."),
      onSuccess: ({ rateLimit, rateWindow, timeout }) => {
        const text = `${rateLimit} requests in ${Duration.format(rateWindow)}, timeout of an attempt ${Duration.format(timeout)}`
        const isMore = rateLimit / Duration.toMillis(rateWindow) > Limits.requestsPerWindow / Duration.toMillis(Limits.rateWindow)
        return isMore
          ? warning("allowance", `${text}: the service allows ${Limits.requestsPerWindow} in ${Duration.format(Limits.rateWindow)}`,
            "Unset PLAZA_RATE_LIMIT and PLAZA_RATE_WINDOW, unless this is a sandbox with a higher limit.")
          : ok("allowance", text)
      }
    })
  )
)

/**
 * The permission to write. The document shows neither a user's photo and cover nor a key's scopes, so only a write can reveal it.
 * Source: interface v1, "Resources and their fields", gaps.
 */
export const writes: Check = unknown(
  "writes",
  "the interface shows neither the scopes of the key nor whether the user has a photo and a cover, which writes require",
  "Check both in the web app. Or follow a user whom the account already follows: an error names what is missing."
)
