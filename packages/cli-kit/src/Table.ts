/**
 * Renders rows: on a terminal as columns fitted to its width, elsewhere as lines with tabs between the cells and no
 * header.
 */
import CliTable3 from "cli-table3"
import { oneLine, withoutColour } from "./Text.ts"

export interface Column {
  readonly head: string
  readonly align?: "left" | "right"
  /** How to show a cell that is wider than its column: cut with an ellipsis, or wrapped (default: `cut`). */
  readonly overflow?: "cut" | "wrap"
  /** Never cut, for ids, which people copy. */
  readonly whole?: boolean
  /** Keeps leading spaces of a cell. */
  readonly keepIndent?: boolean
}

export type Cell = string | number | boolean | null | undefined

export type Row = ReadonlyArray<Cell>

/** Properties of the output that decide the layout; a `Streams.Stream` has them. */
export interface Medium {
  readonly isTerminal: boolean
  readonly colour: boolean
  readonly columns: () => number
}

const gap = 2
const minWidth = 6
/** A cell that is cut to less than this is not worth its column. */
const minReadable = 12

const text = (cell: Cell, column: Column): string => {
  const whole = cell === null || cell === undefined ? "" : String(cell)
  return `${column.keepIndent === true ? /^ */.exec(whole)?.[0] ?? "" : ""}${oneLine(whole)}`
}

const frameless = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: " ".repeat(gap)
}
const style = { "padding-left": 0, "padding-right": 0, head: [], border: [], compact: true }

/** The display width of a text on a terminal, which differs from its length. */
const naturalWidth = (cells: ReadonlyArray<string>): number => {
  const probe = new CliTable3({ chars: frameless, style })
  // The library returns the length of the first line, which is the width if its characters are narrow.
  probe.push([" "], ...cells.map((cell) => [cell]))
  return cells.length === 0 ? 0 : probe.width
}

const sum = (widths: ReadonlyArray<number>): number => widths.reduce((total, width) => total + width, 0)

/** Narrows the widest columns that may be cut, evenly, until the line fits or they reach a minimum. */
const fit = (columns: ReadonlyArray<Column>, natural: ReadonlyArray<number>, room: number): ReadonlyArray<number> => {
  const cappedAt = (cap: number) => natural.map((width, index) => columns[index]?.whole === true ? width : Math.min(width, cap))
  let cap = Math.max(minWidth, ...natural)
  while (cap > minWidth && sum(cappedAt(cap)) + gap * (natural.length - 1) > room) cap--
  return cappedAt(cap)
}

/** How rows are laid out: in columns of these widths, or each row as a record with a line for each cell. */
export type Layout = { readonly widths: ReadonlyArray<number> } | "records"

/** The layout in which these rows fit the medium. Later rows can use the same one. */
export const layoutOf = (columns: ReadonlyArray<Column>, rows: ReadonlyArray<Row>, medium: Medium): Layout => {
  if (!medium.isTerminal) return { widths: [] }
  const natural = columns.map((column, index) => naturalWidth([column.head, ...rows.map((row) => text(row[index], column))]))
  const widths = fit(columns, natural, medium.columns())
  const isSqueezed = widths.some((width, index) => width < minReadable && width < (natural[index] ?? 0))
  return isSqueezed && columns.some(({ head }) => head !== "") ? "records" : { widths }
}

/** A word in pieces of at most this width. */
const pieces = (word: string, width: number): ReadonlyArray<string> => {
  const found: Array<string> = []
  let room = 0
  // Created here: to load the data of the language takes half as long as Node takes to start.
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    const needed = /^[!-~]$/.test(segment) ? 1 : naturalWidth([segment])
    const fits = needed <= room
    room = (fits ? room : width) - needed
    found.push(fits ? `${found.pop() ?? ""}${segment}` : segment)
  }
  return found
}

