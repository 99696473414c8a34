/** The read-only HTTP routes: status page, health, readiness and metrics. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Prometheus from "./Prometheus.js"
import * as StatusPage from "./StatusPage.js"
import { StatusSampler } from "./StatusSampler.js"
import { icon, script, style } from "./Style.js"

export interface Options {
  /** Listens on a loopback address: then it is asked for under a name of this machine alone. */
  readonly loopback: boolean
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
}

/** Nothing but our own files runs or is shown, and nobody frames us. */
const headers = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

const text = (body: string, contentType = "text/plain; charset=utf-8", status = 200) =>
  HttpServerResponse.text(body, { status, contentType })

/**
 * Whether a name is one of this machine. A page elsewhere can make its own name point here; the browser then asks for that name.
 */
export const isLoopback = (host: string): boolean => {
  if (!URL.canParse(`http://${host}`)) return false
  const { hostname } = new URL(`http://${host}`)
  return hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

const answerTo = (path: string, options: Options): Effect.Effect<HttpServerResponse.HttpServerResponse, never, StatusSampler> => {
  switch (path) {
    case "/healthz":
      return Effect.succeed(text("ok\n"))
    case "/readyz":
      return Effect.map(Effect.flatMap(StatusSampler, ({ look }) => look), ({ reasons }) => {
        const ready = reasons.length === 0
        return text(`${JSON.stringify({ ready, reasons })}\n`, "application/json", ready ? 200 : 503)
      })
    case "/metrics":
      return Effect.map(Metric.snapshot, (snapshot) => text(Prometheus.text(snapshot), Prometheus.contentType))
    case StatusPage.paths.page:
      return Effect.map(Effect.flatMap(StatusSampler, ({ look }) => look),
        (look) => text(StatusPage.page(look, options), "text/html; charset=utf-8"))
    case StatusPage.paths.style:
      return Effect.succeed(text(style, "text/css; charset=utf-8"))
    case StatusPage.paths.script:
      return Effect.succeed(text(script, "text/javascript; charset=utf-8"))
    case StatusPage.paths.icon:
      return Effect.succeed(text(icon, "image/svg+xml"))
    default:
      return Effect.succeed(text("there is nothing at this address; the status page is at /\n", undefined, 404))
  }
}

/** The answer to the request at hand. */
export const handle = (
  options: Options
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | StatusSampler> =>
  Effect.gen(function*() {
    const { headers: { host }, method, url } = yield* HttpServerRequest.HttpServerRequest
    if (options.loopback && host !== undefined && !isLoopback(host)) {
      return text("this listens for its own machine alone: ask for it as localhost\n", undefined, 403)
    }
    if (method !== "GET" && method !== "HEAD") {
      return HttpServerResponse.setHeader(text("there is nothing to change here\n", undefined, 405), "allow", "GET, HEAD")
    }
    return yield* answerTo(url.split("?", 1)[0] ?? "", options)
  }).pipe(Effect.map(HttpServerResponse.setHeaders(headers)))
