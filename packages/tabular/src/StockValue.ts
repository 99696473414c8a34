/**
 * Decodes a stock from a cell or a JSON value. Ambiguous text is rejected, because a wrong stock sells products that are not there.
 */
import * as Result from "effect/Result"
import * as CellText from "./CellText.ts"
import * as Numerals from "./Numerals.ts"
import { quoted } from "./Quoted.ts"

/** Why a value is rejected. */
export interface Rejection {
  /** The reason, as a clause after "line 12: ". */
  readonly reason: string
  /** The number, if its only fault is that it is below zero; null if it is no whole number. */
  readonly negative?: number | null
}

export interface Options {
  readonly separators?: Numerals.Separators | undefined
  /** The option that says what the separators mean. */
  readonly option?: string | undefined
  /** Receives what each text shows about the separators. `value`: the text. */
  readonly onReading?: ((reading: Numerals.Reading, value: string) => void) | undefined
}

const number = String.raw`(?:\d+|[.,]\d+)(?:[.,'\u2019\s]\d+)*`
// With the sign before the number, after it (SAP), or in brackets (accounting).
const negative = new RegExp(String.raw`^(?:[-\u2212]\s*(${number})|(${number})\s*[-\u2212]|\(\s*(${number})\s*\))$`)

const tooLarge = `over ${Number.MAX_SAFE_INTEGER}, the largest number that can be sent exactly`

const reject = (reason: string, negative?: number | null) => Result.fail(negative === undefined ? { reason } : { reason, negative })

/**
 * Decodes a stock from text. "12", "012", "12.0", "12,00" and "1,200.00" are numbers; "1.000" is one or a thousand, and rejected. Empty text
 * is rejected.
 */
export const parse = (column: string, text: string, { onReading, option, separators }: Options = {}): Result.Result<number, Rejection> => {
  const value = CellText.normalize(text, (marked) => marked !== "")
  if (value === "") return reject(`${column} is empty, which does not count as zero`)
  // Almost every value. It shows nothing about separators.
  if (/^\d{1,15}$/.test(value)) return Result.succeed(Number(value))
  const [, before, after, inBrackets] = negative.exec(value) ?? []
  const amount = before ?? after ?? inBrackets
  const reading = Numerals.read(amount ?? value, separators)
  onReading?.(reading, value)
  if (amount !== undefined) {
    return reject(`${column} ${quoted(value)} is negative`, reading._tag === "Whole" ? -reading.value : null)
  }
  switch (reading._tag) {
    case "Whole":
      return Number.isSafeInteger(reading.value) ? Result.succeed(reading.value) : reject(`${column} ${quoted(value)} is ${tooLarge}`)
    case "Ambiguous":
      return reject(
        `${column} ${quoted(value)} can be read as thousands or as a fraction: write it without separators${
          option === undefined ? "" : `, or set ${option}`
        }`
      )
    case "Fraction":
      return reject(`${column} ${quoted(value)} is not a whole number`)
    case "NoNumber":
      return reject(`${column} ${quoted(value)} ${reasonOf(value)}`)
  }
}

const reasons: ReadonlyArray<readonly [pattern: RegExp, reason: string]> = [
  [/^\+\s*\d/, "has a plus sign, which may stand for a change: write the stock without it"],
  [/^\d+(?:[.,'\u2019\s]\d+)+$/, "has separators that fit no number: write it without them"],
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
export const decode = (column: string, value: unknown, options?: Options): Result.Result<number, Rejection> => {
  if (typeof value === "string" || typeof value === "bigint") return parse(column, String(value), options)
  if (typeof value === "number") return decodeNumber(column, value)
  if (value === undefined) return reject(`${column} is missing, which does not count as zero`)
  return reject(
    value === null
      ? `${column} is null, which does not count as zero`
      : `${column} is ${typeof value === "boolean" ? String(value) : "an object or a list"}, not a number`
  )
}

const decodeNumber = (column: string, value: number): Result.Result<number, Rejection> => {
  if (Object.is(value, -0)) return reject(`${column} -0 is negative`, 0)
  if (value < 0) return reject(`${column} ${value} is negative`, Number.isSafeInteger(value) ? value : null)
  // Above the largest exact number, JavaScript changes the digits.
  if (value > Number.MAX_SAFE_INTEGER) return reject(`${column} is ${tooLarge}`)
  return Number.isSafeInteger(value) ? Result.succeed(value) : reject(`${column} ${value} is not a whole number`)
}
