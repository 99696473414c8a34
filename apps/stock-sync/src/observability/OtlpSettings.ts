/** The standard OpenTelemetry variables (default: no export). Does not load the exporter. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { name, version } from "../version.ts"

export interface OtlpSettings {
  /** The exporter appends `/v1/traces`, `/v1/metrics` and `/v1/logs`. */
  readonly endpoint: string
  readonly protocol: "http/protobuf" | "http/json"
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  readonly serviceName: string
  readonly serviceVersion: string
  readonly attributes: Readonly<Record<string, string>>
  readonly metricsInterval: Duration.Duration
}

const variable = (name: string) => Effect.map(Config.withDefault(Config.String(name), ""), (text) => text.trim())
const refuse = (name: string, complaint: string) => new UsageError({ message: `${name} ${complaint}` })

/** Parses `key=value` pairs, comma-separated and percent-encoded. The error does not repeat the text, which may contain a secret. */
const pairs = (name: string): Effect.Effect<Readonly<Record<string, string>>, UsageError | Config.ConfigError> =>
  Effect.flatMap(variable(name), (text) =>
    Effect.try({
      try: () =>
        Object.fromEntries(text.split(",").filter((part) => part.trim() !== "").map((part) => {
          const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/s.exec(part) ?? []
          if (key === undefined || value === undefined) throw new Error()
          return [decodeURIComponent(key), decodeURIComponent(value)]
        })),
      catch: () => refuse(name, "is not a list of key=value pairs: separate them with commas, and percent-encode special characters")
    }))

const endpoint = (text: string) =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
    ? Effect.succeed(text.replace(/\/+$/, ""))
    : refuse("OTEL_EXPORTER_OTLP_ENDPOINT", "must be an address such as http://localhost:4318")

const protocol = (text: string): Effect.Effect<OtlpSettings["protocol"], UsageError> =>
  text === "" || text === "http/protobuf" || text === "http/json"
    ? Effect.succeed(text === "" ? "http/protobuf" : text)
    : refuse("OTEL_EXPORTER_OTLP_PROTOCOL", "must be http/protobuf or http/json: gRPC is not supported")

const milliseconds = (text: string) =>
  text === "" || /^[1-9]\d{0,8}$/.test(text)
    ? Effect.succeed(Duration.millis(text === "" ? 60_000 : Number(text)))
    : refuse("OTEL_METRIC_EXPORT_INTERVAL", "must be a number of milliseconds above 0")

export const resolve: Effect.Effect<Option.Option<OtlpSettings>, UsageError | Config.ConfigError> = Effect.gen(function*() {
  const address = yield* variable("OTEL_EXPORTER_OTLP_ENDPOINT")
  const disabled = yield* variable("OTEL_SDK_DISABLED")
  if (address === "" || disabled.toLowerCase() === "true") return Option.none<OtlpSettings>()
  // OTEL_SERVICE_NAME overrides service.name.
  const { "service.name": named, "service.version": _, ...attributes } = yield* pairs("OTEL_RESOURCE_ATTRIBUTES")
  const serviceName = yield* variable("OTEL_SERVICE_NAME")
  return Option.some<OtlpSettings>({
    endpoint: yield* endpoint(address),
    protocol: yield* protocol(yield* variable("OTEL_EXPORTER_OTLP_PROTOCOL")),
    headers: Redacted.make(yield* pairs("OTEL_EXPORTER_OTLP_HEADERS")),
    serviceName: serviceName !== "" ? serviceName : named ?? name,
    serviceVersion: version,
    attributes,
    metricsInterval: yield* milliseconds(yield* variable("OTEL_METRIC_EXPORT_INTERVAL"))
  })
})
