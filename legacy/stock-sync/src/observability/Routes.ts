/** The read-only HTTP routes: status page, health, readiness and metrics. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Responses from "./HttpResponses.ts"
import * as Page from "./Page.ts"
import * as Prometheus from "./Prometheus.ts"
import * as StatusPage from "./StatusPage.ts"
import { StatusSampler } from "./StatusSampler.ts"
import type { RateOptions } from "./StatusSections.ts"

export interface Options extends RateOptions {
  /** Accept only requests whose `Host` is a name of this machine. */
  readonly loopback: boolean
}

const refuse = (status: number, message: string) => Responses.text(`${message}\n`, undefined, status)

const respond = (path: string, options: Options): Effect.Effect<HttpServerResponse.HttpServerResponse, never, StatusSampler> => {
  switch (path) {
    case "/healthz":
      return Effect.succeed(Responses.text("ok\n"))
    case "/readyz":
      return Effect.map(Effect.flatMap(StatusSampler, ({ snapshot }) => snapshot), ({ reasons }) => Responses.readiness(reasons))
    case "/metrics":
      return Effect.map(Metric.snapshot, (snapshot) => Responses.text(Prometheus.text(snapshot), Prometheus.contentType))
    case Page.paths.page:
      return Effect.map(Effect.flatMap(StatusSampler, ({ snapshot }) => snapshot),
        (snapshot) => Responses.page(StatusPage.render(snapshot, options)))
    default:
      return Effect.succeed(Page.asset(path) ?? refuse(404, "not found: the status page is at /"))
  }
}

/** Responds to the current request. */
export const handle = (
  options: Options
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | StatusSampler> =>
  Responses.guarded({ loopback: options.loopback, refuse }, (path) => respond(path, options))
