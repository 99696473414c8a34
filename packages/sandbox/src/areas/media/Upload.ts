/**
 * Receives an upload while it arrives: measured, hashed and written to its file, and never whole in memory.
 *
 * Source: interface v1, "Endpoints", POST /media, and "Limits".
 *
 * @since 0.1.0
 */
import { PayloadTooLarge, type ValidationError } from "@plaza/domain/Errors"
import type { RequestError } from "@effect/platform/HttpServerError"
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { Exchange } from "../../http/Exchange.js"
import type { ServerRequest } from "../../http/ServerRequest.js"
import type { MediaFiles } from "./MediaFiles.js"
import * as MultipartBody from "../../http/MultipartBody.js"

/** @since 0.1.0 @category models */
export interface UploadedFile extends MultipartBody.FilePart {
  /** In bytes. */
  readonly size: number
  /** Of the bytes, in hexadecimal. */
  readonly sha256: string
  /** Where the bytes are; see `MediaFiles`. */
  readonly file: string
}

/** What may stand around the bytes of the one file: delimiters and headers. */
const overhead = 64 * 1024

/**
 * Takes a file of at most so many bytes. One that is too large is refused as soon as that is known, before anything else
 * that may be wrong with it. What is refused leaves no file.
 *
 * @since 0.1.0
 * @category reading
 */
export const receive = (
  request: ServerRequest,
  most: number,
  files: MediaFiles["Type"]
): Effect.Effect<UploadedFile, PayloadTooLarge | ValidationError | RequestError> => {
  const tooLarge = new PayloadTooLarge({ message: `a file may have at most ${most} bytes` })
  if (request.declaredLength > most + overhead) {
    return Effect.fail(tooLarge)
  }
  return files.write((append) =>
    Effect.gen(function*() {
      const reader = MultipartBody.reader(request.headers["content-type"] ?? "")
      const hash = createHash("sha256")
      let arrived = 0
      let size = 0
      const keep = (pieces: ReadonlyArray<Uint8Array>) => {
        for (const piece of pieces) {
          size += piece.length
          hash.update(piece)
        }
        return size > most ? Effect.fail(tooLarge) : Effect.forEach(pieces, append, { discard: true })
      }
      yield* request.stream.pipe(
        Stream.runForEach((piece) => {
          arrived += piece.length
          return arrived > most + overhead ? Effect.fail(tooLarge) : keep(reader.write(piece))
        }),
        // A caller who goes away while the body is on its way has asked for nothing yet.
        Effect.interruptible
      )
      const { file, rest } = reader.end()
      yield* keep(rest)
      return { ...(yield* file), size, sha256: hash.digest("hex") }
    })
  ).pipe(Effect.map(({ file, result }) => ({ ...result, file })))
}

/**
 * The file that a request carries, which admission has received.
 *
 * @since 0.1.0
 * @category reading
 */
export const received = (request: HttpServerRequest): Effect.Effect<UploadedFile> =>
  request instanceof Exchange && request.file !== undefined
    ? Effect.succeed(request.file)
    : Effect.dieMessage("an upload is received before it is handled")
