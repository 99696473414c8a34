/**
 * The resources on the wire: what the document shows is read, what it doesn't show is ignored, and what is written can
 * be read again.
 */
import { it } from "@effect/vitest"
import { Arbitrary, DateTime, Either, FastCheck, Schema } from "effect"
import { describe, expect } from "vitest"
import { Cursor, ProductId } from "../src/Ids.ts"
import * as Resources from "../src/Resources.ts"

const text = FastCheck.string({ unit: "binary" })
// JSON knows no negative zero.
const number = FastCheck.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
const date = FastCheck.date({ min: new Date("0000-01-01T00:00:00.000Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true })
  .map((value) => value.toISOString())

type Fields = Readonly<Record<string, FastCheck.Arbitrary<unknown>>>
interface Resource {
  readonly schema: Schema.Schema<unknown, unknown>
  readonly required: Fields
  readonly optional: Fields
}

/** Erases the type of a schema, so that all schemas use the same tests. */
const resource = <A, I>(schema: Schema.Schema<A, I>, required: Fields, optional: Fields = {}): Resource => ({
  // Schemas are invariant. The tests pass a schema only values that it accepts or produced, or values that it must reject.
  schema: schema as unknown as Schema.Schema<unknown, unknown>,
  required,
  optional
})

const mediaIds = FastCheck.array(text, { maxLength: 3 })
const post = { id: text }
const page = (item: FastCheck.Arbitrary<unknown>) => ({
  data: FastCheck.array(item, { maxLength: 4 }),
  next_cursor: FastCheck.option(text.filter((cursor) => cursor !== ""))
})

const resources: Readonly<Record<string, Resource>> = {
  Profile: resource(Resources.Profile, {}, { id: text, username: text }),
  Post: resource(Resources.Post, post, { text, mediaIds, createdAt: date }),
  Media: resource(Resources.Media, { mediaId: text }),
  Comment: resource(Resources.Comment, {}, { text }),
  Product: resource(Resources.Product, { id: text }, { stock: number }),
  Order: resource(Resources.Order, { id: text }, { carrier: text, trackingNumber: text }),
  Conversation: resource(Resources.Conversation, { id: text }),
  Message: resource(Resources.Message, {}, { text }),
  "a page of posts": resource(Resources.Page(Resources.Post), page(FastCheck.record(post))),
  "a page of conversations": resource(Resources.Page(Resources.Conversation), page(FastCheck.record({ id: text })))
}

const wire = ({ optional, required }: Resource): FastCheck.Arbitrary<Readonly<Record<string, unknown>>> =>
  FastCheck.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) })

/** Unknown fields, at least one. */
const unknownFields = FastCheck.dictionary(text.map((name) => `x${name}`), FastCheck.jsonValue(), { minKeys: 1, maxKeys: 3 })

/** The same resource with some omitted fields as null. */
const nulls = ({ optional }: Resource) => FastCheck.subarray(Object.keys(optional))

describe.each(Object.entries(resources))("%s", (_name, subject) => {
  const { schema } = subject
  const decode = Schema.decodeUnknownSync(schema)
  const encode = Schema.encodeSync(schema)

  it.prop("decodes and encodes to the documented fields", [wire(subject)], ([sent]) => {
    expect(encode(decode(sent))).toEqual(sent)
  })

  it.prop("encodes to JSON and decodes to the same value", [Arbitrary.make(schema)], ([value]) => {
    const received: unknown = JSON.parse(JSON.stringify(encode(value)))
    expect(Schema.equivalence(schema)(decode(received), value)).toBe(true)
  })

  it.prop("is decoded equally with unknown fields", [wire(subject), unknownFields], ([sent, more]) => {
    expect(decode({ ...more, ...sent })).toEqual(decode(sent))
  })

  it.prop("is decoded equally with a field that is null or omitted", [wire(subject), nulls(subject)], ([sent, names]) => {
    const nothing = Object.fromEntries(names.filter((name) => !(name in sent)).map((name) => [name, null]))
    expect(decode({ ...sent, ...nothing })).toEqual(decode(sent))
  })

  it.prop("is rejected without a required field", [wire(subject)], ([sent]) => {
    for (const name of Object.keys(subject.required).filter((name) => name !== "next_cursor")) {
      const { [name]: _, ...rest } = sent
      expect(Either.isLeft(Schema.decodeUnknownEither(schema)(rest))).toBe(true)
      expect(Either.isLeft(Schema.decodeUnknownEither(schema)({ ...rest, [name]: null }))).toBe(true)
    }
  })
})