/** Breaks words that are wider than a column, for example an address. The library would cut them. */
const broken = (text: string, width: number): string => {
  const words = text.split(" ")
  return naturalWidth(words) <= width ? text : words.flatMap((word) => word === "" ? [word] : pieces(word, width)).join(" ")
}

const draw = (
  columns: ReadonlyArray<Column>,
  widths: ReadonlyArray<number>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<string> => {
  if (rows.length === 0) return []
  const table = new CliTable3({ chars: frameless, style, colWidths: [...widths] })
  table.push(...rows.map((row) =>
    columns.map(({ align, overflow }, index) => {
      const cell = row[index] ?? ""
      const wordWrap = overflow === "wrap"
      return { content: wordWrap ? broken(cell, widths[index] ?? 0) : cell, hAlign: align ?? "left", wordWrap }
    })
  ))
  return table.toString().split("\n").map((line) => line.trimEnd())
}

const emphasized = (text: string, { colour }: Medium): string => colour ? `\u001b[1m${text}\u001b[22m` : text

/**
 * A record for each row, with an empty line between them. Cells without a text are left out. A cell whose column has no head, such as a
 * mark, stands before the next one.
 */
const records = (columns: ReadonlyArray<Column>, rows: ReadonlyArray<ReadonlyArray<string>>, medium: Medium): ReadonlyArray<string> => {
  const nameWidth = Math.max(...columns.map(({ head }) => head.length))
  const pair = [{ head: "" }, { head: "", overflow: "wrap" }] as const
  const widths = [nameWidth, Math.max(minWidth, medium.columns() - nameWidth - gap)]
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [""]),
    ...columns.flatMap(({ head, whole }, index) => {
      const mark = columns[index - 1]?.head === "" ? row[index - 1] ?? "" : ""
      const cell = `${mark} ${row[index] ?? ""}`.trim()
      if (head === "" || cell === "") return []
      return (whole === true ? [`${head.padEnd(nameWidth + gap)}${cell}`] : draw(pair, widths, [[head, cell]])).map((line, index) =>
        index === 0 ? `${emphasized(line.slice(0, nameWidth), medium)}${line.slice(nameWidth)}` : line
      )
    })
  ])
}

/**
 * The lines of rows: on a terminal in the layout of {@link layoutOf} and with an optional header, elsewhere with tabs between the cells
 * and no header.
 */
export const lines = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<Row>,
  medium: Medium,
  options?: { readonly layout?: Layout; readonly head?: boolean }
): ReadonlyArray<string> => {
  const cells = rows.map((row) => columns.map((column, index) => text(row[index], column)))
  if (!medium.isTerminal) {
    return cells.map((row) => row.join("\t"))
  }
  const layout = options?.layout ?? layoutOf(columns, rows, medium)
  if (layout === "records") return [...(options?.head === false ? [""] : []), ...records(columns, cells, medium)].map(plainUnless(medium))
  const head = options?.head === false
    ? []
    : draw(columns.map(({ overflow: _, ...column }) => column), layout.widths, [columns.map((column) => column.head)])
  return [...head.map((line) => emphasized(line, medium)), ...draw(columns, layout.widths, cells)].map(plainUnless(medium))
}

const plainUnless = ({ colour }: Medium) => (line: string): string => colour ? line : withoutColour(line)

/** Renders a table, each line with a line feed. Empty if there are no rows. */
export const render = (columns: ReadonlyArray<Column>, rows: ReadonlyArray<Row>, medium: Medium): string =>
  rows.length === 0 ? "" : `${lines(columns, rows, medium).join("\n")}\n`

/** Renders names and values, a line each. */
export const record = (entries: ReadonlyArray<readonly [name: string, value: Cell]>, medium: Medium): string => {
  const drawn = lines([{ head: "" }, { head: "", overflow: "wrap" }], entries, medium, { head: false })
  return drawn.length === 0 ? "" : `${drawn.join("\n")}\n`
}
