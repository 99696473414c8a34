/**
 * Uploads of files.
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type { Media as MediaResource } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import mime from "mime/lite"
import { ConnectionLost, InvalidInput } from "./ClientError.js"
import { fromEither } from "./internal/Compat.js"
import type { FailureOf } from "./internal/contract/Contract.js"
import { Operations } from "./internal/contract/Operations.js"
import * as FileContent from "./internal/upload/FileContent.js"
import * as Multipart from "./internal/upload/Multipart.js"
import * as SentContent from "./internal/upload/SentContent.js"

/** @since 0.1.0 @category models */
export interface UploadOptions {
  /** The media type (default: by the extension of the file name). */
  readonly contentType?: string | undefined
  /** Receives the number of content bytes sent so far. Starts at zero again when the upload is repeated. */
  readonly onProgress?: ((bytesSent: number) => Effect.Effect<void>) | undefined
}

/** @since 0.1.0 @category models */
export interface Upload<E = never> extends UploadOptions {
  /** Bytes, or a stream with the same bytes in each run; see {@link Upload.rerunnable}. */
  readonly content: Uint8Array | Stream.Stream<Uint8Array, E>
  /**
   * Whether the stream can run again for a retry (default: true). Set it to false for a `ReadableStream`, an `AsyncIterable` or
   * another source that reading consumes: the client then does not retry once it has read any content, not even after a 429.
   * Another `upload` of such a source sends only the rest of it.
   */
  readonly rerunnable?: boolean | undefined
  /** The length of a stream in bytes, where it is known. Some servers accept no upload of unknown length. */
  readonly size?: number | undefined
  readonly fileName: string
}

