/** The rows of a sheet with their cells. */
import type * as StreamingParser from "../StreamingParser.ts"
import type { Cell } from "./Cell.ts"
import { TextOf, unescape } from "./TextOf.ts"
import * as Xml from "./Xml.ts"

/** A row with content. */
export interface Row {
  /** Excel's number, from 1. */
  readonly number: number
  /** Those with a value or a formula, in the order of their columns. */
  readonly cells: ReadonlyArray<Cell>
}

/** What a reader needs. */
export interface Selection {
  /** Undefined until they are known: all of them. */
  columns?: ReadonlySet<number>
  /** Whether a cell has only white space. */
  readonly isBlank: (cell: Cell) => boolean
}

// Excel's last column is XFD.
const maxColumns = 16_384

/** The column of a reference such as `AB12`, from 0; -1 if it has none. */
const columnOf = (reference: string): number => {
  let column = 0
  for (let at = 0; at < reference.length; at++) {
    const letter = reference.charCodeAt(at) & 0xdf
    if (letter < 0x41 || letter > 0x5a) break
    column = column * 26 + letter - 0x40
  }
  return column - 1
}

const again = "open the workbook in Excel and save it again"

const isShown = (name: string): boolean => name === "v" || name === "f" || name === "is"

class Handler implements Xml.Handler<Row> {
  private readonly selection: Selection
  private rows: Array<Row> = []
  private cells: Array<Cell> = []
  private isInData = false
  private number = 0
  private column = -1
  private attributes: Xml.Attributes | undefined
  private value: string | undefined
  private isFormula = false
  private inside: string | undefined
  private readonly inline = new TextOf()
  /** Whether a needed cell of the row has content, so that the other cells don't matter. */
  private hasContent = false

  constructor(selection: Selection) {
    this.selection = selection
  }

  open(name: string, attributes: Xml.Attributes): void {
    if (!this.isInData) this.isInData = name === "sheetData"
    else if (name === "row") this.openRow(attributes)
    else if (name === "c") this.openCell(attributes)
    else if (this.inside === "is") this.inline.open(name)
    else if (this.attributes !== undefined && isShown(name)) {
      this.inside = name
      if (name === "f") this.isFormula = true
      else if (name === "v") this.value = ""
      else this.inline.start()
    }
  }

  close(name: string): void {
    if (!this.isInData) return
    if (name === "c") this.closeCell()
    else if (name === "row") {
      if (this.cells.length > 0) this.rows.push({ number: this.number, cells: this.cells })
    } else if (name === "sheetData") this.isInData = false
    else if (name === this.inside) {
      if (name === "is") this.value = this.inline.end()
      this.inside = undefined
    } else if (this.inside === "is") this.inline.close(name)
  }

  text(text: string): void {
    if (this.inside === "v") this.value += text
    else if (this.inside === "is") this.inline.text(text)
  }

  take(): ReadonlyArray<Row> {
    const { rows } = this
    this.rows = []
    return rows
  }

  // Without its number, a row follows the one before it; and so does a cell.
  private openRow({ r }: Xml.Attributes): void {
    const number = r === undefined ? this.number + 1 : Number(r)
    if (!Number.isSafeInteger(number) || number <= this.number) {
      throw new Xml.Invalid(`the row ${r} follows the row ${this.number}, so the sheet is damaged: ${again}`)
    }
    this.number = number
    this.column = -1
    this.cells = []
    this.hasContent = false
  }

  private openCell(attributes: Xml.Attributes): void {
    const { r } = attributes
    const column = r === undefined ? this.column + 1 : columnOf(r)
    if (column <= this.column || column >= maxColumns) {
      throw new Xml.Invalid(`the cell ${r ?? ""} is not in the order of its row, so the sheet is damaged: ${again}`, this.number)
    }
    this.column = column
    // Most cells of a sheet are not needed.
    if (this.hasContent && this.selection.columns?.has(column) === false) return
    this.attributes = attributes
    this.value = undefined
    this.isFormula = false
  }

  private closeCell(): void {
    const { attributes, column, isFormula, value } = this
    if (attributes === undefined) return
    this.attributes = undefined
    // A sheet may have a million rows of cells with nothing but a format.
    if (!isFormula && (value === undefined || value === "")) return
    const { s: style = "0", t: type = "n" } = attributes
    const text = type === "str" && value !== undefined ? unescape(value) : value
    const cell = { column, type, style: Number(style), text, isFormula }
    this.cells.push(cell)
    this.hasContent ||= this.selection.columns?.has(column) === true && !this.selection.isBlank(cell)
  }
}

const all: Selection = { isBlank: () => false }

/** Decodes the bytes of a sheet. Of a row with content in the selected columns, other cells are left out. */
export const decoder = (source: string, path: string, selection = all): StreamingParser.Decoder<Row> =>
  Xml.decode(source, path, () => new Handler(selection))
