/**
 * JSON and NDJSON: decoded rows, rejected rows and invalid documents.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Format from "@plaza/tabular/Format"
import * as Stock from "@plaza/tabular/Stock"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Effect, Stream } from "effect"
import { all, bad, good, inChunks } from "./support/reading.ts"

const options = { source: "stock", itemsOption: "--items" }
const columns = { idColumn: "productId", stockColumn: "stock" }
type Content = string | Uint8Array
const readJson = (content: Content, chunks = 7, more: Partial<Format.FormatOptions & Stock.Columns> = {}) =>
  all(Format.rows("json", Stock.schema({ ...columns, ...more }), { ...options, ...more })(inChunks(content, chunks)))
const readLines = (content: Content, chunks = 7) => all(Format.rows("ndjson", Stock.schema(columns), options)(inChunks(content, chunks)))

describe("a JSON document", () => {
  const two = [good(1, "A", 1), good(2, "B", 0)]
  const items = `[{"productId":"A","stock":1},{"stock":"0","productId":"B","more":[{"stock":9}]}]`

  for (
    const [name, text, path] of [
      ["an array", items, undefined],
      ["an array over many lines, with a byte order mark", `\uFEFF\n ${JSON.stringify(JSON.parse(items), null, 2)}\n\n`, undefined],
      ["what an object calls data", `{"total":2,"other":[{"productId":"X","stock":1}],"data":${items},"next_cursor":null}`, undefined],
      ["what an object holds further down", `{"data":[{"productId":"X","stock":1}],"result":{"items":${items}}}`, "result.items"]
    ] as const
  ) {
    it.effect(`is decoded from ${name}, in chunks of any size`, () =>
      Effect.forEach([1, 2, 3, 1000], (chunks) => Effect.map(readJson(text, chunks, { items: path }), (rows) => expect(rows).toEqual(two))))
  }

  for (
    const [name, text, items, ids] of [
      [
        "at every level, or at none",
        `{"a":[{"b":{"c":[{"productId":"A","stock":1}]}},{"b":[{"c":[{"productId":"B","stock":1}]}]}]}`,
        "a.b.c",
        ["A", "B"]
      ],
      [
        "and not through the names of an object",
        `{"a":{"x":{"b":[{"productId":"X","stock":1}]},"b":[{"productId":"A","stock":1}]}}`,
        "a.b",
        ["A"]
      ],
      [
        "beside others of the same name",
        `{"b":[{"productId":"X","stock":1}],"a":[{"b":[{"productId":"A","stock":1}],"c":{"b":[{"productId":"X","stock":1}]}}]}`,
        "a.b",
        ["A"]
      ],
      ["below an array", `[{"a":{"b":[{"productId":"A","stock":1}]}},{"a":[{"b":[{"productId":"B","stock":1}]}]},{"c":[]}]`, "a.b", [
        "A",
        "B"
      ]]
    ] as const
  ) {
    it.effect(`is decoded through arrays ${name}`, () =>
      Effect.forEach([1, 1000], (chunks) =>
        Effect.map(readJson(text, chunks, { items }), (rows) =>
          expect(rows).toEqual(ids.map((id, index) => good(index + 1, id, 1))))))
  }

  for (
    const [name, text, place, cursors] of [
      ["before its items", `{"next_cursor":"c2","data":${items}}`, undefined, ["c2"]],
      ["behind its items", `{"data":${items},"next_cursor":"c2"}`, undefined, ["c2"]],
      ["as a number", `{"data":${items},"next_cursor":2}`, undefined, ["2"]],
      ["in the object around its items", `{"result":{"items":${items},"next_cursor":"c2"}}`, "result.items", ["c2"]],
      ["at its top, above its items", `{"next_cursor":"c2","result":{"items":${items}}}`, "result.items", ["c2"]],
      ["that is null", `{"data":${items},"next_cursor":null}`, undefined, []],
      ["that is empty", `{"data":${items},"next_cursor":""}`, undefined, []],
      [
        "of something else",
        `{"more":{"next_cursor":"x"},"data":[{"productId":"A","stock":1,"next_cursor":"x"},{"productId":"B","stock":0}]}`,
        undefined,
        []
      ]
    ] as const
  ) {
    it.effect(`returns a next_cursor ${name} and its rows`, () =>
      Effect.forEach([1, 1000], (chunks) =>
        Effect.gen(function*() {
          const found: Array<string> = []
          expect(yield* readJson(text, chunks, { items: place, onNextCursor: (cursor) => found.push(cursor) })).toEqual(two)
          expect(found).toEqual(cursors)
          const alone = yield* Effect.result(readJson(text, chunks, { items: place }))
          expect(alone._tag).toBe(cursors.length === 0 ? "Success" : "Failure")
        })))
  }

  it.effect("fails for a next_cursor that is not text", () =>
    Effect.map(Effect.flip(readJson(`{"data":[],"next_cursor":{}}`, 100, { onNextCursor: () => undefined })), (error) =>
      expect(error.message).toContain("next_cursor is neither text nor a number")))

  it.effect("ignores inherited names such as constructor", () =>
    Effect.map(
      readJson(`[{"__proto__":{"productId":"A","stock":1}},{"productId":"B"}]`, 100, { stockColumn: "constructor" }),
      (rows) =>
        expect(rows).toEqual([
          bad(1, undefined, "productId is missing"),
          bad(2, "B", "constructor is missing, which does not count as zero")
        ])
    ))

  for (
    const [name, text, message, path] of [
      ["of no bytes", "", "it is empty"],
      ["of blanks", "  \n", "it is empty"],
      ["of an empty array", "[]", "there is no item in it"],
      ["without the array", `{"rows":[{"productId":"A","stock":1}]}`, "--items"],
      ["with an object where the array is expected", `{"data":{"A":{"stock":1}}}`, "there is no array"],
      ["that is an array where an object is expected", items, "omit --items", "rows"],
      ["that is cut short", `[{"productId":"A","stock":1},{"productId":"B"`, "after 1 item it is truncated"],
      ["whose array is not closed", `[{"productId":"A","stock":1}`, "truncated"],
      ["with a comma too few", `[{"productId":"A","stock":1} {"productId":"B","stock":1}]`, "after 1 item it is not JSON"],
      ["with more behind it", `[{"productId":"A","stock":1}]]`, "after 1 item it is not JSON"],
      ["that is no JSON", "productId,stock\nA,1\n", "neither [ nor {"],
      ["that is not UTF-8", Buffer.from(`[{"productId":"CAF\u00C9","stock":1}]`, "latin1"), "not UTF-8"]
    ] as const
  ) {
    it.effect(`fails ${name}`, () =>
      Effect.map(Effect.flip(readJson(text, 11, { items: path })), (error) => {
        expect(error._tag).toBe("SourceError")
        expect(error.message).toContain(message)
        expect(error.message).toContain("no row of it was used")
      }))
  }

  it.effect("fails before an endless item is in memory", () =>
    Effect.gen(function*() {
      let given = 0
      const chunk = Buffer.from("x".repeat(65_536))
      const endless = Stream.concat(
        Stream.make(Buffer.from(`[{"productId":"A","stock":1},{"productId":"`)),
        Stream.forever(Stream.sync(() => {
          given += chunk.length
          return chunk
        }))
      )
      const error = yield* Effect.flip(Stream.runDrain(Format.rows("json", Stock.schema(columns), options)(endless)))
      expect(error.message).toContain("after 1 item there is 1 MiB without another")
      expect(given).toBeLessThan(2_000_000)
    }))
})

describe("NDJSON", () => {
  for (
    const [name, text, lines] of [
      ["line ends", `{"productId":"A","stock":1}\n{"productId":"B","stock":"0"}\n`, [1, 2]],
      ["CRLF, a byte order mark and no line end at the end", `\uFEFF{"productId":"A","stock":1}\r\n{"productId":"B","stock":"0"}`, [1, 2]],
      ["empty lines", `\n{"productId":"A","stock":1}\n\n \n{"productId":"B","stock":0}\n\n`, [2, 5]]
    ] as const
  ) {
    it.effect(`is decoded with ${name}, in chunks of any size`, () =>
      Effect.forEach([1, 2, 3, 1000], (chunks) =>
        Effect.map(readLines(text, chunks), (rows) => expect(rows).toEqual([good(lines[0], "A", 1), good(lines[1], "B", 0)]))))
  }

  it.effect("keeps a character that is split between two chunks", () =>
    Effect.map(readLines(`{"productId":"ŁÓDŹ-🧦","stock":1}\n`, 1), (rows) => expect(rows).toEqual([good(1, "ŁÓDŹ-🧦", 1)])))

  it.effect("rejects a line that is not JSON, not an object or not UTF-8, and reads the rest", () =>
    Effect.gen(function*() {
      const text = Buffer.concat([
        Buffer.from(`{"productId":"A","stock":1}\n{"productId":"B","sto\n[1]\n"B"\nnull\n{"productId":"CAF`),
        Buffer.from([0xc9]),
        Buffer.from(`","stock":1}\n{"productId":"C","stock":3}`)
      ])
      expect(yield* readLines(text)).toEqual([
        good(1, "A", 1),
        bad(2, undefined, "\"{\\\"productId\\\":\\\"B\\\",\\\"sto\" is not JSON"),
        bad(3, undefined, "not an object"),
        bad(4, undefined, "not an object"),
        bad(5, undefined, "not an object"),
        { ...bad(6, undefined, "is not UTF-8"), productId: "CAF\uFFFD" },
        good(7, "C", 3)
      ])
    }))

  for (
    const [name, text, message] of [
      ["of no bytes", "", "it is empty"],
      ["of empty lines", "\n\r\n \n", "it is empty"],
      ["whose line has no end", "x".repeat(1_100_000), "line 1: the line is longer than 1 MiB"]
    ] as const
  ) {
    it.effect(`fails ${name}`, () =>
      Effect.map(Effect.flip(readLines(text, 65_536)), (error) => {
        expect(error._tag).toBe("SourceError")
        expect(error.message).toContain(message)
      }))
  }
})

describe("an item", () => {
  /** The same through both, which have to agree. */
  const only = (item: string) =>
    Effect.gen(function*() {
      const [inDocument] = yield* readJson(`[${item}]`)
      const [onLine] = yield* readLines(`${item}\n`)
      expect(onLine).toEqual(inDocument)
      return inDocument
    })

  for (
    const [text, stock] of [
      ["0", 0],
      ["12", 12],
      ["12.0", 12],
      ["1e3", 1000],
      ["\"12\"", 12],
      ["\" 012 \"", 12],
      ["\"12,00\"", 12],
      [String(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER]
    ] as const
  ) {
    it.effect(`decodes the stock ${stock} from ${text}`, () =>
      Effect.map(only(`{"productId":"A","stock":${text}}`), (row) => expect(row).toEqual(good(1, "A", stock))))
  }

  for (
    const [fields, reason] of [
      ["", "stock is missing, which does not count as zero"],
      [`,"stock":null`, "stock is null, which does not count as zero"],
      [`,"stock":""`, "stock is empty"],
      [`,"stock":"  "`, "stock is empty"],
      [`,"stock":false`, "stock is false, not a number"],
      [`,"stock":[]`, "an object or a list"],
      [`,"stock":[5]`, "an object or a list"],
      [`,"stock":{}`, "an object or a list"],
      [`,"stock":-1`, "stock -1 is negative"],
      [`,"stock":-0`, "stock -0 is negative"],
      [`,"stock":-2.5`, "is negative"],
      [`,"stock":2.5`, "stock 2.5 is not a whole number"],
      [`,"stock":9007199254740993`, "is over 9007199254740991"],
      [`,"stock":1e400`, "is over"],
      [`,"stock":"many"`, "stock \"many\" is not a number"],
      [`,"stock":"1e3"`, "is not a number"],
      [`,"stock":"1.000"`, "thousands"],
      [`,"stock":"-1"`, "is negative"],
      [`,"Stock":5`, "stock is missing"],
      [`,"quantity":{"stock":5}`, "stock is missing"]
    ] as const
  ) {
    it.effect(`is rejected with ${fields === "" ? "nothing beside its id" : fields.slice(1)}`, () =>
      Effect.map(only(`{"productId":"A"${fields}}`), (row) => expect(row).toEqual(bad(1, "A", reason))))
  }

  it.effect("finds values in nested objects, after the literal dotted name", () =>
    Effect.forEach(["json", "ndjson"] as const, (format) =>
      Effect.map(
        all(Format.rows(format, Stock.schema({ idColumn: "a.id", stockColumn: "b.c.stock" }), options)(
          inChunks(`${JSON.stringify({ a: { id: "A" }, b: { c: { stock: 1 } }, "b.c": { stock: 2 } })}\n`.replace(/^.*$/m, (line) =>
            format === "json" ? `[${line}]` : line), 100)
        )),
        (rows) =>
          expect(rows).toEqual([good(1, "A", 1)])
      )))

  for (const [id, named] of [["\"007\"", "007"], ["7", "7"], ["0", "0"], ["\" A \"", "A"], ["\"A/B?c#\"", "A/B?c#"]] as const) {
    it.effect(`decodes the product ${named} from ${id}`, () =>
      Effect.map(only(`{"productId":${id},"stock":5}`), (row) => expect(row).toEqual(good(1, named, 5))))
  }

  for (
    const [id, named, reason] of [
      ["null", undefined, "productId is null"],
      ["\"\"", undefined, "productId is empty"],
      ["\" \"", undefined, "productId is empty"],
      ["1.5", undefined, "neither a text nor"],
      ["12345678901234567890", undefined, "neither a text nor"],
      ["true", undefined, "neither a text nor"],
      ["[]", undefined, "neither a text nor"],
      ["\"..\"", "..", "can't be sent"],
      ["\"\\ud800\"", "\ud800", "can't be sent"]
    ] as const
  ) {
    it.effect(`is rejected with the id ${id}`, () =>
      Effect.map(only(`{"productId":${id},"stock":5}`), (row) => expect(row).toEqual(bad(1, named, reason))))
  }

  it.effect.prop("never decodes a number from another value", [
    Arbitrary.filter(Arbitrary.map(Generate.json, (value) => JSON.stringify(value)), (text) => !/^\W*\d+([.,]0+)?\W*$/.test(text))
  ], ([text]) =>
    Effect.gen(function*() {
      expect((yield* only(`{"productId":"A","stock":${text}}`))?._tag).toBe("Rejected")
    }))
})