/** @since 0.1.0 @category services */
export class Media extends Context.Tag("@plaza/client/Media")<Media, {
  /**
   * Uploads a file. Repeatable: the client sends again after an ambiguous failure, and runs a stream again. The service may then
   * hold a second file that no post refers to. A stream that fails ends the upload with its failure. A stream with another length
   * than `size`, or with other bytes in another run, ends it with `InvalidInput`; earlier attempts may have stored the file.
   * Source: interface v1, "Endpoints", POST /media.
   *
   * @example
   * import { Media } from "@plaza/client"
   * import { Effect } from "effect"
   *
   * const program = Effect.flatMap(Media, ({ upload }) =>
   *   upload({ fileName: "a.png", content: new Uint8Array([1, 2, 3]) }))
   */
  readonly upload: <E = never>(file: Upload<E>) => Effect.Effect<MediaResource, FailureOf<"uploadMedia"> | E>
  /**
   * Streams a file from the file system. `@plaza/client/node` reuses the buffers after they are sent, so an HTTP client that keeps
   * bytes of request bodies has to copy them. Repeatable, as `upload`.
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
  const contentType = file.contentType ?? mime.getType(fileName) ?? unknownType
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

const wrongSize = (size: number) => invalid("size", `must be the length of the content, and ${size} bytes is not`)

// Small enough for visible progress, large enough for a low cost.
const pieceLength = 64 * 1024

/** Bytes in pieces, for progress. Without `onProgress` bytes go out in one piece. */
const inPieces = (bytes: Uint8Array): Stream.Stream<Uint8Array> =>
  Stream.unfold(0, (start) =>
    start < bytes.length
      ? Option.some([bytes.subarray(start, start + pieceLength), start + pieceLength])
      : Option.none())

const notTwice = invalid("content", "can't be run again, and the HTTP client repeats requests by itself; give the client one that doesn't")

interface Source<E> {
  /** The part to send. Its stream never fails. */
  readonly part: Multipart.FilePart<never>
  /** Fails with the failure of the source. The HTTP client would report a failed request, which the client would retry. */
  readonly failure: Effect.Effect<never, E | InvalidInput>
  /** Whether content was left to send. */
  readonly isUnfinished: () => boolean
  /** Whether any content was read. */
  readonly hasBegun: () => boolean
  /** Interrupts every run of the source. */
  readonly close: Effect.Effect<void>
}

const notTheSame = invalid(
  "content",
  "must be the same each time it is run, and was not for a repeat of the upload; pass bytes, a path, or a Stream that starts " +
    "anew, or set rerunnable: false"
)

/** Reports progress, and fails for a source that fails, has another length than its size, or can't run again. */
const watch = <E>(
  part: Multipart.FilePart<E>,
  { onProgress, rerunnable }: Pick<Upload, "onProgress" | "rerunnable">,
  sentContent: SentContent.SentContent | undefined,
  otherLength: (size: number) => InvalidInput
): Effect.Effect<Source<E>> => {
  const bytes = part.content instanceof Uint8Array ? part.content : undefined
  if (bytes !== undefined && onProgress === undefined) {
    return Effect.succeed({
      part: { ...part, content: bytes },
      failure: Effect.never,
      isUnfinished: () => true,
      hasBegun: () => false,
      close: Effect.void
    })
  }
  const content = part.content instanceof Uint8Array ? inPieces(part.content) : part.content
  const size = bytes?.length ?? part.size
  return Effect.map(Deferred.make<never, E | InvalidInput>(), (failed) => {
    let isUnfinished = true
    let hasBegun = false
    // Node's fetch reads the body of an aborted request to its end.
    const readers = new Set<Fiber.RuntimeFiber<unknown, unknown>>()
    const close = Effect.suspend(() => Fiber.interruptAllAs([...readers], FiberId.none).pipe(Effect.forkDaemon, Effect.asVoid))
    const reading = Effect.withFiberRuntime<void, never, Scope.Scope>((fiber) =>
      Effect.acquireRelease(
        Effect.andThen(close, Effect.sync(() => readers.add(fiber))),
        () => Effect.sync(() => readers.delete(fiber))
      )
    )
    const counted = Stream.suspend(() => {
      // The caller's HTTP client may repeat requests by itself.
      if (hasBegun && rerunnable === false) {
        return Stream.fail(notTwice)
      }
      isUnfinished = true
      hasBegun = true
      const run = sentContent?.begin()
      let sent = 0
      const report = (chunk: Uint8Array): Effect.Effect<void, InvalidInput> => {
        sent += chunk.length
        if (run?.add(chunk) === false) {
          return Effect.fail(notTheSame)
        }
        return size !== undefined && sent > size ? Effect.fail(otherLength(size)) : onProgress?.(sent) ?? Effect.void
      }
      const end = Effect.suspend((): Effect.Effect<void, InvalidInput> => {
        isUnfinished = false
        if (run?.end() === false) {
          return Effect.fail(notTheSame)
        }
        return size !== undefined && sent < size ? Effect.fail(otherLength(size)) : Effect.void
      })
      return Stream.concat(Stream.tap(content, report), Stream.execute(end))
    })
    // Waits for the interruption, which closes the connection with every HTTP client. A failure would not.
    const unfailing = Stream.catchAllCause(counted,
      (cause) => Stream.execute(Effect.andThen(Deferred.failCause(failed, cause), Effect.never)))
    const whileWanted = Stream.unwrapScoped(Effect.as(reading, unfailing))
    return {
      part: { ...part, size, content: whileWanted },
      failure: Deferred.await(failed),
      isUnfinished: () => isUnfinished,
      hasBegun: () => hasBegun,
      close
    }
  })
}

/** Names one more reason for a lost connection: some HTTP clients do not read a response while they write. */
const explained = <F extends { readonly _tag: string }>(failure: F | ConnectionLost): F | ConnectionLost =>
  failure instanceof ConnectionLost
    ? new ConnectionLost({
      attempts: failure.attempts,
      reason: failure.reason,
      cause: failure.cause,
      message: `${failure.message} while the file was going out; a service that finds a file too large may hang up like this`
    })
    : failure

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Media, never, Operations> = Layer.effect(
  Media,
  Effect.gen(function*() {
    const { send } = yield* Operations

    const uploadPart = <E>(
      file: Upload<E>,
      sentContent: SentContent.SentContent | undefined,
      otherLength: (size: number) => InvalidInput
    ): Effect.Effect<MediaResource, FailureOf<"uploadMedia"> | E> =>
      Effect.gen(function*() {
        const source = yield* watch(yield* fromEither(validate(file)), file, sentContent, otherLength)
        const body = yield* Multipart.body(source.part)
        const canRepeat = file.rerunnable === false ? () => !source.hasBegun() : undefined
        const sent = Effect.mapError(
          send("uploadMedia", {}, { body, canRepeat }),
          (failure) => source.isUnfinished() ? explained(failure) : failure
        )
        return yield* Effect.ensuring(Effect.raceFirst(sent, source.failure), source.close)
      })

    const uploadFile = (path: string, options: UploadOptions = {}) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { size, type } = yield* fs.stat(path)
        if (type !== "File") {
          return yield* Effect.fail(invalid("path", `must name a file; ${path} is none`))
        }
        const fileName = path.split(/[\\/]/).at(-1) ?? path
        return yield* uploadPart(
          { ...options, fileName, size: Number(size), content: FileContent.make(fs, path) },
          undefined,
          () => invalid("path", `must name a file that nobody writes to meanwhile; the length of ${path} changed`)
        )
      })

    const upload = <E = never>(file: Upload<E>) =>
      uploadPart(file, file.content instanceof Uint8Array || file.rerunnable === false ? undefined : SentContent.make(), wrongSize)

    return { upload, uploadFile }
  })
)
