/**
 * Checks what a command needs, in order of dependency. Continues after a failed check where possible, ends within
 * half a minute and writes nothing.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import { ofFailure } from "@plaza/cli-kit/Report"
import { Settings } from "@plaza/client"
import * as Effect from "effect/Effect"
import { type Check, failed, ok, unknown } from "./Doctor/Check.js"
import * as Local from "./Doctor/Local.js"
import * as Network from "./Doctor/Network.js"
import * as Service from "./Doctor/Service.js"
import type { Flags } from "./Flags.js"
import { given, nothing, target } from "./Target.js"

const targetOf = (flags: Pick<Flags, "baseUrl" | "profile">) =>
  Effect.matchEffect(target(flags), {
    onFailure: (error) =>
      Effect.map(Effect.orElseSucceed(given(flags), () => nothing), (target) =>
        [
          failed("profile", ofFailure(error).message, "Mend that, or set PLAZA_BASE_URL and PLAZA_API_KEY, which need no profile."),
          target
        ] as const),
    onSuccess: (found) =>
      Effect.succeed([ok("profile", found.profile === undefined ? "none is used" : `${found.profile} is used`), found] as const)
  })

const isBroken = ({ status }: Check): boolean => status === "failed" || status === "unknown"

/** A check that can't run because an earlier one failed. */
const skipped = (names: ReadonlyArray<string>, why: string): ReadonlyArray<Check> =>
  names.map((name) => unknown(name, `not looked at: ${why}`))

const behindAddress = Object.values(Service.names)

export const run = (flags: Pick<Flags, "baseUrl" | "profile">): Effect.Effect<ReadonlyArray<Check>, never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const [profile, target] = yield* targetOf(flags)
    // The allowance check reports a value that is no boolean, together with the other variables.
    const [address, url] = Local.address(target, yield* Effect.orElseSucceed(Settings.allowInsecureHttp, () => false))
    const [key, apiKey] = Local.key(target)
    const local = [Local.node(process.version), profile, address, key, yield* Local.allowance]
    const network = function*() {
      if (url === undefined) return skipped(["dns", ...behindAddress], "there is no address")
      const dns = yield* Network.dns(url)
      const hasTls = url.protocol === "https:"
      if (isBroken(dns)) return [dns, ...skipped([...(hasTls ? ["tls"] : []), ...behindAddress], "the host has no address")]
      const tls = hasTls ? [yield* Network.tls(url)] : []
      return tls.some(({ status }) => status === "failed")
        ? [dns, ...tls, ...skipped(behindAddress, "there is no connection that can be trusted")]
        : [dns, ...tls, ...yield* Service.service(url, apiKey)]
    }
    const remote = yield* Effect.gen(network)
    const isOpen = remote.some(({ name, status }) => name === Service.names.account && status === "ok")
    return [...local, ...remote, ...(isOpen ? [Local.writes] : skipped([Local.writes.name], "the account is not known"))]
  })
