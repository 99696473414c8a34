/** Redaction removes the key in every supported encoding, and changes nothing else. */
import { describe, expect, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { inspect } from "node:util"
import * as Redaction from "../src/Redaction.js"
import * as Fake from "./support/FakeService.js"

const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
// A backslash at the end of a key may stay behind in some escape; see below.
const key = fc.string({ unit: printable, minLength: 41, maxLength: 60 }).filter((text) => !text.endsWith("\\"))
const hex = (code: number) => code.toString(16).padStart(2, "0")

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&apos;",
  "/": "&sol;",
  "_": "&lowbar;"
}

/** The forms of a character in a text that isn't JSON. */
const forms: ReadonlyArray<(character: string) => string> = [
  (character) => character,
  (character) => `\\u00${hex(character.charCodeAt(0))}`,
  (character) => `\\u00${hex(character.charCodeAt(0)).toUpperCase()}`,
  (character) => `%${hex(character.charCodeAt(0))}`,
  (character) => `%25${hex(character.charCodeAt(0)).toUpperCase()}`,
  (character) => `&#${character.charCodeAt(0)};`,
  (character) => `&#x${hex(character.charCodeAt(0))};`,
  (character) => entities[character] ?? character,
  (character) => character === "/" ? "\\/" : character
]

const withoutSemicolon = new Set(["&", "<", ">", "\""])

const entityOf = (character: string, form: number, zeros: number): string => {
  const code = character.charCodeAt(0)
  const name = entities[character]
  const forms = [
    character === "&" ? "&amp;" : character,
    `&#${"0".repeat(zeros)}${code}`,
    `&#X${"0".repeat(zeros)}${hex(code)}`,
    `&#x${hex(code)};`,
    name ?? `&#${code};`,
    name === undefined ? `&#${code}` : withoutSemicolon.has(character) ? name.slice(0, -1) : name
  ]
  return forms[form] ?? character
}

const write = (text: string, choices: ReadonlyArray<number>) =>
  Array.from(text, (character, index) => forms[(choices[index % choices.length] ?? 0) % forms.length]?.(character) ?? character).join("")

/** JSON of a text in which any character may be escaped. */
const json = (text: string, choices: ReadonlyArray<number>) =>
  Array.from(text, (character, index) =>
    (choices[index % choices.length] ?? 0) % 3 === 0
      ? `\\u00${hex(character.charCodeAt(0))}`
      : character === "/" && (choices[index % choices.length] ?? 0) % 3 === 1
      ? "\\/"
      : JSON.stringify(character).slice(1, -1)).join("")

