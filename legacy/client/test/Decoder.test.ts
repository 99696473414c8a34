/**
 * The decoder agrees with `Schema.decodeUnknownEither` on valid and invalid input: values, order of fields, messages.
 */
import { it } from "@effect/vitest"
import * as Resources from "@plaza-legacy/domain/Resources"
import { Arbitrary, Either, FastCheck as fc, Option, Schema } from "effect"
import * as AST from "effect/SchemaAST"
import { describe, expect } from "vitest"
import { decodeUnknownEither } from "../src/internal/contract/Decoder.ts"

interface Tree {
  readonly name: string
  readonly branches: ReadonlyArray<Tree>
}
const Tree: Schema.Schema<Tree> = Schema.Struct({
  name: Schema.String,
  branches: Schema.Array(Schema.suspend(() => Tree))
})

class Shelf extends Schema.Class<Shelf>("Shelf")({ id: Schema.String, height: Resources.optional(Schema.NumberFromString) }) {}

const Inner = Schema.Struct({ a: Schema.NumberFromString, b: Resources.optional(Schema.String) })

const sides = (fields: Readonly<Record<string, AST.AST>>, optional: ReadonlyArray<string> = []) =>
  new AST.TypeLiteral(Object.entries(fields).map(([name, type]) => new AST.PropertySignature(name, type, optional.includes(name), true)),
    [])

/** Syntax trees that the constructors of schemas never create: a struct whose two sides differ. */
const made = (from: AST.TypeLiteral, to: AST.TypeLiteral, ...transformations: ReadonlyArray<AST.PropertySignatureTransformation>) =>
  Schema.make<unknown, unknown>(new AST.Transformation(from, to, new AST.TypeLiteralTransformation(transformations)))

const string = AST.stringKeyword
const short = Schema.String.pipe(Schema.maxLength(1)).ast

