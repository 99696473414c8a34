/** Decodes a row from an object, as JSON and databases give it. */
import * as Predicate from "effect/Predicate"
import type { RowSchema } from "./RowSchema.ts"

// Own properties only: every object has `constructor` and the like, which the source did not write.
const own = (value: unknown, name: string): unknown =>
  Array.isArray(value)
    ? /^\d{1,9}$/.test(name) ? value[Number(name)] : undefined
    : Predicate.isObject(value) && Object.hasOwn(value, name)
    ? value[name]
    : undefined

/** The value of the literal name. If there is none and the name has dots, the value at that path. */
const valueAt = (object: { readonly [name: string]: unknown }, name: string): unknown =>
  !name.includes(".") || Object.hasOwn(object, name) ? own(object, name) : name.split(".").reduce<unknown>(own, object)

/** Whether a value has a field for at least one of the columns. */
export const hasColumn = <Row>({ columns }: RowSchema<Row>, value: unknown): boolean =>
  Predicate.isObject(value) && columns.some(({ name }) => valueAt(value, name) !== undefined)

/**
 * Decodes one object. A column may be a path of names with dots between them, such as `inventory.available`. The name of an element of an
 * array is its number from 0, as in `quantities.0.quantity`.
 */
export const decodeFields = <Row>(schema: RowSchema<Row>, line: number, value: unknown): Row =>
  Predicate.isObject(value)
    ? schema.decode(line, schema.columns.map(({ name }) => valueAt(value, name)))
    : schema.reject(line, undefined, "it is not an object with names and values")
