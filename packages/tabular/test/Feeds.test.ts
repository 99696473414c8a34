/**
 * What is read of the exports that shops, spreadsheets and inventory systems write, whatever pieces the bytes come in.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Format from "@plaza/tabular/Format"
import * as SourceError from "@plaza/tabular/SourceError"
import * as Stock from "@plaza/tabular/Stock"
import { Effect, Either } from "effect"
import { readFileSync } from "node:fs"
import { path, render } from "../scripts/feeds.js"
import { type Feed, sections } from "./support/feeds.js"
import { all, inPieces } from "./support/reading.js"

const optionNames = { id: "--id-column", stock: "--stock-column" }

const read = (feed: Feed, pieces: number) =>
  Effect.gen(function*() {
    const cursors: Array<string> = []
    const { content, delimiter, file, format, idColumn = "productId", items, negative = "reject", pages, stockColumn = "stock" } = feed
    const rows = yield* Effect.either(all(
      Format.rows(format ?? Format.ofName(file), Stock.shape({ idColumn, stockColumn }, optionNames, { negative }), {
        source: file,
        delimiter,
        items,
        itemsOption: "--items",
        formatOption: "--format",
        onNextCursor: pages && ((cursor) => cursors.push(cursor))
      })(inPieces(content, pieces))
    ))
    if (Either.isLeft(rows)) {
      const { line, message } = rows.left
      const end = "; nothing of it was taken"
      expect(rows.left).toBeInstanceOf(SourceError.SourceError)
      expect(message).toMatch(new RegExp(`^${file}${line === undefined ? "" : `, line ${line}`}: .*${end}$`))
      return { taken: [], rejected: [], refused: message.slice(message.indexOf(": ") + 2, -end.length), nextCursor: cursors[0] }
    }
    return {
      taken: rows.right.flatMap((row) =>
        row._tag === "Good" ? [row.negative === undefined ? [row.productId, row.stock] : [row.productId, row.stock, row.negative]] : []
      ),
      rejected: rows.right.flatMap((row) => row._tag === "Bad" ? [[row.line, row.reason]] : []),
      refused: undefined,
      nextCursor: cursors[0]
    }
  })

for (const [title, feeds] of sections) {
  describe(`exports: ${title}`, () => {
    for (const feed of feeds) {
      const { nextCursor, refused, rejected = [], taken = [] } = feed
      it.effect(`reads or refuses: ${feed.name}`, () =>
        Effect.forEach([1, 7, 100_000], (pieces) =>
          Effect.map(read(feed, pieces), (found) => expect(found).toEqual({ taken, rejected, refused, nextCursor }))))
    }
  })
}

describe("the page of feeds", () => {
  it("is what the table generates", () => {
    expect(readFileSync(path, "utf8"), "docs/feeds.md is out of date: run `pnpm --filter @plaza/tabular feeds` and commit it").toBe(
      render()
    )
  })

  it("shows at least 60 exports, each with a name of its own", () => {
    const names = sections.flatMap(([, feeds]) => feeds.map(({ name }) => name))
    expect(names.length).toBeGreaterThanOrEqual(60)
    expect(new Set(names).size).toBe(names.length)
  })
})
