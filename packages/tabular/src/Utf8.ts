/** Turns the bytes of a file into UTF-8 without a byte order mark, and refuses kinds of files that hold no rows. */
import * as Effect from "effect/Effect"
import * as SourceError from "./SourceError.js"
import type * as StreamingParser from "./StreamingParser.js"

// Enough to tell a page from a document of XML.
const headSize = 1024

export const reader = (source: string): StreamingParser.Reader<Uint8Array> => new Reader(source)

class Reader implements StreamingParser.Reader<Uint8Array> {
  private readonly source: string
  private head: Uint8Array = new Uint8Array(0)
  private decoder: TextDecoder | undefined
  private isKnown = false

  constructor(source: string) {
    this.source = source
  }

  take(piece: Uint8Array): Effect.Effect<ReadonlyArray<Uint8Array>, SourceError.SourceError> {
    if (this.isKnown) return Effect.succeed([this.decode(piece, true)])
    this.head = this.head.length === 0 ? piece : Buffer.concat([this.head, piece])
    return this.head.length >= headSize || !mayBeOther(this.head) ? this.begin() : Effect.succeed([])
  }

  get end(): Effect.Effect<ReadonlyArray<Uint8Array>, SourceError.SourceError> {
    return Effect.suspend(() => this.isKnown ? Effect.succeed([]) : this.begin()).pipe(
      Effect.map((taken) => this.decoder === undefined ? taken : [...taken, this.decode(new Uint8Array(0), false)])
    )
  }

  private begin(): Effect.Effect<ReadonlyArray<Uint8Array>, SourceError.SourceError> {
    const { head } = this
    const other = binaries.find(({ magic }) => magic.every((byte, index) => head[index] === byte))?.what
    if (other !== undefined) return Effect.fail(SourceError.content(this.source, other))
    this.isKnown = true
    const encoding = encodingOf(head)
    this.decoder = encoding === undefined ? undefined : new TextDecoder(encoding)
    const text = this.decode(startsWith(head, utf8Mark) ? head.subarray(utf8Mark.length) : head, true)
    const markup = markupOf(Buffer.from(text.subarray(0, headSize)).toString("utf8").trimStart())
    return markup === undefined ? Effect.succeed([text]) : Effect.fail(SourceError.content(this.source, markup))
  }

  /** UTF-16 is decoded; a half of a character becomes U+FFFD, by which the row is rejected. */
  private decode(piece: Uint8Array, more: boolean): Uint8Array {
    return this.decoder === undefined ? piece : Buffer.from(this.decoder.decode(piece, { stream: more }))
  }
}

const utf8Mark = [0xef, 0xbb, 0xbf]

const startsWith = (head: Uint8Array, magic: ReadonlyArray<number>): boolean => magic.every((byte, index) => head[index] === byte)

/** By the mark, or by the zero bytes between the first two letters: no text has those otherwise. */
const encodingOf = ([one, two, three, four]: Uint8Array): "utf-16le" | "utf-16be" | undefined => {
  if ((one === 0xff && two === 0xfe) || (one !== 0 && two === 0 && three !== 0 && four === 0)) return "utf-16le"
  return (one === 0xfe && two === 0xff) || (one === 0 && two !== 0 && three === 0 && four !== 0) ? "utf-16be" : undefined
}

const unpack = (what: string) => `it is ${what}: unpack it, or pack it with gzip`

const binaries: ReadonlyArray<{ readonly magic: ReadonlyArray<number>; readonly what: string }> = [
  {
    magic: [0x50, 0x4b, 0x03, 0x04],
    what: "it is an Excel workbook or another zip archive: save the sheet as CSV UTF-8, or unpack the archive"
  },
  { magic: [0xd0, 0xcf, 0x11, 0xe0], what: "it is an Excel workbook in the old format (.xls): save the sheet as CSV UTF-8" },
  { magic: [0x25, 0x50, 0x44, 0x46], what: "it is a PDF, from which no rows can be read: export CSV UTF-8" },
  { magic: [0x1f, 0x8b], what: "it is packed with gzip twice: pack it once" },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], what: unpack("packed with Zstandard") },
  { magic: [0x42, 0x5a, 0x68], what: unpack("packed with bzip2") },
  { magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a], what: unpack("packed with xz") },
  { magic: [0x37, 0x7a, 0xbc, 0xaf], what: unpack("a 7z archive") },
  { magic: [0xff, 0xfe, 0x00, 0x00], what: "it is UTF-32: save it as CSV UTF-8" }
]

const markupOf = (text: string): string | undefined => {
  if (!text.startsWith("<")) return undefined
  if (/urn:schemas-microsoft-com:office:(?:excel|spreadsheet)/i.test(text)) {
    return "it is a table that was saved for Excel as HTML or XML: open it in Excel and save it as CSV UTF-8"
  }
  if (/<(?:!doctype\s+html|html|head|body)[\s>]/i.test(text)) {
    return "it is an HTML page, perhaps an error or a login, and no feed: check the address and its authorization"
  }
  return /^<(?:\?xml\s|!DOCTYPE\s|[A-Za-z_][\w.:-]*[\s/>])/.test(text) ? "it is XML: export CSV UTF-8, JSON or NDJSON" : undefined
}

/** Whether the head may begin something else than rows in UTF-8, so that more of it is worth waiting for. */
const mayBeOther = (head: Uint8Array): boolean => {
  if (head.length < 5) return true
  const first = head.find((byte) => byte > 0x20 && !utf8Mark.includes(byte))
  return first === undefined || first === 0x3c || encodingOf(head) !== undefined
}
