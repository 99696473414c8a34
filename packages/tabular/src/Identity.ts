/** Decodes an id from a cell or a JSON value. */
import * as PathSegment from "@plaza/domain/PathSegment"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
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

/** What to do about an id that is not UTF-8, at the end of its reason. */
export const saveInUtf8 = ": save the file in UTF-8"

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/** A decoder of one kind of ids, from text and exact whole numbers. Fails with the reason. */
export const decoder = <Id extends string>(id: Schema.Codec<Id, string>) => {
  const decode = Schema.decodeUnknownResult(PathSegment.inPath(id))
  return (column: string, value: unknown): Result.Result<Id, string> => {
    if (value === undefined || value === null) return Result.fail(value === null ? `${column} is null` : `${column} is missing`)
    const written = textOf(value)
    if (written === undefined) return Result.fail(`${column} is neither a text nor an exact whole number: write it as a text`)
    const text = idOf(written)
    if (text === "") return Result.fail(`${column} is empty`)
    // The decoder puts this character in place of bytes that are not UTF-8.
    if (text.includes("\uFFFD")) return Result.fail(`${column} ${quoted(text)} is not UTF-8${saveInUtf8}`)
    if (rounded.test(text))
      return Result.fail(`${column} ${quoted(text)} is a number that a spreadsheet has rounded: write it out as a text`)
    return Result.mapError(decode(text), (error) => {
      const issue = issuesOf(error.issue).issues[0]
      return `${column} ${quoted(text)} can't be sent: it ${issue?.message ?? "can't be part of an address"}`
    })
  }
}

/** The id of a rejected row, if its text can be read. */
export const ofRejected = (value: unknown): string | undefined => {
  const text = textOf(value)
  return text === undefined ? undefined : idOf(text) || undefined
}
