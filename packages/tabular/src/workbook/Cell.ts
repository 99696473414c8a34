/** The value of a cell, as Excel shows it. */
import type { Column } from "../RowSchema.ts"
import { type NumberFormat, shown, visible } from "./NumberFormat.ts"
import type { SharedStrings } from "./SharedStrings.ts"

/** A cell as the sheet has it, with a value or a formula. */
export interface Cell {
  /** From 0. */
  readonly column: number
  readonly type: string
  readonly style: number
  /** The text of `v`, or of a text in the cell itself; undefined if there is neither. */
  readonly text: string | undefined
  readonly isFormula: boolean
}

export interface Context {
  readonly strings: SharedStrings
  readonly styles: (style: number) => NumberFormat
  readonly isUncalculated: boolean
}

/** A value for a row's schema, or why the cell has none, as a clause after the name of its column. */
export type Value = { readonly value: string | number | boolean } | { readonly problem: string }

const empty: Value = { value: "" }

const uncalculated: Value = {
  problem: "is a formula that has not been calculated: open the workbook in Excel and save it"
}

// Excel keeps 15 digits.
const maxExact = 1e15

const enterAsText = "format the column as text, and enter it again"

const ofNumber = (number: number, format: NumberFormat, isNumber: boolean): Value => {
  if (!Number.isFinite(number)) return { problem: "is not a number" }
  if (format.kind === "date") {
    return {
      problem: isNumber
        ? "is formatted as a date or a time: give the column the format General"
        : `is formatted as a date or a time, so what was entered is lost: ${enterAsText}`
    }
  }
  const value = visible(number)
  if (isNumber) return { value }
  if (!Number.isInteger(value)) return { problem: `${value} is a number with a fraction: ${enterAsText}` }
  if (Math.abs(value) >= maxExact) {
    return { problem: `${number} is a number with more than 15 digits, of which Excel keeps 15: ${enterAsText}` }
  }
  return format.kind === "percent" || format.kind === "fraction"
    ? { problem: `is formatted as a ${format.kind === "percent" ? "percentage" : "fraction"}: ${enterAsText}` }
    : { value: format.kind === "pattern" ? shown(format, value) : String(value) }
}

/** The value of a cell; of a missing one an empty text. Undefined if its text is not among the shared ones. */
export const valueOf = (cell: Cell | undefined, { isNumber = false }: Pick<Column, "isNumber">, context: Context): Value | undefined => {
  if (cell === undefined) return empty
  const { isFormula, style, text, type } = cell
  if (text === undefined || text === "") return isFormula && type !== "str" ? uncalculated : empty
  switch (type) {
    case "s": {
      const shared = context.strings(Number(text))
      return shared === undefined ? undefined : { value: shared }
    }
    case "str":
    case "inlineStr":
      return { value: text }
    case "b":
      return isNumber ? { value: text === "1" } : { problem: `is ${text === "1" ? "TRUE" : "FALSE"}, which is no id: ${enterAsText}` }
    case "e":
      return { problem: `is ${text}, an error of the spreadsheet: correct the formula` }
    case "d":
      return ofNumber(0, { kind: "date", code: "" }, isNumber)
    default:
      // Some programs write 0 in place of a result that they can't calculate.
      return isFormula && context.isUncalculated && Number(text) === 0
        ? uncalculated
        : ofNumber(Number(text), context.styles(style), isNumber)
  }
}

/** The text of a cell of the header. */
export const nameOf = (cell: Cell | undefined, context: Context): string | undefined => {
  const found = valueOf(cell, {}, context)
  return found === undefined ? undefined : "problem" in found ? cell?.text ?? "" : String(found.value)
}
