/**
 * Tables fit the terminal, and a pipe gets data that tools can cut.
 */
import { describe, expect, it } from "@effect/vitest"
import { arrayOf, between, oneOf, textOf } from "@plaza/testing/Generators"
import { Arbitrary } from "effect"
import * as Table from "../src/Table.ts"

const terminal = (columns: number, colour = false): Table.Medium => ({ isTerminal: true, colour, columns: () => columns })
const pipe: Table.Medium = { isTerminal: false, colour: false, columns: () => 80 }
const columns: ReadonlyArray<Table.Column> = [{ head: "id" }, { head: "stock", align: "right" }, { head: "reason", overflow: "wrap" }]
const cell = oneOf<Table.Cell>(textOf(between(0x20, 0x7e), { maxLength: 60 }), between(-2_147_483_648, 2_147_483_647),
  Arbitrary.Constant(null))
const rows = arrayOf(Arbitrary.all([cell, cell, cell]), { minLength: 1, maxLength: 8 })

describe("a table", () => {
  it.prop("fits the width of the terminal", [rows, between(24, 200)], ([rows, width]) => {
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
    expect(Table.lines([{ head: "a" }, { head: "b", overflow: "wrap" }], [["x".repeat(30), "one two three four five"]], terminal(28)))
      .toEqual([
        "a              b",
        "xxxxxxxxxxxx…  one two three",
        "               four five"
      ])
  })

  it("never cuts a column that is of no use in part, however narrow the terminal", () => {
    const [id, text] = ["9007199254741029", "a text of words that goes on"]
    const whole = [{ head: "id", whole: true }, { head: "text" }]
    expect(Table.lines(whole, [[id, text]], terminal(30))).toEqual(["id                text", `${id}  a text of w…`])
    expect(Table.lines(whole, [[id, text]], terminal(20))).toEqual([`id    ${id}`, "text  a text of", "      words that", "      goes on"])
  })

  it("becomes a record for each row where a column would be cut to a few letters", () => {
    const rows = [["a".repeat(30), 5, "one two three four"], ["b", 1200, null]]
    expect(Table.lines(columns, rows, terminal(24))).toEqual([
      "id      aaaaaaaaaaaaaaaa",
      "        aaaaaaaaaaaaaa",
      "stock   5",
      "reason  one two three",
      "        four",
      "",
      "id      b",
      "stock   1200"
    ])
    expect(Table.layoutOf(columns, rows, terminal(80))).not.toBe("records")
    expect(Table.lines([{ head: "a" }, { head: "b" }], [["x".repeat(20), "y".repeat(20)]], terminal(20, true))[0])
      .toBe(`\u001b[1ma\u001b[22m  ${"x".repeat(17)}`)
  })

  it("keeps later rows in the records of earlier ones, with an empty line between", () => {
    const layout = Table.layoutOf(columns, [["a".repeat(30), 5, "one two three four"]], terminal(24))
    expect(layout).toBe("records")
    expect(Table.lines(columns, [["c", 1, "x"]], terminal(24), { layout, head: false })).toEqual([
      "",
      "id      c",
      "stock   1",
      "reason  x"
    ])
  })

  it("puts a mark, whose column has no head, before the next cell of a record", () => {
    const profiles = [{ head: "", whole: true }, { head: "profile", whole: true }, { head: "base URL" }, { head: "key", whole: true }]
    const rows = [["*", "shop", "https://api.example.com/open/v1", "****Dsvc"], ["", "x".repeat(20), "https://api.example.com", "****abcd"]]
    expect(Table.lines(profiles, rows, terminal(44))).toEqual([
      "profile   * shop",
      "base URL  https://api.example.com/open/v1",
      "key       ****Dsvc",
      "",
      "profile   xxxxxxxxxxxxxxxxxxxx",
      "base URL  https://api.example.com",
      "key       ****abcd"
    ])
    expect(Table.lines(profiles, rows, terminal(80))[1]).toBe("*  shop                  https://api.example.com/open/v1  ****Dsvc")
  })

  it("breaks only the words that are wider than their column, and counts wide characters twice", () => {
    const column: ReadonlyArray<Table.Column> = [{ head: "b", overflow: "wrap" }]
    expect(Table.lines(column, [["delay after, median of abcdefghijklmnopqrstuvwxyz ms"]], terminal(14)).slice(1))
      .toEqual(["delay after,", "median of", "abcdefghijklmn", "opqrstuvwxyz", "ms"])
    expect(Table.lines(column, [["は 日本語日本語日本語"]], terminal(13)).slice(1)).toEqual(["は", "日本語日本語", "日本語"])
    const family = "👨‍👩‍👧‍👦"
    expect(Table.lines(column, [[family.repeat(9)]], terminal(13)).slice(1).join("")).toBe(family.repeat(9))
  })

  it("breaks a word that is wider than its column instead of cutting it off", () => {
    const word = "abcdefghijklmnopqrstuvwxyz"
    expect(Table.lines([{ head: "b", overflow: "wrap" }], [[word]], terminal(14))).toEqual(["b", word.slice(0, 14), word.slice(14)])
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
    const layout = Table.layoutOf(columns, [["long-product-id", 1, ""]], terminal(60))
    expect(Table.lines(columns, [["a", 22, "b"]], terminal(60), { layout, head: false })).toEqual(["a                   22  b"])
  })

  it("of one thing is a line for each of its names", () => {
    expect(Table.record([["id", "1001"], ["username", "corner-shop"]], terminal(60))).toBe("id        1001\nusername  corner-shop\n")
    expect(Table.record([["id", "1001"]], pipe)).toBe("id\t1001\n")
  })
})