/** Every response schema of the contract, and at least one schema of each kind that an application may pass. */
const schemas = {
  Profile: Resources.Profile,
  Post: Resources.Post,
  Media: Resources.Media,
  Comment: Resources.Comment,
  Product: Resources.Product,
  Order: Resources.Order,
  Conversation: Resources.Conversation,
  Message: Resources.Message,
  Confirmation: Resources.Confirmation,
  Timestamp: Resources.Timestamp,
  "a page of posts": Resources.Page(Resources.Post),
  "a page of structs within structs": Resources.Page(Schema.Struct({ inner: Inner, list: Resources.optional(Schema.Array(Inner)) })),
  "optional fields": Schema.Struct({
    plain: Schema.optional(Schema.String),
    exact: Schema.optionalWith(Schema.Boolean, { exact: true }),
    nullable: Schema.optionalWith(Schema.NumberFromString, { nullable: true }),
    option: Schema.optionalWith(Schema.String, { as: "Option", nullable: true }),
    byDefault: Schema.optionalWith(Schema.Number, { default: () => 7 }),
    orNothing: Schema.UndefinedOr(Schema.String)
  }),
  "renamed fields": Schema.Struct({
    a: Schema.propertySignature(Schema.String).pipe(Schema.fromKey("b")),
    c: Schema.optionalWith(Inner, { default: () => ({ a: 1 }) }).pipe(Schema.fromKey("d"))
  }),
  "fields that change places": Schema.Struct({
    a: Schema.propertySignature(Schema.String).pipe(Schema.fromKey("b")),
    b: Schema.propertySignature(Schema.String).pipe(Schema.fromKey("a"))
  }),
  "one field from another's name": Schema.Struct({
    a: Schema.propertySignature(Schema.NumberFromString).pipe(Schema.fromKey("b")),
    b: Schema.propertySignature(Schema.String).pipe(Schema.fromKey("c"))
  }),
  "fields that every object has": Schema.Struct({ constructor: Schema.optional(Schema.Unknown), toString: Schema.Unknown }),
  "a struct that adds fields nobody asked for": Schema.Struct({
    date: Schema.transform(Schema.String, Schema.Struct({ text: Schema.String }), {
      strict: false,
      decode: (text: string) => ({ text, more: true }),
      encode: ({ text }) => text
    }),
    other: Resources.optional(Schema.String)
  }),
  "a filter on a struct": Schema.Struct({ a: Schema.String, b: Resources.optional(Schema.String) }).pipe(
    Schema.filter(({ a, b }) => a !== b)
  ),
  refinements: Schema.Struct({ short: Schema.String.pipe(Schema.maxLength(3)), whole: Schema.Int, more: Schema.NonEmptyTrimmedString }),
  "no field unasked": Schema.Struct({ a: Schema.Array(Inner) }).annotations({ parseOptions: { onExcessProperty: "error" } }),
  "items without fields unasked": Schema.Array(Inner).annotations({ parseOptions: { onExcessProperty: "error" } }),
  "no field unasked, and renamed": Schema.rename(
    Schema.Struct({ a: Schema.String }).annotations({ parseOptions: { onExcessProperty: "error" } }),
    { a: "b" }
  ),
  "exactly these fields": Schema.Struct({ a: Schema.Unknown, b: Inner }).annotations({ parseOptions: { exact: true } }),
  "a value to fall back on": Schema.Struct({
    a: Schema.Number.annotations({ decodingFallback: () => Either.right(3) }),
    b: Resources.optional(Schema.String)
  }),
  "one of two, the first with a value to fall back on": Schema.Union(
    Schema.Number.annotations({ decodingFallback: () => Either.right(3) }),
    Schema.String
  ),
  "a tagged struct behind one that takes it too": Schema.Union(
    Schema.Struct({ a: Schema.Number }),
    Schema.Struct({ kind: Schema.Literal("a"), a: Schema.Number })
  ),
  "tagged structs": Schema.Union(
    Schema.Struct({ kind: Schema.Literal("a"), n: Schema.NumberFromString }),
    Schema.Struct({ kind: Schema.Literal("b"), s: Resources.optional(Schema.String) })
  ),
  "structs beside each other": Schema.Union(Schema.Struct({ a: Schema.Number }), Schema.Struct({ b: Schema.Number }), Schema.Struct({})),
  "one string or another": Schema.Union(Schema.NumberFromString, Schema.String, Schema.Null),
  "a string before a number in one": Schema.Union(Schema.String, Schema.NumberFromString),
  records: Schema.Struct({ by: Schema.Record({ key: Schema.String, value: Inner }) }),
  "fields and others": Schema.Struct({ a: Schema.String }, { key: Schema.String, value: Schema.Unknown }),
  "a struct without fields": Schema.Struct({ any: Schema.Struct({}) }),
  "items before a last one": Schema.Tuple([], Inner, Schema.Number),
  tuples: Schema.Tuple([Schema.String, Schema.optionalElement(Schema.NumberFromString)], Inner),
  "at least one": Schema.NonEmptyArray(Inner),
  enums: Schema.Literal("a", "b", 1, null, true),
  "any kind": Schema.Struct({
    o: Schema.Object,
    n: Schema.Null,
    big: Schema.BigInt,
    date: Schema.Date,
    never: Schema.optional(Schema.Never)
  }),
  "sets and maps": Schema.Struct({ set: Schema.ReadonlySet(Inner), option: Schema.Option(Schema.String) }),
  "by hand, a field with another type": made(sides({ a: string, b: string }), sides({ a: string, b: short })),
  "by hand, a field of items with another type": made(
    sides({ a: Schema.Array(Schema.Struct({ b: Schema.String })).ast }),
    sides({ a: Schema.Array(Schema.Struct({ b: Schema.String.pipe(Schema.maxLength(1)) })).ast })
  ),
  "by hand, a field that goes nowhere": made(sides({ a: string, b: short }), sides({ a: string })),
  "by hand, a field from nowhere": made(sides({ a: string }), sides({ a: string, b: AST.unknownKeyword })),
  "by hand, a field that is lost but asked for": made(
    sides({ a: string }),
    sides({ a: Schema.UndefinedOr(Schema.String).ast }),
    new AST.PropertySignatureTransformation("a", "a", Option.none, Option.none)
  ),
  composed: Schema.compose(Schema.parseJson(), Inner),
  Tree,
  Shelf,
  Unknown: Schema.Unknown,
  Void: Schema.Void
}

