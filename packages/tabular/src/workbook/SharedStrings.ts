/**
 * The texts that the cells of a workbook share. They are kept as UTF-8, which takes less memory than strings, and decoded when a cell needs
 * one.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as SourceError from "../SourceError.ts"
import type { Archive } from "./Archive.ts"
import { TextOf } from "./TextOf.ts"
import * as Xml from "./Xml.ts"

/** The text at an index; undefined if there is none. */
export type SharedStrings = (index: number) => string | undefined

export const none: SharedStrings = () => undefined

const pageSize = 1_024

// Three texts of 30 characters for each row that Excel can have.
const maxTotal = 96 * 1_048_576

class Table {
  private readonly pages: Array<{ readonly bytes: Buffer; readonly ends: Uint32Array }> = []
  private page: Array<string> = []
  private total = 0

  add(text: string): void {
    this.page.push(text)
    if (this.page.length === pageSize) this.close()
  }

  private close(): void {
    let end = 0
    const ends = Uint32Array.from(this.page, (text) => end += Buffer.byteLength(text))
    this.pages.push({ bytes: Buffer.from(this.page.join("")), ends })
    this.page = []
    this.total += end
    if (this.total > maxTotal) {
      throw new Xml.Invalid(`its cells have more than ${maxTotal / 1_048_576} MiB of text: save the sheet as CSV UTF-8`)
    }
  }

  readonly at: SharedStrings = (index) => {
    const position = index % pageSize
    const place = (index - position) / pageSize
    const page = this.pages[place]
    if (page === undefined) return place === this.pages.length ? this.page[position] : undefined
    const end = page.ends[position]
    return end === undefined ? undefined : page.bytes.toString("utf8", position === 0 ? 0 : page.ends[position - 1], end)
  }
}

/** Reads the table. */
export const read = (archive: Archive, path: string): Effect.Effect<SharedStrings, SourceError.SourceError> =>
  Effect.suspend(() => {
    const table = new Table()
    const item = new TextOf()
    const handler: Xml.Handler<never> = {
      open: (name) => name === "si" ? item.start() : item.open(name),
      close: (name) => name === "si" ? table.add(item.end()) : item.close(name),
      text: (text) => item.text(text),
      take: () => []
    }
    return Effect.as(Stream.runDrain(Xml.decode(archive.source, path, () => handler)(archive.read(path))), table.at)
  })
