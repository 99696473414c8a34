/**
 * Reads the bodies of requests: with a size limit, and JSON with its content type, in valid UTF-8 and not nested too deeply. The
 * platform checks none of these.
 *
 * Source: interface v1, "Endpoints", general rules.
 */
import { InvalidJson, PayloadTooLarge, type ValidationError } from "@plaza/domain/Errors"
import * as NestingDepth from "@plaza/domain/NestingDepth"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import { type HttpServerError, isHttpServerError } from "effect/http/HttpServerError"
import { type HttpServerRequest, MaxBodySize } from "effect/http/HttpServerRequest"
import { invalidField } from "../Validation.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Whether the headers announce a body, which may be empty. */
export const hasBody = ({ headers }: Pick<HttpServerRequest, "headers">): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined

/**
 * Reads a body of at most `maxBytes`. Interruptible while it waits, also in an uninterruptible region: a request whose body did
 * not arrive completely has no effect.
 */
export const readBytes = (
  request: HttpServerRequest,
  maxBytes: number
): Effect.Effect<Uint8Array, PayloadTooLarge | HttpServerError> => {
  const tooLarge = () => new PayloadTooLarge({ message: `the body may have at most ${maxBytes} bytes` })
  return Number(request.headers["content-length"] ?? 0) > maxBytes
    ? Effect.fail(tooLarge())
    : Effect.interruptible(request.arrayBuffer).pipe(
      Effect.provideService(MaxBodySize, ByteSize.bytes(maxBytes)),
      Effect.mapError((error) =>
        isHttpServerError(error) && error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge" ? tooLarge() : error
      ),
      Effect.flatMap((bytes) => bytes.byteLength > maxBytes ? Effect.fail(tooLarge()) : Effect.succeed(new Uint8Array(bytes)))
    )
}

/** Parses a JSON body. */
export const parseJson = (
  contentType: string | undefined,
  bytes: Uint8Array,
  maxDepth: number
): Effect.Effect<unknown, InvalidJson | ValidationError> => {
  if (!/^\s*application\/json\s*(?:;|$)/i.test(contentType ?? "")) {
    return Effect.fail(invalidField("Content-Type", "must be application/json"))
  }
  return Effect.try({
    try: (): unknown => JSON.parse(utf8.decode(bytes)),
    catch: () => new InvalidJson({ message: bytes.length === 0 ? "the body is empty; JSON is expected" : "the body is not valid JSON" })
  }).pipe(
    // A level takes at least two bytes.
    Effect.filterOrFail(
      (value) => bytes.length <= 2 * maxDepth || !NestingDepth.isBeyond(value, maxDepth),
      () => invalidField("body", `must be nested at most ${maxDepth} levels deep`)
    )
  )
}

/** The target of a request, path and query, as it was sent: the platform normalizes one with an origin. */
export const targetOf = ({ source, url }: Pick<HttpServerRequest, "source" | "url">): string =>
  "httpVersion" in source && "url" in source && typeof source.url === "string" ? source.url : url
