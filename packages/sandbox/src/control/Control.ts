/**
 * Serves the control API. By default only programs on this machine and the sandbox's own pages may call it, because
 * it can do anything.
 */
import { Forbidden, NotFound } from "@plaza/domain/Errors"
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { CurrentAssumptions } from "../Assumptions.ts"
import * as Envelope from "../http/Envelope.ts"
import * as Failures from "../http/Failures.ts"
import { type HostPolicy, isSameOrigin } from "../http/HostPolicy.ts"
import { type App, route } from "../http/Interface.ts"
import * as KeyMask from "../http/KeyMask.ts"
import * as NearMiss from "../http/NearMiss.ts"
import { hasBody, parseJson, readBytes } from "../http/RequestReader.ts"
import { endpointsOf } from "../InterfaceApi.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { ControlApi, ControlMiddleware } from "./ControlApi.ts"

/** The path prefix of the control API. */
export const basePath = "/sandbox"

/** The endpoints whose response contains a key, with their groups. */
const showsKey = (group: string, endpoint: string) =>
  (group === "seeding" && endpoint === "createKey") || (group === "worlds" && endpoint === "create")

const nearMiss = NearMiss.make(endpointsOf(ControlApi).map(([, endpoint]) => endpoint), "")

const failed = (cause: Cause.Cause<unknown>, operation: string) =>
  Effect.map(Failures.fromCause(cause, `control.${operation}`), ({ error }) => Envelope.failure(error))

/**
 * Reads the body before the schemas of an endpoint decode it, with the limits of the interface. Masks keys in every response but the
 * one that creates a key.
 */
export const layerMiddleware = Layer.effect(
  ControlMiddleware,
  Effect.gen(function*() {
    const { keyPrefixes } = yield* CurrentLatitude
    const { maxBodyBytes, maxJsonDepth } = yield* CurrentAssumptions
    const mask = KeyMask.make(keyPrefixes)

    const withoutKeys = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
      const text = Envelope.textOf(response)
      return mask.text(text) === text
        ? response
        : HttpServerResponse.setBody(response, Envelope.json(response.status, mask.json(Envelope.jsonOf(response))).body)
    }

    const readBody = Effect.fnUntraced(function*(request: HttpServerRequest, isJson: boolean) {
      if (isJson || hasBody(request)) {
        const bytes = yield* readBytes(request, maxBodyBytes)
        if (isJson) {
          yield* parseJson(request.headers["content-type"], bytes, maxJsonDepth)
        }
      }
    })

    return (handler, { endpoint: { identifier, payload }, group }) =>
      Effect.flatMap(HttpServerRequest, (request) => Effect.andThen(readBody(request, payload.size > 0), handler)).pipe(
        Effect.map(Envelope.encoded),
        Effect.catchCause((cause) => failed(cause, identifier)),
        Effect.map((response) => showsKey(group.identifier, identifier) && response.status === 200 ? response : withoutKeys(response)),
        Effect.uninterruptible
      )
  })
)

export class Control extends Context.Service<Control, {
  /** Whether a path belongs to the control API. */
  readonly owns: (path: string) => boolean
  readonly respond: (
    app: App,
    target: { readonly path: string; readonly query: string }
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest | Scope.Scope>
}>()("@plaza/sandbox/Control") {
  static readonly layer = (access: "loopback" | "anyone", local: HostPolicy) => {
    const refusalOf = (request: HttpServerRequest): Forbidden | undefined =>
      access === "loopback" && !local.isLocal(request)
        ? new Forbidden({ message: "the control API accepts only requests from the machine that the sandbox runs on" })
        : isSameOrigin(request, { addressBar: request.method === "GET" })
        ? undefined
        : new Forbidden({ message: "the control API accepts no requests from a page of another origin" })
    return Layer.succeed(Control, {
      owns: (path) => path === basePath || path.startsWith(`${basePath}/`),
      respond: (app, { path, query }) =>
        Effect.flatMap(HttpServerRequest, (request) => {
          const refusal = refusalOf(request)
          const unknown = () => new NotFound({ message: `there is no endpoint ${request.method} ${path}${nearMiss(request.method, path)}` })
          return Effect.catchCause(
            refusal === undefined ? route(app, request, { path, query, unknown }) : Effect.fail(refusal),
            (cause) => failed(cause, "none")
          )
        })
    })
  }
}
