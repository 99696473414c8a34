/**
 * Reads rows from the bytes of a text with one JSON object a line, as they come, keeping no more than one chunk and one line. A line
 * that isn't JSON is set aside like any bad row. Knows nothing of where the bytes come from.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as ByPieces from "./ByPieces.js"
import { readFields } from "./Fields.js"
import { quoted } from "./Quoted.js"
import * as Refused from "./Refused.js"
import type { Shape } from "./Shape.js"

/** @since 0.1.0 @category models */
export interface NdjsonOptions {
  /** What is read, for messages: a path, or "stdin". */
  readonly source: string
}

// A line longer than this is no line of one product; without a bound it would be gathered in memory whole.
const longestLine = 1_048_576

/**
 * The rows of a text, in its order; empty lines are none. Fails with `SourceRefused` where the text as a whole can't be trusted:
 * nothing in it, UTF-16, a line without an end.
 *
 * @since 0.1.0
 * @category streams
 */
export const rows = <Row>(shape: Shape<Row>, options: NdjsonOptions): ByPieces.Read<Row> => (bytes) =>
  Stream.suspend(() => {
    // Takes a byte order mark away; what isn't UTF-8 becomes a character by which an id shows it.
    const decoder = new TextDecoder()
    let rest = ""
    let line = 0
    let any = false

    const read = (text: string): ReadonlyArray<Row> => {
      line++
      if (text.trim() === "") return []
      any = true
      const value = parse(text)
      return [
        Either.isLeft(value)
          ? shape.bad(line, undefined, value.left)
          : readFields(shape, line, value.right)
      ]
    }

    const take = (text: string, last: boolean): Effect.Effect<ReadonlyArray<Row>, Refused.SourceRefused> => {
      const lines = `${rest}${text}`.split("\n")
      rest = last ? "" : lines.pop() ?? ""
      const found = lines.flatMap(read)
      return rest.length > longestLine
        ? Effect.fail(Refused.content(options.source, "the line has no end within 1 MiB: these are not JSON objects line by line", line + 1))
        : Effect.succeed(found)
    }

    return bytes.pipe(
      Stream.mapEffect((chunk) => !any && rest === "" && Refused.isUtf16(chunk) ? Effect.fail(Refused.utf16(options.source)) : take(decoder.decode(chunk, { stream: true }), false)),
      Stream.concat(Stream.suspend(() => Stream.fromEffect(take(decoder.decode(), true)))),
      Stream.mapConcat((found) => found),
      Stream.concat(Stream.suspend(() => any || shape.empty === undefined ? Stream.empty : Stream.fail(Refused.content(options.source, "it is empty"))))
    )
  })

const parse = (text: string): Either.Either<unknown, string> =>
  Either.try({
    try: (): unknown => JSON.parse(text),
    catch: () => `${quoted(text.trim())} is not JSON`
  })
