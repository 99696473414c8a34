/**
 * No format buffers more than one chunk, however long the source.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Format from "@plaza-legacy/tabular/Format"
import * as Stock from "@plaza-legacy/tabular/Stock"
import { Effect, Stream } from "effect"

const perPiece = 1_000
const chunks = 200
const schema = Stock.schema({ idColumn: "productId", stockColumn: "stock" })

const comma = (id: number) => id === 0 ? "" : ","

const written: ReadonlyArray<
  readonly [name: string, format: Format.Format, head: string, row: (id: number) => string, foot: string, items?: string]
> = [
  ["csv", "csv", "productId,stock\n", (id) => `P${id},${id}\n`, ""],
  ["json", "json", "{\"data\":[", (id) => `${comma(id)}{"productId":"P${id}","stock":${id}}`, "]}"],
  [
    "json with arrays in its items",
    "json",
    "{\"a\":[",
    (id) => `${comma(id)}{"b":[{"productId":"P${id}","stock":${id}}]}`,
    "],\"next_cursor\":null}",
    "a.b"
  ],
  ["ndjson", "ndjson", "", (id) => `{"productId":"P${id}","stock":${id}}\n`, ""]
]

describe("a source of any size", () => {
  for (const [name, format, head, row, foot, items] of written) {
    it.effect(`is decoded in constant memory as ${name}`, () =>
      Effect.gen(function*() {
        let made = 0
        let read = 0
        let most = 0
        let inOrder = 0
        const chunk = (number: number) => {
          const rows = Array.from({ length: perPiece }, (_, index) => row(number * perPiece + index))
          made += perPiece
          return Buffer.from(rows.join(""))
        }
        const bytes = Stream.concat(
          Stream.concat(Stream.make(Buffer.from(head)), Stream.map(Stream.rechunk(Stream.range(0, chunks - 1), 1), chunk)),
          Stream.make(Buffer.from(foot))
        )
        yield* bytes.pipe(
          Format.rows(format, schema, { source: "stock", items }),
          Stream.runForEach((each) =>
            Effect.sync(() => {
              if (each._tag === "Valid" && each.stock === read) inOrder++
              most = Math.max(most, made - read)
              read++
            })
          )
        )
        expect(inOrder).toBe(chunks * perPiece)
        expect(most).toBeLessThanOrEqual(2 * perPiece)
      }))
  }
})
