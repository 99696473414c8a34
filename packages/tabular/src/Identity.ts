/** Reads an id out of a cell or a JSON value, or gives the reason why it can't be sent. */
import * as PathSegment from "@plaza/domain/PathSegment"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as CellText from "./CellText.js"
import { quoted } from "./Quoted.js"

/** A value as text: a text as it is, and an exact whole number by its digits. Undefined for everything else. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string"
    ? value
    : typeof value === "bigint" || (Number.isSafeInteger(value) && !Object.is(value, -0))
    ? String(value)
    : undefined

const idOf = (text: string): string => CellText.plain(text, (marked) => marked !== "" && marked !== "." && marked !== "..")

// Excel's way of writing a long number. An id such as 5E12 is left alone: Excel always writes the sign.
const rounded = /^\d(?:[.,]\d+)?[eE]\+\d+$/

/** A reader of ids of a kind, out of texts and exact whole numbers. */
export const reader = <Id extends string>(id: Schema.Schema<Id, string>) => {
  const decode = Schema.decodeEither(PathSegment.inPath(id))
  return (column: string, value: unknown): Either.Either<Id, string> => {
    if (value === undefined || value === null) return Either.left(value === null ? `${column} is null` : `there is no ${column}`)
    const written = textOf(value)
    if (written === undefined) return Either.left(`${column} is neither a text nor an exact whole number: write it as a text`)
    const text = idOf(written)
    if (text === "") return Either.left(`${column} is empty`)
    // Bytes that are not UTF-8 arrive as this character, and the id is lost.
    if (text.includes("\uFFFD")) return Either.left(`${column} ${quoted(text)} is not UTF-8: save the file in UTF-8`)
    if (rounded.test(text))
      return Either.left(`${column} ${quoted(text)} is a number that a spreadsheet has rounded: write it out as a text`)
    return Either.mapLeft(decode(text), (error) => {
      const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
      return `${column} ${quoted(text)} can't be sent: it ${issue?.message ?? "has no place in an address"}`
    })
  }
}

/** The text by which a rejected row may still be known. */
export const named = (value: unknown): string | undefined => {
  const text = textOf(value)
  return text === undefined ? undefined : idOf(text) || undefined
}
