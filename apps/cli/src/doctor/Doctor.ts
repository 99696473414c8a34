/** Runs the checks in the order of their dependencies, within half a minute. Continues after a failed check where possible. */
import type * as FileSystem from "@effect/platform/FileSystem"
import { Settings } from "@plaza-legacy/client"
import { ofFailure } from "@plaza/cli-kit/Report"
import * as Effect from "effect/Effect"
import { type ConnectionFlags, empty, resolve, withoutProfile } from "../profiles/ConnectionSettings.ts"
import { type Check, failed, ok, unknown } from "./Check.ts"
import * as LocalChecks from "./LocalChecks.ts"
import * as NetworkChecks from "./NetworkChecks.ts"
import * as ServiceChecks from "./ServiceChecks.ts"

const checkProfile = (flags: ConnectionFlags) =>
  Effect.matchEffect(resolve(flags), {
    onFailure: (error) =>
      Effect.map(Effect.orElseSucceed(withoutProfile(flags), () => empty), (settings) =>
        [
          failed("profile", ofFailure(error).message, "Correct the profile, or set PLAZA_BASE_URL and PLAZA_API_KEY."),
          settings
        ] as const),
    onSuccess: (found) =>
      Effect.succeed([ok("profile", found.profile === undefined ? "no profile is used" : `${found.profile} is used`), found] as const)
  })

const isBroken = ({ status }: Check): boolean => status === "failed" || status === "unknown"

/** A check that can't run because an earlier one failed. */
const skipped = (names: ReadonlyArray<string>, reason: string): ReadonlyArray<Check> =>
  names.map((name) => unknown(name, `not checked: ${reason}`))

const serviceChecks = Object.values(ServiceChecks.names)

export const run = (flags: ConnectionFlags): Effect.Effect<ReadonlyArray<Check>, never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const [profile, settings] = yield* checkProfile(flags)
    // The allowance check reports an invalid value together with the other variables.
    const [address, url] = LocalChecks.address(settings, yield* Effect.orElseSucceed(Settings.allowInsecureHttp, () => false))
    const [key, apiKey] = LocalChecks.key(settings)
    const local = [LocalChecks.node(process.version), profile, address, key, yield* LocalChecks.allowance]
    const network = function*() {
      if (url === undefined) return skipped(["proxy", "dns", ...serviceChecks], "there is no base URL")
      const connection = ["dns", ...(url.protocol === "https:" ? ["tls"] : [])]
      const [proxy, address] = yield* NetworkChecks.proxy(url)
      if (isBroken(proxy)) return [proxy, ...skipped([...connection, ...serviceChecks], "a proxy variable is invalid")]
      // This machine may know no names of the network behind a proxy.
      if (address !== undefined) return [proxy, ...skipped(connection, `${address} connects`), ...yield* ServiceChecks.service(url, apiKey)]
      const dns = yield* NetworkChecks.dns(url)
      const hasTls = connection.includes("tls")
      if (isBroken(dns)) return [proxy, dns, ...skipped([...(hasTls ? ["tls"] : []), ...serviceChecks], "the host has no address")]
      const tls = hasTls ? [yield* NetworkChecks.tls(url)] : []
      return tls.some(({ status }) => status === "failed")
        ? [proxy, dns, ...tls, ...skipped(serviceChecks, "the TLS connection is not trusted")]
        : [proxy, dns, ...tls, ...yield* ServiceChecks.service(url, apiKey)]
    }
    const remote = yield* Effect.gen(network)
    const isOpen = remote.some(({ name, status }) => name === ServiceChecks.names.account && status === "ok")
    return [...local, ...remote, ...(isOpen ? [LocalChecks.writes] : skipped([LocalChecks.writes.name], "the account is not known"))]
  })
