/**
 * Receives an upload: streams the one file part of a multipart body to its file, measured and hashed.
 *
 * Source: interface v1, "Endpoints", POST /media, and "Limits".
 */
import { PayloadTooLarge, type ValidationError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import type { HttpServerError } from "effect/http/HttpServerError"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as MultipartParser from "effect/http/MultipartParser"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import type { UploadedFile } from "../../InterfaceApi.ts"
import { invalidField } from "../../Validation.ts"
import type { MediaFiles } from "./MediaFiles.ts"

/** Bytes allowed around the file: delimiters and headers. */
const overhead = 64 * 1024

type FilePart = Pick<UploadedFile, "name" | "contentType">

const refuse = (problem: string): ValidationError => invalidField("file", `is missing or invalid: ${problem}`)

/**
 * Forms escape a quote, a CR and an LF in a name as `%22`, `%0D` and `%0A`, and nothing else. Other clients escape a quote and a
 * backslash with a backslash; only an escaped quote tells their names from those of forms.
 */
const unescapeName = (name: string): string =>
  name.includes("\\\"")
    ? name.replace(/\\(["\\])/g, "$1")
    : name.replace(/%(22|0D|0A)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

const readPart = (
  { contentDisposition, contentDispositionParameters, headers, name }: MultipartParser.PartInfo
): FilePart | string => {
  // Not the platform's `filename`, which also is that of `filename*`: forms must not have it (RFC 7578, 4.2).
  const filename = contentDispositionParameters["filename"]
  const type = headers["content-type"]
  // The platform keeps the space before a value that arrives in pieces.
  const contentType = typeof type === "string" ? type.trim() : ""
  return contentDisposition !== "form-data" || name !== "file"
    ? "the part must be named \"file\""
    : filename === undefined || filename === ""
    ? "the part must have a file name"
    : contentType === ""
    ? "the part must have a content type"
    : { name: unescapeName(filename), contentType }
}

/** Parses a body in pieces. It accepts any body until its end, so that one that is too large is refused for its size. */
const makeReader = (contentType: string, onBytes: (bytes: Uint8Array) => void) => {
  let parts = 0
  let part: FilePart | string = "the part must be named \"file\""
  let isDone = false
  let error: string | undefined
  const parser = MultipartParser.make({
    headers: { "content-type": contentType },
    isFile: () => true,
    onField: () => {},
    onFile: (info) => {
      if (isDone) {
        return () => {}
      }
      parts++
      if (parts > 1) {
        return () => {}
      }
      part = readPart(info)
      return typeof part === "string" ? () => {} : (bytes) => bytes !== null && onBytes(bytes)
    },
    onError: ({ _tag }) => {
      // What follows the last part is no part (RFC 2046, 5.1.1).
      if (isDone) {
        return
      }
      if (_tag === "InvalidBoundary") {
        error ??= "the body must be multipart/form-data with a boundary"
      } else if (_tag === "BadHeaders") {
        parts++
        error ??= "the headers of the part are invalid or too long"
      } else if (_tag === "InvalidDisposition") {
        parts++
      }
    },
    onDone: () => {
      isDone = true
    }
  })
  return {
    write: parser.write,
    end: (): Effect.Effect<FilePart, ValidationError> => {
      parser.end()
      const problem = !/^multipart\/form-data\s*;/i.test(contentType)
        ? "the body must be multipart/form-data with a boundary"
        : error ??
          (!isDone
            ? "one part is expected, and the body is incomplete"
            : parts !== 1
            ? `one part is expected, not ${parts}`
            : typeof part === "string"
            ? part
            : undefined)
      return problem !== undefined || typeof part === "string" ? Effect.fail(refuse(problem ?? "")) : Effect.succeed(part)
    }
  }
}

/**
 * Receives a file of at most `maxBytes`. A larger one is refused as soon as that is known, before any other problem with
 * it is reported. A refused upload leaves no file.
 */
export const receive = (
  request: HttpServerRequest,
  maxBytes: number,
  files: MediaFiles["Service"]
): Effect.Effect<UploadedFile, PayloadTooLarge | ValidationError | HttpServerError> => {
  const tooLarge = () => Effect.fail(new PayloadTooLarge({ message: `a file may have at most ${maxBytes} bytes` }))
  if (Number(request.headers["content-length"] ?? 0) > maxBytes + overhead) {
    return tooLarge()
  }
  const fill = Effect.fnUntraced(function*(append: (bytes: Uint8Array) => void) {
    const hash = createHash("sha256")
    let receivedBytes = 0
    let size = 0
    const reader = makeReader(request.headers["content-type"] ?? "", (bytes) => {
      size += bytes.length
      if (size <= maxBytes) {
        hash.update(bytes)
        append(bytes)
      }
    })
    yield* request.stream.pipe(
      Stream.runForEach((piece) => {
        receivedBytes += piece.length
        reader.write(piece)
        return receivedBytes > maxBytes + overhead || size > maxBytes ? tooLarge() : Effect.void
      }),
      // Interruptible: an incomplete request has no effect.
      Effect.interruptible
    )
    const part = yield* reader.end()
    return size > maxBytes ? yield* tooLarge() : { ...part, size, sha256: hash.digest("hex") }
  })
  return Effect.map(files.write(fill), ({ file, result }) => ({ ...result, file }))
}
