/**
 * Lines of a program that failed while it wrote rows: the number before them may be cut, and rows are missing.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Format from "@plaza/tabular/Format"
import * as Stock from "@plaza/tabular/Stock"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Effect } from "effect"
import { all, bad, good, inChunks } from "./support/reading.ts"

const read = (
  format: Format.Format,
  content: string | Uint8Array,
  more: Partial<Format.FormatOptions> = {},
  names: ReadonlyArray<string> = []
) =>
  all(
    Format.rows(format, Stock.schema({ idColumn: "productId", stockColumn: "stock" }), {
      source: "stock",
      acceptPartial: { names, option: (name) => `--accept-partial ${name}` },
      ...more
    })(inChunks(content, 7))
  )
const refused = (...given: Parameters<typeof read>) => Effect.map(Effect.flip(read(...given)), ({ message }) => message)

// The words of MySQL.
const serverLeft = ["MySQL server has gone", "away"].join(" ")
const messages = [
  "PHP Warning:  Undefined index: stock in /var/www/export.php on line 7",
  "Fatal error: Allowed memory size of 134217728 bytes exhausted (tried to allocate 20480 bytes) in /export.php on line 3",
  `Fatal error: Uncaught PDOException: SQLSTATE[HY000]: General error: 2006 ${serverLeft} in /export.php:12`,
  "<br />",
  `<b>Warning</b>:  mysqli_query(): ${serverLeft} in <b>/export.php</b> on line <b>3</b><br />`,
  "</body></html>",
  "<!DOCTYPE html>",
  "ERROR 2013 (HY000): Lost connection to MySQL server during query",
  `ERROR 2006 (HY000) at line 1: ${serverLeft}`,
  "mysqldump: Error 2013: Lost connection to MySQL server during query when dumping table",
  "psql: error: connection to server failed: FATAL:  terminating connection",
  "Traceback (most recent call last):",
  "KeyError: 'stock'",
  "Exception in thread main java.lang.OutOfMemoryError: Java heap space",
  "java.sql.SQLException: Closed Connection",
  "    at com.shop.Export.main(Export.java:10)",
  "TypeError: Cannot read properties of undefined (reading 'stock')",
  "ORA-01555: snapshot too old",
  "Segmentation fault (core dumped)",
  "Segmentation fault",
  "Killed",
  "Terminated",
  "panic: runtime error: index out of range",
  "curl: (18) transfer closed with outstanding read data remaining",
  "[ERROR] export failed: no space left on device",
  "Timeout expired. The timeout period elapsed",
  "java.net.SocketException: Connection reset, the export is not complete"
]

describe("a CSV file", () => {
  for (const message of messages) {
    it.effect(`that ends in ${message} is refused, and so is one with it between its rows`, () =>
      Effect.gen(function*() {
        for (const text of [`${message}\n`, message, `\n${message}\n`, `${message}\nC,3\n`, `${message}\n50\nC,3\n`]) {
          const reason = yield* refused("csv", `productId,stock\nA,120\nB,1\n${text}`)
          expect(reason).toContain("it may be cut".replace("it", "row before it"))
          expect(reason).toContain("--accept-partial error-text; no row of it was used")
        }
        const rows = yield* read("csv", `productId,stock\nA,120\nB,1\n${message}\nC,3\n`, {}, ["error-text"])
        expect(rows.filter(({ _tag }) => _tag === "Valid")).toEqual([good(2, "A", 120), good(3, "B", 1), good(5, "C", 3)])
      }))
  }

  for (
    const message of ["Killed", "PHP Fatal error:  Uncaught Error in /a.php:3", "Segmentation fault", "ERROR 2013 (HY000): Lost connection"]
  ) {
    it.effect(`is refused if its last number runs into ${message}`, () =>
      Effect.map(refused("csv", `productId,stock\nA,120\nB,1${message}\n`), (reason) => expect(reason).toContain("is an error message")))
  }

  for (
    const [name, line] of [
      ["too few columns", "B"],
      ["too few columns, which begin a number", "150"],
      ["too many columns", "B,1,2"],
      ["a note", "(2 rows)"],
      ["a mark", "-- end --"]
    ] as const
  ) {
    it.effect(`is refused if its last line has ${name}; in the middle that is a rejected row`, () =>
      Effect.gen(function*() {
        for (const end of ["\n", "", "\n\n \n"]) {
          const reason = yield* refused("csv", `productId,stock\nA,120\n${line}${end}`)
          expect(reason).toContain(`line 3: its last line is no row ("${line.replaceAll(",", " ")}")`)
          expect(reason).toContain("--accept-partial last-row")
        }
        expect(yield* read("csv", `productId,stock\nA,120\n${line}\n`, {}, ["Last_Row"])).toHaveLength(2)
        expect(yield* read("csv", `productId,stock\nA,120\n${line}\nC,3\n`)).toMatchObject([
          good(2, "A", 120),
          { _tag: "Rejected", line: 3 },
          good(4, "C", 3)
        ])
      }))
  }

  it.effect("is refused if it ends within a character", () =>
    Effect.gen(function*() {
      const utf16 = Buffer.from("\uFEFFproductId,stock\nA,120\nB,150\n", "utf16le")
      expect(yield* refused("csv", utf16.subarray(0, -5))).toContain("its last line is no row")
      expect(yield* read("csv", utf16)).toHaveLength(2)
    }))

  for (
    const [name, text, rows] of [
      ["a rejected row at its end", "productId,stock\nA,1\nB,1.000\n", [good(2, "A", 1), bad(3, "B", "thousands")]],
      ["a stock that is no number at its end", "productId,stock\nA,1\nB,n/a\n", [good(2, "A", 1), bad(3, "B", "not a number")]],
      ["words for a stock at its end", "productId,stock\nA,1\nB,sold out\n", [good(2, "A", 1), bad(3, "B", "not a number")]],
      ["an error of a spreadsheet at its end", "productId,stock\nA,1\nB,#ERROR!\n", [good(2, "A", 1), bad(3, "B", "not a number")]],
      ["no line end at its end", "productId,stock\nA,1\nB,2", [good(2, "A", 1), good(3, "B", 2)]],
      ["products that are named like errors", "productId,stock\nERROR-1,1\nwarning: hot,2\nKilled,3\n<b>,4\n", [
        good(2, "ERROR-1", 1),
        good(3, "warning: hot", 2),
        good(4, "Killed", 3),
        good(5, "<b>", 4)
      ]],
      ["a name with a comma between its rows", "productId,stock\nA,1\nERROR-STICKER, red,5\nB,2\n", [
        good(2, "A", 1),
        bad(3, "ERROR-STICKER", "3 columns"),
        good(4, "B", 2)
      ]]
    ] as const
  ) {
    it.effect(`is read with ${name}`, () => Effect.map(read("csv", text), (found) => expect(found).toEqual(rows)))
  }

  it.effect("needs a line end at its end where nothing else shows that it is complete", () =>
    Effect.gen(function*() {
      const open = { needsLineEnd: true }
      expect(yield* refused("csv", "productId,stock\nA,120\nB,15", open)).toContain("its last line has no line end")
      expect(yield* refused("csv", "productId,stock\nA,120\nB,15", open)).toContain("--accept-partial line-end")
      expect(yield* read("csv", "productId,stock\nA,120\nB,15", open, ["line-end"])).toHaveLength(2)
      expect(yield* read("csv", "productId,stock\r\nA,120\r\nB,150\r", open)).toHaveLength(2)
    }))

  it.effect.prop("sends no number that was cut before a message, wherever it was", [
    Generate.arrayOf(Generate.between(100, 99_999), { minLength: 2, maxLength: 6 }),
    Arbitrary.map(Generate.between(0, 1_000_000), (millionths) => millionths / 1_000_000),
    Generate.elementOf(messages),
    Generate.elementOf(["\n", "\n\n", ""]),
    Generate.boolean
  ], ([stocks, where, message, before, goesOn]) =>
    Effect.gen(function*() {
      const header = "productId,stock\n"
      const body = stocks.map((stock, index) => `P-${index},${stock}\n`).join("")
      const first = header.length + `P-0,${stocks[0]}\n`.length
      const at = first + Math.floor(where * (header.length + body.length - first))
      const whole = `${header}${body}`
      const text = `${whole.slice(0, at)}${before}${message}\n${goesOn ? whole.slice(at) : ""}`
      const result = yield* Effect.result(read("csv", text))
      if (result._tag === "Failure") return
      // Without a line end before it, a message may be taken for a part of an id. No number of another row is cut then.
      for (const row of result.success) if (row._tag === "Valid") expect(stocks).toContain(row.stock)
    }))
})

describe("NDJSON", () => {
  const rows = `{"productId":"A","stock":120}\n{"productId":"B","stock":1}\n`

  for (
    const line of [
      "Killed",
      "null",
      "[]",
      "(2 rows)",
      "{\"error\":\"the cursor timed out\"}",
      "{\"done\":true}",
      "{}",
      "{\"productId\":\"C\",\"sto"
    ]
  ) {
    it.effect(`is refused if its last line is ${line}`, () =>
      Effect.gen(function*() {
        expect((yield* Effect.result(read("ndjson", `${rows}${line}\n`)))._tag).toBe("Failure")
        expect((yield* Effect.result(read("ndjson", `${rows}${line}`)))._tag).toBe("Failure")
      }))
  }

  it.effect("names what to accept", () =>
    Effect.gen(function*() {
      expect(yield* refused("ndjson", `${rows}(2 rows)\n`)).toContain(
        "line 3: its last line is no row (\"(2 rows)\"), so it may be cut. Export"
      )
      expect(yield* refused("ndjson", `${rows}(2 rows)\n`)).toContain("--accept-partial last-row")
      expect(yield* read("ndjson", `${rows}(2 rows)\n`, {}, ["last-row"])).toHaveLength(3)
      expect(yield* refused("ndjson", `${rows}{"meta":{"has_more":true}}\n`)).toContain("--accept-partial meta.has_more")
      expect(yield* refused("ndjson", `{"total":3}\n${rows}`)).toContain("total is 3, and it has 2 items")
      expect(yield* read("ndjson", `{"total":2}\n${rows}`)).toHaveLength(3)
      expect(yield* refused("ndjson", `${rows}java.lang.OutOfMemoryError: Java heap space\n${rows}`)).toContain(
        "--accept-partial error-text"
      )
    }))
})

it.effect("an import by hand lists such lines as rejected rows", () =>
  Effect.gen(function*() {
    const byHand = { acceptPartial: undefined }
    expect(yield* read("csv", "productId,stock\nA,1\nKilled\n", byHand)).toHaveLength(2)
    expect(yield* read("ndjson", "{\"productId\":\"A\",\"stock\":1}\nKilled\n", byHand)).toHaveLength(2)
    expect(yield* read("json", "{\"data\":[{\"productId\":\"A\",\"stock\":1}],\"has_more\":true}", byHand)).toHaveLength(1)
  }))
