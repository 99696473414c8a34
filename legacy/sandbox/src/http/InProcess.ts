/**
 * Serves the sandbox without a port: an HttpClient that runs the service on the calling fiber, so that the caller's Clock is
 * the clock of the sandbox too.
 *
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import * as Envelope from "./Envelope.ts"
import { InProcessResponse } from "./InProcessResponse.ts"
import type { SandboxApp } from "./SandboxApp.ts"
import type { Source } from "./ServerRequest.ts"
import { ServerRequest } from "./ServerRequest.ts"

/**
 * The origin of a sandbox in process. Requests to any other origin fail.
 *
 * @since 0.1.0
 * @category constants
 */
export const origin = "http://sandbox.localhost"

/** The cause of a failed connection, with the error code of Node. */
class ConnectionError extends Data.Error<{ readonly code: string; readonly message: string }> {}

const connectionFailure = (request: HttpClientRequest.HttpClientRequest, code: string, message: string) =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause: new ConnectionError({ code, message }) })

/** The body of a request: in memory, or as a stream. */
interface Body {
  readonly contentType: string | undefined
  readonly bytes: Uint8Array | Stream.Stream<Uint8Array, unknown>
}

type WebBody = ConstructorParameters<typeof Response>[0]

const ofWeb = (body: WebBody, releaseLockOnEnd = false): Body => {
  const response = new Response(body)
  const source = response.body
  return {
    contentType: response.headers.get("content-type") ?? undefined,
    bytes: source === null
      ? new Uint8Array(0)
      : Stream.fromReadableStream({ evaluate: () => source, onError: (cause) => cause, releaseLockOnEnd })
  }
}

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): Body => {
  switch (body._tag) {
    case "Empty":
      return { contentType: undefined, bytes: new Uint8Array(0) }
    case "Uint8Array":
      return { contentType: body.contentType, bytes: body.body }
    case "Stream":
      return { contentType: body.contentType, bytes: body.stream }
    case "FormData":
      // Not cancelled: Node 26 goes on encoding a form whose body is cancelled, and throws outside of every promise.
      return ofWeb(body.formData, true)
    case "Raw":
      // True because `HttpBody.raw` is for values that fetch accepts as a body. The constructor of `Response` rejects others.
      return { ...ofWeb(body.body as WebBody), contentType: body.contentType }
  }
}

const collect = (bytes: Stream.Stream<Uint8Array, unknown>, maxBytes: number): Effect.Effect<Option.Option<Uint8Array>, unknown> =>
  bytes.pipe(
    Stream.scan<{ readonly size: number; readonly chunks: Array<Uint8Array> }, Uint8Array>({ size: 0, chunks: [] },
      ({ chunks, size }, chunk) => {
        chunks.push(chunk)
        return { size: size + chunk.length, chunks }
      }),
    Stream.takeUntil(({ size }) => size > maxBytes),
    Stream.runLast,
    Effect.map(Option.match({
      onNone: () => Option.some(new Uint8Array(0)),
      onSome: ({ chunks, size }) => size > maxBytes ? Option.none() : Option.some(Buffer.concat(chunks))
    }))
  )

const sourceOf = (request: HttpClientRequest.HttpClientRequest, url: URL): Source => {
  const { bytes, contentType } = bodyOf(request)
  return {
    method: request.method,
    url: url.pathname + url.search,
    headers: {
      ...(contentType === undefined ? {} : { "content-type": contentType }),
      ...request.headers,
      host: url.host,
      // The boundary is chosen when the form is encoded, so only the content type of that encoding has it.
      ...(request.body._tag === "FormData" && contentType !== undefined ? { "content-type": contentType } : {})
    },
    remoteAddress: Option.none(),
    hasBody: request.body._tag !== "Empty",
    read: (maxBytes) =>
      bytes instanceof Uint8Array
        ? Effect.succeed(bytes.length > maxBytes ? Option.none() : Option.some(bytes))
        : Effect.interruptible(collect(bytes, maxBytes)),
    get stream() {
      return bytes instanceof Uint8Array ? Stream.make(bytes) : bytes
    }
  }
}

const bodiless = new Set([204, 205, 304])

/** A body of a fault is streamed by the caller's clock. */
const toClientResponse = (request: HttpClientRequest.HttpClientRequest, response: HttpServerResponse.HttpServerResponse) =>
  response.body._tag !== "Stream"
    ? Effect.succeed(
      new InProcessResponse(request, response,
        request.method === "HEAD" || bodiless.has(response.status) ? new Uint8Array(0) : Envelope.bytesOf(response))
    )
    : Effect.map(Effect.runtime(), (runtime) =>
      HttpClientResponse.fromWeb(
        request,
        HttpServerResponse.toWeb(response, {
          withoutBody: request.method === "HEAD" || bodiless.has(response.status),
          runtime: Runtime.make({ ...runtime, context: Context.empty() })
        })
      ))

/**
 * Runs an effect of the sandbox on the calling fiber without the services and spans of the caller. The caller may be inside a
 * transaction of its own database, which the sandbox must not join.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withoutCallerContext = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  effect.pipe(
    Effect.withTracerEnabled(false),
    Effect.mapInputContext((_: Context.Context<never>) => Context.empty())
  )

/**
 * A client that sends its requests to a service in process.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeClient = (service: SandboxApp["Type"]): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    url.origin === origin
      ? withoutCallerContext(service.respond(new ServerRequest(sourceOf(request, url)))).pipe(
        Effect.mapError((error) =>
          error._tag === "ConnectionReset"
            ? connectionFailure(request, "ECONNRESET", error.message)
            // The request body failed while it was read.
            : new HttpClientError.RequestError({ request, reason: "Encode", cause: error.cause })
        ),
        Effect.flatMap((response) => toClientResponse(request, response))
      )
      : Effect.fail(connectionFailure(request, "ENOTFOUND", `unknown host ${url.origin}: a sandbox in process is at ${origin}`))
  )
