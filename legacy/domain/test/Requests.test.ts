/**
 * Bodies and queries as they are sent.
 */
import { it } from "@effect/vitest"
import { Either, FastCheck, Schema } from "effect"
import { describe, expect } from "vitest"
import { Cursor, MediaId } from "../src/Ids.ts"
import * as Requests from "../src/Requests.ts"

const reads = (schema: Schema.Schema.AnyNoContext, value: unknown) => Either.isRight(Schema.decodeUnknownEither(schema)(value))

describe("the query of a list", () => {
  it.prop("accepts every limit from 1 to 100, as text in a query", [FastCheck.integer({ min: 1, max: 100 })], ([limit]) => {
    expect(Schema.decodeUnknownSync(Requests.PageQuery)({ limit: String(limit) })).toEqual({ limit })
    expect(Schema.encodeSync(Requests.PageQuery)({ limit })).toEqual({ limit: String(limit) })
  })

  it.prop("rejects every other number", [FastCheck.double().filter((size) => !(Number.isInteger(size) && size >= 1 && size <= 100))],
    ([size]) => {
      expect(reads(Requests.PageQuery, { limit: String(size) })).toBe(false)
    })

  it.each(["", " ", "ten", "5;", "0x", "1,5", "1e1", "0x10", "0b1", "+5", " 10", "10\n", "5.0", "٥", "1_0"])(
    "refuses the limit %j and says what to write",
    (limit) => {
      expect(reads(Requests.PageQuery, { limit })).toBe(false)
    }
  )

  it("reports the valid limits in the error", () => {
    for (const limit of ["101", "1e1"]) {
      const refusal = Schema.decodeUnknownEither(Requests.PageQuery)({ limit })
      expect(Either.getOrThrow(Either.flip(refusal)).message).toContain("must be a whole number from 1 to 100")
    }
  })

  it("may be empty, and is then encoded as empty", () => {
    expect(Schema.decodeUnknownSync(Requests.PageQuery)({})).toEqual({})
    expect(Schema.encodeSync(Requests.PageQuery)({})).toEqual({})
  })

  it.prop("keeps a cursor unchanged", [FastCheck.string({ unit: "binary" })], ([cursor]) => {
    expect(Schema.encodeSync(Requests.PageQuery)({ cursor: Cursor.make(cursor) })).toEqual({ cursor })
  })
})

describe("a new post", () => {
  it("has text, media or both, and omits undefined fields", () => {
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

  it.each([{}, { stock: null }, { stock: "5" }, { stock: "" }])("%j is never decoded as zero", (body) => {
    expect(reads(Requests.StockUpdate, body)).toBe(false)
  })
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
  it.prop("is any JSON object, and is not changed", [
    FastCheck.dictionary(FastCheck.string().map((key) => `x${key}`), FastCheck.jsonValue())
  ], ([story]) => {
    expect(Schema.encodeSync(Requests.NewStory)(Schema.decodeUnknownSync(Requests.NewStory)(story))).toEqual(story)
  })

  it.each([null, "text", 5])("%j is not a story", (body) => {
    expect(reads(Requests.NewStory, body)).toBe(false)
  })
})
