/**
 * Encodes one file as a multipart/form-data body. It escapes file names, so that they can't inject headers. The platform's `FormData`
 * doesn't stream, and undici doesn't accept it.
 *
 * Source: interface v1, "Endpoints", POST /media: one file part named `file` with a file name and a content type.
 *
 * @since 0.1.0
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"

/** @since 0.1.0 @category models */
export interface FilePart<E> {
  readonly fileName: string
  /** A media type without control characters. */
  readonly contentType: string
  readonly content: Uint8Array | Stream.Stream<Uint8Array, E>
  /** The length of the content in bytes, if it is known. */
  readonly size?: number | undefined
}

// Like browsers: UTF-8, with escapes for the characters that end the parameter or the line.
const quoted = (fileName: string): string => fileName.replaceAll("\"", "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A")

const utf8 = new TextEncoder()

// 128 random bits, so that no file contains the boundary by chance.
const randomBoundary = Effect.map(
  Effect.replicateEffect(Random.nextIntBetween(0, 0x1_0000), 8),
  (parts) => `plaza-${parts.map((part) => part.toString(16).padStart(4, "0")).join("")}`
)

const joined = (head: Uint8Array, content: Uint8Array, tail: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(head.length + content.length + tail.length)
  whole.set(head)
  whole.set(content, head.length)
  whole.set(tail, head.length + content.length)
  return whole
}

/**
 * Splits each piece into a chunk of two parts. The platform's writer for node:http waits for its buffer to drain only between the
 * elements of a chunk; with one element each it would buffer a whole file as fast as it can be read.
 */
const inHalves = <E>(content: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E> =>
  Stream.mapConcatChunk(content, (piece) => {
    const middle = piece.length >> 1
    return middle === 0 ? Chunk.of(piece) : Chunk.make(piece.subarray(0, middle), piece.subarray(middle))
  })

/**
 * Creates the body. Bytes are sent in one piece. A stream is not buffered, and runs again each time the body is sent.
 *
 * @since 0.1.0
 * @category constructors
 */
export const body = <E>(part: FilePart<E>): Effect.Effect<HttpBody.HttpBody> =>
  Effect.map(randomBoundary, (boundary) => {
    const head = utf8.encode(
      `--${boundary}\r\n` +
        `Content-Disposition: form-data; name="file"; filename="${quoted(part.fileName)}"\r\n` +
        `Content-Type: ${part.contentType}\r\n\r\n`
    )
    const tail = utf8.encode(`\r\n--${boundary}--\r\n`)
    const contentType = `multipart/form-data; boundary=${boundary}`
    const { content, size } = part
    return content instanceof Uint8Array
      ? HttpBody.uint8Array(joined(head, content, tail), contentType)
      : HttpBody.stream(
        Stream.concat(Stream.concat(Stream.succeed(head), inHalves(content)), Stream.succeed(tail)),
        contentType,
        size === undefined ? undefined : head.length + size + tail.length
      )
  })
