/** The settings of the ledger. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { LedgerOptions } from "../ledger/Ledger.ts"
import * as Setting from "./Setting.ts"

/** The path or the address of the ledger. An option of every command. */
export const ledger = Setting.optional("ledger", { ...Setting.file, placeholder: "FILE|URL" }, {
  about: "The record of wanted and confirmed stock: an SQLite file, or postgres://host/database",
  absent: "plaza-stock-sync.sqlite in the working directory"
})

const defaultLedger = "plaza-stock-sync.sqlite"

export const resolveLedger = (option: Setting.Value<string | undefined>): Setting.Value<string> =>
  Effect.map(option, (path) => path ?? defaultLedger)

/** The options of every command that sends. */
export const options = {
  lateWrites: Setting.optional("late-writes", Setting.duration, {
    about: "How long a request with unknown outcome may still take effect. A product that it could overwrite is sent again after that",
    absent: "twice PLAZA_TIMEOUT"
  }),
  historyLimit: Setting.withDefault("history", Setting.integer(1, 999_999_999), "100000", "Number of requests that the history keeps")
}

export interface LedgerSettings {
  readonly lateWrites: Duration.Duration | undefined
  readonly historyLimit: number
}

export const resolve = (given: Setting.Parsed<typeof options>): Setting.Value<LedgerSettings> => Effect.all(given)

/** With the defaults that follow from the client's settings. */
export const forClient = (
  { historyLimit, lateWrites }: LedgerSettings,
  { rateWindow, timeout }: { readonly timeout: Duration.Duration; readonly rateWindow: Duration.Duration }
): LedgerOptions => ({ historyLimit, rateWindow, lateWrites: lateWrites ?? Duration.times(timeout, 2) })

/** For commands that send nothing. */
export const forReading: LedgerOptions = { historyLimit: 100_000, rateWindow: Duration.minutes(1), lateWrites: Duration.minutes(1) }
