/**
 * Uploads of files.
 *
 * @since 0.1.0
 */
import type { Media as MediaResource } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as FileSystem from "effect/FileSystem"
import * as Mime from "effect/http/Mime"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Stream from "effect/Stream"
import { ConnectionLost, InvalidInput } from "./ClientError.ts"
import type { CallFailure } from "./ClientError.ts"
import type { FailureOf } from "./internal/contract/Contract.ts"
import { layerOf, Operations } from "./internal/contract/Operations.ts"
import * as FileContent from "./internal/upload/FileContent.ts"
import * as Multipart from "./internal/upload/Multipart.ts"
import * as Source from "./internal/upload/Source.ts"

/**
 * Options of an upload.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadOptions {
  /** The media type (default: derived from the extension of the file name, or `application/octet-stream`). */
  readonly contentType?: string | undefined
  /** Receives the number of content bytes sent so far. Each attempt starts at zero. */
  readonly onProgress?: ((bytesSent: number) => Effect.Effect<void>) | undefined
}

/**
 * A file to upload.
 *
 * @since 0.1.0
 * @category models
 */
export interface Upload<E = never> extends UploadOptions {
  /**
   * Bytes, or a stream that emits the same bytes in each run; see {@link Upload.rerunnable}. Bytes without `onProgress` are copied before
   * the first attempt and sent in one piece, so the timeout of an attempt applies to all of them. For a stream, and with `onProgress`,
   * it applies to the time without progress.
   */
  readonly content: Uint8Array | Stream.Stream<Uint8Array, E>
  /**
   * Whether the stream can run again for a retry (default: true). Set it to false for a source that can be read only once, such as
   * a `ReadableStream` or an `AsyncIterable`. The client then doesn't retry after it has read any content, not even after a 429.
   * Another `upload` of such a source would send only its remaining bytes.
   */
  readonly rerunnable?: boolean | undefined
  /** The length of a stream in bytes, if it is known. Some servers reject uploads of unknown length. */
  readonly size?: number | undefined
  /** The name of the file; not empty. */
  readonly fileName: string
}

/**
 * Uploads files for posts.
 *
 * @since 0.1.0
 * @category services
 */
export class Media extends Context.Service<Media, {
  /**
   * Uploads a file. Repeatable: the client sends the file again after an ambiguous failure, and runs a stream again. The service may
   * then store a second file that no post uses. If the stream fails, the upload fails with the same error. If the length of the
   * stream isn't `size`, or if the content of a retry has other bytes, the upload fails with `InvalidInput`; earlier attempts may have
   * stored the file, which `FailureScope.mayHaveHappened` reports. Fails with `PayloadTooLarge` for a file beyond the service's limit.
   * Source: interface v1, "Endpoints", POST /media.
   *
   * @example
   * import { Media } from "@plaza/client"
   * import { Effect } from "effect"
   *
   * const program = Effect.flatMap(Media, ({ upload }) =>
   *   upload({ fileName: "a.png", content: new Uint8Array([1, 2, 3]) }))
   */
  readonly upload: <E = never>(file: Upload<E>) => Effect.Effect<MediaResource, Media.UploadFailure | E>
  /**
   * Streams a file from the file system. Repeatable, as `upload`. If the file is modified or replaced during the upload, the upload fails
   * with `InvalidInput` for `path`. The client recognises that by the length, the modification time and the identity (device and inode)
   * of the file, and up to 16 MiB also by the bytes of a retry. `@plaza/client/node` reuses each buffer after it is sent, so an HTTP
   * client that keeps bytes of request bodies must copy them.
   * Source: interface v1, "Endpoints", POST /media.
   */
  readonly uploadFile: (
    path: string,
    options?: UploadOptions
  ) => Effect.Effect<MediaResource, Media.UploadFileFailure, FileSystem.FileSystem>
}>()("@plaza/client/Media") {}

/**
 * The failures of each operation.
 *
 * @since 0.1.0
 * @category models
 */
export declare namespace Media {
  /** The failures of `upload`, without those of a stream. */
  export type UploadFailure = FailureOf<"uploadMedia"> | CallFailure
  /** The failures of `uploadFile`. */
  export type UploadFileFailure = FailureOf<"uploadMedia"> | CallFailure | PlatformError
}

const unknownType = "application/octet-stream"

const invalid = (field: string, message: string) => new InvalidInput({ field, message: `${field} ${message}` })

const wrongSize = (size: number) => invalid("size", `must be the length of the content, and that is not ${size} bytes`)

// Code without types can pass anything.
const problemOf = ({ content, fileName, onProgress, size }: Upload<unknown>, contentType: string): InvalidInput | undefined =>
  !(content instanceof Uint8Array || Stream.isStream(content))
    ? invalid("content", "must be a Uint8Array or a Stream of them")
    : onProgress !== undefined && typeof onProgress !== "function"
    ? invalid("onProgress", "must be a function that returns an Effect")
    : typeof fileName !== "string" || fileName === ""
    ? invalid("fileName", "must be a text that is not empty")
    : !/^[!-~]+\/[ -~]+$/.test(contentType)
    ? invalid("contentType", "must be a media type such as image/png")
    : size !== undefined && (!Number.isSafeInteger(size) || size < 0)
    ? invalid("size", "must be a whole number of bytes, 0 or more")
    : content instanceof Uint8Array && size !== undefined && size !== content.length
    ? wrongSize(size)
    : undefined

