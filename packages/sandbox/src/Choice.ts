/**
 * A choice between words whose refusal names all of them. A literal schema by itself names the first alone. Knows nothing
 * of what is chosen.
 *
 * @since 0.1.0
 */
import type * as Arr from "effect/Array"
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"

/** @since 0.1.0 @category schemas */
export const choice = <Words extends Arr.NonEmptyReadonlyArray<SchemaAST.LiteralValue>>(
  words: Schema.Literal<[...Words]>
): Schema.Literal<[...Words]> => words.annotations({
  message: () => ({ message: `has to be one of ${words.literals.join(", ")}`, override: true })
})
