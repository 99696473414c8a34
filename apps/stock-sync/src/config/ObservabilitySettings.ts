/** The settings of the log, the status page, the webhook, messages to a chat and OTLP. */
import type { UsageError } from "@plaza/cli-kit/CliError"
import * as SecretFile from "@plaza/cli-kit/SecretFile"
import { Settings } from "@plaza/client"
import type { ConfigError } from "effect/Config"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Logs from "../observability/Logs.ts"
import type { NotifySettings } from "../observability/Messenger.ts"
import type { ObservabilitySettings } from "../observability/Observability.ts"
import * as OtlpSettings from "../observability/OtlpSettings.ts"
import type { WebhookSettings } from "../observability/Webhook.ts"
import * as Setting from "./Setting.ts"

const levels: Readonly<Record<string, LogLevel.LogLevel>> = {
  debug: "Debug",
  info: "Info",
  warning: "Warn",
  error: "Error",
  none: "None"
}

const level: Setting.Type<LogLevel.LogLevel> = {
  ...Setting.oneOf(...Object.keys(levels)),
  parse: (text) => Option.fromUndefinedOr(levels[text.trim().toLowerCase()])
}

/** The options of `run`. */
export const options = {
  port: Setting.optional("port", Setting.integer(0, 65_535), {
    about: "Port of the status page, /healthz, /readyz and /metrics; 0 takes any free port",
    absent: "none, nothing is served"
  }),
  host: Setting.withDefault(
    "host",
    Setting.trimmed("ADDRESS", Option.some<string>, Setting.text.complaint),
    "127.0.0.1",
    "Address to listen on. There is no authentication: on another address than 127.0.0.1, everyone who reaches it reads product ids and stock"
  ),
  format: Setting.withDefault("log-format", Setting.oneOf(...Logs.formats), "text",
    "Format of the log on standard error, one line per event"),
  level: Setting.withDefault("log-level", level, "info", "Least level of logged events. debug adds an event for each request"),
  webhook: Setting.optional("webhook", Setting.trimmed("URL", Option.some<string>, Setting.text.complaint), {
    about:
      "Address to POST an event to when a product is quarantined or uncertain, a snapshot is held or the account is paused, and when that ends. " +
      "Signed with STOCK_SYNC_WEBHOOK_SECRET or STOCK_SYNC_WEBHOOK_SECRET_FILE",
    absent: "none"
  }),
  notify: Setting.optional("notify", Setting.trimmed("URL", Option.some<string>, Setting.text.complaint), {
    about:
      "Address of a chat to POST a message to when a person is needed: Slack, Mattermost, Google Chat, or Discord with /slack at the end. Who knows " +
      "the address can write to the chat, so set it by STOCK_SYNC_NOTIFY or STOCK_SYNC_NOTIFY_FILE",
    absent: "none"
  })
}

export const webhookSecretVariable = `${options.webhook.variable}_SECRET`
export const webhookSecretFileVariable = `${webhookSecretVariable}_FILE`

export const notifyFileVariable = `${options.notify.variable}_FILE`

/** An address, and what to change if it is wrong. */
interface Address {
  readonly subject: string
  readonly change: string
}

const webhookAddress: Address = { subject: "the webhook's address", change: "--webhook or STOCK_SYNC_WEBHOOK" }
const notifyAddress: Address = {
  subject: "the address of the chat",
  change: `--notify, ${options.notify.variable} or ${notifyFileVariable}`
}

// The address may contain a token, so no message repeats it.
const receiverUrl = ({ change, subject }: Address, text: string, allowInsecure: boolean): Effect.Effect<URL, UsageError> => {
  const complain = (complaint: string) => Setting.usageError(`${subject} ${complaint}: change ${change}`)
  if (!URL.canParse(text)) return complain("must be an address such as https://host/path")
  const url = new URL(text)
  if (url.protocol !== "https:" && url.protocol !== "http:") return complain("must begin with https://")
  if (url.username !== "" || url.password !== "") return complain("must not contain a user name or a password")
  return url.protocol === "https:" || allowInsecure || Settings.isLoopback(url.hostname)
    ? Effect.succeed(url)
    : complain("must begin with https://, because plain http shows the events to the network (PLAZA_ALLOW_INSECURE_HTTP=true allows it)")
}

const leastSecretBytes = 16

/** The bytes of a secret: base64 after `whsec_`, as in Standard Webhooks, else the text itself. */
const secretBytes = (text: string): Option.Option<Uint8Array> => {
  const trimmed = text.trim()
  const encoded = trimmed.startsWith("whsec_") ? trimmed.slice("whsec_".length) : undefined
  const bytes = Buffer.from(encoded ?? trimmed, encoded === undefined ? "utf8" : "base64")
  const isBase64 = encoded === undefined || bytes.toString("base64").replace(/=+$/, "") === encoded.replace(/=+$/, "")
  return isBase64 && bytes.length >= leastSecretBytes ? Option.some(bytes) : Option.none()
}

const resolveWebhook = (
  address: string | undefined
): Effect.Effect<Option.Option<WebhookSettings>, UsageError | ConfigError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    if (address === undefined) return Option.none()
    const url = yield* receiverUrl(webhookAddress, address, yield* Settings.allowInsecureHttp)
    const text = yield* SecretFile.secret(webhookSecretVariable)
    if (Option.isNone(text)) {
      return yield* Setting.usageError(
        `the webhook needs a secret to sign its events with: set ${webhookSecretVariable} or ${webhookSecretFileVariable} to at least ${leastSecretBytes} random characters, such as the output of openssl rand -base64 32`
      )
    }
    const secret = secretBytes(Redacted.value(text.value))
    return Option.isSome(secret)
      ? Option.some({ url: Redacted.make(url), secret: Redacted.make(secret.value) })
      : yield* Setting.usageError(
        `${webhookSecretVariable} must be at least ${leastSecretBytes} characters, such as the output of openssl rand -base64 32, or whsec_ and base64`
      )
  })

/** The address is that of the option or the variable, else that of the file which a variable names. */
export const resolveNotify = (
  address: string | undefined
): Effect.Effect<Option.Option<NotifySettings>, UsageError | ConfigError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const secret = address === undefined ? yield* SecretFile.secret(options.notify.variable) : Option.some(Redacted.make(address))
    if (Option.isNone(secret)) return Option.none()
    const url = yield* receiverUrl(notifyAddress, Redacted.value(secret.value).trim(), yield* Settings.allowInsecureHttp)
    return Option.some({ url: Redacted.make(url) })
  })

export const resolve = (
  given: Setting.Parsed<typeof options>
): Effect.Effect<ObservabilitySettings, UsageError | ConfigError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const { format, host, level, notify, port, webhook } = yield* Effect.all(given)
    return {
      logs: { format, level },
      server: Option.map(Option.fromUndefinedOr(port), (port) => ({ host, port })),
      webhook: yield* resolveWebhook(webhook),
      notify: yield* resolveNotify(notify),
      otlp: yield* OtlpSettings.resolve
    }
  })
