/**
 * From the text of a stock cell to whole pieces, or to the reason why not. A text that two people could read differently is
 * refused: a wrong stock sells what isn't there. Knows nothing of rows and files.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import { quoted } from "./Quoted.js"

// A decimal part of zeros changes nothing, however it is written. Three of them could be a group of thousands.
const whole = /^0*(\d+)(?:[.,](?:0{1,2}|0{4,}))?$/

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
      : Either.left(`${column} ${quoted(value)} is over ${Number.MAX_SAFE_INTEGER}, the largest number that can be sent exactly`)
  }
  return Either.left(`${column} ${quoted(value)} ${complaint(value)}`)
}

const complaint = (value: string): string => {
  if (/^[-\u2212]\s*\d/.test(value)) return "is negative"
  if (/^\d{1,3}(?:[.,'\u2019\s]\d{3})+$/.test(value)) return "can be read as thousands or as a fraction: write it without separators"
  if (/^\d*[.,]\d+$/.test(value)) return "is not a whole number"
  return "is not a number"
}
