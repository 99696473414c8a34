/**
 * Bodies and queries as they are sent.
 */
import { describe, expect, it } from "@effect/vitest"
import { between, json, text } from "@plaza/testing/Generators"
import { Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { Cursor, MediaId } from "../src/Ids.ts"
import * as Requests from "../src/Requests.ts"

const reads = (schema: Schema.ConstraintDecoder<unknown>, value: unknown) => Schema.decodeUnknownOption(schema)(value)._tag === "Some"

describe("the query of a list", () => {
  it.prop("accepts every limit from 1 to 100, as text in a query", [between(1, 100)], ([limit]) => {
    expect(Schema.decodeUnknownSync(Requests.PageQuery)({ limit: String(limit) })).toEqual({ limit })
    expect(Schema.encodeSync(Requests.PageQuery)({ limit })).toEqual({ limit: String(limit) })
  })

  const otherNumber = Arbitrary.filter(Arbitrary.schema(Schema.Number), (size) => !(Number.isInteger(size) && size >= 1 && size <= 100))

  it.prop("rejects every other number", [otherNumber], ([size]) => {
    expect(reads(Requests.PageQuery, { limit: String(size) })).toBe(false)
  })

  it.each(["", " ", "ten", "NaN", "5;", "0x", "1,5", "1e1", "0x10", "0b1", "+5", " 10", "10\n", "5.0", "٥", "1_0", "0", "101"])(
    "refuses the limit %j and reports the valid ones",
    (limit) => {
      expect(() => Schema.decodeUnknownSync(Requests.PageQuery)({ limit })).toThrow("must be a whole number from 1 to 100")
    }
  )

  it.each([0, 101, 1.5, Number.NaN])("doesn't encode the limit %j", (limit) => {
    expect(() => Schema.encodeSync(Requests.PageQuery)({ limit })).toThrow("must be a whole number from 1 to 100")
  })

  it("may be empty, and is then encoded as empty", () => {
    expect(Schema.decodeUnknownSync(Requests.PageQuery)({})).toEqual({})
    expect(Schema.encodeSync(Requests.PageQuery)({})).toStrictEqual({})
    expect(Schema.encodeSync(Requests.PageQuery)({ limit: undefined, cursor: undefined })).toStrictEqual({})
  })

  it.prop("keeps a cursor unchanged", [text], ([cursor]) => {
    expect(Schema.encodeSync(Requests.PageQuery)({ cursor: Cursor.make(cursor) })).toEqual({ cursor })
  })
})

describe("a new post", () => {
  it("has text, media or both", () => {
    expect(Schema.encodeSync(Requests.NewPost)({ text: "" })).toEqual({ text: "" })
    expect(Schema.encodeSync(Requests.NewPost)({ text: "a", mediaIds: [MediaId.make("007")] })).toEqual({ text: "a", mediaIds: ["007"] })
    expect(Schema.encodeSync(Requests.NewPost)({ mediaIds: [MediaId.make("1")] })).toEqual({ mediaIds: ["1"] })
    expect(reads(Requests.NewPost, { text: "a", mediaIds: [7] })).toBe(false)
  })

  it("has no field that is null, undefined or absent", () => {
    expect(Schema.encodeSync(Requests.NewPost)({ text: "a", mediaIds: undefined })).toStrictEqual({ text: "a" })
    expect(Schema.decodeUnknownSync(Requests.NewPost)({ text: null, mediaIds: [] })).toStrictEqual({ mediaIds: [] })
    expect(Schema.decodeUnknownSync(Requests.NewPost)({ text: undefined })).toStrictEqual({})
  })
})

describe("a stock update", () => {
  it.prop("is one finite number, zero included", [Schema.Number], ([stock]) => {
    expect(reads(Requests.StockUpdate, { stock })).toBe(Number.isFinite(stock))
  })

  it.each([{}, { stock: null }, { stock: "5" }, { stock: "" }, { stock: Number.NaN }, { stock: Number.POSITIVE_INFINITY }])(
    "%j is never decoded as zero",
    (body) => {
      expect(reads(Requests.StockUpdate, body)).toBe(false)
    }
  )
})

describe("a shipment", () => {
  it.each([{ carrier: "a" }, { trackingNumber: "b" }, { carrier: "a", trackingNumber: null }])("%j lacks a field", (body) => {
    expect(reads(Requests.NewShipment, body)).toBe(false)
  })

  it("keeps a tracking number that looks like a number unchanged", () => {
    expect(Schema.decodeUnknownSync(Requests.NewShipment)({ carrier: "a", trackingNumber: "007" }).trackingNumber).toBe("007")
  })
})

describe("a story", () => {
  it.prop("is any JSON object, and is not changed", [Schema.Record(Schema.String, Schema.Json)], ([story]) => {
    expect(Schema.encodeSync(Requests.NewStory)(Schema.decodeUnknownSync(Requests.NewStory)(story))).toEqual(story)
  })

  it.prop("is no other JSON", [json], ([body]) => {
    expect(reads(Requests.NewStory, body)).toBe(typeof body === "object" && body !== null && !Array.isArray(body))
  })
})
