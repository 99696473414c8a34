/**
 * Serves the sandbox without a port: an HttpClient that runs the service on the calling fiber, so that the caller's Clock is
 * the clock of the sandbox too.
 */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { type HttpServerError, isHttpServerError } from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Envelope from "./Envelope.ts"
import type { ConnectionReset } from "./FaultyResponse.ts"

/** The origin of a sandbox in process. Requests to any other origin fail. */
export const origin = "http://sandbox.localhost"

/** A failed connection, with the error code of Node in its cause. */
const connectionFailure = (request: HttpClientRequest.HttpClientRequest, code: string, message: string) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, cause: Object.assign(new Error(message), { code }) })
  })

/** A form as a stream, because only its encoding chooses the boundary in its content type. */
const encoded = (request: HttpClientRequest.HttpClientRequest): HttpClientRequest.HttpClientRequest => {
  if (request.body._tag !== "FormData") {
    return request
  }
  const form = new Response(request.body.formData)
  const source = form.body
  return HttpClientRequest.bodyStream(
    request,
    source === null
      ? Stream.empty
      // Not cancelled: Node 26 goes on encoding a form whose body is cancelled, and throws outside of every promise.
      : Stream.fromReadableStream({ evaluate: () => source, onError: (cause) => cause, releaseLockOnEnd: true }),
    { contentType: form.headers.get("content-type") ?? "multipart/form-data" }
  )
}

/** The request as it would arrive at a server. */
const arriving = (request: HttpClientRequest.HttpClientRequest, url: URL): HttpServerRequest.HttpServerRequest => {
  const whole = encoded(request)
  const sent = HttpClientRequest.setHeaders(whole, {
    host: url.host,
    ...(whole.body._tag !== "Empty" && whole.body.contentLength === undefined ? { "transfer-encoding": "chunked" } : {})
  })
  return HttpServerRequest.fromClientRequest(sent).modify({ url: url.pathname + url.search })
}

/** A client that sends its requests to a service in process. */
export const makeClient = (
  app: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    HttpServerError | ConnectionReset,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    url.origin === origin
      ? Effect.scoped(Effect.provideService(app, HttpServerRequest.HttpServerRequest, arriving(request, url))).pipe(
        Effect.mapError((error) =>
          isHttpServerError(error)
            // The request body failed while it was read.
            ? new HttpClientError.HttpClientError({ reason: new HttpClientError.EncodeError({ request, cause: error.cause }) })
            : connectionFailure(request, "ECONNRESET", error.message)
        ),
        Effect.map((response) =>
          HttpServerResponse.toClientResponse(
            HttpServerResponse.omitsBody(response, request.method === "HEAD") ? Envelope.withoutBody(response) : response,
            { request }
          )
        )
      )
      : Effect.fail(connectionFailure(request, "ENOTFOUND", `unknown host ${url.origin}: a sandbox in process is at ${origin}`))
  )
