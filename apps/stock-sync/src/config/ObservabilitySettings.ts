/** Options of `run` for its log, its status page, its webhook and OTLP. */
import type * as FileSystem from "@effect/platform/FileSystem"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as SecretFile from "@plaza/cli-kit/SecretFile"
import { Settings } from "@plaza/client"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Logs from "../observability/Logs.js"
import type { ObservabilitySettings } from "../observability/Observability.js"
import * as OtlpSettings from "../observability/OtlpSettings.js"
import type { WebhookSettings } from "../observability/Webhook.js"
import { checked, type Given, given, resolve, withDefault } from "./Settings.js"

const port = given(
  "port",
  "STOCK_SYNC_PORT",
  "Port of the status page, /healthz, /readyz and /metrics; 0 takes any free port (default: none, nothing is served)."
)
const host = given(
  "host",
  "STOCK_SYNC_HOST",
  "Address to listen on. There is no authentication: beyond 127.0.0.1, everyone who reaches it reads product ids and stock (default: 127.0.0.1)."
)
const logFormat = given("log-format", "STOCK_SYNC_LOG_FORMAT",
  "Format of the log on standard error, one line per event: text or json (default: text).")
const logLevel = given("log-level", "STOCK_SYNC_LOG_LEVEL",
  "debug, info, warning, error or none; only debug logs each product sent (default: info).")
const webhook = given(
  "webhook",
  "STOCK_SYNC_WEBHOOK",
  "Address to POST an event to when a product is quarantined, a snapshot is held or the account is paused, and when that ends. " +
    "Signed with STOCK_SYNC_WEBHOOK_SECRET or STOCK_SYNC_WEBHOOK_SECRET_FILE (default: none)."
)

export const options = { port, host, logFormat, logLevel, webhook }

export const webhookSecretVariable = "STOCK_SYNC_WEBHOOK_SECRET"
export const webhookSecretFileVariable = "STOCK_SYNC_WEBHOOK_SECRET_FILE"

const isFormat = (text: string): text is Logs.Format => Logs.formats.some((format) => format === text)

const levels: Readonly<Record<string, LogLevel.LogLevel>> = {
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warning: LogLevel.Warning,
  error: LogLevel.Error,
  none: LogLevel.None
}

const portOf = (text: string) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Option.some(Number(text)) : Option.none()

const refuse = (message: string) => new UsageError({ message })

// The address may hold a token, so no message repeats it.
const webhookUrl = (text: string, allowInsecure: boolean): Effect.Effect<URL, UsageError> => {
  const complain = (complaint: string) => refuse(`the webhook's address ${complaint}: change --webhook or STOCK_SYNC_WEBHOOK`)
  if (!URL.canParse(text)) return complain("must be an address such as https://host/path")
  const url = new URL(text)
  if (url.protocol !== "https:" && url.protocol !== "http:") return complain("must begin with https://")
  if (url.username !== "" || url.password !== "") return complain("must not contain a user name or a password")
  return url.protocol === "https:" || allowInsecure || Settings.isLoopback(url.hostname)
    ? Effect.succeed(url)
    : complain("must begin with https://, because plain http shows the events to the network (PLAZA_ALLOW_INSECURE_HTTP=true allows it)")
}

const leastSecretBytes = 16

/** Behind `whsec_` a secret is base64, as Standard Webhooks have it; any other text is its own bytes. */
const secretBytes = (text: string): Option.Option<Uint8Array> => {
  const trimmed = text.trim()
  const encoded = trimmed.startsWith("whsec_") ? trimmed.slice("whsec_".length) : undefined
  const bytes = Buffer.from(encoded ?? trimmed, encoded === undefined ? "utf8" : "base64")
  const isBase64 = encoded === undefined || bytes.toString("base64").replace(/=+$/, "") === encoded.replace(/=+$/, "")
  return isBase64 && bytes.length >= leastSecretBytes ? Option.some(bytes) : Option.none()
}

const resolveWebhook = (option: Given): Effect.Effect<Option.Option<WebhookSettings>, UsageError | ConfigError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const address = yield* resolve(option, "STOCK_SYNC_WEBHOOK")
    if (Option.isNone(address)) return Option.none()
    const url = yield* webhookUrl(address.value.trim(), yield* Settings.allowInsecureHttp)
    const written = yield* SecretFile.secret(webhookSecretVariable)
    if (Option.isNone(written)) {
      return yield* refuse(
        `the webhook needs a secret to sign its events with: set ${webhookSecretVariable} or ${webhookSecretFileVariable} to at least ${leastSecretBytes} random characters, such as the output of openssl rand -base64 32`
      )
    }
    const secret = secretBytes(Redacted.value(written.value))
    return Option.isSome(secret)
      ? Option.some({ url: Redacted.make(url), secret: Redacted.make(secret.value) })
      : yield* refuse(
        `${webhookSecretVariable} must be at least ${leastSecretBytes} characters, such as the output of openssl rand -base64 32, or whsec_ and base64`
      )
  })

export const resolveSeen = (
  chosen: Readonly<Record<keyof typeof options, Given>>
): Effect.Effect<ObservabilitySettings, UsageError | ConfigError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const port = yield* checked(resolve(chosen.port, "STOCK_SYNC_PORT"), portOf, "is not a port, 0 to 65535", "port")
    const host = yield* withDefault(chosen.host, "STOCK_SYNC_HOST", "127.0.0.1")
    const format = yield* checked(resolve(chosen.logFormat, "STOCK_SYNC_LOG_FORMAT"), Option.liftPredicate(isFormat),
      "is neither text nor json", "log-format")
    const level = yield* checked(
      resolve(chosen.logLevel, "STOCK_SYNC_LOG_LEVEL"),
      (text) => Option.fromNullable(levels[text.toLowerCase()]),
      "is none of debug, info, warning, error and none",
      "log-level"
    )
    return {
      logs: { format: format ?? "text", level: level ?? LogLevel.Info },
      server: port === undefined ? Option.none() : Option.some({ host: host.trim(), port }),
      webhook: yield* resolveWebhook(chosen.webhook),
      otlp: yield* OtlpSettings.resolve
    }
  })
