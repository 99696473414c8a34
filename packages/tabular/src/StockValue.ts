/**
 * Decodes a stock from a cell or a JSON value. Ambiguous text is rejected, because a wrong stock sells products that are not there.
 */
import * as Result from "effect/Result"
import * as CellText from "./CellText.ts"
import { quoted } from "./Quoted.ts"

/** Why a value is rejected. */
export interface Rejection {
  /** The reason, as a clause after "line 12: ". */
  readonly reason: string
  /** Whether the only fault is that the number is below zero. */
  readonly negative: boolean
}

// A decimal part of zeros is accepted. Exactly three zeros could be a group of thousands.
const whole = /^0*(\d+)(?:[.,](?:0{1,2}|0{4,}))?$/

const number = String.raw`(?:\d+|[.,]\d+)(?:[.,'\u2019\s]\d+)*`
// With the sign before the number, after it (SAP), or in brackets (accounting).
const negative = new RegExp(String.raw`^(?:[-\u2212]\s*${number}|${number}\s*[-\u2212]|\(\s*${number}\s*\))$`)

const tooLarge = `over ${Number.MAX_SAFE_INTEGER}, the largest number that can be sent exactly`

const reject = (reason: string, isNegative = false) => Result.fail({ reason, negative: isNegative })

/** Decodes a stock from text. "12", "012", "12.0" and "12,00" are twelve. Empty text is rejected. */
export const parse = (column: string, text: string): Result.Result<number, Rejection> => {
  const value = CellText.normalize(text, (marked) => marked !== "")
  if (value === "") return reject(`${column} is empty, which does not count as zero`)
  const digits = whole.exec(value)?.[1]
  if (digits !== undefined) {
    const stock = Number(digits)
    return Number.isSafeInteger(stock) ? Result.succeed(stock) : reject(`${column} ${quoted(value)} is ${tooLarge}`)
  }
  return negative.test(value)
    ? reject(`${column} ${quoted(value)} is negative`, true)
    : reject(`${column} ${quoted(value)} ${reasonOf(value)}`)
}

const reasons: ReadonlyArray<readonly [pattern: RegExp, reason: string]> = [
  [/^\+\s*\d/, "has a plus sign, which may stand for a change: write the stock without it"],
  [
    /^\d{1,3}(?:[.,'\u2019\s]\d{2,3})*[.,'\u2019\s]\d{3}(?:[.,]\d+)?$/,
    "can be read as thousands or as a fraction: write it without separators"
  ],
  [/^\d*[.,]\d+$/, "is not a whole number"],
  [/^\d+(?:[.,]\d+)?[eE][+-]?\d+$/, "is not a number: write out its digits, without an exponent"],
  [/^[\s.,]*(?:(?![0-9])\p{Nd}[\s.,]*)+$/u, "is not a number in the digits 0 to 9: write it in these digits"],
  [/^(?:[<>~\u2248\u2264\u2265]\s*\d+|\d+\s*\+)$/, "is not an exact number"],
  [/^#(?:N\/A|NV|REF!|VALUE!|WERT!|NAME\?|DIV\/0!|NULL!|NUM!)$/i, "is an error of the spreadsheet, not a number"],
  [/^\d+\s*\p{L}/u, "is not a number: write only the digits"]
]

const reasonOf = (value: string): string => reasons.find(([pattern]) => pattern.test(value))?.[1] ?? "is not a number"

/**
 * Decodes a stock from a value of JSON or of a database: a number, or text as {@link parse} reads it. `null`, `false` and a missing field
 * are rejected.
 */
export const decode = (column: string, value: unknown): Result.Result<number, Rejection> => {
  if (typeof value === "string" || typeof value === "bigint") return parse(column, String(value))
  if (typeof value === "number") return decodeNumber(column, value)
  if (value === undefined) return reject(`${column} is missing, which does not count as zero`)
  return reject(
    value === null
      ? `${column} is null, which does not count as zero`
      : `${column} is ${typeof value === "boolean" ? String(value) : "an object or a list"}, not a number`
  )
}

const decodeNumber = (column: string, value: number): Result.Result<number, Rejection> => {
  if (Object.is(value, -0)) return reject(`${column} -0 is negative`, true)
  if (value < 0) return reject(`${column} ${value} is negative`, true)
  // Above the largest exact number, JavaScript changes the digits.
  if (value > Number.MAX_SAFE_INTEGER) return reject(`${column} is ${tooLarge}`)
  return Number.isSafeInteger(value) ? Result.succeed(value) : reject(`${column} ${value} is not a whole number`)
}
