/** The settings of the ledger. */
import type { UsageError } from "@plaza/cli-kit/CliError"
import type { ConfigError } from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { LedgerOptions } from "../ledger/Ledger.js"
import { checked, durationOf, type Given, given, resolve } from "./Settings.js"

export const options = {
  lateWrites: given(
    "late-writes",
    "STOCK_SYNC_LATE_WRITES",
    "How long a request without a clear response may still take effect. A product that it could overwrite is sent again after that (default: twice PLAZA_TIMEOUT)."
  ),
  history: given("history", "STOCK_SYNC_HISTORY", "Number of requests that the history keeps (default: 100000).")
}

export interface LedgerSettings {
  readonly lateWrites: Duration.Duration | undefined
  readonly historyLimit: number
}

const countOf = (text: string) => /^\d{1,9}$/.test(text) && Number(text) > 0 ? Option.some(Number(text)) : Option.none()

export const resolveLedgerSettings = (
  given: Readonly<Record<keyof typeof options, Given>>
): Effect.Effect<LedgerSettings, UsageError | ConfigError> =>
  Effect.gen(function*() {
    const lateWrites = yield* checked(resolve(given.lateWrites, "STOCK_SYNC_LATE_WRITES"), durationOf, "is not a duration such as 30s",
      "late-writes")
    const historyLimit = yield* checked(resolve(given.history, "STOCK_SYNC_HISTORY"), countOf, "is no whole number above 0", "history")
    return { lateWrites, historyLimit: historyLimit ?? 100_000 }
  })

/** With the defaults that follow from the client's settings. */
export const forClient = (
  { historyLimit, lateWrites }: LedgerSettings,
  { rateWindow, timeout }: { readonly timeout: Duration.Duration; readonly rateWindow: Duration.Duration }
): LedgerOptions => ({ historyLimit, rateWindow, lateWrites: lateWrites ?? Duration.times(timeout, 2) })

/** For commands that send nothing. */
export const forReading: LedgerOptions = { historyLimit: 100_000, rateWindow: Duration.minutes(1), lateWrites: Duration.minutes(1) }
