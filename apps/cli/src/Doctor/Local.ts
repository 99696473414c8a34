/**
 * Checks without the network: Node, the profile, the form of address and key, and the rate limit settings.
 *
 * Source: interface v1, "Authentication", "Limits" and "Versioning".
 */
import { ofFailure } from "@plaza/cli-kit/Report"
import { Settings } from "@plaza/client"
import * as ApiKey from "@plaza/domain/ApiKey"
import * as Limits from "@plaza/domain/Limits"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { masked } from "../Profiles.js"
import { type Target, variables } from "../Target.js"
import { type Check, failed, ok, unknown, warning } from "./Check.js"

const least = [20, 18] as const

export const node = (version: string): Check => {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number)
  return major > least[0] || (major === least[0] && minor >= least[1])
    ? ok("node", `Node ${version}`)
    : failed("node", `Node ${version} is too old`, `Install Node ${least.join(".")} or a later version.`)
}

/** The end of every address of the service. */
const versionSegment = "/open/v1"

const otherAddress = ({ apiKey, profile, profileBaseUrl }: Target, baseUrl: string): boolean =>
  profileBaseUrl !== undefined && apiKey?.from === `profile ${profile}` && profileBaseUrl.replace(/\/+$/, "") !== baseUrl

/** Checks the address. Plain `http` to another machine is valid only if it is allowed. */
export const address = (target: Target, allowInsecureHttp: boolean): readonly [check: Check, url: URL | undefined] => {
  const { baseUrl } = target
  if (baseUrl === undefined)
    return [
      failed("address", "the service's address is not known", `Log in with plaza auth login, set ${variables.baseUrl} or give --base-url.`),
      undefined
    ]
  return Either.match(Settings.checkBaseUrl(baseUrl.value, { allowInsecureHttp }), {
    onLeft: (why) => [failed("address", `the address from ${baseUrl.from} ${why}`, `Correct it in ${baseUrl.from}.`), undefined],
    onRight: (text) => {
      const url = new URL(text)
      const described = `${text} from ${baseUrl.from}`
      if (!url.pathname.endsWith(versionSegment))
        return [
          failed("address", `${described} doesn't end with ${versionSegment}`,
            `Put ${versionSegment} at the end of the address in ${baseUrl.from}.`),
          url
        ]
      if (url.protocol === "http:" && !Settings.isLoopback(url.hostname))
        return [warning("address", `${described}: the key goes over the network for everybody to read`, "Use https."), url]
      if (otherAddress(target, text)) {
        return [
          warning("address", `${described}, but the key of profile ${target.profile} was made for ${target.profileBaseUrl}`,
            `Leave out what comes from ${baseUrl.from}, or log in there as another profile.`),
          url
        ]
      }
      return [ok("address", described), url]
    }
  })
}

/** Checks the form of the key, and reports where it comes from. */
export const key = ({ apiKey }: Target): readonly [check: Check, key: Redacted.Redacted | undefined] => {
  if (apiKey === undefined)
    return [failed("key", "no key is known", `Log in with plaza auth login, or set ${variables.apiKey} or PLAZA_API_KEY_FILE.`), undefined]
  return Either.match(ApiKey.parse(Redacted.value(apiKey.value)), {
    onLeft: (
      { message }
    ) => [failed("key", `what comes from ${apiKey.from} is not a key: ${message}`, `Put the whole key into ${apiKey.from}.`), undefined],
    onRight: (key) => [ok("key", `${masked(key)} from ${apiKey.from}`), key]
  })
}

// All settings are read together; other checks cover these two.
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
        const text = `${rateLimit} requests in ${Duration.format(rateWindow)}, ${Duration.format(timeout)} for an attempt`
        const isMore = rateLimit / Duration.toMillis(rateWindow) > Limits.requestsPerWindow / Duration.toMillis(Limits.rateWindow)
        return isMore
          ? warning("allowance", `${text}: the service allows ${Limits.requestsPerWindow} in ${Duration.format(Limits.rateWindow)}`,
            "Remove PLAZA_RATE_LIMIT and PLAZA_RATE_WINDOW, unless this is a sandbox that allows more.")
          : ok("allowance", text)
      }
    })
  )
)

/**
 * What the account may write. The document shows neither a profile's photo and cover nor a key's scopes, so only a write can reveal it.
 * Source: interface v1, "Resources and their fields", gaps.
 */
export const writes: Check = unknown(
  "writes",
  "posts, media, stories, comments, likes, follows, store and chat: the interface doesn't show whether the profile has its photo and cover, nor the scopes of the key",
  "Look at both in the web app; or follow somebody whom the account follows already: a refusal names what is missing."
)
