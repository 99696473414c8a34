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
const leastWidth = 6

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
  // An empty table or cell has no line to measure.
  probe.push(...cells.map((cell) => [cell === "" ? " " : cell]))
  return cells.length === 0 ? 0 : probe.width
}

const sum = (widths: ReadonlyArray<number>): number => widths.reduce((total, width) => total + width, 0)

/** Narrows the widest columns that may be cut, evenly, until the line fits or they reach a minimum. */
const fit = (columns: ReadonlyArray<Column>, natural: ReadonlyArray<number>, room: number): ReadonlyArray<number> => {
  const cappedAt = (cap: number) => natural.map((width, index) => columns[index]?.whole === true ? width : Math.min(width, cap))
  let cap = Math.max(leastWidth, ...natural)
  while (cap > leastWidth && sum(cappedAt(cap)) + gap * (natural.length - 1) > room) cap--
  return cappedAt(cap)
}

/** The column widths at which these rows fit the medium. Later rows can use the same widths. */
export const widthsOf = (columns: ReadonlyArray<Column>, rows: ReadonlyArray<Row>, medium: Medium): ReadonlyArray<number> =>
  fit(columns, columns.map((column, index) => naturalWidth([column.head, ...rows.map((row) => text(row[index], column))])),
    medium.columns())

const draw = (
  columns: ReadonlyArray<Column>,
  widths: ReadonlyArray<number>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<string> => {
  if (rows.length === 0) return []
  const table = new CliTable3({ chars: frameless, style, colWidths: [...widths] })
  table.push(...rows.map((row) =>
    columns.map((column, index) => ({
      content: row[index] ?? "",
      hAlign: column.align ?? "left",
      wordWrap: column.overflow === "wrap",
      // Otherwise a word that is longer than its column would be cut, for example an address or an id.
      wrapOnWordBoundary: naturalWidth((row[index] ?? "").split(" ")) <= (widths[index] ?? 0)
    }))
  ))
  return table.toString().split("\n").map((line) => line.trimEnd())
}

/**
 * The lines of rows: on a terminal with `widths` from {@link widthsOf} and an optional header, elsewhere with tabs between the cells and
 * no header.
 */
export const lines = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<Row>,
  medium: Medium,
  options?: { readonly widths?: ReadonlyArray<number>; readonly head?: boolean }
): ReadonlyArray<string> => {
  const cells = rows.map((row) => columns.map((column, index) => text(row[index], column)))
  if (!medium.isTerminal) {
    return cells.map((row) => row.join("\t"))
  }
  const widths = options?.widths ?? widthsOf(columns, rows, medium)
  const head = options?.head === false
    ? []
    : draw(columns.map(({ overflow: _, ...column }) => column), widths, [columns.map((column) => column.head)])
  return [
    ...head.map((line) => medium.colour ? `\u001b[1m${line}\u001b[22m` : line),
    ...draw(columns, widths, cells)
  ].map((line) => medium.colour ? line : withoutColour(line))
}

/** Renders a table, each line with a line feed. Empty if there are no rows. */
export const render = (columns: ReadonlyArray<Column>, rows: ReadonlyArray<Row>, medium: Medium): string =>
  rows.length === 0 ? "" : `${lines(columns, rows, medium).join("\n")}\n`

/** Renders names and values, a line each. */
export const record = (entries: ReadonlyArray<readonly [name: string, value: Cell]>, medium: Medium): string => {
  const drawn = lines([{ head: "" }, { head: "", overflow: "wrap" }], entries, medium, { head: false })
  return drawn.length === 0 ? "" : `${drawn.join("\n")}\n`
}