const dates = [
  "2026-10-01T12:00:00.000Z",
  "2026-10-01T14:00:00+02:00",
  "2026-10-01T12:00:00.123456789Z",
  "2026-10-01",
  "2026-02-30T00:00:00Z",
  "2026-10-01T24:00:00Z",
  "2016-12-31T23:59:60Z",
  "+275760-09-13T00:00:00.001Z",
  "-000001-01-01T00:00:00Z",
  " 2026-10-01",
  "1790856000000",
  "yesterday"
]
const texts = ["", "a", "b", "007", "7", "1e400", "{\"a\":\"1\"}", ...dates]
const leaf = fc.oneof(fc.constantFrom<unknown>(...texts, null, undefined, 0, -1, 1.5, Number.NaN, true, [], {}), fc.jsonValue())

/** A change of a value: the position as choices among its parts, and the change. */
const harm = fc.record({
  path: fc.array(fc.nat(5), { maxLength: 4 }),
  kind: fc.constantFrom("replace", "remove", "add"),
  // `JSON.parse` makes `__proto__` a field as any other.
  name: fc.constantFrom("more", "__proto__", "constructor", "toString", "id", "createdAt", "data"),
  value: leaf
})
type Harm = Readonly<{ path: ReadonlyArray<number>; kind: string; name: string; value: unknown }>

const withField = (value: object, name: string, field: unknown): object =>
  Object.defineProperty({ ...value }, name, { value: field, enumerable: true, configurable: true, writable: true })

const harmed = (value: unknown, { kind, name: added, path, value: other }: Harm): unknown => {
  const [choice, ...rest] = path
  if (choice === undefined || typeof value !== "object" || value === null) {
    return kind === "add" && typeof value === "object" && value !== null && !Array.isArray(value) ? withField(value, added, other) : other
  }
  const entries: ReadonlyArray<readonly [string, unknown]> = Object.entries(value)
  const at = entries.length === 0 ? 0 : choice % entries.length
  const changed = entries.flatMap(([name, item], index) =>
    index !== at
      ? [[name, item] as const]
      : kind === "remove" && rest.length === 0
      ? []
      : [[name, harmed(item, { kind, name: added, path: rest, value: other })] as const]
  )
  return Array.isArray(value) ? changed.map(([, item]) => item) : Object.fromEntries<unknown>(changed)
}

/** The decoded value, including the order of its fields, or the error message. */
const told = (result: Either.Either<unknown, Error>) =>
  Either.match(result, { onLeft: ({ message }) => message, onRight: (value) => [value, value?.constructor, orderOf(value)] })

const orderOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(orderOf)
    : typeof value === "object" && value !== null
    ? Object.entries(value).map(([name, item]) => [name, orderOf(item)])
    : typeof value

describe.each(Object.entries<Schema.Schema<unknown, unknown>>(
  // Schemas are invariant. The tests pass a schema only values that it accepts or produced, or values that it must reject.
  schemas as unknown as Readonly<Record<string, Schema.Schema<unknown, unknown>>>
))("%s", (_name, schema) => {
  const soon = decodeUnknownEither(schema)
  const own = Schema.decodeUnknownEither(schema)
  const agree = (input: unknown): void => {
    expect(told(soon(input))).toEqual(told(own(input)))
  }
  const good = Arbitrary.make(Schema.encodedSchema(schema))

  it.prop("is decoded like Schema does, for a valid value", [good], ([input]) => agree(input))

  it.prop("is decoded like Schema does, for a value with invalid or unknown parts", [good, fc.array(harm, { minLength: 1, maxLength: 3 })],
    ([input, harms]) => agree(harms.reduce(harmed, input)))

  it.prop("is decoded like Schema does, for any value", [fc.oneof(leaf, fc.anything())], ([input]) => agree(input))

  it.prop("is decoded like Schema does, for inherited fields and for an object without a prototype", [good], ([input]) => {
    if (typeof input === "object" && input !== null && !Array.isArray(input)) {
      agree(Object.create(input))
      agree(Object.assign(Object.create(null), input))
    }
  })

  it.prop("doesn't change its input", [good], ([input]) => {
    const before = structuredClone(input)
    soon(input)
    expect(input).toEqual(before)
  })
})
