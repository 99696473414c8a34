/**
 * From one thing with names and values, as JSON and databases give them, to a row. Knows nothing of how it was found.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import type { Shape } from "./Shape.js"

/**
 * Reads one thing. Every way in which it can be unusable ends in a row that says so.
 *
 * @since 0.1.0
 * @category parsing
 */
export const readFields = <Row>(shape: Shape<Row>, line: number, thing: unknown): Row =>
  Predicate.isRecord(thing)
    // What every object answers to, as `constructor`, is nothing that the source told.
    ? shape.read(line, shape.columns.map(({ name }) => (Object.hasOwn(thing, name) ? thing[name] : undefined)))
    : shape.bad(line, undefined, "it is no object with names and values")
