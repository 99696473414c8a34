/**
 * From what stands where a product's id is expected to an id that can be sent, or to the reason why not. Knows nothing of rows and
 * files.
 *
 * @since 0.1.0
 */
import { ProductId } from "@plaza/domain/Ids"
import * as PathSegment from "@plaza/domain/PathSegment"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { quoted } from "./Quoted.js"

const decodeId = Schema.decodeEither(PathSegment.inPath(ProductId))

/**
 * Reads an id out of a text, every character of which counts.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parse = (column: string, text: string): Either.Either<ProductId, string> => {
  if (text.trim() === "") return Either.left(`${column} is empty`)
  // What isn't UTF-8 arrives as this character, and the name it stood in is lost.
  if (text.includes("\uFFFD")) return Either.left(`${column} ${quoted(text)} is not UTF-8: save the file in UTF-8`)
  return Either.mapLeft(decodeId(text), (error) => {
    const issue = ParseResult.ArrayFormatter.formatErrorSync(error)[0]
    return `${column} ${quoted(text)} can't be sent: it ${issue?.message ?? "has no place in an address"}`
  })
}
