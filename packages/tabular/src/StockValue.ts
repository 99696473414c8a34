/**
 * Reads a stock out of a cell or a JSON value, or gives the reason why not. A text that two people could read differently is rejected: a
 * wrong stock sells what isn't there.
 */
import * as Either from "effect/Either"
import * as CellText from "./CellText.js"
import { quoted } from "./Quoted.js"

/** Why a value is no stock. */
export interface Unusable {
  /** A sentence that makes sense after "line 12: ". */
  readonly reason: string
  /** The value is a number below zero, and nothing else is wrong with it. */
  readonly negative: boolean
}

// A decimal part of zeros changes nothing, however it is written. Three of them could be a group of thousands.
const whole = /^0*(\d+)(?:[.,](?:0{1,2}|0{4,}))?$/

const number = String.raw`(?:\d+|[.,]\d+)(?:[.,'\u2019\s]\d+)*`
// As programs write it, as SAP does behind the number, and as accountants do in brackets.
const negative = new RegExp(String.raw`^(?:[-\u2212]\s*${number}|${number}\s*[-\u2212]|\(\s*${number}\s*\))$`)

const tooLarge = `over ${Number.MAX_SAFE_INTEGER}, the largest number that can be sent exactly`

const unusable = (reason: string, isNegative = false) => Either.left({ reason, negative: isNegative })

/** Reads a stock that is written as text. "12", "012", "12.0" and "12,00" are twelve; the empty text is never zero. */
export const parse = (column: string, text: string): Either.Either<number, Unusable> => {
  const value = CellText.plain(text, (marked) => marked !== "")
  if (value === "") return unusable(`${column} is empty, which is not taken for zero`)
  const digits = whole.exec(value)?.[1]
  if (digits !== undefined) {
    const stock = Number(digits)
    return Number.isSafeInteger(stock) ? Either.right(stock) : unusable(`${column} ${quoted(value)} is ${tooLarge}`)
  }
  return negative.test(value)
    ? unusable(`${column} ${quoted(value)} is negative`, true)
    : unusable(`${column} ${quoted(value)} ${complaint(value)}`)
}

const complaints: ReadonlyArray<readonly [pattern: RegExp, complaint: string]> = [
  [/^\+\s*\d/, "has a plus sign, which may stand for a change: write the stock without it"],
  [
    /^\d{1,3}(?:[.,'\u2019\s]\d{2,3})*[.,'\u2019\s]\d{3}(?:[.,]\d+)?$/,
    "can be read as thousands or as a fraction: write it without separators"
  ],
  [/^\d*[.,]\d+$/, "is not a whole number"],
  [/^\d+(?:[.,]\d+)?[eE][+-]?\d+$/, "is not a number: write out its digits, without an exponent"],
  [/^[\s.,]*(?:(?![0-9])\p{Nd}[\s.,]*)+$/u, "is not a number in the digits 0 to 9 alone: write it so"],
  [/^(?:[<>~\u2248\u2264\u2265]\s*\d+|\d+\s*\+)$/, "is not an exact number"],
  [/^#(?:N\/A|NV|REF!|VALUE!|WERT!|NAME\?|DIV\/0!|NULL!|NUM!)$/i, "is an error of the spreadsheet, not a number"],
  [/^\d+\s*\p{L}/u, "is not a number: write the digits alone"]
]

const complaint = (value: string): string => complaints.find(([pattern]) => pattern.test(value))?.[1] ?? "is not a number"

/**
 * Reads a stock from a value of JSON or of a database: a number, or a text as {@link parse} reads it. `null`, `false` and a missing name
 * are not zero.
 */
export const read = (column: string, value: unknown): Either.Either<number, Unusable> => {
  if (typeof value === "string" || typeof value === "bigint") return parse(column, String(value))
  if (typeof value === "number") return readNumber(column, value)
  if (value === undefined) return unusable(`there is no ${column}, which is not taken for zero`)
  return unusable(
    value === null
      ? `${column} is null, which is not taken for zero`
      : `${column} is ${typeof value === "boolean" ? String(value) : "no plain value"}, not a number`
  )
}

const readNumber = (column: string, value: number): Either.Either<number, Unusable> => {
  if (Object.is(value, -0)) return unusable(`${column} -0 is negative`, true)
  if (value < 0) return unusable(`${column} ${value} is negative`, true)
  // Above the largest exact number, the text of a number is not what was written.
  if (value > Number.MAX_SAFE_INTEGER) return unusable(`${column} is ${tooLarge}`)
  return Number.isSafeInteger(value) ? Either.right(value) : unusable(`${column} ${value} is not a whole number`)
}
