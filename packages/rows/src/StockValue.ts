/**
 * From what stands where a stock is expected to whole pieces, or to the reason why not. A text that two people could read differently is
 * refused: a wrong stock sells what isn't there. Knows nothing of rows and files.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import { quoted } from "./Quoted.js"

// A decimal part of zeros changes nothing, however it is written. Three of them could be a group of thousands.
const whole = /^0*(\d+)(?:[.,](?:0{1,2}|0{4,}))?$/

const tooLarge = `over ${Number.MAX_SAFE_INTEGER}, the largest number that can be sent exactly`

/**
 * Reads a stock. "12", "012", "12.0" and "12,00" are twelve; the empty text is never zero.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parse = (column: string, text: string): Either.Either<number, string> => {
  const value = text.trim()
  if (value === "") return Either.left(`${column} is empty, which is not taken for zero`)
  const digits = whole.exec(value)?.[1]
  if (digits !== undefined) {
    const stock = Number(digits)
    return Number.isSafeInteger(stock)
      ? Either.right(stock)
      : Either.left(`${column} ${quoted(value)} is ${tooLarge}`)
  }
  return Either.left(`${column} ${quoted(value)} ${complaint(value)}`)
}

const complaint = (value: string): string => {
  if (/^[-\u2212]\s*\d/.test(value)) return "is negative"
  if (/^\d{1,3}(?:[.,'\u2019\s]\d{3})+$/.test(value)) return "can be read as thousands or as a fraction: write it without separators"
  if (/^\d*[.,]\d+$/.test(value)) return "is not a whole number"
  return "is not a number"
}

/**
 * Reads a stock that stands as a value: a number, or a text as {@link parse} reads it. Nothing else is ever a number, least of all
 * nothing: `null`, `false` and a name that isn't there are not zero.
 *
 * @since 0.1.0
 * @category parsing
 */
export const read = (column: string, value: unknown): Either.Either<number, string> => {
  if (typeof value === "string" || typeof value === "bigint") return parse(column, String(value))
  if (typeof value === "number") return readNumber(column, value)
  if (value === undefined) return Either.left(`there is no ${column}, which is not taken for zero`)
  return Either.left(
    value === null
      ? `${column} is null, which is not taken for zero`
      : `${column} is ${typeof value === "boolean" ? String(value) : "no plain value"}, not a number`
  )
}

const readNumber = (column: string, value: number): Either.Either<number, string> => {
  if (Object.is(value, -0)) return Either.left(`${column} -0 is negative`)
  // Beyond what is exact the text of a number isn't what was written.
  if (value > Number.MAX_SAFE_INTEGER) return Either.left(`${column} is ${tooLarge}`)
  return Number.isSafeInteger(value) && value >= 0
    ? Either.right(value)
    : Either.left(`${column} ${value} ${value < 0 ? "is negative" : "is not a whole number"}`)
}