const streamProblems: Source.Problems = {
  length: wrongSize,
  bytes: () =>
    invalid(
      "content",
      "emitted other bytes in a retry of the upload; pass bytes, a path or a Stream that emits the same bytes in each run, " +
        "or set rerunnable: false"
    ),
  rerun: () => invalid("content", "can't run again, but the HTTP client repeats requests itself; use an HTTP client without retries")
}

const bytesProblems: Source.Problems = {
  ...streamProblems,
  bytes: () => invalid("content", "must not change during the upload, but a retry has other bytes")
}

const fileProblems = (path: string): Source.Problems => {
  const changed = (how: string) => () => invalid("path", `must be a file that doesn't change during the upload; ${how}`)
  return { ...streamProblems, length: changed(`the length of ${path} changed`), bytes: changed(`${path} was modified`) }
}

// The modification time is too coarse for a short file that changes shortly after it was written. For a long file, a comparison of bytes
// would take a third of the time of the upload.
const maxComparedSize = 16 * 1024 * 1024

/** What changes when a file is modified or replaced. */
const versionOf = ({ dev, ino, mtime, size }: FileSystem.File.Info) => [size, mtime, dev, ino]

// Small enough for visible progress, large enough for a low cost.
const pieceLength = 64 * 1024

/** Splits bytes for `onProgress`. */
const inPieces = (bytes: Uint8Array): Stream.Stream<Uint8Array> =>
  Stream.unfold(0, (start) =>
    Effect.succeed(
      start < bytes.length ? [bytes.subarray(start, start + pieceLength), start + pieceLength] as const : undefined
    ))

/** Adds a likely cause to a lost connection: some HTTP clients don't read a response while they write. */
const withSizeHint = <F extends { readonly _tag: string }>(failure: F | ConnectionLost): F | ConnectionLost =>
  failure instanceof ConnectionLost
    ? new ConnectionLost({
      attempts: failure.attempts,
      reason: failure.reason,
      ...(failure.cause === undefined ? {} : { cause: failure.cause }),
      message: `${failure.message} while the client sent the file; the file may be too large for the service`
    })
    : failure

/** Creates the service of {@link Media} for `Plaza.layer`. @since 0.1.0 @category constructors */
export const make: Effect.Effect<Media["Service"], never, Operations> = Effect.map(Operations, ({ send }) => {
  const uploadPart = <E>(
    file: Upload<E>,
    problems: Source.Problems,
    compared = true
  ): Effect.Effect<MediaResource, Media.UploadFailure | E> =>
    Effect.gen(function*() {
      const { content, fileName, onProgress } = file
      const contentType = file.contentType ?? Option.getOrElse(Mime.getType(fileName), () => unknownType)
      const problem = problemOf(file, contentType)
      if (problem !== undefined) {
        return yield* problem
      }
      const isBytes = content instanceof Uint8Array
      // In one piece, because fetch sends a stream without its length, and some browsers send none.
      if (isBytes && onProgress === undefined) {
        const body = yield* Multipart.body({ fileName, contentType, content })
        return yield* Effect.mapError(send("uploadMedia", {}, { body }), withSizeHint)
      }
      const rerunnable = isBytes || file.rerunnable !== false
      const size = isBytes ? content.length : file.size
      const source = yield* Source.make({
        content: isBytes ? inPieces(content) : content,
        size,
        rerunnable,
        compared,
        onProgress,
        problems
      })
      const body = yield* Multipart.body({ fileName, contentType, content: source.content, size })
      const sent = Effect.mapError(
        send("uploadMedia", {}, { body, canRepeat: rerunnable ? undefined : () => !source.isStarted() }),
        (failure) => source.isUnfinished() ? withSizeHint(failure) : failure
      )
      return yield* Effect.raceFirst(sent, source.failure)
    })

  const uploadFile = (path: string, options: UploadOptions = {}) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const info = yield* fs.stat(path)
      if (info.type !== "File") {
        return yield* invalid("path", `must be the path of a file; ${path} is not a file`)
      }
      const size = Number(info.size)
      const problems = fileProblems(path)
      let first: ReturnType<typeof versionOf> | undefined
      const verify = (info: FileSystem.File.Info): Effect.Effect<void, InvalidInput> => {
        const version = versionOf(info)
        first ??= version
        return Number(info.size) !== size
          ? Effect.fail(problems.length(size))
          : Equal.equals(first, version)
          ? Effect.void
          : Effect.fail(problems.bytes())
      }
      const fileName = path.split(/[\\/]/).at(-1) ?? path
      const content = FileContent.make(fs, path, verify)
      return yield* uploadPart({ ...options, fileName, size, content }, problems, size <= maxComparedSize)
    })

  return {
    upload: (file) => uploadPart(file, file.content instanceof Uint8Array ? bytesProblems : streamProblems),
    uploadFile
  }
})

/**
 * The service {@link Media} alone, on `Plaza.layerOperations`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Media, never, Operations> = /*#__PURE__*/ layerOf(Media, make)
