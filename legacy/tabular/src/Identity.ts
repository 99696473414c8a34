/** Decodes an id from a cell or a JSON value. */
import * as PathSegment from "@plaza-legacy/domain/PathSegment"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as CellText from "./CellText.ts"
import { quoted } from "./Quoted.ts"

/** Text unchanged, and an exact whole number as its digits. Undefined for other values. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string"
    ? value
    : typeof value === "bigint" || (Number.isSafeInteger(value) && !Object.is(value, -0))
    ? String(value)
    : undefined

const idOf = (text: string): string => CellText.normalize(text, (marked) => marked !== "" && marked !== "." && marked !== "..")

// A long number as Excel writes it, always with a sign. An id such as 5E12 is accepted.
const rounded = /^\d(?:[.,]\d+)?[eE]\+\d+$/

/** A decoder of one kind of ids, from text and exact whole numbers. Fails with the reason. */
export const decoder = <Id extends string>(id: Schema.Schema<Id, string>) => {
  const decode = Schema.decodeEither(PathSegment.inPath(id))
  return (column: string, value: unknown): Either.Either<Id, string> => {
    if (value === undefined || value === null) return Either.left(value === null ? `${column} is null` : `${column} is missing`)
    const written = textOf(value)
    if (written === undefined) return Either.left(`${column} is neither a text nor an exact whole number: write it as a text`)
    const text = idOf(written)
    if (text === "") return Either.left(`${column} is empty`)
    // The decoder puts this character in place of bytes that are not UTF-8.
    if (text.includes("\uFFFD")) return Either.left(`${column} ${quoted(text)} is not UTF-8: save the file in UTF-8`)
    if (rounded.test(text))
      return Either.left(`${column} ${quoted(text)} is a number that a spreadsheet has rounded: write it out as a text`)
    return Either.mapLeft(decode(text), (error) => {
      const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
      return `${column} ${quoted(text)} can't be sent: it ${issue?.message ?? "can't be part of an address"}`
    })
  }
}

/** The id of a rejected row, if its text can be read. */
export const ofRejected = (value: unknown): string | undefined => {
  const text = textOf(value)
  return text === undefined ? undefined : idOf(text) || undefined
}
