/** Parses a part of a workbook as a stream of XML. Names lose their prefixes, which programs choose freely. */
import * as Effect from "effect/Effect"
import { SaxesParser } from "saxes"
import * as SourceError from "../SourceError.ts"
import * as StreamingParser from "../StreamingParser.ts"

export type Attributes = Readonly<Record<string, string>>

/** Receives the elements of a part, and returns what is complete after each chunk. May throw {@link Invalid}. */
export interface Handler<A> {
  readonly open: (name: string, attributes: Attributes) => void
  readonly close: (name: string) => void
  readonly text: (text: string) => void
  readonly take: () => ReadonlyArray<A>
}

/** The part can't be used. A value that is thrown, because the callbacks of the parser are synchronous. */
export class Invalid extends Error {
  /** The row of the sheet. */
  readonly row: number | undefined

  constructor(reason: string, row?: number) {
    super(reason)
    this.row = row
  }
}

// Between two tags. Excel allows 32,767 characters in a cell. Without a limit, one text would fill the memory.
const maxNodeLength = 4 * 1_048_576

// Enough for a declaration in UTF-16.
const headSize = 256

const again = "open the workbook in Excel and save it again"

/** The name without its prefix. */
export const localName = (name: string): string => {
  const colon = name.indexOf(":")
  return colon === -1 ? name : name.slice(colon + 1)
}

/** An attribute by its name without a prefix. */
export const attribute = (attributes: Attributes, name: string): string | undefined =>
  attributes[name] ?? Object.entries(attributes).find(([key]) => localName(key) === name)?.[1]

export const isTrue = (value: string | undefined): boolean => value === "1" || value === "true" || value === "on"

/** The encoding by the byte order mark or the zero bytes of UTF-16, else by the declaration. */
const encodingOf = ([one, two, ...rest]: Uint8Array): string => {
  if ((one === 0xff && two === 0xfe) || (one === 0x3c && two === 0)) return "utf-16le"
  if ((one === 0xfe && two === 0xff) || (one === 0 && two === 0x3c)) return "utf-16be"
  const declaration = Buffer.from(rest.slice(0, headSize)).toString("latin1")
  return /^[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(declaration)?.[1] ?? "utf-8"
}

const decoderOf = (head: Uint8Array): TextDecoder => {
  const encoding = encodingOf(head)
  try {
    return new TextDecoder(encoding, { fatal: true })
  } catch {
    throw new Invalid(`it is XML in the encoding ${encoding}, which is not supported: ${again}`)
  }
}

const xmlOptions = { position: false, xmlns: false } as const

class Parser<A> implements StreamingParser.Parser<A> {
  private readonly source: string
  private readonly path: string
  private readonly handler: Handler<A>
  private readonly xml: SaxesParser<typeof xmlOptions>
  private head = new Uint8Array(0)
  private decoder: TextDecoder | undefined
  private length = 0
  /** The length at the last tag. */
  private lengthAtTag = 0

  constructor(source: string, path: string, handler: Handler<A>) {
    this.source = source
    this.path = path
    this.handler = handler
    const xml = new SaxesParser(xmlOptions)
    xml.on("opentag", ({ attributes, name }) => {
      this.lengthAtTag = this.length
      handler.open(localName(name), attributes)
    })
    xml.on("closetag", ({ name }) => {
      this.lengthAtTag = this.length
      handler.close(localName(name))
    })
    xml.on("text", (text) => handler.text(text))
    xml.on("cdata", (text) => handler.text(text))
    xml.on("doctype", () => {
      throw new Invalid(`its part ${path} has a document type, which no workbook has: ${again}`)
    })
    xml.on("error", ({ message }) => {
      throw new Invalid(`its part ${path} is no valid XML (${message}): ${again}`)
    })
    this.xml = xml
  }

  push(chunk: Uint8Array) {
    return this.step(() => {
      if (this.decoder !== undefined) return this.write(this.decode(this.decoder, chunk))
      this.head = Buffer.concat([this.head, chunk])
      if (this.head.length >= headSize) this.start()
    })
  }

  get end() {
    return this.step(() => {
      const decoder = this.decoder ?? this.start()
      this.write(this.decode(decoder))
      this.xml.close()
    })
  }

  private start(): TextDecoder {
    const decoder = decoderOf(this.head)
    this.decoder = decoder
    this.write(this.decode(decoder, this.head))
    return decoder
  }

  private decode(decoder: TextDecoder, chunk?: Uint8Array): string {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      throw new Invalid(`its part ${this.path} has bytes that are no characters in ${decoder.encoding}: ${again}`)
    }
  }

  private write(text: string): void {
    this.length += text.length
    this.xml.write(text)
    if (this.length - this.lengthAtTag > maxNodeLength) {
      throw new Invalid(`its part ${this.path} has a text of more than ${maxNodeLength / 1_048_576} MiB, which no cell holds`)
    }
  }

  private step(act: () => void): Effect.Effect<ReadonlyArray<A>, SourceError.SourceError> {
    return Effect.suspend(() => {
      try {
        act()
        return Effect.succeed(this.handler.take())
      } catch (error) {
        if (!(error instanceof Invalid)) throw error
        return Effect.fail(SourceError.content(this.source, error.message, error.row, "row"))
      }
    })
  }
}

/** Parses the bytes of the part `path`. `make` makes the handler of one run. */
export const decode = <A>(source: string, path: string, make: () => Handler<A>): StreamingParser.Decoder<A> =>
  StreamingParser.decode(() => new Parser(source, path, make()))
