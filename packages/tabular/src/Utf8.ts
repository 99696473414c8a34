/**
 * Converts UTF-16 and text in a named charset to UTF-8, without a byte order mark, and rejects files of other kinds, such as old workbooks and
 * HTML pages.
 */
import * as Effect from "effect/Effect"
import * as SourceError from "./SourceError.ts"
import type * as StreamingParser from "./StreamingParser.ts"

// Enough to distinguish HTML from XML.
const headSize = 1024

// Names that the WHATWG encodings lack.
const aliases: Readonly<Record<string, string>> = { cp932: "shift_jis", cp65001: "utf-8", "utf-8-sig": "utf-8" }

/** The WHATWG name of a charset, such as `windows-1252` for `ISO-8859-1`; undefined for an unknown one. */
export const charsetOf = (label: string): string | undefined => {
  try {
    const name = label.trim().toLowerCase()
    return new TextDecoder(aliases[name] ?? name).encoding
  } catch {
    return undefined
  }
}

/** What to do about text that is not UTF-8. `option` names its charset. */
export const remedy = (option: string | undefined): string =>
  `save the file as CSV UTF-8${option === undefined ? "" : `, or name its charset with ${option}, such as windows-1252 or shift_jis`}`

export interface CharsetOptions {
  /** The charset of text, by its WHATWG name (default: UTF-8). A byte order mark and UTF-16 override it. */
  readonly charset?: string | undefined
  /** Whether the charset is that of a content type, which servers get wrong. Text that is UTF-8 all the same is refused then. */
  readonly isDeclared?: boolean | undefined
  /** The option that names the charset, such as `--charset`. */
  readonly charsetOption?: string | undefined
}

export const parser = (source: string, options: CharsetOptions = {}): StreamingParser.Parser<Uint8Array> => new Parser(source, options)

class Parser implements StreamingParser.Parser<Uint8Array> {
  private readonly source: string
  private readonly options: CharsetOptions
  /** Finds text that is UTF-8 although another charset is declared. */
  private readonly doubt: Doubt | undefined
  private head: Uint8Array = new Uint8Array(0)
  private decoder: TextDecoder | undefined
  private isDetected = false

  constructor(source: string, options: CharsetOptions) {
    this.source = source
    this.options = options
    this.doubt = options.isDeclared === true && this.charset !== undefined ? new Doubt() : undefined
  }

  /** Undefined for UTF-8. */
  private get charset(): string | undefined {
    return this.options.charset === "utf-8" ? undefined : this.options.charset
  }

  push(chunk: Uint8Array): Effect.Effect<ReadonlyArray<Uint8Array>, SourceError.SourceError> {
    if (this.isDetected) return Effect.succeed([this.decode(chunk, true)])
    this.head = this.head.length === 0 ? chunk : Buffer.concat([this.head, chunk])
    return this.head.length >= headSize || !mayBeOther(this.head) ? this.start() : Effect.succeed([])
  }

  get end(): Effect.Effect<ReadonlyArray<Uint8Array>, SourceError.SourceError> {
    return Effect.suspend(() => this.isDetected ? Effect.succeed([]) : this.start()).pipe(
      Effect.map((chunks) => this.decoder === undefined ? chunks : [...chunks, this.decode(new Uint8Array(0), false)]),
      Effect.filterOrFail(
        () => this.decoder?.encoding !== this.charset || this.doubt?.isUtf8 !== true,
        () =>
          SourceError.content(
            this.source,
            `its content type names the charset ${this.charset}, and its text is UTF-8: correct the content type, or set ` +
              `${this.options.charsetOption ?? "the charset"} to utf-8`
          )
      )
    )
  }

  private start(): Effect.Effect<ReadonlyArray<Uint8Array>, SourceError.SourceError> {
    const { head } = this
    const other = binaries.find(({ magic }) => magic.every((byte, index) => head[index] === byte))?.reason
    if (other !== undefined) return Effect.fail(SourceError.content(this.source, other))
    this.isDetected = true
    const encoding = encodingOf(head) ?? (startsWith(head, utf8Mark) ? undefined : this.charset)
    this.decoder = encoding === undefined ? undefined : new TextDecoder(encoding)
    const text = this.decode(startsWith(head, utf8Mark) ? head.subarray(utf8Mark.length) : head, true)
    const markup = markupOf(Buffer.from(text.subarray(0, headSize)).toString("utf8").trimStart())
    return markup === undefined ? Effect.succeed([text]) : Effect.fail(SourceError.content(this.source, markup))
  }

