/**
 * Reads the body of a response as text, up to a maximum number of bytes.
 *
 * @since 0.1.0
 */
import type { ResponseError } from "@effect/platform/HttpClientError"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Body } from "./Transport.ts"

// Skips a byte order mark, which is not part of JSON.
const decoder = new TextDecoder()

/**
 * Decodes chunks of UTF-8, without a byte order mark.
 *
 * @since 0.1.0
 * @category decoding
 */
export const textOf = (chunks: ReadonlyArray<Uint8Array>): string => {
  const [first] = chunks
  if (first === undefined) {
    return ""
  }
  if (chunks.length === 1) {
    return decoder.decode(first)
  }
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return decoder.decode(whole)
}

/**
 * Reads at most `maxBytes`, counted after decompression by the HTTP client. If the body is longer, it closes the connection and
 * returns the bytes so far.
 *
 * @since 0.1.0
 * @category reading
 */
export const read = (response: HttpClientResponse, maxBytes: number): Effect.Effect<Body, ResponseError> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let bytesLeft = maxBytes
    return Stream.runForEachWhile(response.stream, (chunk) =>
      Effect.sync(() => {
        chunks.push(chunk.length > bytesLeft ? chunk.subarray(0, bytesLeft) : chunk)
        bytesLeft -= chunk.length
        return bytesLeft >= 0
      })).pipe(
        // The platform's fetch client reports a response without a body as this error.
        Effect.catchIf((error) => error.reason === "EmptyBody", () => Effect.void),
        // Otherwise the runtime logs a failure of the stream with the request's URL, which contains ids.
        Effect.withUnhandledErrorLogLevel(Option.none()),
        Effect.map(() => ({ text: textOf(chunks), isCut: bytesLeft < 0 }))
      )
  })
