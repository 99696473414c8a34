/**
 * The settings of one account of a fleet. They are read by the code of the single-store worker, from the options of the account only: no
 * variable and no config file of the process applies to an account.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { nearest } from "@plaza/cli-kit/ArgvLexer"
import type { UsageError } from "@plaza/cli-kit/CliError"
import { Settings as ClientSettings } from "@plaza/client"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as LedgerSettings from "../config/LedgerSettings.js"
import * as ObservabilitySettings from "../config/ObservabilitySettings.js"
import * as Setting from "../config/Setting.js"
import * as SnapshotSettings from "../config/SnapshotSettings.js"
import * as SourceSettings from "../config/SourceSettings.js"
import * as SyncSettings from "../config/SyncSettings.js"
import { variableOf, Wording } from "../config/Wording.js"
import type { LedgerOptions } from "../ledger/Ledger.js"
import type { SnapshotPolicy } from "../ledger/Snapshot.js"
import type { SourceOptions } from "../source/Open.js"
import * as SourceUri from "../source/SourceUri.js"
import { name as program, version } from "../version.js"
import type { AccountSettings } from "./FleetAccounts.js"
import { InvalidAccount } from "./FleetError.js"
import * as FleetSecret from "./FleetSecret.js"
import * as KeyReference from "./KeyReference.js"
import type { SourceReference } from "./SourceReference.js"

/** The client settings of a runner, which hold for all of its accounts. */
export interface ClientDefaults {
  /** The timeout of one attempt. */
  readonly timeout: Duration.Duration
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
  readonly allowInsecureHttp: boolean
}

/** What a worker needs to run an account. */
export interface ResolvedAccount {
  readonly id: string
  /** For the layers of the client. The base URL has no trailing slash. */
  readonly client: ClientDefaults & {
    readonly baseUrl: string
    readonly apiKey: Redacted.Redacted
    /** For `User-Agent`. */
    readonly application: string
  }
  /** For `Open.make`, with the poll interval. */
  readonly source: SourceOptions
  readonly policy: SnapshotPolicy
  readonly ledger: LedgerOptions
  readonly send: SyncSettings.SendSettings
  readonly sync: SyncSettings.SyncSettings
}

/** The settings of an account as an operator writes them. */
export interface WrittenAccount {
  readonly id: string
  readonly baseUrl: string
  /** `env:NAME`, `file:PATH` or the key. */
  readonly key: string
  /** A path, an address, or `env:NAME`. */
  readonly source: string
  /** By their names without dashes. `source-authorization` and `source-headers` are written like a key. */
  readonly options: Readonly<Record<string, string>>
}

export class AccountOptions extends Context.Tag("@plaza/stock-sync/fleet/AccountOptions")<AccountOptions, {
  /** The settings of an account, with its key and other secrets. Fails with the name of the option that is to be changed. */
  readonly resolve: (account: AccountSettings) => Effect.Effect<ResolvedAccount, InvalidAccount>
  /**
   * Checks what an operator wrote, and seals what is secret. Reads no variable and no file of references, which exist for the runners
   * only. A secret that `before` holds sealed under the current secret stays as it is there.
   */
  readonly accept: (written: WrittenAccount, before?: AccountSettings) => Effect.Effect<AccountSettings, InvalidAccount>
}>() {}