  /**
   * Decodes text that is not UTF-8. Half of a character becomes U+FFFD, which rejects the row. Always as a stream, because Node 22 otherwise
   * decodes windows-1252 as ISO 8859-1.
   */
  private decode(chunk: Uint8Array, more: boolean): Uint8Array {
    this.doubt?.add(chunk)
    return this.decoder === undefined ? chunk : Buffer.from(this.decoder.decode(chunk, { stream: more }))
  }
}

/** Whether bytes are UTF-8 and not ASCII alone, which text in another charset almost never is. */
class Doubt {
  private readonly decoder = new TextDecoder("utf-8", { fatal: true })
  private isValid = true
  private isAscii = true

  get isUtf8(): boolean {
    return this.isValid && !this.isAscii
  }

  add(chunk: Uint8Array): void {
    if (!this.isValid) return
    this.isAscii &&= chunk.every((byte) => byte < 0x80)
    try {
      this.decoder.decode(chunk, { stream: chunk.length > 0 })
    } catch {
      this.isValid = false
    }
  }
}

const utf8Mark = [0xef, 0xbb, 0xbf]

const startsWith = (head: Uint8Array, magic: ReadonlyArray<number>): boolean => magic.every((byte, index) => head[index] === byte)

/** By the byte order mark, or by the zero bytes between the first two letters, which occur in no other text. */
const encodingOf = ([one, two, three, four]: Uint8Array): "utf-16le" | "utf-16be" | undefined => {
  if ((one === 0xff && two === 0xfe) || (one !== 0 && two === 0 && three !== 0 && four === 0)) return "utf-16le"
  return (one === 0xfe && two === 0xff) || (one === 0 && two !== 0 && three === 0 && four !== 0) ? "utf-16be" : undefined
}

const unpack = (format: string) => `it is ${format}: decompress it, or use gzip`

const binaries: ReadonlyArray<{ readonly magic: ReadonlyArray<number>; readonly reason: string }> = [
  {
    magic: [0x50, 0x4b, 0x03, 0x04],
    reason: "it is an Excel workbook or another zip archive: save the sheet as CSV UTF-8, or unpack the archive"
  },
  {
    magic: [0xd0, 0xcf, 0x11, 0xe0],
    reason: "it is an Excel workbook in the old format (.xls) or one with a password: save it as .xlsx without a password, or as CSV UTF-8"
  },
  { magic: [0x25, 0x50, 0x44, 0x46], reason: "it is a PDF, which has no rows: export CSV UTF-8" },
  { magic: [0x1f, 0x8b], reason: "it is compressed with gzip twice: compress it once" },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], reason: unpack("compressed with Zstandard") },
  { magic: [0x42, 0x5a, 0x68], reason: unpack("compressed with bzip2") },
  { magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a], reason: unpack("compressed with xz") },
  { magic: [0x37, 0x7a, 0xbc, 0xaf], reason: unpack("a 7z archive") },
  { magic: [0xff, 0xfe, 0x00, 0x00], reason: "it is UTF-32: save it as CSV UTF-8" }
]

const markupOf = (text: string): string | undefined => {
  if (!text.startsWith("<")) return undefined
  if (/urn:schemas-microsoft-com:office:(?:excel|spreadsheet)/i.test(text)) {
    return "it is a table in HTML or XML for Excel: open it in Excel and save it as an Excel workbook (.xlsx) or as CSV UTF-8"
  }
  if (/<(?:!doctype\s+html|html|head|body)[\s>]/i.test(text)) {
    return "it is an HTML page, perhaps an error or a login page: check the address and its authorization"
  }
  return /^<(?:\?xml\s|!DOCTYPE\s|[A-Za-z_][\w.:-]*[\s/>])/.test(text) ? "it is XML: export CSV UTF-8, JSON or NDJSON" : undefined
}

/** Whether the head may start something other than rows in UTF-8, so that detection needs more bytes. */
const mayBeOther = (head: Uint8Array): boolean => {
  if (head.length < 5) return true
  const first = head.find((byte) => byte > 0x20 && !utf8Mark.includes(byte))
  return first === undefined || first === 0x3c || encodingOf(head) !== undefined
}
