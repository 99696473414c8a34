/** Reads a row from an object with names and values, as JSON and databases give them. */
import * as Predicate from "effect/Predicate"
import type { RowSchema } from "./RowSchema.js"

// Own properties only: `constructor` and the like, which every object has, are no values of the source.
const own = (thing: unknown, name: string): unknown => Predicate.isRecord(thing) && Object.hasOwn(thing, name) ? thing[name] : undefined

/** The value of the literal name; where there is none, of a dotted name the one that its path leads to. */
const valueAt = (thing: { readonly [name: string]: unknown }, name: string): unknown =>
  !name.includes(".") || Object.hasOwn(thing, name) ? own(thing, name) : name.split(".").reduce<unknown>(own, thing)

/** Reads one object. A column may be a path of names with dots between them, such as `inventory.available`. */
export const readFields = <Row>(shape: RowSchema<Row>, line: number, thing: unknown): Row =>
  Predicate.isRecord(thing)
    ? shape.read(line, shape.columns.map(({ name }) => valueAt(thing, name)))
    : shape.bad(line, undefined, "it is no object with names and values")
