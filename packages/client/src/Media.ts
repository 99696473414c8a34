/**
 * Uploads.
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type { Media as MediaResource } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import mime from "mime/lite"
import type { FailureOf } from "./Contract.js"
import { InvalidInput } from "./Failures.js"
import * as Multipart from "./Multipart.js"
import { Operations } from "./Operations.js"

/** @since 0.1.0 @category models */
export interface UploadOptions {
  /** Guessed by the file name's ending unless told. */
  readonly contentType?: string | undefined
  /** Told how many bytes of the content have gone out, again from nothing when the upload is repeated. */
  readonly onProgress?: ((bytesSent: number) => Effect.Effect<void>) | undefined
}

/** @since 0.1.0 @category models */
export interface Upload<E = never> extends UploadOptions {
  /** Bytes, or a stream that can be run again. */
  readonly content: Uint8Array | Stream.Stream<Uint8Array, E>
  /** Bytes of a stream, where they are known: some servers take no upload of unknown length. */
  readonly size?: number | undefined
  readonly fileName: string
}

/** @since 0.1.0 @category services */
export class Media extends Context.Tag("@plaza/client/Media")<Media, {
  /**
   * Uploads a file. Repeatable: sent again after an ambiguous failure, for which a stream is run again; a spare upload
   * is harmless.
   * Source: interface v1, "Endpoints", POST /media.
   */
  readonly upload: <E = never>(file: Upload<E>) => Effect.Effect<MediaResource, FailureOf<"uploadMedia"> | E>
  /** Uploads a file of the file system, which is streamed. */
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
    : Effect.succeed({ content, size, fileName, contentType })
}

interface Watched<E> {
  readonly part: Multipart.FilePart<E | InvalidInput>
  /** Why the source failed, where it did: the HTTP client only says that sending did. */
  readonly failure: () => E | InvalidInput | undefined
}

/** Tells of progress, and sees to it that a source which fails or isn't as long as said is reported as just that. */
const watch = <E>(part: Multipart.FilePart<E>, onProgress: UploadOptions["onProgress"]): Watched<E> => {
  const { content, size } = part
  if (content instanceof Uint8Array) {
    return { part: { ...part, content }, failure: () => undefined }
  }
  let failure: E | InvalidInput | undefined
  const wrongSize = refuse("size", `must be the length of the content, and ${size} bytes is not`)
  const counted = Stream.suspend(() => {
    failure = undefined
    let sent = 0
    const report = (chunk: Uint8Array) => {
      sent += chunk.length
      return size !== undefined && sent > size ? Effect.fail(wrongSize) : onProgress?.(sent) ?? Effect.void
    }
    const end = Stream.execute(Effect.suspend(() => size !== undefined && sent < size ? Effect.fail(wrongSize) : Effect.void))
    return Stream.concat(Stream.tap(content, report), end)
  })
  const remembered = Stream.tapError(counted, (error) =>
    Effect.sync(() => {
      failure = error
    }))
  return { part: { ...part, content: remembered }, failure: () => failure }
}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Media, never, Operations> = Layer.effect(
  Media,
  Effect.map(Operations, ({ send }) => {
    const upload = <E>(file: Upload<E>) =>
      Effect.gen(function*() {
        const part = yield* checked(file)
        const source = watch(part, file.onProgress)
        const body = yield* Multipart.body(source.part)
        return yield* Effect.catchAll(
          send("uploadMedia", {}, { body }),
          (failure) => Effect.fail(source.failure() ?? failure)
        )
      })

    const uploadFile = (path: string, options: UploadOptions = {}) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { size, type } = yield* fs.stat(path)
        if (type !== "File") {
          return yield* refuse("path", `must name a file; ${path} is none`)
        }
        const fileName = path.split(/[\\/]/).at(-1) ?? path
        return yield* upload({ ...options, fileName, size: Number(size), content: fs.stream(path) })
      })

    return { upload, uploadFile }
  })
)
