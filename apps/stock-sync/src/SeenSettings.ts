/**
 * How a running loop is seen, by options and by the environment. Knows nothing of what is shown.
 *
 * @since 0.1.0
 */
import type { UsageError } from "@plaza/terminal/Problem"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import type { Told } from "./Seen.js"
import * as Logs from "./Seen/Logs.js"
import * as OtlpSettings from "./Seen/OtlpSettings.js"
import { checked, given, type Given, resolve, withDefault } from "./Settings.js"

const port = given(
  "port",
  "STOCK_SYNC_PORT",
  "Where the status page, /healthz, /readyz and /metrics are served, 0 for any port that is free; nothing is served unless told."
)
const host = given(
  "host",
  "STOCK_SYNC_HOST",
  "The address that they are served on, 127.0.0.1 unless told. Whoever can reach another one can read product ids and stocks: nothing asks who they are."
)
const logFormat = given("log-format", "STOCK_SYNC_LOG_FORMAT", "text or json, a line an event on standard error; text unless told.")
const logLevel = given("log-level", "STOCK_SYNC_LOG_LEVEL", "debug, info, warning, error or none; info unless told. Only debug tells of each product sent.")

/** @since 0.1.0 @category options */
export const options = { port, host, logFormat, logLevel }

const isFormat = (text: string): text is Logs.Format => Logs.formats.some((format) => format === text)

const levels: Readonly<Record<string, LogLevel.LogLevel>> = {
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warning: LogLevel.Warning,
  error: LogLevel.Error,
  none: LogLevel.None
}

const portOf = (text: string) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Option.some(Number(text)) : Option.none()

/** @since 0.1.0 @category resolving */
export const resolveSeen = (told: {
  readonly port: Given
  readonly host: Given
  readonly logFormat: Given
  readonly logLevel: Given
}): Effect.Effect<Told, UsageError | ConfigError> =>
  Effect.gen(function*() {
    const port = yield* checked(resolve(told.port, "STOCK_SYNC_PORT"), portOf, "is no port, 0 to 65535", "port")
    const host = yield* withDefault(told.host, "STOCK_SYNC_HOST", "127.0.0.1")
    const format = yield* checked(resolve(told.logFormat, "STOCK_SYNC_LOG_FORMAT"), Option.liftPredicate(isFormat), "is neither text nor json", "log-format")
    const level = yield* checked(
      resolve(told.logLevel, "STOCK_SYNC_LOG_LEVEL"),
      (text) => Option.fromNullable(levels[text.toLowerCase()]),
      "is none of debug, info, warning, error and none",
      "log-level"
    )
    return {
      logs: { format: format ?? "text", level: level ?? LogLevel.Info },
      server: port === undefined ? Option.none() : Option.some({ host: host.trim(), port }),
      otlp: yield* OtlpSettings.resolve
    }
  })
