/**
 * Transforms the generated OpenAPI document of the control API into the published one: as that of the contract, with flat
 * unions and without a key.
 *
 * @since 0.1.0
 */
import * as Contract from "@plaza-legacy/domain/OpenApi"
import * as Predicate from "effect/Predicate"

/** The members of a schema that is nothing but a union. */
const membersOf = (schema: unknown): ReadonlyArray<unknown> =>
  Predicate.isReadonlyRecord(schema) && Array.isArray(schema["anyOf"]) && Object.keys(schema).length === 1
    ? schema["anyOf"].flatMap(membersOf)
    : [schema]

/** Replaces unions in unions, which the framework makes of a union with more than two members. */
const flatten = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(flatten)
    : Predicate.isReadonlyRecord(value)
    ? Object.fromEntries(
      Object.entries(value).map((
        [name, item]
      ) => [name, name === "anyOf" && Array.isArray(item) ? item.flatMap(membersOf).map(flatten) : flatten(item)])
    )
    : value

/** @since 0.1.0 @category openapi */
export const transform = (generated: Record<string, unknown>): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(Contract.transform(generated)).map(([name, value]) => [name, flatten(value)])),
  // Without it, linters report that no operation says which key it requires.
  security: []
})
