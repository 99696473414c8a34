import { describe, expect, it } from "@effect/vitest"
import { Store } from "@plaza/client/Store"
import { ProductId } from "@plaza/domain/Ids"
import { Sandbox } from "@plaza/sandbox"
import { Config, ConfigProvider, Effect, Option, Redacted, Schema } from "effect"
import * as Http from "node:http"
import * as OtlpSettings from "../src/observability/OtlpSettings.ts"
import { version } from "../src/version.ts"
import { failure } from "./support/events.ts"
import { observed } from "./support/observability.ts"
import { sandboxAndClient } from "./support/sandbox.ts"
import { happens } from "./support/statusSampler.ts"
import { utc } from "./support/utc.ts"

interface Received {
  readonly path: string | undefined
  readonly headers: Http.IncomingHttpHeaders
  readonly body: string
}

/** A collector on a free port, which takes whatever comes. */
const collector = Effect.gen(function*() {
  const received: Array<Received> = []
  const server = Http.createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part)).on("end", () => {
      received.push({ path: request.url, headers: request.headers, body: Buffer.concat(parts).toString("latin1") })
      response.setHeader("content-type", "application/json").end("{}")
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const address = server.address()
  return { received, url: `http://127.0.0.1:${typeof address === "object" ? address?.port : address}` }
})

const settingsOf = (variables: Readonly<Record<string, string>>) =>
  Effect.provideService(OtlpSettings.resolve, ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(variables))

/** What a loop does as far as a collector sees it: a send, and a word about the account. */
const work = Effect.gen(function*() {
  const { setStock } = yield* Store
  const sandbox = yield* Sandbox.Sandbox
  const { products } = yield* sandbox.state
  yield* setStock(ProductId.make(products[0]?.id ?? "none"), 3)
  yield* Effect.ignore(setStock(ProductId.make("there-is-no-such-product"), 3))
  yield* happens({ _tag: "AccountChanged", account: { _tag: "Paused", since: utc(0), failure: failure(), nextProbe: utc(0) } })
  // Whoever exports reads no variables, and everybody else still does.
  yield* Config.String("STILL_READ")
  return Redacted.value(sandbox.apiKey)
}).pipe(Effect.provide(sandboxAndClient))

/** Works, stops, and gives the key with what the collector was sent. */
const exported = (variables: Readonly<Record<string, string>>) =>
  Effect.scoped(Effect.gen(function*() {
    const { received, url } = yield* collector
    const otlp = Option.getOrThrow(yield* settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...variables }))
    const lines: Array<string> = []
    const seen = observed({ otlp, lines, logs: { format: "json", level: "Debug" } })
    const key = yield* Effect.provideService(Effect.scoped(Effect.provide(work, seen)), ConfigProvider.ConfigProvider,
      ConfigProvider.fromUnknown({ STILL_READ: "yes" }))
    expect(lines.some((line) => line.includes("account.paused"))).toBe(true)
    return { key, received }
  }))

const Text = Schema.Struct({ stringValue: Schema.String })
const Resource = Schema.Struct({ attributes: Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.Unknown })) })
const Named = Schema.Struct({ name: Schema.String })
const Traces = Schema.fromJsonString(Schema.Struct({
  resourceSpans: Schema.Array(
    Schema.Struct({ resource: Resource, scopeSpans: Schema.Array(Schema.Struct({ spans: Schema.Array(Named) })) })
  )
}))
const Metrics = Schema.fromJsonString(Schema.Struct({
  resourceMetrics: Schema.Array(Schema.Struct({ scopeMetrics: Schema.Array(Schema.Struct({ metrics: Schema.Array(Named) })) }))
}))
const Logs = Schema.fromJsonString(Schema.Struct({
  resourceLogs: Schema.Array(Schema.Struct({
    scopeLogs: Schema.Array(Schema.Struct({ logRecords: Schema.Array(Schema.Struct({ severityText: Schema.String, body: Text })) }))
  }))
}))

