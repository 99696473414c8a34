/** What all responses of the status pages have in common: security headers, allowed methods and allowed hosts. */
import { isLoopback } from "@plaza/client/Settings"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"

/** A page may load its own style, script and icon only, and may not be framed. */
const headers = (formAction: "'none'" | "'self'") => ({
  "cache-control": "no-store",
  "content-security-policy":
    `default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
})

export const text = (body: string, contentType = "text/plain; charset=utf-8", status = 200): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(body, { status, contentType })

export const page = (body: string, status = 200): HttpServerResponse.HttpServerResponse => text(body, "text/html; charset=utf-8", status)

/** The response of `/readyz`: 200 if there is no reason against it, else 503. */
export const readiness = (reasons: ReadonlyArray<unknown>): HttpServerResponse.HttpServerResponse => {
  const ready = reasons.length === 0
  return text(`${JSON.stringify({ ready, reasons })}\n`, "application/json", ready ? 200 : 503)
}

/** The response of `/metrics`. The platform's format leaves out the ending of counters that Prometheus expects. */
export const metrics: Effect.Effect<HttpServerResponse.HttpServerResponse> = Effect.gen(function*() {
  const counters = new Set((yield* Metric.snapshot).flatMap(({ id, type }) => type === "Counter" ? [id] : []))
  const metricNameMapper = (id: string) => counters.has(id) && !id.endsWith("_total") ? `${id}_total` : id
  return text(yield* PrometheusMetrics.format({ metricNameMapper }), "text/plain; version=0.0.4; charset=utf-8")
})

/**
 * Whether a `Host` is a name of this machine. Prevents DNS rebinding: another site's name may resolve to this machine, and its pages could
 * then read the status page.
 */
const isLocal = (host: string): boolean => URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname)

export interface Policy {
  /** Accept only requests whose `Host` is a name of this machine. */
  readonly loopback: boolean
  /** Where forms of the pages may be sent (default: nowhere). */
  readonly formAction?: "'self'"
  /** The response to a request that is not allowed, for people. */
  readonly refuse: (status: number, message: string) => HttpServerResponse.HttpServerResponse
}

/** Responds to an allowed GET or HEAD request by its path and query. The path is not decoded. */
export const guarded = <R>(
  { formAction, loopback, refuse }: Policy,
  respond: (path: string, query: URLSearchParams) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | R> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers: { host }, method, url }) => {
    if (loopback && host !== undefined && !isLocal(host)) {
      return Effect.succeed(refuse(403, "this address accepts requests for localhost only: open http://localhost with the same port"))
    }
    if (method !== "GET" && method !== "HEAD") {
      return Effect.succeed(HttpServerResponse.setHeader(refuse(405, "only GET and HEAD are allowed"), "allow", "GET, HEAD"))
    }
    const [path = "", ...query] = url.split("?")
    return respond(path, new URLSearchParams(query.join("?")))
  }).pipe(Effect.map(HttpServerResponse.setHeaders(headers(formAction ?? "'none'"))))
