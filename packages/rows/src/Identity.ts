/**
 * From what stands where an id is expected to an id that can be sent, or to the reason why not. Knows nothing of rows and files.
 *
 * @since 0.1.0
 */
import * as PathSegment from "@plaza/domain/PathSegment"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { quoted } from "./Quoted.js"

/**
 * A value as the text that it stands for: a text is itself, and a whole number that is exact has one way of being written, so it names a
 * thing as well as its digits do. Undefined for all else.
 *
 * @since 0.1.0
 * @category parsing
 */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value : typeof value === "bigint" || (Number.isSafeInteger(value) && !Object.is(value, -0)) ? String(value) : undefined

/**
 * What reads ids of a kind, every character of which counts, out of texts and exact whole numbers.
 *
 * @since 0.1.0
 * @category parsing
 */
export const reader = <Id extends string>(id: Schema.Schema<Id, string>) => {
  const decode = Schema.decodeEither(PathSegment.inPath(id))
  return (column: string, value: unknown): Either.Either<Id, string> => {
    if (value === undefined || value === null) return Either.left(value === null ? `${column} is null` : `there is no ${column}`)
    const text = textOf(value)
    if (text === undefined) return Either.left(`${column} is neither a text nor an exact whole number: write it as a text`)
    if (text.trim() === "") return Either.left(`${column} is empty`)
    // What isn't UTF-8 arrives as this character, and the name it stood in is lost.
    if (text.includes("\uFFFD")) return Either.left(`${column} ${quoted(text)} is not UTF-8: save the file in UTF-8`)
    return Either.mapLeft(decode(text), (error) => {
      const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
      return `${column} ${quoted(text)} can't be sent: it ${issue?.message ?? "has no place in an address"}`
    })
  }
}

/**
 * The text by which a row that can't be used may still be known.
 *
 * @since 0.1.0
 * @category parsing
 */
export const named = (value: unknown): string | undefined => {
  const text = textOf(value)
  return text === undefined || text.trim() === "" ? undefined : text
}
