/**
 * The resources on the wire: what the document shows is read, what it doesn't show is ignored, and what is written can
 * be read again.
 */
import { describe, expect, it } from "@effect/vitest"
import { arrayOf, date, json, oneOf, text } from "@plaza/testing/Generators"
import { Arbitrary, DateTime, Option, Result, Schema } from "effect"
import { Cursor, ProductId } from "../src/Ids.ts"
import * as Resources from "../src/Resources.ts"

// JSON knows no negative zero.
const number = Arbitrary.map(Arbitrary.schema(Schema.Finite), (value) => value + 0)

type Fields = Readonly<Record<string, Arbitrary.Arbitrary<unknown>>>
interface Resource {
  readonly schema: Schema.Codec<unknown>
  readonly required: Fields
  readonly optional: Fields
  /** Decoded values. */
  readonly value: Arbitrary.Arbitrary<unknown>
}

const resource = (schema: Schema.Codec<unknown>, required: Fields, optional: Fields = {}): Resource => ({
  schema,
  required,
  optional,
  value: Arbitrary.schema(schema)
})

const mediaIds = arrayOf(text, { maxLength: 3 })
const nextCursor = oneOf<string | null>(Arbitrary.Constant(null), Arbitrary.filter(text, (cursor) => cursor !== ""))
const page = (item: Schema.Codec<unknown>, fields: Fields): Resource => ({
  schema: Resources.Page(item),
  required: {
    data: arrayOf(Arbitrary.map(Arbitrary.all(fields), (fields) => ({ ...fields })), { maxLength: 4 }),
    next_cursor: nextCursor
  },
  optional: {},
  value: Arbitrary.all({ data: arrayOf(Arbitrary.schema(item)), nextCursor })
})

const resources: Readonly<Record<string, Resource>> = {
  Profile: resource(Resources.Profile, {}, { id: text, username: text }),
  Post: resource(Resources.Post, { id: text }, { text, mediaIds, createdAt: date }),
  Media: resource(Resources.Media, { mediaId: text }),
  Comment: resource(Resources.Comment, {}, { text }),
  Product: resource(Resources.Product, { id: text }, { stock: number }),
  Order: resource(Resources.Order, { id: text }, { carrier: text, trackingNumber: text }),
  Conversation: resource(Resources.Conversation, { id: text }),
  Message: resource(Resources.Message, {}, { text }),
  "a page of posts": page(Resources.Post, { id: text, createdAt: date }),
  "a page of conversations": page(Resources.Conversation, { id: text })
}

/** A resource on the wire. Each optional field is present, null, undefined or absent. */
const wire = ({ optional, required }: Resource): Arbitrary.Arbitrary<Readonly<Record<string, unknown>>> =>
  Arbitrary.map(
    Arbitrary.all({
      ...required,
      ...Object.fromEntries(
        Object.entries(optional).map(([name, value]) => [
          name,
          oneOf<unknown>(value, value, Arbitrary.Constant(null), Arbitrary.Constant(undefined), Arbitrary.Constant(absent))
        ])
      )
    }),
    (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== absent))
  )
const absent = Symbol("absent")

/** The same without the fields that have no value. */
const present = (sent: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(sent).filter(([name, value]) => (value ?? undefined) !== undefined || name === "next_cursor"))

const unknownFields = Arbitrary.map(
  Arbitrary.schema(Schema.Record(Schema.String, Schema.Json)),
  (fields) => Object.fromEntries(Object.entries(fields).map(([name, value]) => [`x${name}`, value]))
)

describe.each(Object.entries(resources))("%s", (_name, subject) => {
  const { schema } = subject
  const decode = Schema.decodeUnknownSync(schema)
  const encode = Schema.encodeSync(schema)

  it.prop("decodes and encodes to the documented fields that have a value", [wire(subject)], ([sent]) => {
    expect(encode(decode(sent))).toStrictEqual(present(sent))
  })

  it.prop("encodes to JSON and decodes to the same value", [subject.value], ([value]) => {
    const received: unknown = JSON.parse(JSON.stringify(encode(value)))
    // Two encodings are the same exactly if the values are, whatever form an absent field has.
    expect(encode(decode(received))).toEqual(received)
  })

  it.prop("is decoded equally with unknown fields", [wire(subject), unknownFields], ([sent, more]) => {
    expect(decode({ ...more, ...sent })).toStrictEqual(decode(sent))
  })

  it.prop("is decoded equally with a field that is null, undefined or absent", [wire(subject)], ([sent]) => {
    expect(decode(sent)).toStrictEqual(decode(present(sent)))
  })

  it.prop("is rejected without a required field", [wire(subject)], ([sent]) => {
    for (const name of Object.keys(subject.required).filter((name) => name !== "next_cursor")) {
      const { [name]: _, ...rest } = sent
      expect(() => decode(rest)).toThrow(name)
      expect(() => decode({ ...rest, [name]: null })).toThrow(name)
    }
  })

  it.prop("is decoded from any JSON, or rejected with a message without its values", [
    oneOf<unknown>(json,
      Arbitrary.map(Arbitrary.all([wire(subject), Arbitrary.schema(Schema.Record(Schema.String, Schema.Json))]),
        ([sent, more]) => ({ ...sent, ...more })))
  ], ([received]) => {
    const decoded = Schema.decodeUnknownResult(schema)(received)
    expect(Result.isSuccess(decoded) || Schema.isSchemaError(decoded.failure)).toBe(true)
  })
})

