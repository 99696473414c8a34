/**
 * Decodes the body of a response that is compressed although requests say `Accept-Encoding: identity`. Works with any `HttpClient`:
 * fetch has decoded the body but keeps the header, undici and node:http have not. So the bytes decide.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"

/** @since 0.1.0 @category models */
export interface Decoded {
  /** The decoded body, or its beginning. */
  readonly bytes: Uint8Array
  /** Whether the decoded body is longer than the maximum. */
  readonly isCut: boolean
  /** Why the body can't be decoded; undefined if it can. */
  readonly problem: string | undefined
}

type Format = "gzip" | "deflate" | "deflate-raw" | "brotli" | "zstd"

/** Undefined for an unknown coding. */
const formatOf = (coding: string, [first = 0, second = 0]: Uint8Array): Format | undefined => {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return "gzip"
    case "deflate":
      // Some services send the raw form, without the header of zlib.
      return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0 ? "deflate" : "deflate-raw"
    case "br":
      return "brotli"
    case "zstd":
      return "zstd"
    default:
      return undefined
  }
}

/**
 * Returns undefined if the runtime lacks the format. Prefers Node's zlib, which stops as soon as its reader does. Imports nothing, because
 * this module is part of browser bundles.
 */
const decompress = (format: Format, bytes: Uint8Array): Stream.Stream<Uint8Array, unknown> | undefined => {
  const zlib = globalThis.process?.getBuiltinModule?.("node:zlib")
  const onError = (error: unknown) => error
  if (zlib === undefined) {
    try {
      // The type lacks formats that runtimes may have; they throw for one that they don't.
      const stream = new DecompressionStream(format as CompressionFormat)
      return Stream.fromReadableStream({ evaluate: () => new Blob([bytes.slice()]).stream().pipeThrough(stream), onError })
    } catch {
      return undefined
    }
  }
  const make = {
    gzip: zlib.createGunzip,
    deflate: zlib.createInflate,
    "deflate-raw": zlib.createInflateRaw,
    brotli: zlib.createBrotliDecompress,
    zstd: zlib.createZstdDecompress
  }[format]
  if (!Predicate.isFunction(make)) {
    return undefined
  }
  const chunks = async function*(): AsyncGenerator<Uint8Array> {
    yield* make().end(bytes)
  }
  return Stream.fromAsyncIterable(chunks(), onError)
}

/** Undefined if it is no text. A text may be cut within a character. */
const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}

const isJson = (bytes: Uint8Array): boolean => {
  try {
    return JSON.parse(textOf(bytes) ?? "") !== undefined
  } catch {
    return false
  }
}

/**
 * The bytes of all chunks.
 *
 * @since 0.1.0
 * @category decoding
 */
export const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
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

// The service chooses the header, so a long one is not repeated in messages.
const named = (coding: string): string => coding.length > 16 ? "content encoding" : `content encoding "${coding}"`

const decodeOne = (bytes: Uint8Array, coding: string, maxBytes: number): Effect.Effect<Decoded> => {
  const asItIs: Decoded = { bytes, isCut: false, problem: undefined }
  // Few bytes may be both text and a compressed body, but not JSON and a compressed body.
  if (bytes.length === 0 || isJson(bytes)) {
    return Effect.succeed(asItIs)
  }
  const failed = (problem: string, decoded: ReadonlyArray<Uint8Array>): Decoded =>
    textOf(bytes) === undefined ? { bytes: joined(decoded), isCut: false, problem: `${named(coding)} ${problem}` } : asItIs
  const format = formatOf(coding, bytes)
  const stream = format === undefined ? undefined : decompress(format, bytes)
  if (stream === undefined) {
    return Effect.succeed(failed("is not supported", []))
  }
  const chunks: Array<Uint8Array> = []
  let bytesLeft = maxBytes
  return Stream.runForEachWhile(stream, (chunk) =>
    Effect.sync(() => {
      chunks.push(chunk.subarray(0, bytesLeft))
      bytesLeft -= chunk.length
      return bytesLeft >= 0
    })).pipe(Effect.match({
      onFailure: (error) => failed(`doesn't fit its bytes: ${Predicate.isError(error) ? error.message : "invalid"}`, chunks),
      onSuccess: () => ({ bytes: joined(chunks), isCut: bytesLeft < 0, problem: undefined })
    }))
}

/**
 * Decodes a body by its `Content-Encoding`, which may list several codings. Returns a body that is already decoded as it is.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = Effect.fnUntraced(function*(bytes: Uint8Array, encoding: string, maxBytes: number) {
  let decoded: Decoded = { bytes, isCut: false, problem: undefined }
  // The service applied the last coding last.
  for (const coding of encoding.toLowerCase().split(",").map((coding) => coding.trim()).toReversed()) {
    if (coding !== "" && coding !== "identity" && decoded.problem === undefined) {
      const next = yield* decodeOne(decoded.bytes, coding, maxBytes)
      decoded = { ...next, isCut: decoded.isCut || next.isCut }
    }
  }
  return decoded
})
