/**
 * The exports of shops, spreadsheets and inventory systems, in chunks of any size.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Format from "@plaza/tabular/Format"
import * as SourceError from "@plaza/tabular/SourceError"
import * as Stock from "@plaza/tabular/Stock"
import { Effect, Result } from "effect"
import { readFileSync } from "node:fs"
import { path, render } from "../scripts/feeds.ts"
import { type Feed, sections } from "./support/feeds.ts"
import { all, inChunks } from "./support/reading.ts"

const optionNames = { id: "--id-column", stock: "--stock-column", separators: "--decimal or --thousands", charset: "--charset" }

const read = (feed: Feed, chunks: number) =>
  Effect.gen(function*() {
    const cursors: Array<string> = []
    const {
      charset,
      content,
      delimiter,
      file,
      format,
      idColumn = "productId",
      items,
      negative = "reject",
      pages,
      separators,
      sheet,
      stockColumn = "stock"
    } = feed
    const rows = yield* Effect.result(all(
      Stock.rows(format ?? Format.ofName(file), { idColumn, stockColumn }, {
        optionNames,
        negative,
        separators,
        source: file,
        charset,
        delimiter,
        items,
        sheet,
        sheetOption: "--sheet",
        acceptPartial: { names: [], option: (name) => `--accept-partial ${name}` },
        itemsOption: "--items",
        formatOption: "--format",
        onNextCursor: pages && ((cursor) => cursors.push(cursor))
      })(inChunks(content, chunks))
    ))
    if (Result.isFailure(rows)) {
      const { line, message } = rows.failure
      const end = "; no row of it was used"
      expect(rows.failure).toBeInstanceOf(SourceError.SourceError)
      expect(message).toMatch(new RegExp(`^${file}(?:, sheet "[^"]*")?${line === undefined ? "" : `, (?:line|row) ${line}`}: .*${end}$`))
      return { taken: [], rejected: [], refused: message.slice(message.indexOf(": ") + 2, -end.length), nextCursor: cursors[0] }
    }
    return {
      taken: rows.success.flatMap((row) =>
        row._tag === "Valid" ? [row.negative === undefined ? [row.productId, row.stock] : [row.productId, row.stock, row.negative]] : []
      ),
      rejected: rows.success.flatMap((row) => row._tag === "Rejected" ? [[row.line, row.reason]] : []),
      refused: undefined,
      nextCursor: cursors[0]
    }
  })

for (const [title, feeds] of sections) {
  describe(`exports: ${title}`, () => {
    for (const feed of feeds) {
      const { nextCursor, refused, rejected = [], taken = [] } = feed
      it.effect(`decodes ${feed.name}`, () =>
        Effect.forEach([1, 7, 100_000], (chunks) =>
          Effect.map(read(feed, chunks), (found) => expect(found).toEqual({ taken, rejected, refused, nextCursor }))))
    }
  })
}

describe("the page of feeds", () => {
  it("is generated from the table", () => {
    expect(readFileSync(path, "utf8"), "docs/feeds.md is out of date: run `pnpm --filter @plaza/tabular feeds` and commit it").toBe(
      render()
    )
  })

  it("shows at least 60 exports with distinct names", () => {
    const names = sections.flatMap(([, feeds]) => feeds.map(({ name }) => name))
    expect(names.length).toBeGreaterThanOrEqual(60)
    expect(new Set(names).size).toBe(names.length)
  })
})
