/**
 * Text of others can't reach the terminal as a command, and loses nothing that can be read.
 */
import { describe, expect, it } from "@effect/vitest"
import { anyOf, arrayOf, between, json, oneOf, textOf, unicode } from "@plaza/testing/Generators"
import { Arbitrary } from "effect"
import * as Text from "../src/Text.ts"

const commands = /[\p{Control}\p{Bidi_Control}\p{Surrogate}]/u
// Any text at all, with more of the dangerous ones than chance would give.
const anyText = Arbitrary.map(
  arrayOf(
    oneOf(
      anyOf(["\u001b", "\u009b", "\n", "\t", "\u202e", "\ud800", "\u007f"]),
      textOf(between(0, 0xffff), { maxLength: 3 }),
      unicode({ maxLength: 3 })
    )
  ),
  (parts) => parts.join("")
)

describe("text of others", () => {
  it.prop("holds no control character once it is visible, but line feeds and tabs", [anyText], ([text]) => {
    expect(Text.visible(text).replace(/[\n\t]/g, "")).not.toMatch(commands)
  })

  it.prop("is one line without any of them once it is on one line", [anyText], ([text]) => {
    expect(Text.oneLine(text)).not.toMatch(commands)
    expect(Text.oneLine(Text.oneLine(text))).toBe(Text.oneLine(text))
  })

  it.prop("stays as it is when it holds none", [Arbitrary.filter(unicode(), (text) => !commands.test(text))], ([text]) => {
    expect(Text.visible(text)).toBe(text)
  })

  it("shows an escape as its picture", () => {
    expect(Text.visible("a\u001b[2Jb\u0007\u007f\u009b")).toBe("a␛[2Jb␇␡\ufffd")
    expect(Text.oneLine(" a\r\n\tb ")).toBe("a b")
  })
})

describe("JSON", () => {
  it.prop("reads back as the same value and holds no control character", [json], ([value]) => {
    expect(JSON.parse(Text.json(value))).toEqual(value)
    expect(JSON.parse(Text.json(value, 2))).toEqual(value)
    expect(Text.json(value)).not.toMatch(commands)
  })

  it("escapes what a terminal could take for a command", () => {
    expect(Text.json({ a: "\u001b[2J\u009b\u202e" })).toBe(`{"a":"\\u001b[2J\\u009b\\u202e"}`)
    expect(Text.json(undefined)).toBe("null")
  })

  it("has no limit of the depth", () => {
    const text = `${"[{\"a\":".repeat(50_000)}[1,"\\u001b",null,{}]${",\"\":true},2]".repeat(50_000)}`
    expect(Text.json(JSON.parse(text)) === text).toBe(true)
    expect(Text.json(JSON.parse(text), 2) === text).toBe(true)
  })
})

describe("a count", () => {
  it("has the noun in the singular only for one", () => {
    expect([0, 1, 2, 12_000].map((number) => Text.count(number, "row"))).toEqual(["0 rows", "1 row", "2 rows", "12,000 rows"])
  })
})
