/**
 * Receives an upload: streams the file part of a multipart body to its file, measured and hashed.
 *
 * Source: interface v1, "Endpoints", POST /media, and "Limits".
 *
 * @since 0.1.0
 */
import type { RequestError } from "@effect/platform/HttpServerError"
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import { PayloadTooLarge, type ValidationError } from "@plaza-legacy/domain/Errors"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { Exchange } from "../../http/Exchange.ts"
import * as MultipartBody from "../../http/MultipartBody.ts"
import type { ServerRequest } from "../../http/ServerRequest.ts"
import type { MediaFiles } from "./MediaFiles.ts"

/** @since 0.1.0 @category models */
export interface UploadedFile extends MultipartBody.FilePart {
  /** In bytes. */
  readonly size: number
  /** Of the bytes, in hexadecimal. */
  readonly sha256: string
  /** The name of the stored file; see `MediaFiles`. */
  readonly file: string
}

/** Bytes allowed around the file: delimiters and headers. */
const overhead = 64 * 1024

/**
 * Receives a file of at most `maxBytes`. A larger one is rejected as soon as that is known, before any other problem with
 * it is reported. A rejected upload leaves no file.
 *
 * @since 0.1.0
 * @category reading
 */
export const receive = (
  request: ServerRequest,
  maxBytes: number,
  files: MediaFiles["Type"]
): Effect.Effect<UploadedFile, PayloadTooLarge | ValidationError | RequestError> => {
  const tooLarge = new PayloadTooLarge({ message: `a file may have at most ${maxBytes} bytes` })
  if (request.declaredLength > maxBytes + overhead) {
    return Effect.fail(tooLarge)
  }
  return files.write((append) =>
    Effect.gen(function*() {
      const reader = MultipartBody.reader(request.headers["content-type"] ?? "")
      const hash = createHash("sha256")
      let receivedBytes = 0
      let size = 0
      const keep = (pieces: ReadonlyArray<Uint8Array>) => {
        for (const piece of pieces) {
          size += piece.length
          hash.update(piece)
        }
        return size > maxBytes ? Effect.fail(tooLarge) : Effect.forEach(pieces, append, { discard: true })
      }
      yield* request.stream.pipe(
        Stream.runForEach((piece) => {
          receivedBytes += piece.length
          return receivedBytes > maxBytes + overhead ? Effect.fail(tooLarge) : keep(reader.write(piece))
        }),
        // Interruptible: an incomplete request has no effect.
        Effect.interruptible
      )
      const { file, rest } = reader.end()
      yield* keep(rest)
      return { ...(yield* file), size, sha256: hash.digest("hex") }
    })
  ).pipe(Effect.map(({ file, result }) => ({ ...result, file })))
}

/**
 * The file of a request, which admission has received.
 *
 * @since 0.1.0
 * @category reading
 */
export const received = (request: HttpServerRequest): Effect.Effect<UploadedFile> =>
  request instanceof Exchange && request.file !== undefined
    ? Effect.succeed(request.file)
    : Effect.dieMessage("no received file: admission must run first")
