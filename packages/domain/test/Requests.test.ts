/**
 * Bodies and queries as they are sent.
 */
import { it } from "@effect/vitest"
import { Either, FastCheck, Schema } from "effect"
import { describe, expect } from "vitest"
import { Cursor, MediaId } from "../src/Ids.js"
import * as Requests from "../src/Requests.js"

const reads = (schema: Schema.Schema.AnyNoContext, value: unknown) => Either.isRight(Schema.decodeUnknownEither(schema)(value))

describe("the query of a list", () => {
  it.prop("takes every limit from 1 to 100, as the text it is in a query", [FastCheck.integer({ min: 1, max: 100 })], ([limit]) => {
    expect(Schema.decodeUnknownSync(Requests.PageQuery)({ limit: String(limit) })).toEqual({ limit })
    expect(Schema.encodeSync(Requests.PageQuery)({ limit })).toEqual({ limit: String(limit) })
  })

  it.prop("refuses every other number", [FastCheck.double().filter((size) => !(Number.isInteger(size) && size >= 1 && size <= 100))],
    ([size]) => {
      expect(reads(Requests.PageQuery, { limit: String(size) })).toBe(false)
    })

  it.each(["", " ", "ten", "5;", "0x", "1,5", "1e1", "0x10", "0b1", "+5", " 10", "10\n", "5.0", "٥", "1_0"])(
    "refuses the limit %j and says what to write",
    (limit) => {
      expect(reads(Requests.PageQuery, { limit })).toBe(false)
    }
  )

  it("tells in the refusal what a limit may be", () => {
    for (const limit of ["101", "1e1"]) {
      const refusal = Schema.decodeUnknownEither(Requests.PageQuery)({ limit })
      expect(Either.getOrThrow(Either.flip(refusal)).message).toContain("must be a whole number from 1 to 100")
    }
  })

  it("may be left out whole, and asks for nothing then", () => {
    expect(Schema.decodeUnknownSync(Requests.PageQuery)({})).toEqual({})
    expect(Schema.encodeSync(Requests.PageQuery)({})).toEqual({})
  })

  it.prop("hands a cursor on as it came", [FastCheck.string({ unit: "binary" })], ([cursor]) => {
    expect(Schema.encodeSync(Requests.PageQuery)({ cursor: Cursor.make(cursor) })).toEqual({ cursor })
  })
})

describe("a new post", () => {
  it("has text, media or both, and leaves out what is undefined", () => {
    expect(Schema.encodeSync(Requests.NewPost)({ text: "" })).toEqual({ text: "" })
    expect(Schema.encodeSync(Requests.NewPost)({ text: "a", mediaIds: [MediaId.make("007")] })).toEqual({ text: "a", mediaIds: ["007"] })
    expect(Schema.encodeSync(Requests.NewPost)({ mediaIds: [MediaId.make("1")] })).toEqual({ mediaIds: ["1"] })
    expect(JSON.stringify(Schema.encodeSync(Requests.NewPost)({ text: "a", mediaIds: undefined }))).toBe(`{"text":"a"}`)
    expect(Schema.decodeUnknownSync(Requests.NewPost)({ text: null, mediaIds: [] })).toEqual({ mediaIds: [] })
    expect(reads(Requests.NewPost, { text: "a", mediaIds: [7] })).toBe(false)
  })
})

describe("a stock update", () => {
  it.prop("is one finite number, zero included", [FastCheck.double()], ([stock]) => {
    expect(reads(Requests.StockUpdate, { stock })).toBe(Number.isFinite(stock))
  })

  it.each([{}, { stock: null }, { stock: "5" }, { stock: "" }])("%j is never read as zero", (body) => {
    expect(reads(Requests.StockUpdate, body)).toBe(false)
  })
})

describe("a shipment", () => {
  it.each([{ carrier: "a" }, { trackingNumber: "b" }, { carrier: "a", trackingNumber: null }])("%j lacks something", (body) => {
    expect(reads(Requests.NewShipment, body)).toBe(false)
  })

  it("keeps a tracking number that looks like a number as it is", () => {
    expect(Schema.decodeUnknownSync(Requests.NewShipment)({ carrier: "a", trackingNumber: "007" }).trackingNumber).toBe("007")
  })
})

describe("a story", () => {
  it.prop("is any JSON object, passed on as it is", [
    FastCheck.dictionary(FastCheck.string().map((key) => `x${key}`), FastCheck.jsonValue())
  ], ([story]) => {
    expect(Schema.encodeSync(Requests.NewStory)(Schema.decodeUnknownSync(Requests.NewStory)(story))).toEqual(story)
  })

  it.each([null, "text", 5])("%j is none", (body) => {
    expect(reads(Requests.NewStory, body)).toBe(false)
  })
})
