/** Generators of the property tests. */
import { Arbitrary, Schema } from "effect"

export const between = (minimum: number, maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

export const anyOf = <const Value extends string>(values: ReadonlyArray<Value>): Arbitrary.Arbitrary<Value> =>
  Arbitrary.schema(Schema.Literals(values))

/** One of these values. */
export const elementOf = <A>(values: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  // The index is one of the array.
  Arbitrary.map(between(0, values.length - 1), (index) => values[index] as A)

export const boolean = Arbitrary.schema(Schema.Boolean)

/** The lengths to draw. */
export interface Lengths {
  /** Default: 0 */
  readonly minLength?: number
  /** Default: 10 more than `minLength` */
  readonly maxLength?: number
}

/** Arrays of these lengths, each with the same frequency. `Arbitrary.array` alone stops at the size of the run, which is 10 by default. */
export const arrayOf = <A>(item: Arbitrary.Arbitrary<A>, lengths: Lengths = {}): Arbitrary.Arbitrary<Array<A>> => {
  const { minLength = 0, maxLength = minLength + 10 } = lengths
  return Arbitrary.flatMap(
    between(minLength, maxLength),
    (length) => Arbitrary.array(item, { minLength: length, maxLength: length })
  )
}

/** Bytes of any value. */
export const bytes = (lengths?: Lengths): Arbitrary.Arbitrary<Uint8Array> =>
  Arbitrary.map(arrayOf(between(0, 255), lengths), (values) => Uint8Array.from(values))

/** Texts of any Unicode code points, without lone surrogates. */
export const unicode = (lengths?: Lengths): Arbitrary.Arbitrary<string> =>
  Arbitrary.map(
    arrayOf(weighted([8, between(0, 0x7f)], [4, between(0x80, 0xd7ff)], [1, between(0xe000, 0x10ffff)]), lengths),
    (points) => String.fromCodePoint(...points)
  )

/** A part of these fields: each is there or absent. */
export const someOf = <const F extends Readonly<Record<string, Arbitrary.Arbitrary<unknown>>>>(
  fields: F
): Arbitrary.Arbitrary<{ readonly [Name in keyof F]?: F[Name] extends Arbitrary.Arbitrary<infer A> ? A : never }> =>
  Arbitrary.map(
    Arbitrary.all(Object.entries(fields).map(([name, value]) =>
      Arbitrary.map(Arbitrary.all([boolean, value]), ([present, value]): ReadonlyArray<readonly [string, unknown]> =>
        present ? [[name, value]] : [])
    )),
    // True because each entry is one of the fields.
    (entries) =>
      Object.fromEntries(entries.flat()) as { readonly [Name in keyof F]?: never }
  )

/** One of these generators, in proportion to its weight. */
export const weighted = <A>(
  ...choices: readonly [readonly [weight: number, Arbitrary.Arbitrary<A>], ...ReadonlyArray<readonly [number, Arbitrary.Arbitrary<A>]>]
): Arbitrary.Arbitrary<A> => {
  const all = choices.flatMap(([weight, arbitrary]) => Array.from({ length: weight }, () => arbitrary))
  return Arbitrary.flatMap(elementOf(all), (arbitrary) => arbitrary)
}

/** One of these generators, each with the same frequency. */
export const oneOf = <A>(...arbitraries: readonly [Arbitrary.Arbitrary<A>, ...Array<Arbitrary.Arbitrary<A>>]): Arbitrary.Arbitrary<A> =>
  Arbitrary.flatMap(between(0, arbitraries.length - 1), (index) => arbitraries[index] ?? arbitraries[0])

/** Texts with the UTF-16 code units of `unit`. */
export const textOf = (unit: Arbitrary.Arbitrary<number>, lengths?: Lengths): Arbitrary.Arbitrary<string> =>
  Arbitrary.map(arrayOf(unit, lengths), (units) => String.fromCharCode(...units))

export const text = Arbitrary.schema(Schema.String)

/** Any value that `JSON.parse` returns. Negative zero is the one value that JSON text doesn't keep. */
export const json = Arbitrary.map(Arbitrary.schema(Schema.Json), (value): unknown => JSON.parse(JSON.stringify(value)))

/** The fields of a JSON object, with these names. */
export const jsonFields = (name: Schema.Codec<string>): Arbitrary.Arbitrary<Readonly<Record<string, unknown>>> =>
  Arbitrary.map(
    arrayOf(Arbitrary.all([Arbitrary.schema(name), json])),
    Object.fromEntries<unknown>
  )

/** An instant with a year of four digits, as JSON shows it. */
export const date = Arbitrary.map(
  between(Date.parse("0000-01-01T00:00:00.000Z"), Date.parse("9999-12-31T23:59:59.999Z")),
  (millis) => new Date(millis).toISOString()
)
