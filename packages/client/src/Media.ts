/**
 * Uploads of files, from a path, bytes or a stream.
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type { Media as MediaResource } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import mime from "mime/lite"
import { ConnectionLost, InvalidInput } from "./ClientError.js"
import type { FailureOf } from "./internal/contract/Contract.js"
import { Operations } from "./internal/contract/Operations.js"
import * as FileContent from "./internal/upload/FileContent.js"
import * as Multipart from "./internal/upload/Multipart.js"
import * as SentContent from "./internal/upload/SentContent.js"

/** @since 0.1.0 @category models */
export interface UploadOptions {
  /** The media type (default: derived from the extension of the file name). */
  readonly contentType?: string | undefined
  /** Receives how many bytes of the content have been sent. Starts from zero again when the upload is sent again. */
  readonly onProgress?: ((bytesSent: number) => Effect.Effect<void>) | undefined
}

/** @since 0.1.0 @category models */
export interface Upload<E = never> extends UploadOptions {
  /** Bytes, or a stream with the same bytes each time it runs; see {@link Upload.rerunnable}. */
  readonly content: Uint8Array | Stream.Stream<Uint8Array, E>
  /**
   * Whether the stream can run again for another attempt (default: true). Set it to false for a stream from a `ReadableStream`, an
   * `AsyncIterable` or any other source that can be read only once. Once some of the content was read, the upload is not sent
   * again and fails with the failure of that attempt, a 429 included. Another `upload` of the same source sends only what is left
   * of it.
   */
  readonly rerunnable?: boolean | undefined
  /** The length of a stream in bytes, if it is known. Some servers reject uploads of unknown length. */
  readonly size?: number | undefined
  readonly fileName: string
}

/** @since 0.1.0 @category services */
export class Media extends Context.Tag("@plaza/client/Media")<Media, {
  /**
   * Uploads a file. Repeatable: sent again after an ambiguous failure, which runs a stream again. The service may then hold a
   * second file that no post names. A stream that fails ends the upload at once with that failure; one that is not as long as its
   * size, or has other bytes when it runs again, with `InvalidInput`. Earlier attempts may have stored the file.
   * Source: interface v1, "Endpoints", POST /media.
   */
  readonly upload: <E = never>(file: Upload<E>) => Effect.Effect<MediaResource, FailureOf<"uploadMedia"> | E>
  /**
   * Streams a file from the file system. With `@plaza/client/node`, buffers are reused after they were written to the socket: an
   * HTTP client that keeps parts of request bodies must copy them.
   */
  readonly uploadFile: (
    path: string,
    options?: UploadOptions
  ) => Effect.Effect<MediaResource, FailureOf<"uploadMedia"> | PlatformError, FileSystem.FileSystem>
}>() {}

const unknownType = "application/octet-stream"

const refuse = (field: string, message: string) => new InvalidInput({ field, message: `${field} ${message}` })

const checked = <E>(file: Upload<E>): Effect.Effect<Multipart.FilePart<E>, InvalidInput> => {
  const { content, fileName, size } = file
  const contentType = file.contentType ?? mime.getType(fileName) ?? unknownType
  return fileName === ""
    ? refuse("fileName", "must not be empty")
    : !/^[!-~]+\/[ -~]+$/.test(contentType)
    ? refuse("contentType", "must be a media type such as image/png")
    : size !== undefined && (!Number.isSafeInteger(size) || size < 0)
    ? refuse("size", "must be a whole number of bytes, 0 or more")
    : content instanceof Uint8Array && size !== undefined && size !== content.length
    ? wrongSize(size)
    : Effect.succeed({ content, size, fileName, contentType })
}

const wrongSize = (size: number) => refuse("size", `must be the length of the content, and ${size} bytes is not`)

// Short enough to show progress, long enough to cost little.
const pieceLength = 64 * 1024

/** Bytes in pieces, to report progress between them. */
const inPieces = (bytes: Uint8Array): Stream.Stream<Uint8Array> =>
  Stream.unfold(0, (start) =>
    start < bytes.length
      ? Option.some([bytes.subarray(start, start + pieceLength), start + pieceLength])
      : Option.none())

const notTwice = refuse("content", "can't be run again, and the HTTP client repeats requests by itself; give the client one that doesn't")

interface Source<E> {
  /** Its stream never fails; see `failure`. */
  readonly part: Multipart.FilePart<never>
  /** Fails as the source fails. The HTTP client would report a failed request, which would be sent again. */
  readonly failure: Effect.Effect<never, E | InvalidInput>
  /** Whether the content was not read to its end. */
  readonly isUnfinished: () => boolean
  /** Whether any of the content was read. */
  readonly hasBegun: () => boolean
  /** Interrupts every fiber that still reads the source. */
  readonly close: Effect.Effect<void>
}

const notTheSame = refuse(
  "content",
  "must be the same each time it is run, and was not for a repeat of the upload; pass bytes, a path, or a Stream that starts " +
    "anew, or set rerunnable: false"
)

/** Reports progress, and fails if the source fails, is not as long as its size, or runs again although it can't. */
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
        Effect.zipRight(close, Effect.sync(() => readers.add(fiber))),
        () => Effect.sync(() => readers.delete(fiber))
      )
    )
    const counted = Stream.suspend(() => {
      // The application's HTTP client may send requests again by itself.
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
          return notTheSame
        }
        return size !== undefined && sent > size ? Effect.fail(otherLength(size)) : onProgress?.(sent) ?? Effect.void
      }
      const end = Effect.suspend((): Effect.Effect<void, InvalidInput> => {
        isUnfinished = false
        if (run?.end() === false) {
          return notTheSame
        }
        return size !== undefined && sent < size ? Effect.fail(otherLength(size)) : Effect.void
      })
      return Stream.concat(Stream.tap(content, report), Stream.execute(end))
    })
    // Never ends after a failure, because an interrupted request closes its connection with every HTTP client, and a failed body
    // does not.
    const unfailing = Stream.catchAllCause(counted,
      (cause) => Stream.execute(Effect.zipRight(Deferred.failCause(failed, cause), Effect.never)))
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

/** Adds a hint to a lost connection: some HTTP clients do not read a response while they still write. */
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
        const source = yield* watch(yield* checked(file), file, sentContent, otherLength)
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
          return yield* refuse("path", `must name a file; ${path} is none`)
        }
        const fileName = path.split(/[\\/]/).at(-1) ?? path
        return yield* uploadPart(
          { ...options, fileName, size: Number(size), content: FileContent.make(fs, path) },
          undefined,
          () => refuse("path", `must name a file that nobody writes to meanwhile; the length of ${path} changed`)
        )
      })

    const upload = <E = never>(file: Upload<E>) =>
      uploadPart(file, file.content instanceof Uint8Array || file.rerunnable === false ? undefined : SentContent.make(), wrongSize)

    return { upload, uploadFile }
  })
)
