/**
 * Optional fields of JSON objects.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * A field that may be absent. Undefined is not a value of it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const optional = <S extends Schema.Schema.All>(schema: S) => Schema.optionalWith(schema, { exact: true })
