/**
 * Serves the control API. By default only programs on this machine and the sandbox's own pages may call it, because
 * it can do anything.
 *
 * @since 0.1.0
 */
import type { RequestError } from "@effect/platform/HttpServerError"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Forbidden } from "@plaza/domain/Errors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Envelope from "../http/Envelope.js"
import * as Failures from "../http/Failures.js"
import * as KeyMask from "../http/KeyMask.js"
import { isSameOrigin, type Local } from "../http/LocalOnly.js"
import type { Operation } from "../http/Operation.js"
import * as Router from "../http/Router.js"
import type { ServerRequest } from "../http/ServerRequest.js"
import { CurrentLatitude } from "../latitude/CurrentLatitude.js"

/**
 * The path prefix of the control API.
 *
 * @since 0.1.0
 * @category constants
 */
export const basePath = "/sandbox"

/** @since 0.1.0 @category services */
export class Control extends Context.Tag("@plaza/sandbox/Control")<Control, {
  readonly respond: (
    request: ServerRequest,
    path: string,
    query: string
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, RequestError>
}>() {}

/** The only operation whose response contains a key. */
const creatingKeys = "createKey"

/** @since 0.1.0 @category layers */
export const layer = (access: "loopback" | "anyone", local: Local) =>
  Layer.effect(
    Control,
    Effect.gen(function*() {
      const { keyPrefixes } = yield* CurrentLatitude
      const run = yield* Router.make

      const mask = KeyMask.make(keyPrefixes)
      /** Masks keys in every response but the one that creates a key. */
      const withoutKeys = (response: HttpServerResponse.HttpServerResponse, operation: Operation | undefined) => {
        const text = Envelope.textOf(response)
        return operation?.name === creatingKeys || mask.text(text) === text
          ? response
          : HttpServerResponse.setBody(response, Envelope.json(response.status, mask.json(Envelope.jsonOf(response))).body)
      }

      const refusalOf = (request: ServerRequest): Forbidden | undefined =>
        access === "loopback" && !local.isLocal(request)
          ? new Forbidden({ message: "the control API accepts only requests from the machine that the sandbox runs on" })
          : isSameOrigin(request, { addressBar: request.method === "GET" })
          ? undefined
          : new Forbidden({
            message: "the control API accepts no requests from a page of another origin"
          })

      return {
        respond: (incoming, path, query) => {
          const request = incoming.modify({ url: Router.urlOf(path, query) })
          const refusal = refusalOf(request)
          return (refusal === undefined ? run(request, path) : Effect.fail(refusal)).pipe(
            Effect.catchAllCause((cause) =>
              Effect.map(
                Failures.fromCause(cause, `control.${request.operation?.name ?? "none"}`),
                ({ error }) => Envelope.failure(error)
              )
            ),
            // Faults never hit the control API.
            Effect.catchTag("NotHandled", Effect.die),
            Effect.map((response) => withoutKeys(response, request.operation))
          )
        }
      }
    })
  )
