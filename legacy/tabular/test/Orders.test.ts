/**
 * Rows of shipments in every format.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Format from "@plaza-legacy/tabular/Format"
import * as Orders from "@plaza-legacy/tabular/Orders"
import { Effect } from "effect"
import { all, containing, inChunks } from "./support/reading.ts"

const read = (format: Format.Format, text: string) => all(Format.rows(format, Orders.schema, { source: "orders" })(inChunks(text, 7)))
const good = (line: number, orderId: string, carrier: string, trackingNumber: string) => ({
  _tag: "Valid",
  line,
  orderId,
  carrier,
  trackingNumber
})
const bad = (line: number, orderId: string | undefined, reason: string) => ({ _tag: "Rejected", line, orderId, reason: containing(reason) })

describe("a shipment", () => {
  it.effect("keeps every character of its three values in every format", () =>
    Effect.gen(function*() {
      const shipment = { orderId: "007", carrier: "Post; \"AG\"", trackingNumber: "0034 0434" }
      const rows = [good(1, "007", shipment.carrier, shipment.trackingNumber)]
      expect(yield* read("json", JSON.stringify([shipment]))).toEqual(rows)
      expect(yield* read("ndjson", `${JSON.stringify(shipment)}\n`)).toEqual(rows)
      expect(yield* read("csv", `carrier;code;orderId;trackingNumber\n"Post; ""AG""";x;007;0034 0434\n`)).toEqual([{ ...rows[0], line: 2 }])
    }))

  it.effect("is decoded without the text marks of spreadsheets", () =>
    Effect.map(read("csv", "orderId,carrier,trackingNumber\n=\"007\",'t Hart,=\"0034\"\n'008, DHL ,'0035\n"), (rows) =>
      expect(rows).toEqual([good(2, "007", "'t Hart", "0034"), good(3, "008", "DHL", "0035")])))

  it.effect("is rejected when a value is missing, empty, not text or rounded", () =>
    Effect.gen(function*() {
      const rows = yield* read("csv", "orderId,carrier,trackingNumber\n,DHL,1\nA, ,1\nB,DHL,\nC,DHL,3.40434E+17\nD,DHL\n")
      expect(rows).toEqual([
        bad(2, undefined, "orderId is empty"),
        bad(3, "A", "carrier is empty"),
        bad(4, "B", "trackingNumber is empty"),
        bad(5, "C", "a spreadsheet has rounded"),
        bad(6, "D", "it has 2 columns, and the header has 3")
      ])
      const things = [{ carrier: "DHL", trackingNumber: "1" }, { orderId: "A", carrier: null, trackingNumber: "1" }, {
        orderId: "B",
        carrier: "DHL",
        trackingNumber: 2 ** 60
      }]
      expect(yield* read("json", JSON.stringify(things))).toEqual([
        bad(1, undefined, "orderId is missing"),
        bad(2, "A", "carrier is null"),
        bad(3, "B", "write it as a text")
      ])
    }))

  it.effect("may be absent: a source without shipments is valid", () =>
    Effect.gen(function*() {
      expect(yield* read("csv", "orderId,carrier,trackingNumber\n")).toEqual([])
      expect(yield* read("json", "[]")).toEqual([])
      expect(yield* read("ndjson", "")).toEqual([])
    }))
})
