/**
 * Everything that the sandbox answers, as one function for both ways in: the interface, the control interface and the pages.
 *
 * @since 0.1.0
 */
import type { RequestError } from "@effect/platform/HttpServerError"
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import { type DocumentedError, Forbidden } from "@plaza/domain/Errors"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { Assumed } from "../Assumptions.js"
import * as Control from "../control/Control.js"
import { VirtualClock } from "../VirtualClock.js"
import * as Web from "../web/Web.js"
import * as Envelope from "./Envelope.js"
import type { ConnectionReset } from "./FaultyResponse.js"
import { Interface } from "./Interface.js"
import type { Local } from "./LocalOnly.js"
import type { ServerRequest } from "./ServerRequest.js"

/** @since 0.1.0 @category services */
export class Service extends Context.Tag("@plaza/sandbox/Service")<Service, {
  /** Once a handler has begun it runs to its end, even if the caller goes away. */
  readonly respond: (request: ServerRequest) => Effect.Effect<HttpServerResponse, RequestError | ConnectionReset>
  /** The response to what can't be read as a request. */
  readonly refuse: (error: DocumentedError) => HttpServerResponse
}>() {}

/** An absolute target is what proxies are sent. */
const withoutOrigin = (target: string): string => /^https?:\/\/[^/?#]*(.*)$/is.exec(target)?.[1] ?? target

const split = (target: string): readonly [path: string, query: string] => {
  const mark = target.indexOf("?")
  return mark === -1 ? [target, ""] : [target.slice(0, mark), target.slice(mark + 1)]
}

const dated = (response: HttpServerResponse): Effect.Effect<HttpServerResponse> =>
  Effect.map(Clock.currentTimeMillis, (now) => Envelope.withHeader(response, "date", new Date(now).toUTCString()))

const misdirected = Envelope.failure(
  new Forbidden({
    message:
      "the sandbox answers for its own names, such as localhost and 127.0.0.1, and for the hosts that are allowed: the host that was asked for is none of them"
  })
)

/** @since 0.1.0 @category constructors */
export const make = (local: Local): Effect.Effect<Service["Type"], never, Assumed | Control.Control | Interface | VirtualClock | Web.Web> =>
  Effect.gen(function*() {
    const { undocumented } = yield* Assumed
    const control = yield* Control.Control
    const api = yield* Interface
    const web = yield* Web.Web
    const clock = yield* VirtualClock

    const respond = (request: ServerRequest): Effect.Effect<HttpServerResponse, RequestError | ConnectionReset> => {
      const [path, query] = split(withoutOrigin(request.originalUrl))
      return !local.answersFor(request)
        ? dated(misdirected)
        : path === Control.basePath || path.startsWith(`${Control.basePath}/`)
        ? Effect.flatMap(control.respond(request, path, query), dated)
        : web.owns(path)
        ? Effect.flatMap(web.answer(request, path, query), dated)
        : api.respond(request, path, query)
    }

    return {
      refuse: (error) => Envelope.failure(error, undocumented),
      respond: (request) => Effect.uninterruptible(clock.within(respond(request)))
    }
  })
