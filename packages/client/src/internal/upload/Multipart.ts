/**
 * Encodes one file as a multipart/form-data body. It escapes file names, so that they can't inject headers. The platform sends a
 * `FormData` of blobs only, not of streams.
 *
 * Source: interface v1, "Endpoints", POST /media: one file part named `file` with a file name and a content type.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"

/** @since 0.1.0 @category models */
export interface FilePart {
  readonly fileName: string
  /** A media type without control characters. */
  readonly contentType: string
  readonly content: Uint8Array | Stream.Stream<Uint8Array>
  /** The length of the content in bytes, if it is known. */
  readonly size?: number | undefined
}

// Like browsers: UTF-8, with escapes for the characters that end the parameter or the line.
const quoted = (fileName: string): string => fileName.replaceAll("\"", "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A")

const utf8 = new TextEncoder()

// 128 random bits, so that no file contains the boundary by chance.
const randomBoundary = Effect.map(
  Effect.replicateEffect(Random.nextIntBetween(0, 0xffff_ffff), 4),
  (parts) => `plaza-${parts.map((part) => part.toString(16).padStart(8, "0")).join("")}`
)

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let start = 0
  for (const part of parts) {
    whole.set(part, start)
    start += part.length
  }
  return whole
}

/**
 * Creates the body. Bytes are copied and sent in one piece. A stream is not buffered, and runs again each time the body is sent.
 *
 * @since 0.1.0
 * @category constructors
 */
export const body = ({ content, contentType, fileName, size }: FilePart): Effect.Effect<HttpBody.HttpBody> =>
  Effect.map(randomBoundary, (boundary) => {
    const head = utf8.encode(
      `--${boundary}\r\n` +
        `Content-Disposition: form-data; name="file"; filename="${quoted(fileName)}"\r\n` +
        `Content-Type: ${contentType}\r\n\r\n`
    )
    const tail = utf8.encode(`\r\n--${boundary}--\r\n`)
    const type = `multipart/form-data; boundary=${boundary}`
    return content instanceof Uint8Array
      ? HttpBody.uint8Array(joined([head, content, tail]), type)
      : HttpBody.stream(
        Stream.concat(Stream.concat(Stream.succeed(head), content), Stream.succeed(tail)),
        type,
        size === undefined ? undefined : head.length + size + tail.length
      )
  })
