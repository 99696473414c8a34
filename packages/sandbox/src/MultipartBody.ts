/**
 * Reads the body of an upload: exactly one file part named `file`. It is our own because the parser at hand loses every
 * file name that goes beyond Latin-1. Knows nothing of limits (the body was measured while it arrived) or storage.
 *
 * Source: interface v1, "Endpoints", POST /media.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza/domain/Errors"
import * as Either from "effect/Either"
import { invalidField } from "./Envelope.js"

/** @since 0.1.0 @category models */
export interface UploadedFile {
  readonly name: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

const refuse = (problem: string): Either.Either<never, ValidationError> =>
  Either.left(invalidField("file", `is missing or invalid: ${problem}`))

const boundaryOf = (contentType: string): string | undefined => {
  const match = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType)
  return match?.[1] ?? match?.[2]
}

/** Forms write a quote, a CR and an LF inside a name as these three, and everything else as it is. */
const unescapeName = (name: string): string =>
  name.replace(/%(22|0D|0A)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

const parameterOf = (disposition: string, name: string): string | undefined => {
  const match = new RegExp(`;\\s*${name}=(?:"([^"]*)"|([^\\s;"]+))`, "i").exec(disposition)
  const value = match?.[1] ?? match?.[2]
  return value === undefined ? undefined : unescapeName(value)
}

const headersOf = (block: string): ReadonlyMap<string, string> =>
  new Map(block.split("\r\n").flatMap((line): ReadonlyArray<readonly [string, string]> => {
    const colon = line.indexOf(":")
    return colon === -1 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]]
  }))

/**
 * The bytes between the first delimiter and the closing one, part by part; undefined when the body isn't closed.
 */
const partsOf = (body: Buffer, boundary: string): ReadonlyArray<Buffer> | undefined => {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  // The first delimiter may open the body, without a line end before it.
  const opening = delimiter.subarray(2)
  let at = body.subarray(0, opening.length).equals(opening) ? opening.length : -1
  if (at === -1) {
    const preamble = body.indexOf(delimiter)
    if (preamble === -1) {
      return undefined
    }
    at = preamble + delimiter.length
  }
  const parts: Array<Buffer> = []
  for (;;) {
    if (body.toString("latin1", at, at + 2) === "--") {
      return parts
    }
    const lineEnd = body.indexOf("\r\n", at)
    const next = lineEnd === -1 ? -1 : body.indexOf(delimiter, lineEnd)
    if (next === -1) {
      return undefined
    }
    parts.push(body.subarray(lineEnd + 2, next))
    at = next + delimiter.length
  }
}

/**
 * Takes the one file of an upload, or tells what is wrong with it.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parse = (contentType: string, bytes: Uint8Array): Either.Either<UploadedFile, ValidationError> => {
  const boundary = boundaryOf(contentType)
  if (boundary === undefined) {
    return refuse("the body has to be multipart/form-data with a boundary")
  }
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts = partsOf(body, boundary)
  const [part] = parts ?? []
  if (parts === undefined || part === undefined || parts.length > 1) {
    return refuse(`one part is expected, ${parts === undefined ? "and the body isn't complete" : `not ${parts.length}`}`)
  }
  // A part without headers begins with the empty line itself.
  const blank = part.indexOf("\r\n\r\n")
  const headers = headersOf(blank === -1 ? "" : part.toString("utf8", 0, blank))
  const disposition = headers.get("content-disposition") ?? ""
  const name = parameterOf(disposition, "filename")
  const type = headers.get("content-type")
  if (!/^form-data\b/i.test(disposition) || parameterOf(disposition, "name") !== "file") {
    return refuse("the part has to be named \"file\"")
  }
  if (name === undefined || name === "") {
    return refuse("the part has to carry a file name")
  }
  if (type === undefined || type === "") {
    return refuse("the part has to carry a content type")
  }
  return Either.right({ name, contentType: type, bytes: part.subarray(blank + 4) })
}
