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
  /** Accept only requests whose `Host` is a name of this machine. */
  readonly loopback: boolean
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
}

/** The page may load its own style, script and icon only, and may not be framed. */
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
 * Whether a `Host` is a name of this machine. Prevents DNS rebinding: another site's name may resolve to this machine, and its pages could
 * then read the status page.
 */
export const isLoopback = (host: string): boolean => {
  if (!URL.canParse(`http://${host}`)) return false
  const { hostname } = new URL(`http://${host}`)
  return hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

const respond = (path: string, options: Options): Effect.Effect<HttpServerResponse.HttpServerResponse, never, StatusSampler> => {
  switch (path) {
    case "/healthz":
      return Effect.succeed(text("ok\n"))
    case "/readyz":
      return Effect.map(Effect.flatMap(StatusSampler, ({ snapshot }) => snapshot), ({ reasons }) => {
        const ready = reasons.length === 0
        return text(`${JSON.stringify({ ready, reasons })}\n`, "application/json", ready ? 200 : 503)
      })
    case "/metrics":
      return Effect.map(Metric.snapshot, (snapshot) => text(Prometheus.text(snapshot), Prometheus.contentType))
    case StatusPage.paths.page:
      return Effect.map(Effect.flatMap(StatusSampler, ({ snapshot }) => snapshot),
        (snapshot) => text(StatusPage.render(snapshot, options), "text/html; charset=utf-8"))
    case StatusPage.paths.style:
      return Effect.succeed(text(style, "text/css; charset=utf-8"))
    case StatusPage.paths.script:
      return Effect.succeed(text(script, "text/javascript; charset=utf-8"))
    case StatusPage.paths.icon:
      return Effect.succeed(text(icon, "image/svg+xml"))
    default:
      return Effect.succeed(text("not found: the status page is at /\n", undefined, 404))
  }
}

/** Responds to the current request. */
export const handle = (
  options: Options
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | StatusSampler> =>
  Effect.gen(function*() {
    const { headers: { host }, method, url } = yield* HttpServerRequest.HttpServerRequest
    if (options.loopback && host !== undefined && !isLoopback(host)) {
      return text("this address accepts requests for localhost only: open http://localhost with the same port\n", undefined, 403)
    }
    if (method !== "GET" && method !== "HEAD") {
      return HttpServerResponse.setHeader(text("only GET and HEAD are allowed\n", undefined, 405), "allow", "GET, HEAD")
    }
    return yield* respond(url.split("?", 1)[0] ?? "", options)
  }).pipe(Effect.map(HttpServerResponse.setHeaders(headers)))
