/**
 * Feeds in every format: a defect, a hang or a result that depends on the boundaries of chunks is a mistake.
 */
import * as Format from "@plaza/tabular/Format"
import * as Orders from "@plaza/tabular/Orders"
import * as Stock from "@plaza/tabular/Stock"
import * as Fuzz from "@plaza/testing/Fuzz"
import { main, workbook } from "@plaza/testing/Workbooks"
import { Effect, Exit, Stream } from "effect"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"

const seeds: Readonly<Record<Format.Format, ReadonlyArray<string>>> = {
  csv: [
    "productId,stock\nA-1,3\nA-2,0\n",
    "\uFEFFsep=;\r\n\"productId\";\"name\";\"stock\"\r\n\"A \"\"1\"\"\";\"two\nlines\";\"=\"\"007\"\"\"\r\nA-2;x;=\"3\"\r\n",
    "orderId\tcarrier\ttrackingNumber\nO-1\tDHL\t00123\n"
  ],
  json: [
    "[{\"productId\":\"A-1\",\"stock\":3},{\"productId\":\"A-2\",\"stock\":\"0\"}]",
    " {\"next_cursor\":null,\"data\":[{\"productId\":\"A-1\",\"stock\":3,\"more\":{\"a\":[1,[2]]}}],\"other\":[{}]}\n",
    "{\"data\":[{\"orderId\":\"O-1\",\"carrier\":\"DHL\",\"trackingNumber\":\"\\u0030\\/\"}]}"
  ],
  ndjson: [
    "{\"productId\":\"A-1\",\"stock\":3}\n\n{\"productId\":\"A-2\",\"stock\":0}\r\n",
    "{\"orderId\":\"O-1\",\"carrier\":\"DHL\",\"trackingNumber\":\"1\"}\n{\"orderId\":\"é\",\"carrier\":\"x\",\"trackingNumber\":\"y\"}"
  ],
  // Sheets, which are packed after their mutation: a zip archive with other bytes has a wrong checksum.
  xlsx: [
    `<worksheet xmlns="${main}"><sheetData><row r="1"><c r="A1" t="str"><v>productId</v></c><c r="B1" t="str"><v>stock</v></c></row>` +
    "<row r=\"2\"><c r=\"A2\" s=\"1\"><v>42</v></c><c r=\"B2\"><f>1+2</f><v>3</v></c></row></sheetData></worksheet>",
    "<x:worksheet><x:sheetData><x:row><x:c t=\"inlineStr\"><x:is><x:r><x:t>orderId</x:t></x:r></x:is></x:c><x:c t=\"s\"><x:v>0</x:v></x:c>" +
    "<x:c t=\"s\"><x:v>1</x:v></x:c></x:row><x:row r=\"9\"><x:c><x:v>7</x:v></x:c><x:c t=\"str\"><x:v>DHL</x:v></x:c><x:c><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>"
  ]
}

const packed = (xml: Uint8Array): Uint8Array =>
  workbook({ sheets: [{ xml }], formats: ["00000"], shared: ["<t>carrier</t>", "<t>trackingNumber</t>"], level: 0 })

const inChunks = (bytes: Uint8Array, sizeOf: () => number): Stream.Stream<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  for (let from = 0; from < bytes.length;) {
    const size = sizeOf()
    chunks.push(bytes.subarray(from, from + size))
    from += size
  }
  return Stream.fromIterable(chunks)
}

/** Small sizes, so that a boundary is inside every token of a short input. A linear congruential generator: the choice decides all of them. */
const sizesBy = (choice: number, { length }: Uint8Array) => {
  let state = choice
  const most = 1 + choice % 9 + Math.floor(length / 256)
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 0x8000_0000
    return 1 + state % most
  }
}

const acceptPartial = { names: [], option: (name: string) => `--accept-partial ${name}` }
const schemas = [Stock.schema({ idColumn: "productId", stockColumn: "stock" }), Orders.schema]

describe.each(Format.all)("a feed in %s", (format) => {
  const texts = seeds[format]
  const utf16 = texts.map((text) => Buffer.from(`\uFEFF${text}`, "utf16le"))
  it("ends in the same rows, or in an error, for all chunks", () =>
    Fuzz.run({
      seeds: [...texts, ...texts, ...utf16, gzipSync(texts[0] ?? "")],
      words: [
        "\"has_more\":true",
        "\"next\":{\"href\":",
        "Killed",
        "<br />",
        "sep=;",
        "productId",
        "stock",
        "\"data\"",
        "\"next_cursor\"",
        "\"1\"",
        "=\"",
        "<html>",
        "</row><row r=\"3\">",
        "<c t=\"e\"><v>",
        "&#0;",
        "<![CDATA[",
        "\u001f\u008b"
      ],
      check: (mutated, choice) =>
        Effect.gen(function*() {
          const bytes = format === "xlsx" ? packed(mutated) : mutated
          for (const schema of schemas) {
            const decode = (chunks: Stream.Stream<Uint8Array>) => {
              const rows: Array<unknown> = []
              return Format.rows<unknown>(format, schema, { source: "feed", acceptPartial })(chunks).pipe(
                Stream.runForEach((row) => Effect.sync(() => rows.push(row))),
                Fuzz.outcome,
                Effect.map((exit) => ({ rows, isFailure: Exit.isFailure(exit) }))
              )
            }
            const whole = yield* decode(Stream.make(bytes))
            const cut = yield* decode(inChunks(bytes, sizesBy(choice, bytes)))
            expect(cut.isFailure).toBe(whole.isFailure)
            // Rows before an error depend on how much of the feed was decoded when it occurred.
            const length = whole.isFailure ? Math.min(cut.rows.length, whole.rows.length) : Number.POSITIVE_INFINITY
            expect(cut.rows.slice(0, length)).toEqual(whole.rows.slice(0, length))
          }
        })
    }))
})
