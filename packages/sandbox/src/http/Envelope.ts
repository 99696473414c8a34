/**
 * Constructors of responses. Every failure has the error envelope of the document.
 *
 * Source: interface v1, "Errors".
 */
import type { DocumentedError } from "@plaza/domain/Errors"
import * as Duration from "effect/Duration"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** The content type of every JSON body. */
const jsonType = "application/json; charset=utf-8"

/** A response without a body. It sets `content-length`, because Node would otherwise send an empty chunked body. */
export const empty = (status: number, headers: Readonly<Record<string, string>> = {}): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.empty({ status, headers: status === 204 ? headers : { ...headers, "content-length": "0" } })

export const raw = (status: number, body: string, contentType: string): HttpServerResponse.HttpServerResponse =>
  body === "" || status === 204
    ? empty(status, { "content-type": contentType })
    : contentType !== ""
    ? HttpServerResponse.text(body, { status, contentType })
    // `HttpServerResponse.text` replaces an empty type by text/plain.
    : HttpServerResponse.setBody(empty(status, { "content-type": contentType }), HttpBody.text(body, contentType))

export const json = (status: number, value: unknown): HttpServerResponse.HttpServerResponse => raw(status, JSON.stringify(value), jsonType)

export const withHeader: (
  response: HttpServerResponse.HttpServerResponse,
  name: string,
  value: string
) => HttpServerResponse.HttpServerResponse = HttpServerResponse.setHeader

/** The response to a successful request as the platform encodes it, with the content type of every JSON body. */
export const encoded = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  response.headers["content-type"] === "application/json" ? withHeader(response, "content-type", jsonType) : response

/** The head of a response, with an empty body. */
export const withoutBody = ({ headers, status }: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.empty({ status, headers })

const utf8 = new TextDecoder()

/** The bytes of a body. All bodies are in memory, except the streams of faults, which are applied last. */
export const bytesOf = ({ body }: HttpServerResponse.HttpServerResponse): Uint8Array =>
  body._tag === "Uint8Array" ? body.body : new Uint8Array(0)

export const textOf = (response: HttpServerResponse.HttpServerResponse): string => utf8.decode(bytesOf(response))

/** The body as JSON; undefined if the body is empty. */
export const jsonOf = (response: HttpServerResponse.HttpServerResponse): unknown => {
  const text = textOf(response)
  return text === "" ? undefined : JSON.parse(text)
}

/**
 * The response to a failed request. `Retry-After` is in whole seconds, rounded up, so that waiting that long is always
 * enough. `withFields: false` leaves only the code and the message, which are all that the document shows.
 */
export const failure = (error: DocumentedError, withFields = true): HttpServerResponse.HttpServerResponse => {
  const { code, details, message, retryAfter, status } = error
  // Code and message come first for readability; no detail has one of these names.
  const response = json(status, { error: withFields ? { code, message, ...details } : { code, message } })
  return retryAfter === undefined
    ? response
    : withHeader(response, "retry-after", String(Math.max(1, Math.ceil(Duration.toSeconds(retryAfter)))))
}
