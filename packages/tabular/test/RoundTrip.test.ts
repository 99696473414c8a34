/**
 * Round trips: written rows are decoded unchanged, in chunks of any size.
 */
import { describe, expect, it } from "@effect/vitest"
import * as CellText from "@plaza/tabular/CellText"
import * as Format from "@plaza/tabular/Format"
import * as Identity from "@plaza/tabular/Identity"
import * as Stock from "@plaza/tabular/Stock"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Effect, Stream } from "effect"
import { gzipSync } from "node:zlib"
import { all } from "./support/reading.ts"

type Item = readonly [id: string, stock: number]

const encodings: Readonly<Record<string, (text: string) => Uint8Array>> = {
  utf8: (text) => Buffer.from(text),
  "utf8 with a mark": (text) => Buffer.from(`\uFEFF${text}`),
  utf16le: (text) => Buffer.from(`\uFEFF${text}`, "utf16le"),
  utf16be: (text) => Buffer.from(`\uFEFF${text}`, "utf16le").swap16()
}

// Characters with a meaning in one of the formats occur often.
const character = Generate.oneOf(Generate.elementOf("=\"',;|\t\r\n \\{}[]#-+0A".split("")),
  Generate.unicode({ minLength: 1, maxLength: 1 }))
const textUpTo = (maxLength: number, minLength = 0) =>
  Arbitrary.map(Generate.arrayOf(character, { minLength, maxLength }), (all) => all.join(""))
const id = Arbitrary.filter(textUpTo(12, 1),
  (text) =>
    Identity.ofRejected(text) === text && text !== "." && text !== ".." && !/\p{Surrogate}|\uFFFD|^\d(?:[.,]\d+)?[eE]\+\d+$/u.test(text))
const items = Generate.arrayOf(Arbitrary.all([id, Generate.between(0, Number.MAX_SAFE_INTEGER)]), { minLength: 1, maxLength: 8 })
const cuts = Generate.arrayOf(Generate.between(0, 40), { minLength: 1, maxLength: 10 })
const encoding = Generate.elementOf(Object.keys(encodings))

/** The bytes in chunks of these sizes, repeated. Some chunks are empty. */
const chunks = (bytes: Uint8Array, sizes: ReadonlyArray<number>): Stream.Stream<Uint8Array> => {
  const found: Array<Uint8Array> = []
  for (let from = 0, turn = 0; from < bytes.length; turn++) {
    const size = (sizes[turn % sizes.length] ?? 0) + (turn % sizes.length === 0 ? 1 : 0)
    found.push(bytes.subarray(from, from + size))
    from += size
  }
  return Stream.fromIterable(found)
}

const csv = (written: ReadonlyArray<Item>, delimiter: string, lineEnd: string, quoteAll: boolean): string => {
  const cell = (text: string) => quoteAll || /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll("\"", "\"\"")}"` : text
  const line = (...cells: ReadonlyArray<string>) => `${cells.map(cell).join(delimiter)}${lineEnd}`
  return [line("stock", "productId", "note"), ...written.map(([name, stock]) => line(String(stock), name, ""))].join("")
}

const objects = (written: ReadonlyArray<Item>) => written.map(([productId, stock]) => ({ productId, stock }))

const readBack = (
  format: Format.Format,
  text: string,
  encode: string,
  isPacked: boolean,
  sizes: ReadonlyArray<number>,
  delimiter?: string
) => {
  const plain = encodings[encode]?.(text) ?? Buffer.from(text)
  const bytes = chunks(isPacked ? gzipSync(plain) : plain, sizes)
  return Effect.map(
    all(Format.rows(format, Stock.schema({ idColumn: "productId", stockColumn: "stock" }), { source: "stock", delimiter })(bytes)),
    (rows) => rows.map((row) => row._tag === "Valid" ? [row.productId, row.stock] : row.reason)
  )
}

/** The rows, or the message of the failure. */
const outcome = (format: Format.Format, bytes: Stream.Stream<Uint8Array>) =>
  Effect.match(all(Format.rows(format, Stock.schema({ idColumn: "productId", stockColumn: "stock" }), { source: "stock" })(bytes)), {
    onFailure: ({ message }): unknown => message,
    onSuccess: (rows): unknown => rows
  })

const beginnings: Readonly<Record<Format.Format, string>> = {
  csv: "productId,stock\n",
  json: "[{\"productId\":\"A\",\"stock\":1},",
  ndjson: "",
  xlsx: "PK\u0003\u0004"
}

describe("any bytes", () => {
  for (const format of Format.all) {
    it.effect.prop(
      `decode as ${format} to rows or one error, independent of the chunks`,
      [
        Generate.oneOf<Uint8Array>(Generate.bytes({ maxLength: 60 }), Arbitrary.map(textUpTo(60), (text) => Buffer.from(text))),
        Generate.boolean,
        encoding,
        Generate.boolean,
        cuts
      ],
      ([rest, isBegun, encode, isPacked, sizes]) =>
        Effect.gen(function*() {
          const plain = Buffer.concat([encodings[encode]?.(isBegun ? beginnings[format] : "") ?? Buffer.alloc(0), rest])
          const bytes = isPacked ? gzipSync(plain) : plain
          expect(yield* outcome(format, chunks(bytes, sizes))).toEqual(yield* outcome(format, Stream.make(bytes)))
        }),
      { arbitrary: { runs: 200 } }
    )
  }
})

describe("a round trip", () => {
  it.prop("normalises cell text idempotently", [textUpTo(8)], ([text]) => {
    const once = CellText.normalize(text, (marked) => marked !== "")
    expect(CellText.normalize(once, (marked) => marked !== "")).toBe(once)
  }, { arbitrary: { runs: 1000 } })

  it.effect.prop(
    "returns the same rows from CSV",
    [
      items,
      Generate.elementOf([",", ";", "\t", "|", "^", "¦"]),
      Generate.elementOf(["\n", "\r\n", "\r"]),
      Generate.boolean,
      encoding,
      Generate.boolean,
      cuts
    ],
    ([written, delimiter, lineEnd, quoteAll, encode, isPacked, sizes]) =>
      Effect.gen(function*() {
        const named = ["^", "¦"].includes(delimiter) ? delimiter : undefined
        expect(yield* readBack("csv", csv(written, delimiter, lineEnd, quoteAll), encode, isPacked, sizes, named)).toEqual(written)
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect.prop("returns the same rows from JSON", [items, Generate.boolean, Generate.boolean, encoding, Generate.boolean, cuts],
    ([written, isBare, isPretty, encode, isPacked, sizes]) =>
      Effect.gen(function*() {
        const document = JSON.stringify(isBare ? objects(written) : { next_cursor: null, data: objects(written) }, null,
          isPretty ? 2 : undefined)
        expect(yield* readBack("json", document, encode, isPacked, sizes)).toEqual(written)
      }))

  it.effect.prop("returns the same rows from NDJSON", [items, Generate.elementOf(["\n", "\r\n"]), encoding, Generate.boolean, cuts],
    ([written, lineEnd, encode, isPacked, sizes]) =>
      Effect.gen(function*() {
        const text = objects(written).map((object) => `${JSON.stringify(object)}${lineEnd}`).join("")
        expect(yield* readBack("ndjson", text, encode, isPacked, sizes)).toEqual(written)
      }))
})
