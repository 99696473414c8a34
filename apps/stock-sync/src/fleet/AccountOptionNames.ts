/** The names of the options of an account: those of the single-store worker, without those of its process. */
import { nearest } from "@plaza/cli-kit/CommandLine"
import * as Option from "effect/Option"
import * as FleetSettings from "../config/FleetSettings.ts"
import * as LedgerSettings from "../config/LedgerSettings.ts"
import * as ObservabilitySettings from "../config/ObservabilitySettings.ts"
import * as RemoteSettings from "../config/RemoteSettings.ts"
import type * as Setting from "../config/Setting.ts"
import * as SnapshotSettings from "../config/SnapshotSettings.ts"
import * as SourceSettings from "../config/SourceSettings.ts"
import * as SyncSettings from "../config/SyncSettings.ts"

const { stopWithin: _, ...send } = SyncSettings.sendOptions

export const groups = {
  source: SourceSettings.options,
  snapshot: SnapshotSettings.options,
  ledger: LedgerSettings.options,
  send,
  sync: SyncSettings.options
}

/** The source is a setting of an account, but not one of its options. */
export const sourceName = SourceSettings.options.source.flag

/** The options whose values are not secret, as the help describes them. */
export const settings: ReadonlyArray<Setting.Documented> = Object.values(groups).flatMap((group) =>
  Object.values<Setting.Documented>(group)
).filter(({ flag }) => flag !== sourceName)

/** The options whose values are secrets of the source. */
export const secretNames = ["source-authorization", "source-headers", ...RemoteSettings.secretNames] as const

export const isSecret = (name: string): boolean => secretNames.some((secret) => secret === name)

const names: ReadonlySet<string> = new Set([...settings.map(({ flag }) => flag), ...secretNames])

const ofRunner = (name: string) => `it is a setting of the runner: set --${name} of fleet run instead`
const forAllAccounts = (variable: string) => `it holds for every account of a runner: set ${variable} for the runner instead`
const ofItsOwn = (what: string) => `set the ${what} of the account instead`

/** For each name that an operator may expect here: what to do instead. */
const refused: ReadonlyMap<string, string> = new Map([
  ...Object.values<Setting.Names>(FleetSettings.options).map(({ flag }) => [flag, ofRunner(flag)] as const),
  [ObservabilitySettings.options.webhook.flag, "a fleet has no webhook: watch its metrics instead"],
  ["ledger", "the fleet's database holds the ledgers of all accounts"],
  ["config", "set its options one by one instead"],
  ["timeout", forAllAccounts("PLAZA_TIMEOUT")],
  ["rate-limit", forAllAccounts("PLAZA_RATE_LIMIT")],
  ["rate-window", forAllAccounts("PLAZA_RATE_WINDOW")],
  ["allow-insecure-http", forAllAccounts("PLAZA_ALLOW_INSECURE_HTTP")],
  [sourceName, ofItsOwn("source")],
  ["base-url", ofItsOwn("base URL")],
  ["api-key", ofItsOwn("key")],
  ["api-key-file", ofItsOwn("key")]
])

/** Whether a name is an option or similar to one, or is in the help of another command. */
export const isFamiliar = (name: string): boolean => names.has(name) || refused.has(name) || nearest(name, names) !== undefined

/** Why a name is no option of an account, as a sentence; none if it is one. */
export const complaint = (name: string): Option.Option<string> => {
  if (names.has(name)) return Option.none()
  const instead = refused.get(name)
  if (instead !== undefined) return Option.some(`${name} is not an option of an account: ${instead}`)
  const meant = nearest(name, names)
  return Option.some(
    `${name} is not an option of an account: ${
      meant === undefined ? "see plaza-stock-sync fleet accounts add --help for the options" : `did you mean ${meant}?`
    }`
  )
}
