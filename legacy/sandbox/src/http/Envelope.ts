/**
 * Constructors of responses. Every failure has the error envelope of the document.
 *
 * Source: interface v1, "Errors".
 *
 * @since 0.1.0
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { DocumentedError } from "@plaza-legacy/domain/Errors"
import * as Errors from "@plaza-legacy/domain/Errors"
import * as Duration from "effect/Duration"

/** The content type of every JSON body. */
const jsonType = "application/json; charset=utf-8"

/**
 * A response without a body. It sets `content-length`, because Node would otherwise send an empty chunked body.
 *
 * @since 0.1.0
 * @category constructors
 */
export const empty = (status: number, headers: Readonly<Record<string, string>> = {}): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.empty({ status, headers: status === 204 ? headers : { ...headers, "content-length": "0" } })

/** @since 0.1.0 @category constructors */
export const raw = (status: number, body: string, contentType: string): HttpServerResponse.HttpServerResponse =>
  body === "" || status === 204
    ? empty(status, { "content-type": contentType })
    : contentType !== ""
    ? HttpServerResponse.text(body, { status, contentType })
    // `HttpServerResponse.text` replaces an empty type by text/plain.
    : HttpServerResponse.setBody(empty(status, { "content-type": contentType }), HttpBody.text(body, contentType))

/** @since 0.1.0 @category constructors */
export const json = (status: number, value: unknown): HttpServerResponse.HttpServerResponse => raw(status, JSON.stringify(value), jsonType)

/** @since 0.1.0 @category combinators */
export const withHeader: (
  response: HttpServerResponse.HttpServerResponse,
  name: string,
  value: string
) => HttpServerResponse.HttpServerResponse = HttpServerResponse.setHeader

const utf8 = new TextDecoder()

/**
 * The bytes of a body. All bodies are in memory, except the streams of faults, which are applied last.
 *
 * @since 0.1.0
 * @category reading
 */
export const bytesOf = ({ body }: HttpServerResponse.HttpServerResponse): Uint8Array =>
  body._tag === "Uint8Array" ? body.body : new Uint8Array(0)

/** @since 0.1.0 @category reading */
export const textOf = (response: HttpServerResponse.HttpServerResponse): string => utf8.decode(bytesOf(response))

/**
 * The body as JSON; undefined if the body is empty.
 *
 * @since 0.1.0
 * @category reading
 */
export const jsonOf = (response: HttpServerResponse.HttpServerResponse): unknown => {
  const text = textOf(response)
  return text === "" ? undefined : JSON.parse(text)
}

/**
 * The response to a failed request. `Retry-After` is in whole seconds, rounded up, so that waiting that long is always
 * enough. `withFields: false` leaves only the code and the message, which are all that the document shows.
 *
 * @since 0.1.0
 * @category constructors
 */
export const failure = (error: DocumentedError, withFields = true): HttpServerResponse.HttpServerResponse => {
  const { code, details, message, retryAfter, status } = error
  // Code and message come first for readability; no detail has one of these names.
  const response = json(status, { error: withFields ? { code, message, ...details } : { code, message } })
  return retryAfter === undefined
    ? response
    : withHeader(response, "retry-after", String(Math.max(1, Math.ceil(Duration.toSeconds(retryAfter)))))
}

/**
 * The refusal of a parameter or field. The envelope names it as `field`. The name is assumed: the document only says that
 * the error names the invalid field.
 *
 * @since 0.1.0
 * @category constructors
 */
export const invalidField = (field: string, problem: string): Errors.ValidationError =>
  new Errors.ValidationError({ message: `"${field}" ${problem}`, details: { field } })

/**
 * The refusal of an unknown id, or of one that the caller can't see. The envelope repeats the id.
 *
 * @since 0.1.0
 * @category constructors
 */
export const notFound = (resource: string, id: string): Errors.NotFound =>
  new Errors.NotFound({
    message: `there is no ${resource} "${id}", or this account can't see it`,
    details: { resource, id }
  })

/**
 * The refusal of an unknown id of the control API and of the pages, where every caller sees everything.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unknown = (resource: string, id: string, hint = ""): Errors.NotFound =>
  new Errors.NotFound({ message: `there is no ${resource} "${id}"${hint}`, details: { resource, id } })

/**
 * The refusal of a request that the log doesn't have, or no longer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unknownRequest = (id: string): Errors.NotFound => unknown("request", id, " in the log: it keeps the newest ones until a reset")
