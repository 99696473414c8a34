/**
 * Tables fit the terminal, and a pipe gets data that tools can cut.
 */
import { it } from "@effect/vitest"
import { FastCheck } from "effect"
import { describe, expect } from "vitest"
import { Table } from "../src/index.ts"

const terminal = (columns: number, colour = false): Table.Medium => ({ isTerminal: true, colour, columns: () => columns })
const pipe: Table.Medium = { isTerminal: false, colour: false, columns: () => 80 }
const columns: ReadonlyArray<Table.Column> = [{ head: "id" }, { head: "stock", align: "right" }, { head: "reason", overflow: "wrap" }]
const cell = FastCheck.oneof(FastCheck.string({ unit: "grapheme-ascii", maxLength: 60 }), FastCheck.integer(), FastCheck.constant(null))
const rows = FastCheck.array(FastCheck.tuple(cell, cell, cell), { minLength: 1, maxLength: 8 })

describe("a table", () => {
  it.prop("fits the width of the terminal", [rows, FastCheck.integer({ min: 24, max: 200 })], ([rows, width]) => {
    for (const line of Table.lines(columns, rows, terminal(width))) {
      expect(line.length).toBeLessThanOrEqual(width)
    }
  })

  it.prop("is a line with the same count of tabs for each row in a pipe", [rows], ([rows]) => {
    const lines = Table.lines(columns, rows, pipe)
    expect(lines.length).toBe(rows.length)
    expect(lines.every((line) => line.split("\t").length === 3)).toBe(true)
  })

  it("has a head and aligned columns on a terminal", () => {
    expect(Table.render(columns, [["007", 5, "fine"], ["MUG-BLUE-350", 1200, null]], terminal(60))).toBe([
      "id            stock  reason",
      "007               5  fine",
      "MUG-BLUE-350   1200",
      ""
    ].join("\n"))
  })

  it("cuts a long cell or continues it on the next line, as its column says", () => {
    expect(Table.lines([{ head: "a" }, { head: "b", overflow: "wrap" }], [["x".repeat(30), "one two three four five"]], terminal(24)))
      .toEqual([
        "a            b",
        "xxxxxxxxxx…  one two",
        "             three four",
        "             five"
      ])
  })

  it("never cuts a column that is of no use in part, however narrow the terminal", () => {
    expect(Table.lines([{ head: "id", whole: true }, { head: "text" }], [["9007199254741029", "a long text"]], terminal(20))).toEqual([
      "id                text",
      "9007199254741029  a lon…"
    ])
  })

  it("breaks a word that is wider than its column instead of cutting it off", () => {
    expect(Table.lines([{ head: "b", overflow: "wrap" }], [["abcdefghijklmnop"]], terminal(10)).slice(1).join("")).toBe("abcdefghijklmnop")
  })

  it("sets only its head off, and only where colours are welcome", () => {
    expect(Table.lines([{ head: "a" }], [["b"]], terminal(20, true))).toEqual(["\u001b[1ma\u001b[22m", "b"])
    expect(Table.lines([{ head: "a" }], [["b"]], terminal(20))).toEqual(["a", "b"])
  })

  it("does not let a cell move the cursor", () => {
    expect(Table.lines([{ head: "a" }], [["x\u001b[2J\ny"]], terminal(40)).slice(1)).toEqual(["x␛[2J y"])
    expect(Table.lines([{ head: "a" }, { head: "b" }], [["x\ty", "\u001b[1A"]], pipe)).toEqual(["x y\t␛[1A"])
  })

  it("keeps later rows under earlier ones with their widths", () => {
    const widths = Table.widthsOf(columns, [["long-product-id", 1, ""]], terminal(60))
    expect(Table.lines(columns, [["a", 22, "b"]], terminal(60), { widths, head: false })).toEqual(["a                   22  b"])
  })

  it("of one thing is a line for each of its names", () => {
    expect(Table.record([["id", "1001"], ["username", "corner-shop"]], terminal(60))).toBe("id        1001\nusername  corner-shop\n")
    expect(Table.record([["id", "1001"]], pipe)).toBe("id\t1001\n")
  })
})