describe("ids", () => {
  it.each(["007", "12345678901234567890", "1e3", "conv_42", " 7 "])("%j stays unchanged", (id) => {
    const read = Schema.decodeUnknownSync(Resources.Product)({ id })
    expect(read.id).toBe(id)
    expect(Schema.encodeSync(Resources.Product)(read)).toEqual({ id })
  })

  it("are never numbers, also not on the wire", () => {
    expect(Either.isLeft(Schema.decodeUnknownEither(Resources.Product)({ id: 7 }))).toBe(true)
  })
})

describe("stock", () => {
  it("of zero is decoded as zero, not as missing", () => {
    expect(Schema.decodeUnknownSync(Resources.Product)({ id: "1", stock: 0 })).toEqual({ id: ProductId.make("1"), stock: 0 })
    expect(Schema.encodeSync(Resources.Product)({ id: ProductId.make("1"), stock: 0 })).toEqual({ id: "1", stock: 0 })
  })

  it.each(["5", true, Number.NaN, Number.POSITIVE_INFINITY])("%s is not a stock", (stock) => {
    expect(Either.isLeft(Schema.decodeUnknownEither(Resources.Product)({ id: "1", stock }))).toBe(true)
  })
})

describe("dates", () => {
  it.prop("are encoded in UTC with milliseconds and a trailing Z", [date], ([written]) => {
    expect(Schema.encodeSync(Resources.Timestamp)(Schema.decodeSync(Resources.Timestamp)(written))).toBe(written)
    expect(written).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  it("with another offset are decoded to the same instant", () => {
    const moment = Schema.decodeSync(Resources.Timestamp)("2026-10-01T14:00:00.000+02:00")
    expect(DateTime.formatIso(moment)).toBe("2026-10-01T12:00:00.000Z")
  })

  it.each(["yesterday", "", 1_790_000_000_000, null])("%j is not a date", (value) => {
    expect(Either.isLeft(Schema.decodeUnknownEither(Resources.Timestamp)(value))).toBe(true)
  })
})

describe("a page", () => {
  const Page = Resources.Page(Resources.Conversation)

  it("without next_cursor is the last page, as with null or an empty string", () => {
    const last = { data: [], nextCursor: null }
    expect(Schema.decodeUnknownSync(Page)({ data: [] })).toEqual(last)
    expect(Schema.decodeUnknownSync(Page)({ data: [], next_cursor: null })).toEqual(last)
    expect(Schema.decodeUnknownSync(Page)({ data: [], next_cursor: "" })).toEqual(last)
  })

  it("always encodes next_cursor, also null", () => {
    expect(Schema.encodeSync(Page)({ data: [], nextCursor: null })).toEqual({ data: [], next_cursor: null })
    expect(Schema.encodeSync(Page)({ data: [], nextCursor: Cursor.make("a") })).toEqual({ data: [], next_cursor: "a" })
  })

  it("is rejected if an item can't be decoded", () => {
    expect(Either.isLeft(Schema.decodeUnknownEither(Page)({ data: [{ id: "a" }, {}] }))).toBe(true)
  })
})

describe("a confirmation", () => {
  it.prop("may be any JSON, because the document shows none", [FastCheck.jsonValue()], ([answer]) => {
    expect(Schema.decodeUnknownSync(Resources.Confirmation)(answer)).toEqual(answer)
  })
})
