/** What a number format makes of a number, as far as it matters for ids and stock. */
import { format, getFormatFromId, getFormatInfo, isValidFormat } from "numfmt"

export interface NumberFormat {
  /**
   * `digits`: the format changes no digits that matter. `pattern`: digits and fixed characters, such as `00000`, whose text is an id. The
   * others show something that is no number.
   */
  readonly kind: "digits" | "pattern" | "date" | "percent" | "fraction"
  readonly code: string
}

/** The code of a format that every workbook has; `General` for other ids. */
export const ofId = (id: number): string =>
  // These depend on the language of Excel. Some are dates in all of them.
  Number.isInteger(id) && ((id >= 0 && id <= 49) || (id >= 50 && id <= 58)) ? getFormatFromId(id) : "General"

export const kindOf = (code: string): NumberFormat => {
  // Excel shows a number with a code that it can't read as General does.
  if (!isValidFormat(code)) return { kind: "digits", code }
  const { isDate, maxDecimals, scale, type } = getFormatInfo(code)
  const kind = isDate
    ? "date"
    : type === "percent" || type === "fraction"
    ? type
    : type === "number" && maxDecimals === 0 && scale === 1
    ? "pattern"
    : "digits"
  return { kind, code }
}

/** The text of a whole number in a pattern. */
export const shown = ({ code }: NumberFormat, value: number): string => format(code, value)

/**
 * The number that the format General shows: at most 11 characters, so that 5.0000000001, a remainder of arithmetic with fractions, is 5. A
 * whole number stays exact.
 */
export const visible = (value: number): number => (Number.isInteger(value) ? value : Number(format("General", value))) + 0
