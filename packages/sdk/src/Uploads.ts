/** Uploads without Effect. */
import type { ClientError, Media } from "@plaza/client"
import type { Upload as ClientUpload, UploadOptions as ClientUploadOptions } from "@plaza/client/Media"
import type { Plain } from "@plaza/domain/Plain"
import type { Media as MediaResource } from "@plaza/domain/Resources"
import { Effect, Stream } from "effect"
import type { FailuresByTag } from "./Failures.ts"
import { type CallOptions, invalid } from "./Options.ts"

/** Pieces of content, such as a web stream or a stream of Node. */
export type Pieces = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** Options of an upload. */
export interface UploadOptions extends Pick<ClientUploadOptions, "contentType"> {
  /** Receives the number of content bytes sent so far. Each attempt starts at zero. */
  readonly onProgress?: ((bytesSent: number) => void) | undefined
}

/** A file to upload. */
export interface Upload extends UploadOptions, Pick<ClientUpload, "fileName" | "size"> {
  /**
   * Bytes, a `Blob` or `File`, which is read into memory, or a stream. A function that returns a stream with the same bytes on each call
   * allows retries. A stream itself can be read only once, so it is not sent again after its first bytes were read.
   */
  readonly content: Uint8Array | Blob | Pieces | (() => Pieces)
}

/** The uploads of the area of media. */
export interface Uploads {
  /**
   * Uploads a file. Repeatable: the client sends the file again after an ambiguous failure. The service may then store a second file that
   * no post uses. An error of a stream rejects the call with that error. If the length of a stream isn't `size`, or if the content of a retry
   * has other bytes, the call fails with `InvalidInput`.
   * Source: interface v1, "Endpoints", POST /media.
   */
  readonly upload: (file: Upload, options?: CallOptions) => Promise<Plain<MediaResource>>
  /**
   * Uploads a file from the file system of Node, Bun or Deno. Repeatable, as `upload`. If the file is modified or replaced during the
   * upload, the call fails with `InvalidInput` for `path`.
   * Source: interface v1, "Endpoints", POST /media.
   */
  readonly uploadFile: (path: string, options?: UploadOptions & CallOptions) => Promise<Plain<MediaResource>>
}

/** The errors of the uploads. */
export interface UploadFailures {
  readonly upload: Plain<Media.UploadFailure, FailuresByTag>
  readonly uploadFile: Plain<Media.UploadFileFailure, FailuresByTag>
}

const isPieces = (content: unknown): content is Pieces =>
  typeof content === "object" && content !== null && ("getReader" in content || Symbol.asyncIterator in content)

const toBytes = (piece: unknown): Effect.Effect<Uint8Array, ClientError.InvalidInput> =>
  piece instanceof Uint8Array
    ? Effect.succeed(piece)
    : ArrayBuffer.isView(piece)
    ? Effect.succeed(new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength))
    : Effect.fail(invalid("content", "must be a stream of bytes, but emitted something else"))

const toStream = (pieces: Pieces): Stream.Stream<Uint8Array, unknown> => {
  // A stream of Node that fails before it is read, such as while the call waits, would end the process. Its reader gets the error later.
  if ("on" in pieces && typeof pieces.on === "function") Reflect.apply(pieces.on, pieces, ["error", () => {}])
  return Stream.mapEffect(
    "getReader" in pieces
      ? Stream.fromReadableStream({ evaluate: () => pieces, onError: (error) => error })
      : Stream.fromAsyncIterable(pieces, (error) => error),
    toBytes
  )
}

/** The stream that a function returns. */
const fromFunction = (content: () => unknown): Stream.Stream<Uint8Array, unknown> => {
  const pieces = content()
  if (pieces instanceof Promise) pieces.catch(() => {})
  return isPieces(pieces) ? toStream(pieces) : Stream.fail(invalid("content", "must return a stream of bytes"))
}

const toOptions = <O extends UploadOptions>({ onProgress, ...options }: O) => {
  if (onProgress !== undefined && typeof onProgress !== "function") throw invalid("onProgress", "must be a function")
  return { ...options, onProgress: onProgress === undefined ? undefined : (bytesSent: number) => Effect.sync(() => onProgress(bytesSent)) }
}

const toUpload = (given: Upload): Effect.Effect<ClientUpload<unknown>, ClientError.InvalidInput> => {
  // Code without types can pass anything.
  const { content, ...file } = given ?? {}
  const options = toOptions(file)
  return content instanceof Uint8Array
    ? Effect.succeed({ ...options, content })
    : content instanceof Blob
    ? Effect.map(Effect.promise(() => content.arrayBuffer()), (bytes) => ({
      ...options,
      contentType: options.contentType ?? (content.type || undefined),
      content: new Uint8Array(bytes)
    }))
    : typeof content === "function"
    ? Effect.succeed({ ...options, content: Stream.suspend(() => fromFunction(content)) })
    : isPieces(content)
    ? Effect.succeed({ ...options, content: toStream(content), rerunnable: false })
    : Effect.fail(invalid("content", "must be bytes, a Blob, a stream of bytes, or a function that returns one"))
}

/** The uploads of the client with content and options as above. */
export const toUploads = ({ upload, uploadFile }: Media["Service"]) => ({
  upload: (file: Upload) => Effect.flatMap(Effect.suspend(() => toUpload(file)), upload),
  uploadFile: (path: string, options: UploadOptions | null = {}) =>
    Effect.suspend(() =>
      typeof path === "string" ? uploadFile(path, toOptions(options ?? {})) : Effect.fail(invalid("path", "must be a text"))
    )
})
