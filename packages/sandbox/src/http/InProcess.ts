/**
 * The way in without a port: an HttpClient that the service answers on the calling fiber, so that whatever drives the
 * caller's Clock drives the sandbox too. Knows nothing of what is asked.
 *
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Answer } from "./Envelope.js"
import type { Sent } from "./FaultyResponse.js"
import * as FaultyAnswer from "./FaultyResponse.js"
import type { Incoming } from "./IncomingRequest.js"
import { Gone } from "./IncomingRequest.js"
import type { Service } from "./Service.js"

/**
 * The address that the sandbox answers in process; every other one is unknown.
 *
 * @since 0.1.0
 * @category constants
 */
export const origin = "http://sandbox.localhost"

/** What a connection fails with, by the code that Node gives it. */
class ConnectionError extends Data.Error<{ readonly code: string; readonly message: string }> {}

const connectionFailure = (request: HttpClientRequest.HttpClientRequest, code: string, message: string) =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause: new ConnectionError({ code, message }) })

/** The content type and the bytes of a body, as they would go over a socket. */
interface Outgoing {
  readonly contentType: string | undefined
  readonly bytes: Stream.Stream<Uint8Array, unknown>
}

const ofWeb = (body: ConstructorParameters<typeof Response>[0]): Outgoing => {
  const response = new Response(body)
  const source = response.body
  return {
    contentType: response.headers.get("content-type") ?? undefined,
    bytes: source === null ? Stream.empty : Stream.fromReadableStream(() => source, (cause) => cause)
  }
}

const outgoing = ({ body }: HttpClientRequest.HttpClientRequest): Outgoing => {
  switch (body._tag) {
    case "Empty":
      return { contentType: undefined, bytes: Stream.empty }
    case "Uint8Array":
      return { contentType: body.contentType, bytes: Stream.make(body.body) }
    case "Stream":
      return { contentType: body.contentType, bytes: body.stream }
    case "FormData":
      return ofWeb(body.formData)
    case "Raw":
      // Whatever fetch takes for a body; a client of fetch would hand it on unseen as well.
      return { ...ofWeb(body.body as ConstructorParameters<typeof Response>[0]), contentType: body.contentType }
  }
}

const collect = (bytes: Stream.Stream<Uint8Array, unknown>, most: number): Effect.Effect<Option.Option<Uint8Array>, Gone> =>
  bytes.pipe(
    Stream.scan({ size: 0, chunks: [] as Array<Uint8Array> }, ({ chunks, size }, chunk) => {
      chunks.push(chunk)
      return { size: size + chunk.length, chunks }
    }),
    Stream.takeUntil(({ size }) => size > most),
    Stream.runLast,
    Effect.mapBoth({
      onFailure: (cause) => new Gone({ cause }),
      onSuccess: Option.match({
        onNone: () => Option.some(new Uint8Array(0)),
        onSome: ({ chunks, size }) => size > most ? Option.none() : Option.some(Buffer.concat(chunks))
      })
    })
  )

const toIncoming = (request: HttpClientRequest.HttpClientRequest, url: URL): Incoming => {
  const { bytes, contentType } = outgoing(request)
  return {
    method: request.method,
    target: url.pathname + url.search,
    headers: {
      ...(contentType === undefined ? {} : { "content-type": contentType }),
      ...request.headers,
      host: url.host,
      // A form's boundary is made while the form is written, so only its own content type names it.
      ...(request.body._tag === "FormData" && contentType !== undefined ? { "content-type": contentType } : {})
    },
    remoteAddress: Option.none(),
    hasBody: request.body._tag !== "Empty",
    read: (most) => collect(bytes, most),
    bytes: Stream.mapError(bytes, (cause) => new Gone({ cause }))
  }
}

const bodiless = new Set([204, 205, 304])

const toResponse = (request: HttpClientRequest.HttpClientRequest, answer: Answer, body: BodyInit) =>
  HttpClientResponse.fromWeb(
    request,
    new Response(request.method === "HEAD" || bodiless.has(answer.status) ? null : body, {
      status: answer.status,
      headers: { ...answer.headers, "content-length": String(Buffer.byteLength(answer.body)) }
    })
  )

/** Half a body, then the end of the connection. */
const half = (body: string) => {
  const pieces = [FaultyAnswer.half(body)]
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const piece = pieces.pop()
      if (piece === undefined) {
        controller.error(new ConnectionError({ code: "ECONNRESET", message: "the connection was closed amid the body" }))
      } else {
        controller.enqueue(piece)
      }
    }
  }, { highWaterMark: 0 })
}

/** Piece after piece, by the caller's clock. */
const slow = (body: string, millis: number) =>
  Stream.toReadableStreamEffect(
    Stream.mapEffect(
      Stream.fromIterable(FaultyAnswer.trickle(body, millis)),
      ({ after, piece }) => Effect.as(Effect.sleep(after), piece)
    )
  )

const deliver = (
  request: HttpClientRequest.HttpClientRequest,
  sent: Sent
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.RequestError> => {
  switch (sent._tag) {
    case "Answer":
      return Effect.succeed(toResponse(request, sent.answer, sent.answer.body))
    case "Cut":
      return Effect.succeed(toResponse(request, sent.answer, half(sent.answer.body)))
    case "Slow":
      return Effect.map(slow(sent.answer.body, sent.millis), (body) => toResponse(request, sent.answer, body))
    case "Drop":
      return Effect.fail(connectionFailure(request, "ECONNRESET", "the connection was closed before an answer"))
  }
}

/**
 * Runs an effect of the sandbox on the calling fiber without the caller's services and spans: the caller may be inside a
 * transaction of a database of its own, which must not become ours.
 *
 * @since 0.1.0
 * @category combinators
 */
export const apart = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  effect.pipe(
    Effect.withTracerEnabled(false),
    Effect.mapInputContext((_: Context.Context<never>) => Context.empty())
  )

/**
 * The client that a service answers.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeClient = (service: Service["Type"]): HttpClient.HttpClient =>
  HttpClient.make((request, url) =>
    url.origin === origin
      ? apart(service.answer(toIncoming(request, url))).pipe(
        // The caller's own body failed while it was being sent.
        Effect.mapError(({ cause }) => new HttpClientError.RequestError({ request, reason: "Encode", cause })),
        Effect.flatMap((sent) => deliver(request, sent))
      )
      : Effect.fail(connectionFailure(request, "ENOTFOUND", `there is nothing but ${origin} here, not ${url.origin}`))
  )