describe("a collector of OpenTelemetry", () => {
  it.live("receives traces, metrics and logs, with the name and the headers of the standard variables, and never the key", () =>
    Effect.gen(function*() {
      const { key, received } = yield* exported({
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=our%20shop, x-token=t%3D1",
        OTEL_SERVICE_NAME: "stock-of-our-shop",
        OTEL_RESOURCE_ATTRIBUTES: "service.name=overruled,deployment.environment=a%2Cb"
      })
      const at = (path: string) => received.filter((each) => each.path === path)
      expect(new Set(received.map(({ path }) => path))).toEqual(new Set(["/v1/traces", "/v1/metrics", "/v1/logs"]))
      for (const { body, headers } of received) {
        expect(headers).toMatchObject({ "x-tenant": "our shop", "x-token": "t=1", "content-type": "application/json" })
        expect(body).not.toContain(key.slice(key.indexOf("_")))
      }
      const traces = at("/v1/traces").flatMap(({ body }) => Schema.decodeUnknownSync(Traces)(body).resourceSpans)
      const spans = traces.flatMap(({ scopeSpans }) => scopeSpans).flatMap(({ spans }) => spans).map(({ name }) => name)
      expect(spans).toEqual(["plaza.attempt", "plaza.setStock", "plaza.attempt", "plaza.setStock"])
      expect(traces[0]?.resource.attributes).toEqual(expect.arrayContaining([
        { key: "deployment.environment", value: { stringValue: "a,b" } },
        { key: "service.name", value: { stringValue: "stock-of-our-shop" } },
        { key: "service.version", value: { stringValue: version } }
      ]))
      const metrics = at("/v1/metrics").flatMap(({ body }) => Schema.decodeUnknownSync(Metrics)(body).resourceMetrics)
        .flatMap(({ scopeMetrics }) => scopeMetrics).flatMap(({ metrics }) => metrics).map(({ name }) => name)
      expect(metrics).toEqual(expect.arrayContaining(["plaza_stock_sync_ready", "plaza_stock_sync_account_state", "plaza_client_requests"]))
      const logs = at("/v1/logs").flatMap(({ body }) => Schema.decodeUnknownSync(Logs)(body).resourceLogs)
        .flatMap(({ scopeLogs }) => scopeLogs).flatMap(({ logRecords }) => logRecords)
      expect(logs).toContainEqual({ severityText: "Error", body: { stringValue: "account.paused" } })
    }))

  it.live("receives protobuf by default, and the key is not in that either", () =>
    Effect.gen(function*() {
      const { key, received } = yield* exported({})
      expect(new Set(received.map(({ path }) => path))).toEqual(new Set(["/v1/traces", "/v1/metrics", "/v1/logs"]))
      for (const { body, headers } of received) {
        expect(headers["content-type"]).toBe("application/x-protobuf")
        expect(body).toContain("plaza-stock-sync")
        expect(body).not.toContain(key.slice(key.indexOf("_")))
      }
    }))
})

describe("the standard variables", () => {
  it.effect("name no collector, or switch it off: then there is none", () =>
    Effect.gen(function*() {
      expect(yield* settingsOf({})).toEqual(Option.none())
      expect(yield* settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: " " })).toEqual(Option.none())
      expect(yield* settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318", OTEL_SDK_DISABLED: "TRUE" })).toEqual(Option.none())
    }))

  it.effect("have the defaults of the standard, and ours for the name", () =>
    Effect.gen(function*() {
      const settings = Option.getOrThrow(yield* settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318/" }))
      expect(settings).toMatchObject({
        endpoint: "http://localhost:4318",
        protocol: "http/protobuf",
        serviceName: "plaza-stock-sync",
        attributes: {}
      })
      const named = yield* settingsOf({
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318",
        OTEL_RESOURCE_ATTRIBUTES: "service.name=of-the-attributes"
      })
      expect(Option.getOrThrow(named).serviceName).toBe("of-the-attributes")
    }))

  it.effect("are named where they can't be used, without what they hold", () =>
    Effect.gen(function*() {
      const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" }
      for (
        const [name, value] of [
          ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
          ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
          ["OTEL_EXPORTER_OTLP_HEADERS", "authorization"],
          ["OTEL_EXPORTER_OTLP_HEADERS", "authorization=%E0%A4%A"],
          ["OTEL_METRIC_EXPORT_INTERVAL", "soon"]
        ] as const
      ) {
        const { message } = yield* Effect.flip(settingsOf({ ...endpoint, [name]: value }))
        expect(message).toContain(name)
        expect(message).not.toContain(value)
      }
    }))
})
