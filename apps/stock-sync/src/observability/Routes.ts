/** The read-only HTTP routes: status page, health, readiness and metrics. */
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Responses from "./HttpResponses.ts"
import * as Page from "./Page.ts"
import * as StatusPage from "./StatusPage.ts"
import { StatusSampler } from "./StatusSampler.ts"

const refuse = (status: number, message: string) => Responses.text(`${message}\n`, undefined, status)

const status = Effect.flatMap(StatusSampler, (sampler) => sampler.status)

const respond = (path: string): Effect.Effect<HttpServerResponse.HttpServerResponse, never, StatusSampler> => {
  switch (path) {
    case "/healthz":
      return Effect.succeed(Responses.text("ok\n"))
    case "/readyz":
      return Effect.map(status, ({ reasons }) => Responses.readiness(reasons))
    case "/metrics":
      return Responses.metrics
    case Page.paths.page:
      return Effect.map(status, (status) => Responses.page(StatusPage.render(status)))
    default:
      return Effect.succeed(Page.asset(path) ?? refuse(404, "not found: the status page is at /"))
  }
}

/** Responds to the current request. `loopback`: accepts only requests whose `Host` is a name of this machine. */
export const handle = (
  loopback: boolean
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | StatusSampler> =>
  Responses.guarded({ loopback, refuse }, respond)
