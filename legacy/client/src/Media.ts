/**
 * Uploads of files.
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type { Media as MediaResource } from "@plaza-legacy/domain/Resources"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ConnectionLost, InvalidInput } from "./ClientError.ts"
import { fromEither } from "./internal/Compat.ts"
import type { FailureOf } from "./internal/contract/Contract.ts"
import { Operations } from "./internal/contract/Operations.ts"
import * as MayHaveHappened from "./internal/delivery/MayHaveHappened.ts"
import * as FileContent from "./internal/upload/FileContent.ts"
import * as MediaType from "./internal/upload/MediaType.ts"
import * as Multipart from "./internal/upload/Multipart.ts"
import * as SentContent from "./internal/upload/SentContent.ts"

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
  /** Bytes, or a stream that emits the same bytes in each run; see {@link Upload.rerunnable}. */
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
export class Media extends Context.Tag("@plaza-legacy/client/Media")<Media, {
  /**
   * Uploads a file. Repeatable: the client sends the file again after an ambiguous failure, and runs a stream again. The service may
   * then store a second file that no post uses. If the stream fails, the upload fails with the same error. If the length of the
   * stream isn't `size`, or if a later run emits other bytes, the upload fails with `InvalidInput`; earlier attempts may have
   * stored the file, which `FailureScope.mayHaveHappened` reports. Fails with `PayloadTooLarge` for a file beyond the service's limit.
   * Source: interface v1, "Endpoints", POST /media.
   *
   * @example
   * import { Media } from "@plaza-legacy/client"
   * import { Effect } from "effect"
   *
   * const program = Effect.flatMap(Media, ({ upload }) =>
   *   upload({ fileName: "a.png", content: new Uint8Array([1, 2, 3]) }))
   */
  readonly upload: <E = never>(file: Upload<E>) => Effect.Effect<MediaResource, FailureOf<"uploadMedia"> | E>
  /**
   * Streams a file from the file system. Repeatable, as `upload`. `@plaza-legacy/client/node` reuses each buffer after it is sent, so an
   * HTTP client that keeps bytes of request bodies must copy them.
   * Source: interface v1, "Endpoints", POST /media.
   */
  readonly uploadFile: (
    path: string,
    options?: UploadOptions
  ) => Effect.Effect<MediaResource, FailureOf<"uploadMedia"> | PlatformError, FileSystem.FileSystem>
}>() {}

const unknownType = "application/octet-stream"

const invalid = (field: string, message: string) => new InvalidInput({ field, message: `${field} ${message}` })

const validate = <E>(file: Upload<E>): Either.Either<Multipart.FilePart<E>, InvalidInput> => {
  const { content, fileName, size } = file
  const contentType = file.contentType ?? MediaType.ofFileName(fileName) ?? unknownType
  return fileName === ""
    ? Either.left(invalid("fileName", "must not be empty"))
    : !/^[!-~]+\/[ -~]+$/.test(contentType)
    ? Either.left(invalid("contentType", "must be a media type such as image/png"))
    : size !== undefined && (!Number.isSafeInteger(size) || size < 0)
    ? Either.left(invalid("size", "must be a whole number of bytes, 0 or more"))
    : content instanceof Uint8Array && size !== undefined && size !== content.length
    ? Either.left(wrongSize(size))
    : Either.right({ content, size, fileName, contentType })
}

const wrongSize = (size: number) => invalid("size", `must be the length of the content, and that is not ${size} bytes`)

// Small enough for visible progress, large enough for a low cost.
const pieceLength = 64 * 1024

/** Splits bytes for `onProgress`. Without `onProgress` the client sends bytes in one piece. */
const inPieces = (bytes: Uint8Array): Stream.Stream<Uint8Array> =>
  Stream.unfold(0, (start) =>
    start < bytes.length
      ? Option.some([bytes.subarray(start, start + pieceLength), start + pieceLength])
      : Option.none())

const notRerunnable = () =>
  invalid("content", "can't run again, but the HTTP client repeats requests itself; use an HTTP client without retries")

interface Source<E> {
  /** The part to send. Its stream doesn't fail. */
  readonly part: Multipart.FilePart<never>
  /** Fails with the failure of the source. As part of the request it would be a transport failure, which the client retries. */
  readonly failure: Effect.Effect<never, E | InvalidInput>
  /** Whether the source has more content to send. */
  readonly isUnfinished: () => boolean
  /** Whether any content was read. */
  readonly isStarted: () => boolean
  /** Interrupts every run of the source. */
  readonly close: Effect.Effect<void>
}

const contentChanged = () =>
  invalid(
    "content",
    "emitted other bytes in a retry of the upload; pass bytes, a path or a Stream that emits the same bytes in each run, " +
      "or set rerunnable: false"
  )