const letters = fc.string({
  unit: fc.constantFrom(...Array.from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")),
  minLength: 20,
  maxLength: 30
})
/** A key with escapes in it, and the key that they decode to. */
const keyWithEscapes = fc.tuple(
  letters,
  fc.array(
    fc.tuple(
      fc.constantFrom<readonly [escape: string, decoded: string]>(
        ["%7B", "{"],
        ["%257b", "{"],
        ["&lt;", "<"],
        ["&amp;lt;", "<"],
        ["&#123;", "{"],
        ["&#x7d;", "}"],
        ["\\u007b", "{"],
        ["\\u0040", "@"]
      ),
      letters
    ),
    { minLength: 1, maxLength: 3 }
  )
).map(([first, rest]) => ({
  key: first + rest.map(([[escape], text]) => escape + text).join(""),
  decoded: first + rest.map(([[, character], text]) => character + text).join("")
}))

const choices = fc.array(fc.nat({ max: 1_000 }), { minLength: 1, maxLength: 60 })
// Without a character that an escape of the key could merge with.
const around = fc.string({ unit: fc.constantFrom("a", "Z", " ", "é", "\"", ":", "{", "\n", "💡"), maxLength: 20 })

describe("the key", () => {
  it.prop("is removed from a text in any mixture of escapes", [key, choices, around, around], ([key, choices, before, after]) => {
    const { text } = Redaction.make(key)
    expect(text(`${before} ${write(key, choices)} ${after}`)).toBe(`${before} <redacted> ${after}`)
  })

  it.prop("that contains escapes itself is removed unchanged, and decoded in any mixture of escapes", [
    keyWithEscapes,
    choices,
    around,
    around
  ], ([{ decoded, key }, choices, before, after]) => {
    const { text } = Redaction.make(key)
    for (const echo of [key, decoded, JSON.stringify(key).slice(1, -1), write(decoded, choices), json(decoded, choices)]) {
      expect(text(`${before} ${echo} ${after}`)).toBe(`${before} <redacted> ${after}`)
    }
  })

  it.prop("is removed from HTML, with and without the semicolons of its entities and with leading zeros", [
    key,
    choices,
    fc.nat({ max: 40 })
  ], ([key, choices, zeros]) => {
    // An entity without a semicolon would take one that the key has behind it.
    const { text } = Redaction.make(key.replaceAll(";", ":"))
    const html = Array.from(key.replaceAll(";", ":"),
      (character, index) => entityOf(character, (choices[index % choices.length] ?? 0) % 6, zeros))
    expect(text(`<b>${html.join("")}</b>`)).toBe("<b><redacted></b>")
    expect(text(`<b>${html.join("").replaceAll("&", "&amp")}</b>`)).toBe("<b><redacted></b>")
  })

  it.prop("is removed from JSON in any mixture of its escapes, as a value and as a property name, and the JSON stays valid", [key, choices],
    ([key, choices]) => {
      const { text } = Redaction.make(key)
      const echo = json(key, choices)
      const parsed: unknown = JSON.parse(text(`{"error":{"code":"X","Bearer ${echo}":"a\\n${echo}\\n\\"","list":["${echo}"]}}`))
      expect(parsed).toEqual({ error: { code: "X", "Bearer <redacted>": "a\n<redacted>\n\"", list: ["<redacted>"] } })
    })

  it.prop("is removed without its prefix, in any mixture of escapes and from base64", [key, choices, fc.nat({ max: 5 })],
    ([key, choices, shift]) => {
      const { text } = Redaction.make(key)
      const secret = key.slice(-40)
      expect(text(`no key ${write(secret, choices)} here`)).toBe("no key <redacted> here")
      expect(text(Buffer.from(`${"x".repeat(shift)} ${secret} y`).toString("base64"))).toContain("<redacted>")
    })

  it.prop("is removed from base64 of a text that contains it, at any alignment", [key, fc.nat({ max: 5 }), fc.boolean()],
    ([key, shift, url]) => {
      const { text } = Redaction.make(key)
      const encoded = Buffer.from(`${"x".repeat(shift)} ${key} y`).toString(url ? "base64url" : "base64")
      const left = text(encoded)
      expect(left).toContain("<redacted>")
      // What remains at the ends holds a character of the key at most.
      expect(left.length).toBeLessThan(encoded.length - key.length + "<redacted>".length)
    })

  it.prop("is removed from base64 in lines of any length, as text and as a JSON value", [
    key,
    fc.nat({ max: 100 }),
    fc.integer({ min: 1, max: 80 }),
    fc.constantFrom("\n", "\r\n"),
    fc.boolean()
  ], ([key, shift, width, lineEnd, url]) => {
    const { text } = Redaction.make(key)
    const encoded = Buffer.from(`${"x".repeat(shift)} ${key} y`).toString(url ? "base64url" : "base64")
    const lines = encoded.replace(new RegExp(`.{${width}}(?=.)`, "g"), `$&${lineEnd}`)
    const parsed: unknown = JSON.parse(text(JSON.stringify({ echo: lines })))
    expect(parsed).toEqual({ echo: text(lines) })
    const left = text(lines).replaceAll(lineEnd, "")
    expect(left).toContain("<redacted>")
    // The characters at the ends also encode the text around the key.
    expect(left.length).toBeLessThan(encoded.length - key.length + "<redacted>".length)
  })

  it.prop("is removed from the error of an HTTP client at any depth, and the error keeps its code and message", [key, choices],
    ([key, choices]) => {
      const { cause } = Redaction.make(key)
      const request = { method: "GET", headers: { authorization: `Bearer ${key}` } }
      const inner = Object.assign(new Error(`connect to ${write(key, choices)}`), {
        code: "ECONNRESET",
        request,
        [`x${key}`]: 1,
        cause: `again ${key}`
      })
      const outer = Object.assign(new TypeError("fetch failed", { cause: inner }), { config: request, errors: [inner] })
      const copied = cause(outer)
      const shown = inspect(copied, { depth: 20, showHidden: true }) + JSON.stringify(copied)
      expect(shown).not.toContain(key)
      expect(shown).not.toContain(JSON.stringify(key).slice(1, -1))
      expect(copied).toMatchObject({
        name: "TypeError",
        message: "fetch failed",
        cause: { code: "ECONNRESET", message: "connect to <redacted>" }
      })
    })

  it.prop("that ends with a backslash is removed too, and JSON stays valid", [
    key,
    fc.integer({ min: 1, max: 3 }),
    fc.constantFrom("", "\"", " ")
  ], ([key, count, after]) => {
    const whole = key + "\\".repeat(count)
    const left = Redaction.make(whole).text(JSON.stringify({ [whole + after]: [`${whole}${after}`] }))
    expect(left).not.toContain(key)
    // Backslashes may stay behind, in pairs.
    expect(JSON.parse(left.replaceAll("\\\\", ""))).toEqual({ [`<redacted>${after}`]: [`<redacted>${after}`] })
    expect(() => JSON.parse(left) as unknown).not.toThrow()
  })

  it("in a cyclic cause doesn't cause a loop", () => {
    const error = new Error("round")
    Object.assign(error, { cause: error })
    expect(Redaction.make(Fake.key).cause(error)).toMatchObject({ message: "round" })
  })
})

describe("a text without the key", () => {
  it.prop("is the same text", [fc.string({ unit: "binary", maxLength: 300 })], ([given]) => {
    expect(Redaction.make(Fake.key).text(given)).toBe(given)
  })

  it("of nothing but escapes takes linear time", () => {
    // No unit repeated is the end of this key.
    const { text } = Redaction.make(`${Fake.key}_`)
    for (
      const unit of ["\\", "\n", "k\n", "k\\n", "\\r\\n", "\\r", "\r", "%25", "&amp;", "&amp", "&#0", "0", "k", "key_", "\\u006b", "%6b"]
    ) {
      const given = unit.repeat(20_000)
      expect(text(given)).toBe(given)
    }
  })
})
