/** The charset of a response: as its content type, its bytes and a setting name it. */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option } from "effect"
import * as Http from "../src/source/Http.ts"
import { all, good } from "./support/reading.ts"
import { serving } from "./support/serving.ts"

const options = { idColumn: "productId", stockColumn: "stock", poll: Duration.minutes(1), timeout: Duration.hours(1) }
const read = (type: string, body: Uint8Array | string, more: Partial<Http.HttpOptions> = {}) =>
  Effect.gen(function*() {
    const { origin } = yield* serving((_, response) => response.setHeader("content-type", type).end(body))
    const { open } = yield* Http.makeOnNode({ ...options, source: `${origin}/stock`, ...more })
    return yield* all(Option.getOrThrow(yield* open(Option.none())).rows)
  })

const csv = "productId,stock\nMÜTZE,1\n"
const latin1 = Buffer.from(csv, "latin1")
const euro = Buffer.concat([Buffer.from("productId,stock\n"), Buffer.of(0x80), Buffer.from("-1,1\n")])
const japanese = Buffer.concat([Buffer.from("productId,stock\n"), Buffer.of(0x83, 0x65, 0x83, 0x58), Buffer.from(",1\n")])
const utf16 = Buffer.from(`\uFEFF${csv}`, "utf16le")

describe("a response", () => {
  for (
    const [name, type, body, id, more] of [
      ["in the charset of its content type", "text/csv; charset=iso-8859-1", latin1, "MÜTZE"],
      ["in a charset in quotes", "text/csv;header=present; Charset=\"ISO-8859-1\"", latin1, "MÜTZE"],
      ["in the charset of Windows, also if it is called ISO 8859-1", "text/csv; charset=iso-8859-1", euro, "€-1"],
      ["in Shift JIS", "text/csv; charset=Shift_JIS", japanese, "テス"],
      ["in the code page of Japanese Windows", "text/csv; charset=cp932", japanese, "テス"],
      ["in UTF-8 with a byte order mark, whatever its content type says", "text/csv; charset=iso-8859-1", `\uFEFF${csv}`, "MÜTZE"],
      ["in UTF-16, whatever its content type says", "text/csv; charset=utf-8", utf16, "MÜTZE"],
      ["in UTF-16 without a mark", "text/csv; charset=utf-16le", utf16.subarray(2), "MÜTZE"],
      ["in UTF-8 without a charset", "text/csv", csv, "MÜTZE"],
      ["in UTF-8 with the charset of a program that knows no text", "text/csv; charset=binary", csv, "MÜTZE"],
      ["in JSON", "application/json; charset=iso-8859-1", Buffer.from(`[{"productId":"MÜTZE","stock":1}]`, "latin1"), "MÜTZE"],
      ["in NDJSON", "application/x-ndjson; charset=iso-8859-1", Buffer.from(`{"productId":"MÜTZE","stock":1}\n`, "latin1"), "MÜTZE"],
      ["in the charset of the setting", "text/csv", latin1, "MÜTZE", { charset: "windows-1252" }],
      ["in the charset of the setting, before that of its content type", "text/csv; charset=iso-8859-1", csv, "MÜTZE", {
        charset: "utf-8"
      }],
      ["in the charset of the setting, if that of its content type is unknown", "text/csv; charset=x-own", csv, "MÜTZE", {
        charset: "utf-8"
      }]
    ] as const
  ) {
    it.effect(`is read ${name}`, () =>
      Effect.gen(function*() {
        expect((yield* read(type, body, more)).map((row) => ({ ...row, line: 1 }))).toEqual([good(1, id, 1)])
      }))
  }

  it.effect("in a charset that is not known is refused by its name", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(read("text/csv; charset=x-own", csv))).message).toContain(
        "its charset \"x-own\" is not known: send UTF-8, or name another one with --charset or STOCK_SYNC_CHARSET"
      )
    }))

  it.effect("in UTF-8 whose content type names another charset is refused, because each of its ids would be another one", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(read("text/csv; charset=iso-8859-1", csv))).message).toContain(
        "its content type names the charset windows-1252, and its text is UTF-8: correct the content type, or set --charset or " +
          "STOCK_SYNC_CHARSET to utf-8; no row of it was used"
      )
    }))

  it.effect("in ASCII is read under any charset", () =>
    Effect.gen(function*() {
      expect(yield* read("text/csv; charset=us-ascii", "productId,stock\nA,1\n")).toEqual([good(2, "A", 1)])
    }))

  it.effect("in pages has the charset of each page", () =>
    Effect.gen(function*() {
      const page = (id: string, nextCursor: string | null) =>
        JSON.stringify({ data: id === "" ? [] : [{ productId: id, stock: 1 }], nextCursor })
      const { origin } = yield* serving((url, response) => {
        const cursor = url.searchParams.get("cursor")
        if (cursor === null)
          response.setHeader("content-type", "application/json; charset=iso-8859-1").end(
            Buffer.from(page("MÜTZE", "b"), "latin1")
          )
        else if (cursor === "b") response.setHeader("content-type", "application/json").end(page("MÜTZE-2", "c"))
        else response.setHeader("content-type", "application/json; charset=utf-16le").end(Buffer.from(page("", null), "utf16le"))
      })
      const { open } = yield* Http.makeOnNode({ ...options, source: `${origin}/stock` })
      expect(yield* all(Option.getOrThrow(yield* open(Option.none())).rows)).toEqual([good(1, "MÜTZE", 1), good(2, "MÜTZE-2", 1)])
    }))
})