/** Reports progress, and fails for a source that fails, has a length other than its size, or can't run again. */
const makeSource = <E>(
  part: Multipart.FilePart<E>,
  { onProgress, rerunnable }: Pick<Upload, "onProgress" | "rerunnable">,
  sentContent: SentContent.SentContent | undefined,
  onLengthMismatch: (size: number) => InvalidInput
): Effect.Effect<Source<E>> => {
  const bytes = part.content instanceof Uint8Array ? part.content : undefined
  if (bytes !== undefined && onProgress === undefined) {
    return Effect.succeed({
      part: { ...part, content: bytes },
      failure: Effect.never,
      isUnfinished: () => true,
      isStarted: () => false,
      close: Effect.void
    })
  }
  const content = part.content instanceof Uint8Array ? inPieces(part.content) : part.content
  const size = bytes?.length ?? part.size
  return Effect.map(Deferred.make<never, E | InvalidInput>(), (failed) => {
    let isUnfinished = true
    let runs = 0
    // Node's fetch reads the body of an aborted request to its end, so the client interrupts the readers itself.
    const readers = new Set<Fiber.RuntimeFiber<unknown, unknown>>()
    const close = Effect.suspend(() => Fiber.interruptAllAs([...readers], FiberId.none).pipe(Effect.forkDaemon, Effect.asVoid))
    const reading = Effect.withFiberRuntime<void, never, Scope.Scope>((fiber) =>
      Effect.acquireRelease(
        Effect.andThen(close, Effect.sync(() => readers.add(fiber))),
        () => Effect.sync(() => readers.delete(fiber))
      )
    )
    const counted = Stream.suspend(() => {
      // The application's HTTP client may repeat requests itself.
      if (runs > 0 && rerunnable === false) {
        runs++
        return Stream.fail(notRerunnable())
      }
      isUnfinished = true
      runs++
      const run = sentContent?.begin()
      let sent = 0
      const report = (chunk: Uint8Array): Effect.Effect<void, InvalidInput> => {
        sent += chunk.length
        if (run?.add(chunk) === false) {
          return Effect.fail(contentChanged())
        }
        return size !== undefined && sent > size ? Effect.fail(onLengthMismatch(size)) : onProgress?.(sent) ?? Effect.void
      }
      const end = Effect.suspend((): Effect.Effect<void, InvalidInput> => {
        isUnfinished = false
        if (run?.end() === false) {
          return Effect.fail(contentChanged())
        }
        return size !== undefined && sent < size ? Effect.fail(onLengthMismatch(size)) : Effect.void
      })
      return Stream.concat(Stream.tap(content, report), Stream.execute(end))
    })
    // Waits for the interruption, because a failure of the stream doesn't close the connection of every HTTP client.
    const unfailing = Stream.catchAllCause(counted,
      (cause) => Stream.execute(Effect.andThen(Deferred.failCause(failed, cause), Effect.never)))
    const interruptible = Stream.unwrapScoped(Effect.as(reading, unfailing))
    return {
      part: { ...part, size, content: interruptible },
      // A later run follows an attempt that may have stored the file, whether the client or the HTTP client made it.
      failure: Effect.mapError(Deferred.await(failed),
        (failure) => Predicate.isObject(failure) ? MayHaveHappened.record(failure, runs > 1) : failure),
      isUnfinished: () => isUnfinished,
      isStarted: () => runs > 0,
      close
    }
  })
}

/** Adds a likely cause to a lost connection: some HTTP clients don't read a response while they write. */
const withSizeHint = <F extends { readonly _tag: string }>(failure: F | ConnectionLost): F | ConnectionLost =>
  failure instanceof ConnectionLost
    ? new ConnectionLost({
      attempts: failure.attempts,
      reason: failure.reason,
      cause: failure.cause,
      message: `${failure.message} while the client sent the file; the file may be too large for the service`
    })
    : failure

/** Creates the service of {@link Media} for `Plaza.layer`. @since 0.1.0 @category constructors */
export const make: Effect.Effect<Media["Type"], never, Operations> = Effect.gen(function*() {
  const { send } = yield* Operations

  const uploadPart = <E>(
    file: Upload<E>,
    sentContent: SentContent.SentContent | undefined,
    onLengthMismatch: (size: number) => InvalidInput
  ): Effect.Effect<MediaResource, FailureOf<"uploadMedia"> | E> =>
    Effect.gen(function*() {
      const source = yield* makeSource(yield* fromEither(validate(file)), file, sentContent, onLengthMismatch)
      const body = yield* Multipart.body(source.part)
      const canRepeat = file.rerunnable === false ? () => !source.isStarted() : undefined
      const sent = Effect.mapError(
        send("uploadMedia", {}, { body, canRepeat }),
        (failure) => source.isUnfinished() ? withSizeHint(failure) : failure
      )
      return yield* Effect.ensuring(Effect.raceFirst(sent, source.failure), source.close)
    })

  const uploadFile = (path: string, options: UploadOptions = {}) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { size, type } = yield* fs.stat(path)
      if (type !== "File") {
        return yield* Effect.fail(invalid("path", `must be the path of a file; ${path} is not a file`))
      }
      const fileName = path.split(/[\\/]/).at(-1) ?? path
      return yield* uploadPart(
        { ...options, fileName, size: Number(size), content: FileContent.make(fs, path) },
        undefined,
        () => invalid("path", `must be a file that doesn't change during the upload; the length of ${path} changed`)
      )
    })

  const upload = <E = never>(file: Upload<E>) =>
    uploadPart(file, file.content instanceof Uint8Array || file.rerunnable === false ? undefined : SentContent.make(), wrongSize)

  return { upload, uploadFile }
})

/**
 * The service {@link Media} alone, on `Plaza.layerOperations`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Media, never, Operations> = /*#__PURE__*/ Layer.effect(Media, make)