describe("a message of a decode error", () => {
  it("has the path and not the value, which may be a secret", () => {
    expect(() => Schema.decodeUnknownSync(Resources.Page(Resources.Post))({ data: [{ id: "1" }, { id: { secret: "s3cr3t" } }] })).toThrow(
      /^(?!.*s3cr3t)[^]*\["data"\]\[1\]\["id"\]/
    )
  })
})

describe("ids", () => {
  it.each(["007", "12345678901234567890", "1e3", "conv_42", " 7 "])("%j stays unchanged", (id) => {
    const read = Schema.decodeUnknownSync(Resources.Product)({ id })
    expect(read.id).toBe(id)
    expect(Schema.encodeSync(Resources.Product)(read)).toEqual({ id })
  })

  it("are never numbers, also not on the wire", () => {
    expect(() => Schema.decodeUnknownSync(Resources.Product)({ id: 7 })).toThrow("Expected string")
  })
})

describe("stock", () => {
  it("of zero is decoded as zero, not as missing", () => {
    expect(Schema.decodeUnknownSync(Resources.Product)({ id: "1", stock: 0 })).toEqual({ id: ProductId.make("1"), stock: 0 })
    expect(Schema.encodeSync(Resources.Product)({ id: ProductId.make("1"), stock: 0 })).toEqual({ id: "1", stock: 0 })
  })

  it.each(["5", true, Number.NaN, Number.POSITIVE_INFINITY])("%s is not a stock", (stock) => {
    expect(Option.isNone(Schema.decodeUnknownOption(Resources.Product)({ id: "1", stock }))).toBe(true)
  })
})

describe("dates", () => {
  const decode = Schema.decodeUnknownSync(Resources.Timestamp)

  it.prop("are encoded in UTC with milliseconds and a trailing Z", [date], ([written]) => {
    expect(Schema.encodeSync(Resources.Timestamp)(decode(written))).toBe(written)
    expect(written).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  it.each([
    ["2026-10-01T14:00:00.000+02:00", "2026-10-01T12:00:00.000Z"],
    ["2026-10-01T06:30:00-05:30", "2026-10-01T12:00:00.000Z"],
    ["2026-10-01T12:00:00Z", "2026-10-01T12:00:00.000Z"],
    ["2026-10-01T12:00:00.1Z", "2026-10-01T12:00:00.100Z"],
    ["2026-10-01T12:00:00.123456789Z", "2026-10-01T12:00:00.123Z"],
    ["2026-10-01T12:00Z", "2026-10-01T12:00:00.000Z"],
    ["2026-10-01", "2026-10-01T00:00:00.000Z"]
  ])("%s is the instant %s", (text, instant) => {
    expect(DateTime.formatIso(decode(text))).toBe(instant)
  })

  it.each(["yesterday", "", "2026-13-01T00:00:00.000Z", 1_790_000_000_000, null])("%j is not a date", (value) => {
    expect(Option.isNone(Schema.decodeUnknownOption(Resources.Timestamp)(value))).toBe(true)
  })
})

describe("a page", () => {
  const Page = Resources.Page(Resources.Conversation)

  it("without next_cursor is the last page, as with null or an empty string", () => {
    const last = { data: [], nextCursor: null }
    for (const end of [{}, { next_cursor: null }, { next_cursor: undefined }, { next_cursor: "" }]) {
      expect(Schema.decodeUnknownSync(Page)({ data: [], ...end })).toEqual(last)
    }
  })

  it("always encodes next_cursor, also null", () => {
    expect(Schema.encodeSync(Page)({ data: [], nextCursor: null })).toEqual({ data: [], next_cursor: null })
    expect(Schema.encodeSync(Page)({ data: [], nextCursor: Cursor.make("a") })).toEqual({ data: [], next_cursor: "a" })
  })

  it("is rejected if an item can't be decoded or encoded, with the place of the item", () => {
    expect(() => Schema.decodeUnknownSync(Page)({ data: [{ id: "a" }, {}] })).toThrow(`["data"][1]["id"]`)
    expect(() => Schema.encodeUnknownSync(Page)({ data: [{ id: "a" }, {}], nextCursor: null })).toThrow(`["data"][1]["id"]`)
  })
})

describe("a confirmation", () => {
  it.prop("may be any JSON, because the document shows none", [json], ([response]) => {
    expect(Schema.decodeUnknownSync(Resources.Confirmation)(response)).toEqual(response)
  })
})
