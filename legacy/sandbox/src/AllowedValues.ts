/**
 * A literal schema whose error lists all allowed values. By default the error names only the first one.
 *
 * @since 0.1.0
 */
import type * as Arr from "effect/Array"
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"

/**
 * Sets the error message of a literal schema: `must be one of a, b, c`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const allowedValues = <Values extends Arr.NonEmptyReadonlyArray<SchemaAST.LiteralValue>>(
  literal: Schema.Literal<[...Values]>
): Schema.Literal<[...Values]> =>
  literal.annotations({
    message: () => ({ message: `must be one of ${literal.literals.join(", ")}`, override: true })
  })
