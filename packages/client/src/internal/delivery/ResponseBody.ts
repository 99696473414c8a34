/**
 * Reads the body of a response as text, up to a maximum number of bytes.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Headers } from "effect/http/Headers"
import type { HttpClientError } from "effect/http/HttpClientError"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import * as ContentEncoding from "../transport/ContentEncoding.ts"

/** @since 0.1.0 @category models */
export interface Body {
  readonly text: string
  /** Whether the body is longer than the maximum. `text` is its beginning. */
  readonly isCut: boolean
  /** Why the body can't be decoded; undefined if it can. */
  readonly problem: string | undefined
}

// Skips a byte order mark, which is not part of JSON.
const decoder = new TextDecoder()

const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first] = chunks
  if (first !== undefined && chunks.length === 1) {
    return first
  }
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}

/** Reads at most `maxBytes`. If the body is longer, it closes the connection and returns the bytes so far. */
const readStream = (response: HttpClientResponse, maxBytes: number): Effect.Effect<Bytes, HttpClientError> =>
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
        Effect.catchIf((error) => error.reason._tag === "EmptyBodyError", () => Effect.void),
        Effect.map(() => ({ bytes: joined(chunks), isCut: bytesLeft < 0 }))
      )
  })

interface Bytes {
  readonly bytes: Uint8Array
  readonly isCut: boolean
}

/**
 * Reads the body. The maximum counts decoded bytes.
 *
 * @since 0.1.0
 * @category reading
 */
export const read = (response: HttpClientResponse, headers: Headers, maxBytes: number): Effect.Effect<Body, HttpClientError> => {
  const encoding = headers["content-encoding"] ?? ""
  const length = headers["content-length"]
  if (encoding === "") {
    // The HTTP client ensures the declared length. In one piece takes a third of the time of a stream.
    return length !== undefined && Number(length) <= maxBytes
      ? Effect.map(response.arrayBuffer, (bytes) => ({ text: decoder.decode(bytes), isCut: false, problem: undefined }))
      : Effect.map(readStream(response, maxBytes), ({ bytes, isCut }) => ({ text: decoder.decode(bytes), isCut, problem: undefined }))
  }
  return Effect.flatMap(readStream(response, maxBytes),
    ({ bytes, isCut }) =>
      Effect.map(ContentEncoding.decode(bytes, encoding, maxBytes), (decoded): Body => ({
        text: decoder.decode(decoded.bytes),
        isCut: isCut || decoded.isCut,
        problem: decoded.problem
      })))
}
