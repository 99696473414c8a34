/**
 * That no format reads ahead: what has been taken in and not been given on is never more than a piece, however long the source.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as Format from "@plaza/rows/Format"
import * as Stock from "@plaza/rows/Stock"

const perPiece = 1_000
const pieces = 200
const shape = Stock.shape({ idColumn: "productId", stockColumn: "stock" })

const written: Readonly<Record<Format.Format, readonly [head: string, row: (id: number) => string, foot: string]>> = {
  csv: ["productId,stock\n", (id) => `P${id},${id}\n`, ""],
  json: ["{\"data\":[", (id) => `${id === 0 ? "" : ","}{"productId":"P${id}","stock":${id}}`, "]}"],
  ndjson: ["", (id) => `{"productId":"P${id}","stock":${id}}\n`, ""]
}

describe("a source of any length", () => {
  for (const format of Format.all) {
    it.effect(`is never in memory whole as ${format}`, () =>
      Effect.gen(function*() {
        const [head, row, foot] = written[format]
        let made = 0
        let read = 0
        let most = 0
        let inOrder = 0
        const piece = (number: number) => {
          const rows = Array.from({ length: perPiece }, (_, index) => row(number * perPiece + index))
          made += perPiece
          return Buffer.from(rows.join(""))
        }
        const bytes = Stream.concat(
          Stream.concat(Stream.make(Buffer.from(head)), Stream.map(Stream.rechunk(Stream.range(0, pieces - 1), 1), piece)),
          Stream.make(Buffer.from(foot))
        )
        yield* bytes.pipe(
          Format.rows(format, shape, { source: "stock" }),
          Stream.runForEach((each) =>
            Effect.sync(() => {
              if (each._tag === "Good" && each.stock === read) inOrder++
              most = Math.max(most, made - read)
              read++
            })
          )
        )
        expect(inOrder).toBe(pieces * perPiece)
        expect(most).toBeLessThanOrEqual(2 * perPiece)
      }))
  }
})
