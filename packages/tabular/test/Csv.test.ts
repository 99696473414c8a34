/**
 * CSV: decoded rows, rejected rows and invalid files.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Format from "@plaza/tabular/Format"
import * as Stock from "@plaza/tabular/Stock"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Effect, Stream } from "effect"
import { all, bad, containing, good, inChunks } from "./support/reading.ts"

const options = { source: "stock.csv" }
const columns = { idColumn: "productId", stockColumn: "stock" }

/** Decodes content in chunks of a few bytes, so that every boundary occurs. */
const read = (content: string | Uint8Array, chunks = 7, more: Partial<Format.FormatOptions & Stock.Columns> = {}) =>
  all(
    Format.rows("csv", Stock.schema({ ...columns, ...more }, { id: "--id-column", stock: "--stock-column" }), { ...options, ...more })(
      inChunks(content, chunks)
    )
  )

const only = (rows: ReadonlyArray<Stock.Row>) => {
  expect(rows).toHaveLength(1)
  return rows[0]
}

describe("CSV", () => {
  for (
    const [name, text] of [
      ["commas", "productId,stock\nA,1\nB,0\n"],
      ["semicolons", "productId;stock\nA;1\nB;0\n"],
      ["tabs", "productId\tstock\nA\t1\nB\t0\n"],
      ["bars", "productId|stock\nA|1\nB|0\n"],
      ["CRLF line ends", "productId,stock\r\nA,1\r\nB,0\r\n"],
      ["the line ends of old Macs", "productId,stock\rA,1\rB,0\r"],
      ["line ends that change on the way", "productId,stock\r\nA,1\nB,0"],
      ["a byte order mark", "\uFEFFproductId,stock\nA,1\nB,0\n"],
      ["a byte order mark before a quoted header", "\uFEFF\"productId\",\"stock\"\nA,1\nB,0\n"],
      ["no line end at the end", "productId,stock\nA,1\nB,0"],
      ["every field in quotes", "\"productId\",\"stock\"\n\"A\",\"1\"\n\"B\",\"0\"\n"],
      ["further columns, in any order", "name,stock,productId,note\nx,1,A,\n\"a, b; c\td\",0,B,\n"],
      ["more commas in names than semicolons between columns", "productId;stock;\"a,b,c,d,e\"\nA;1;\nB;0;\n"],
      ["blanks around the names of columns", "productId , stock\nA,1\nB,0\n"]
    ] as const
  ) {
    it.effect(`reads ${name}, in chunks of any size`, () =>
      Effect.forEach([1, 2, 3, 1000], (chunks) =>
        Effect.map(read(text, chunks), (rows) => expect(rows).toEqual([good(2, "A", 1), good(3, "B", 0)]))))
  }

  it.effect("counts the lines of the file in quoted fields and blank lines", () =>
    Effect.gen(function*() {
      const text = "productId,name,stock\r\nA,\"two\r\nlines\",1\r\n\r\nB,\"three\n\nlines\",2\r\nC,plain,x\r\n"
      const rows = yield* Effect.forEach([1, 5, 1000], (chunks) => read(text, chunks))
      for (const each of rows) {
        expect(each).toMatchObject([good(2, "A", 1), good(5, "B", 2), { _tag: "Rejected", line: 8, productId: "C" }])
      }
    }))

  it.effect("finds columns by the names in the options", () =>
    Effect.gen(function*() {
      const rows = yield* read("sku;qty\nA;4\n", 100, { idColumn: "sku", stockColumn: "qty" })
      expect(rows).toEqual([good(2, "A", 4)])
    }))

  for (
    const [delimiter, text] of [["|", "productId|stock\nA|1\n\"B|C\"|0\n"], [":", "productId:stock\nA:1\n\"B|C\":0\n"], [
      "\t",
      "productId\tstock\nA\t1\nB|C\t0\n"
    ]] as const
  ) {
    it.effect(`separates columns by ${JSON.stringify(delimiter)} when it is the delimiter`, () =>
      Effect.map(read(text, 3, { delimiter }), (rows) => expect(rows).toEqual([good(2, "A", 1), good(3, "B|C", 0)])))
  }

  it.effect("prefers the delimiter of the options to that of the header", () =>
    Effect.map(Effect.flip(read("productId,stock\nA,1\n", 100, { delimiter: ";" })), (error) =>
      expect(error.message).toContain("the columns are \"productId,stock\"")))

  it.effect.prop("keeps every character inside an id", [
    Arbitrary.filter(Generate.unicode(), (middle) => !middle.includes("\uFFFD") && !/\p{Surrogate}/u.test(middle)),
    Generate.between(0, 0x7fffffff)
  ], ([middle, stock]) =>
    Effect.gen(function*() {
      const id = `A${middle}Z`
      const rows = yield* read(`productId,stock\n"${id.replaceAll("\"", "\"\"")}",${stock}\n`)
      expect(rows).toEqual([good(2, id, stock)])
    }))

  it.effect("keeps leading zeros of an id", () =>
    Effect.map(read("productId,stock\n007,7\n"), (rows) => expect(rows).toEqual([good(2, "007", 7)])))
})

