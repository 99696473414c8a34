/**
 * Writes workbooks part by part, so that a test shows what a program writes.
 */
import { type Zippable, zipSync } from "fflate"

/** A value, or the XML of the cell with `@` in place of its reference. */
export type Cell = string | number | boolean | null | { readonly xml: string }

export interface SheetOptions {
  readonly name?: string
  readonly state?: "hidden" | "veryHidden"
  readonly rows?: ReadonlyArray<ReadonlyArray<Cell>>
  /** The XML of the part, in place of `rows`. */
  readonly xml?: string | Uint8Array
}

export interface WorkbookOptions {
  readonly sheets?: ReadonlyArray<SheetOptions>
  /** Texts are shared by default. */
  readonly texts?: "shared" | "inline"
  /** Number formats of the styles 1, 2, ...: codes, or ids of those that every workbook has. */
  readonly formats?: ReadonlyArray<string | number>
  /** The shared texts, in place of those of the cells. */
  readonly shared?: ReadonlyArray<string>
  /** XML in the workbook after its sheets. */
  readonly more?: string
  /** Parts in place of those of the workbook; null for none. */
  readonly parts?: Readonly<Record<string, string | Uint8Array | null>>
  readonly level?: 0 | 6
}

export const escape = (text: string): string =>
  text.replace(/[&<>"\p{Cc}]/gu, (character) =>
    character < " "
      ? `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`
      : `&#${character.charCodeAt(0)};`)

/** `A`, `B`, ... `AA`. */
export const letters = (column: number): string =>
  column < 26 ? String.fromCharCode(65 + column) : `${letters(Math.floor(column / 26) - 1)}${letters(column % 26)}`

export const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
const packages = "http://schemas.openxmlformats.org/package/2006"
export const declaration = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n`

export const relations = (targets: ReadonlyArray<readonly [id: string, type: string, target: string]>, types = office): string =>
  `${declaration}<Relationships xmlns="${packages}/relationships">${
    targets.map(([id, type, target]) => `<Relationship Id="${id}" Type="${types}/${type}" Target="${target}"/>`).join("")
  }</Relationships>`

/** The XML of a cell of its own. `@` is its reference. */
export const cell = (xml: string): Cell => ({ xml })
/** A number in the style at a place from 1. */
export const styled = (style: number, value: number | string): Cell => cell(`<c r="@" s="${style}"><v>${value}</v></c>`)

/** The bytes of a zip archive. */
export const zip = (parts: Readonly<Record<string, string | Uint8Array | null>>, level: 0 | 6 = 6): Uint8Array => {
  const files: Zippable = {}
  for (const [path, content] of Object.entries(parts)) if (content !== null) files[path] = new Uint8Array(Buffer.from(content))
  return zipSync(files, { level, mtime: new Date("2026-01-01T00:00:00Z") })
}

export const workbook = (
  { formats = [], level, more = "", parts = {}, shared, sheets = [{}], texts = "shared" }: WorkbookOptions
): Uint8Array => {
  const table: Array<string> = []
  const written = (value: Cell, reference: string): string => {
    if (value === null) return ""
    if (typeof value === "object") return value.xml.replaceAll("@", reference)
    if (typeof value === "number") return `<c r="${reference}"><v>${value}</v></c>`
    if (typeof value === "boolean") return `<c r="${reference}" t="b"><v>${value ? 1 : 0}</v></c>`
    if (texts === "inline") return `<c r="${reference}" t="inlineStr"><is><t xml:space="preserve">${escape(value)}</t></is></c>`
    const index = table.indexOf(value)
    return `<c r="${reference}" t="s"><v>${index === -1 ? table.push(value) - 1 : index}</v></c>`
  }
  const sheetXml = ({ rows = [], xml }: SheetOptions): string | Uint8Array =>
    xml ??
      `${declaration}<worksheet xmlns="${main}"><sheetData>${
        rows.map((cells, row) =>
          `<row r="${row + 1}">${cells.map((value, column) => written(value, `${letters(column)}${row + 1}`)).join("")}</row>`
        ).join("")
      }</sheetData></worksheet>`
  const custom = formats.map((format, index) => typeof format === "number" ? format : 164 + index)
  const sheetParts = Object.fromEntries(sheets.map((sheet, index) => [`xl/worksheets/sheet${index + 1}.xml`, sheetXml(sheet)]))
  return zip({
    "[Content_Types].xml":
      `${declaration}<Types xmlns="${packages}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
    "_rels/.rels": relations([["rId1", "officeDocument", "xl/workbook.xml"]]),
    "xl/workbook.xml": `${declaration}<workbook xmlns="${main}" xmlns:r="${office}"><sheets>${
      sheets.map(({ name, state }, index) =>
        `<sheet name="${escape(name ?? `Sheet${index + 1}`)}" sheetId="${index + 1}"${
          state === undefined ? "" : ` state="${state}"`
        } r:id="rId${index + 1}"/>`
      ).join("")
    }</sheets>${more}</workbook>`,
    "xl/_rels/workbook.xml.rels": relations([
      ...sheets.map((_, index) => [`rId${index + 1}`, "worksheet", `worksheets/sheet${index + 1}.xml`] as const),
      ["rIdT", "sharedStrings", "sharedStrings.xml"],
      ["rIdS", "styles", "styles.xml"]
    ]),
    ...sheetParts,
    "xl/sharedStrings.xml": `${declaration}<sst xmlns="${main}">${
      (shared ?? table.map((text) => `<t xml:space="preserve">${escape(text)}</t>`)).map((item) => `<si>${item}</si>`).join("")
    }</sst>`,
    "xl/styles.xml": `${declaration}<styleSheet xmlns="${main}"><numFmts>${
      formats.flatMap((format, index) =>
        typeof format === "number" ? [] : [`<numFmt numFmtId="${164 + index}" formatCode="${escape(format)}"/>`]
      )
        .join("")
    }</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${
      custom.map((id) => `<xf numFmtId="${id}"/>`).join("")
    }</cellXfs></styleSheet>`,
    ...parts
  }, level)
}

/** A workbook with one sheet. */
export const sheet = (rows: ReadonlyArray<ReadonlyArray<Cell>>, options: WorkbookOptions = {}): Uint8Array =>
  workbook({ ...options, sheets: [{ name: "Stock", rows }] })
