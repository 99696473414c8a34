/** Generators of the property tests. */
import { Arbitrary, Schema } from "effect"

export const between = (minimum: number, maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

export const anyOf = <const Value extends string>(values: ReadonlyArray<Value>): Arbitrary.Arbitrary<Value> =>
  Arbitrary.schema(Schema.Literals(values))

/** One of these generators, each with the same frequency. */
export const oneOf = <A>(...arbitraries: readonly [Arbitrary.Arbitrary<A>, ...Array<Arbitrary.Arbitrary<A>>]): Arbitrary.Arbitrary<A> =>
  Arbitrary.flatMap(between(0, arbitraries.length - 1), (index) => arbitraries[index] ?? arbitraries[0])

/** Texts with the UTF-16 code units of `unit`. */
export const textOf = (unit: Arbitrary.Arbitrary<number>, options?: Arbitrary.ArrayOptions): Arbitrary.Arbitrary<string> =>
  Arbitrary.map(Arbitrary.array(unit, options), (units) => String.fromCharCode(...units))

export const text = Arbitrary.schema(Schema.String)

/** Any value that `JSON.parse` returns. Negative zero is the one value that JSON text doesn't keep. */
export const json = Arbitrary.map(Arbitrary.schema(Schema.Json), (value): unknown => JSON.parse(JSON.stringify(value)))

/** The fields of a JSON object, with these names. */
export const jsonFields = (name: Schema.Codec<string>): Arbitrary.Arbitrary<Readonly<Record<string, unknown>>> =>
  Arbitrary.map(
    Arbitrary.array(Arbitrary.all([Arbitrary.schema(name), json])),
    Object.fromEntries<unknown>
  )

/** An instant with a year of four digits, as JSON shows it. */
export const date = Arbitrary.map(
  between(Date.parse("0000-01-01T00:00:00.000Z"), Date.parse("9999-12-31T23:59:59.999Z")),
  (millis) => new Date(millis).toISOString()
)
