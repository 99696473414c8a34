/** Runs the checks in the order of their dependencies, within half a minute. Continues after a failed check where possible. */
import { ofFailure } from "@plaza/cli-kit/Report"
import { Settings } from "@plaza/client"
import * as Effect from "effect/Effect"
import { type ConnectionFlags, empty, resolve, withoutProfile } from "../profiles/ConnectionSettings.ts"
import { type Check, failed, ok, unknown } from "./Check.ts"
import * as LocalChecks from "./LocalChecks.ts"
import * as NetworkChecks from "./NetworkChecks.ts"
import * as ServiceChecks from "./ServiceChecks.ts"

const checkProfile = Effect.fnUntraced(function*(flags: ConnectionFlags) {
  const resolved = yield* Effect.result(resolve(flags))
  if (resolved._tag === "Success") {
    const { profile } = resolved.success
    const check = ok("profile", profile === undefined ? "no profile is used" : `${profile} is used`, { profile: profile ?? null })
    return [check, resolved.success] as const
  }
  const settings = yield* Effect.orElseSucceed(withoutProfile(flags), () => empty)
  const { message } = ofFailure(resolved.failure)
  return [failed("profile", message, "Correct the profile, or set PLAZA_BASE_URL and PLAZA_API_KEY.", { profile: null }), settings] as const
})

const isBroken = ({ status }: Check): boolean => status === "failed" || status === "unknown"

/** A check that can't run because an earlier one failed. */
const skipped = (names: ReadonlyArray<string>, reason: string): ReadonlyArray<Check> =>
  names.map((name) => unknown(name, `not checked: ${reason}`))

const serviceChecks = Object.values(ServiceChecks.names)

/** The checks of what lies between this machine and the service. */
const remoteChecks = Effect.fnUntraced(function*(url: URL | undefined, apiKey: Parameters<typeof ServiceChecks.service>[1]) {
  const [proxy, proxyAddress] = yield* NetworkChecks.proxy(url)
  if (url === undefined) return [proxy, ...skipped(["dns", ...serviceChecks], "there is no base URL")]
  const connection = ["dns", ...(url.protocol === "https:" ? ["tls"] : [])]
  if (isBroken(proxy)) return [proxy, ...skipped([...connection, ...serviceChecks], "a proxy variable is invalid")]
  // This machine may know no names of the network behind a proxy.
  if (proxyAddress !== undefined) {
    return [proxy, ...skipped(connection, `${proxyAddress} connects`), ...yield* ServiceChecks.service(url, apiKey)]
  }
  const dns = yield* NetworkChecks.dns(url)
  if (isBroken(dns)) return [proxy, dns, ...skipped([...connection.slice(1), ...serviceChecks], "the host has no address")]
  const tls = connection.includes("tls") ? [yield* NetworkChecks.tls(url)] : []
  return tls.some(({ status }) => status === "failed")
    ? [proxy, dns, ...tls, ...skipped(serviceChecks, "the TLS connection is not trusted")]
    : [proxy, dns, ...tls, ...yield* ServiceChecks.service(url, apiKey)]
})

export const run = Effect.fnUntraced(function*(flags: ConnectionFlags) {
  const [profile, settings] = yield* checkProfile(flags)
  // The allowance check reports an invalid value together with the other variables.
  const [address, url] = LocalChecks.address(settings, yield* Effect.orElseSucceed(Settings.allowInsecureHttp, () => false))
  const [key, apiKey] = LocalChecks.key(settings)
  const local = [LocalChecks.node, profile, address, key, yield* LocalChecks.allowance]
  const remote = yield* remoteChecks(url, apiKey)
  const isOpen = remote.some(({ name, status }) => name === ServiceChecks.names.account && status === "ok")
  const checks: ReadonlyArray<Check> = [
    ...local,
    ...remote,
    ...(isOpen ? [LocalChecks.writes] : skipped([LocalChecks.writes.name], "the account is not known"))
  ]
  return checks
})
