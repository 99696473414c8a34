/**
 * The whole sandbox as one function from request to response, in process and on a socket: the interface, the control API and
 * the web pages.
 *
 * @since 0.1.0
 */
import type { RequestError } from "@effect/platform/HttpServerError"
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import { type DocumentedError, Forbidden } from "@plaza-legacy/domain/Errors"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { CurrentAssumptions } from "../Assumptions.ts"
import * as Control from "../control/Control.ts"
import { VirtualClock } from "../VirtualClock.ts"
import * as Web from "../web/Web.ts"
import * as Envelope from "./Envelope.ts"
import type { ConnectionReset } from "./FaultyResponse.ts"
import type { HostPolicy } from "./HostPolicy.ts"
import { InterfaceApp } from "./InterfaceApp.ts"
import type { ServerRequest } from "./ServerRequest.ts"

/** @since 0.1.0 @category services */
export class SandboxApp extends Context.Tag("@plaza-legacy/sandbox/SandboxApp")<SandboxApp, {
  /** A started handler runs to its end, even if the caller closes the connection. */
  readonly respond: (request: ServerRequest) => Effect.Effect<HttpServerResponse, RequestError | ConnectionReset>
  /** The response to malformed HTTP. */
  readonly refuse: (error: DocumentedError) => HttpServerResponse
}>() {}

/** Requests to a proxy have an absolute URL as their target. */
const withoutOrigin = (target: string): string => /^https?:\/\/[^/?#]*(.*)$/is.exec(target)?.[1] ?? target

const split = (target: string): readonly [path: string, query: string] => {
  const mark = target.indexOf("?")
  return mark === -1 ? [target, ""] : [target.slice(0, mark), target.slice(mark + 1)]
}

const dated = (response: HttpServerResponse): Effect.Effect<HttpServerResponse> =>
  Effect.map(Clock.currentTimeMillis, (now) => Envelope.withHeader(response, "date", new Date(now).toUTCString()))

const misdirected = Envelope.failure(
  new Forbidden({
    message: "the Host of this request is not allowed: use localhost or 127.0.0.1, or start the sandbox with this host as an allowed host"
  })
)

/** @since 0.1.0 @category constructors */
export const make = (
  local: HostPolicy
): Effect.Effect<SandboxApp["Type"], never, CurrentAssumptions | Control.Control | InterfaceApp | VirtualClock | Web.Web> =>
  Effect.gen(function*() {
    const { undocumented } = yield* CurrentAssumptions
    const control = yield* Control.Control
    const api = yield* InterfaceApp
    const web = yield* Web.Web
    const clock = yield* VirtualClock

    const respond = (request: ServerRequest): Effect.Effect<HttpServerResponse, RequestError | ConnectionReset> => {
      const [path, query] = split(withoutOrigin(request.originalUrl))
      return !local.hasKnownHost(request)
        ? dated(misdirected)
        : path === Control.basePath || path.startsWith(`${Control.basePath}/`)
        ? Effect.flatMap(control.respond(request, path, query), dated)
        : web.owns(path) || web.ownsUnknown(request, path)
        ? Effect.flatMap(web.respond(request, path, query), dated)
        : api.respond(request, path, query)
    }

    return {
      refuse: (error) => Envelope.failure(error, undocumented),
      respond: (request) => Effect.uninterruptible(clock.within(respond(request)))
    }
  })