describe("stock", () => {
  for (
    const [text, stock] of [
      ["0", 0],
      ["12", 12],
      ["012", 12],
      [" 12 ", 12],
      ["12.0", 12],
      ["12.00", 12],
      ["\"12,00\"", 12],
      ["12.0000", 12],
      ["1.234", 1234],
      ["\"1,234\"", 1234],
      ["1 234", 1234],
      ["1'234", 1234],
      ["\"1,234,567\"", 1_234_567],
      ["\"1,200.00\"", 1200],
      ["\"1.200,00\"", 1200],
      ["0.000", 0],
      [String(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER]
    ] as const
  ) {
    it.effect(`reads ${text} as ${stock}`, () =>
      Effect.map(read(`productId,stock\nA,${text}\n`), (rows) => expect(rows).toEqual([good(2, "A", stock)])))
  }

  for (
    const [text, reason] of [
      ["", "is empty"],
      ["  ", "is empty"],
      ["\"\"", "is empty"],
      ["many", "is not a number"],
      ["1e3", "is not a number"],
      ["0x10", "is not a number"],
      ["NaN", "is not a number"],
      ["Infinity", "is not a number"],
      ["12 pcs", "is not a number: write only the digits"],
      ["null", "is not a number"],
      ["--", "is not a number"],
      ["-1", "is negative"],
      ["-0", "is negative"],
      ["\u22121", "is negative"],
      ["2.5", "is not a whole number"],
      ["\"2,5\"", "is not a whole number"],
      [".5", "is not a whole number"],
      ["12.01", "is not a whole number"],
      ["1.000", "thousands"],
      ["\"12,000\"", "thousands"],
      ["1.2.3", "separators that fit no number"],
      ["1 23", "separators that fit no number"],
      ["\"12,34,5\"", "separators that fit no number"],
      ["01.234", "is not a whole number"],
      ["9007199254740992", "is over 9007199254740991"],
      ["99999999999999999999999", "is over"]
    ] as const
  ) {
    it.effect(`rejects ${text === "" ? "an empty stock" : text} and reads the rest`, () =>
      Effect.gen(function*() {
        const rows = yield* read(`productId,stock\nA,${text}\nB,3\n`)
        expect(rows).toEqual([bad(2, "A", reason), good(3, "B", 3)])
      }))
  }

  it.effect.prop("never decodes a number from text that is not one", [
    Arbitrary.filter(Generate.text, (text) => !/^\W*\d[\d\s.,'\u2019]*\W*$/.test(text))
  ], ([text]) =>
    Effect.gen(function*() {
      const rows = yield* read(`productId,stock\nA,"${text.replaceAll("\"", "\"\"")}"\n`)
      expect(only(rows)).toMatchObject({ _tag: "Rejected", line: 2, productId: "A" })
    }))
})

describe("rejected rows", () => {
  for (
    const [name, row, productId, reason] of [
      ["without an id", ",5", undefined, "productId is empty"],
      ["with blanks for an id", "\"  \",5", undefined, "productId is empty"],
      ["with a column too few", "A", "A", "it has 1 column, and the header has 2"],
      ["with a column too many", "A,5,6", "A", "it has 3 columns, and the header has 2"],
      ["with an id that no address can carry", "..,5", "..", "can't be sent"]
    ] as const
  ) {
    it.effect(`rejects a row ${name} and reads the rest`, () =>
      Effect.gen(function*() {
        const rows = yield* read(`productId,stock\n${row}\nB,3\n`)
        expect(rows).toEqual([bad(2, productId, reason), good(3, "B", 3)])
      }))
  }

  it.effect("rejects a row whose id is not UTF-8", () =>
    Effect.gen(function*() {
      const rows = yield* read(Buffer.concat([Buffer.from("productId,stock\nCAF"), Buffer.from([0xc9]), Buffer.from(",3\n")]))
      expect(only(rows)).toMatchObject({ _tag: "Rejected", line: 2, reason: containing("UTF-8") })
    }))
})

describe("invalid files", () => {
  const refused = (content: string | Uint8Array) =>
    Effect.map(Effect.flip(read(content, 11)), (error) => {
      expect(error._tag).toBe("SourceError")
      return error
    })

  for (
    const [name, text, line, message] of [
      ["of no bytes", "", undefined, "it is empty"],
      ["of blank lines", "\n\n  \n", undefined, "it is empty"],
      ["of a byte order mark alone", "\uFEFF", undefined, "it is empty"],
      ["with a header and nothing below", "productId,stock\n", undefined, "no rows"],
      ["without the column of ids", "sku,stock\nA,1\n", 1, "there is no column \"productId\"; the columns are \"sku\", \"stock\""],
      ["without the column of stock", "productId,qty\nA,1\n", 1, "there is no column \"stock\"; the columns are \"productId\", \"qty\""],
      ["with a column twice", "productId,stock,stock\nA,1,2\n", 1, "occurs 2 times"],
      ["without a header", "A,1\nB,2\n", 1, "the first line (\"A\", \"1\") looks like data"],
      ["with a quote that doesn't close", "productId,stock\nA,1\n\"B,2\nC,3\n", 3, "is never closed"],
      ["with text behind a closing quote", "productId,stock\nA,1\n\"B\"x,2\nC,3\n", 3, "between a closing quote and the next delimiter"],
      ["with a quote inside a bare field", "productId,stock\nA,1\nB\"x,2\nC,3\n", 3, "inside a field without quotes"]
    ] as const
  ) {
    it.effect(`fails for a file ${name}`, () =>
      Effect.map(refused(text), (error) => {
        expect(error.line).toBe(line)
        expect(error.message).toContain(message)
        expect(error.message).toContain("stock.csv")
      }))
  }

  it.effect("fails for a file whose first line never ends", () =>
    Effect.map(Effect.flip(read("x".repeat(70_000), 4096)), (error) => expect(error.message).toContain("64 KiB")))

  it.effect("does not blame a quote alone for a row without end", () =>
    Effect.map(refused(`productId,stock\n${"a".repeat(2_000_000)},1\n`), ({ line, message }) => {
      expect(line).toBe(2)
      expect(message).toContain("the row is longer than 1 MiB, or a quote opens here and is never closed")
    }))

  it.effect("fails at an unclosed quote before a large file is in memory", () =>
    Effect.gen(function*() {
      let given = 0
      const line = Buffer.from("A,1\n".repeat(16_384))
      const endless = Stream.concat(
        Stream.make(Buffer.from("productId,stock\nA,1\n\"B,1\n")),
        Stream.forever(Stream.sync(() => {
          given += line.length
          return line
        }))
      )
      const error = yield* Effect.flip(Stream.runDrain(Format.rows("csv", Stock.schema(columns), options)(endless)))
      expect(error).toMatchObject({ _tag: "SourceError", line: 3 })
      expect(given).toBeLessThan(3_000_000)
    }))
})
