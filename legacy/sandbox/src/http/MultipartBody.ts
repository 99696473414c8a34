/**
 * Parses the body of an upload in chunks: exactly one file part named `file`. It parses the part headers itself, because the
 * available parsers corrupt file names beyond Latin-1.
 *
 * Source: interface v1, "Endpoints", POST /media.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza-legacy/domain/Errors"
import * as Either from "effect/Either"
import * as Search from "multipasta/Search"
import { invalidField } from "./Envelope.ts"

/** @since 0.1.0 @category models */
export interface FilePart {
  readonly name: string
  readonly contentType: string
}

/**
 * An incremental parser of a body.
 *
 * @since 0.1.0
 * @category models
 */
export interface Reader {
  /** Accepts the next chunk of the body and returns the bytes of the file that it completes. */
  readonly write: (piece: Uint8Array) => ReadonlyArray<Uint8Array>
  /** Ends the body: returns the last bytes of the file, and its description or the error of the body. */
  readonly end: () => {
    readonly rest: ReadonlyArray<Uint8Array>
    readonly file: Either.Either<FilePart, ValidationError>
  }
}

const refuse = (problem: string): Either.Either<never, ValidationError> =>
  Either.left(invalidField("file", `is missing or invalid: ${problem}`))

const boundaryOf = (contentType: string): string | undefined => {
  const match = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType)
  return match?.[1] ?? match?.[2]
}

/** Forms escape a quote, a CR and an LF in a name as `%22`, `%0D` and `%0A`, and nothing else. */
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

const readHead = (head: string): Either.Either<FilePart, ValidationError> => {
  const headers = headersOf(head)
  const disposition = headers.get("content-disposition") ?? ""
  const name = parameterOf(disposition, "filename")
  const contentType = headers.get("content-type")
  if (!/^form-data\b/i.test(disposition) || parameterOf(disposition, "name") !== "file") {
    return refuse("the part must be named \"file\"")
  }
  if (name === undefined || name === "") {
    return refuse("the part must have a file name")
  }
  if (contentType === undefined || contentType === "") {
    return refuse("the part must have a content type")
  }
  return Either.right({ name, contentType })
}

/** Larger than the headers of a part with the longest file name. */
const maxHeadLength = 16 * 1024
const blankLine = "\r\n\r\n"

/** Parses the headers of a part, which follow the rest of the delimiter's line. */
const readPart = () => {
  let head = Buffer.alloc(0)
  let file: Either.Either<FilePart, ValidationError> | undefined
  return {
    /** Returns the content of the file in this chunk. */
    write: (piece: Uint8Array): Uint8Array | undefined => {
      if (file !== undefined) {
        return Either.isRight(file) ? piece : undefined
      }
      head = Buffer.concat([head, piece])
      const blank = head.indexOf(blankLine)
      if (blank === -1) {
        file = head.length > maxHeadLength ? refuse("its headers are too long") : undefined
        return undefined
      }
      file = readHead(head.toString("utf8", 0, blank))
      return Either.isRight(file) ? head.subarray(blank + blankLine.length) : undefined
    },
    end: () => file ?? readHead("")
  }
}

const withBoundary = (boundary: string): Reader => {
  const part = readPart()
  let bytes: Array<Uint8Array> = []
  let parts = 0
  // The two characters after a delimiter; "--" marks the last one.
  let mark = ""
  const isClosed = () => mark === "--"
  const search = Search.make(`\r\n--${boundary}`, (delimiters, piece) => {
    // Bytes before the first and after the last delimiter are ignored.
    if (delimiters === 0 || isClosed()) {
      return
    }
    if (delimiters - 1 !== parts) {
      parts = delimiters - 1
      mark = ""
    }
    mark += Buffer.from(piece.subarray(0, 2 - mark.length)).toString("latin1")
    const content = parts === 0 && !isClosed() ? part.write(piece) : undefined
    if (content !== undefined && content.length > 0) {
      bytes.push(content)
    }
  })
  // The first delimiter may start the body, without the line end that is part of it.
  search.write(Buffer.from("\r\n"))
  return {
    write: (piece) => {
      bytes = []
      search.write(piece)
      return bytes
    },
    end: () => {
      bytes = []
      search.end()
      const file = !isClosed()
        ? refuse("one part is expected, and the body is incomplete")
        : parts !== 1
        ? refuse(`one part is expected, not ${parts}`)
        : part.end()
      return { rest: bytes, file }
    }
  }
}

/** Accepts any body and refuses it at the end, so that a body that is too large is refused for its size. */
const withoutBoundary: Reader = {
  write: () => [],
  end: () => ({ rest: [], file: refuse("the body must be multipart/form-data with a boundary") })
}

/**
 * Makes a parser for a body of this content type.
 *
 * @since 0.1.0
 * @category constructors
 */
export const reader = (contentType: string): Reader => {
  const boundary = boundaryOf(contentType)
  return boundary === undefined ? withoutBoundary : withBoundary(boundary)
}
