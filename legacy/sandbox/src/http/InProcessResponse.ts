/**
 * The platform's `HttpClientResponse` for a body in memory. It is read on the calling fiber. The response of the platform wraps
 * one of `fetch`, which Node takes 10 ms to load, and whose body arrives later than a virtual clock advances.
 *
 * @since 0.1.0
 */
import type * as Cookies from "@effect/platform/Cookies"
import type { Headers } from "@effect/platform/Headers"
import { ResponseError } from "@effect/platform/HttpClientError"
import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as IncomingMessage from "@effect/platform/HttpIncomingMessage"
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import * as UrlParams from "@effect/platform/UrlParams"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

const utf8 = new TextDecoder()

/** @since 0.1.0 @category models */
export class InProcessResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpClientResponse.TypeId]: HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly [IncomingMessage.TypeId]: IncomingMessage.TypeId = IncomingMessage.TypeId
  readonly request: HttpClientRequest
  readonly status: number
  readonly headers: Headers
  readonly cookies: Cookies.Cookies
  readonly remoteAddress: Option.Option<string> = Option.none()
  readonly #bytes: Uint8Array

  constructor(request: HttpClientRequest, { cookies, headers, status }: HttpServerResponse, bytes: Uint8Array) {
    super()
    this.request = request
    this.status = status
    this.headers = headers
    this.cookies = cookies
    this.#bytes = bytes
  }

  #decode<A>(decode: () => A): Effect.Effect<A, ResponseError> {
    return Effect.try({
      try: decode,
      catch: (cause) => new ResponseError({ request: this.request, response: this, reason: "Decode", cause })
    })
  }

  get text(): Effect.Effect<string, ResponseError> {
    return Effect.sync(() => utf8.decode(this.#bytes))
  }

  get json(): Effect.Effect<unknown, ResponseError> {
    return Effect.flatMap(this.text, (text) => this.#decode((): unknown => text === "" ? null : JSON.parse(text)))
  }

  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, ResponseError> {
    return Effect.map(this.text, (text) => UrlParams.fromInput(new URLSearchParams(text)))
  }

  get formData(): Effect.Effect<FormData, ResponseError> {
    return Effect.tryPromise({
      try: () => new Response(this.#bytes.slice(), { headers: this.headers }).formData(),
      catch: (cause) => new ResponseError({ request: this.request, response: this, reason: "Decode", cause })
    })
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer, ResponseError> {
    // A copy, so that its reader can't change the body.
    return Effect.sync(() => Uint8Array.from(this.#bytes).buffer)
  }

  get stream(): Stream.Stream<Uint8Array, ResponseError> {
    return this.#bytes.length === 0
      ? Stream.fail(
        new ResponseError({
          request: this.request,
          response: this,
          reason: "EmptyBody",
          description: "can not create stream from empty body"
        })
      )
      : Stream.sync(() => this.#bytes.slice())
  }

  toJSON(): unknown {
    return {
      _id: "@plaza-legacy/sandbox/InProcessResponse",
      request: this.request.toJSON(),
      status: this.status,
      headers: Inspectable.redact(this.headers)
    }
  }
}
