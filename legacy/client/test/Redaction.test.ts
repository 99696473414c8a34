/** Redaction removes the key in every supported encoding, and changes nothing else. */
import { describe, expect, it } from "@effect/vitest"
import { isLeaking } from "@plaza-legacy/testing/KeyEchoes"
import { FastCheck as fc } from "effect"
import { inspect } from "node:util"
import * as Redaction from "../src/Redaction.ts"
import * as Fake from "./support/FakeService.ts"

/** The part of a text that is not in the same string of JSON, or line, as what follows it. */
const before = (text: string): string => /^[^]*[\n"]|/.exec(text)?.[0] ?? ""
const after = (text: string): string => /[\n"][^]*$|$/.exec(text)?.[0] ?? ""

const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
const key = fc.string({ unit: printable, minLength: 41, maxLength: 60 }).filter((text) => !/["\\]/.test(text))
const anyKey = fc.string({ unit: printable, minLength: 41, maxLength: 60 })
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
  it.prop("is removed alone where it is plain, with the rest of its string where it is escaped", [key, choices, around, around],
    ([key, choices, left, right]) => {
      const { text } = Redaction.make(key)
      const echo = write(key, choices)
      expect(text(`${left} Bearer ${key} ${right}`)).toBe(`${left} Bearer <redacted> ${right}`)
      expect(text(`${left} Bearer ${echo} ${right}`)).toBe(
        echo === key ? `${left} Bearer <redacted> ${right}` : `${before(left)}<redacted>${after(right)}`
      )
    })

  it.prop("that contains escapes itself is removed unchanged, and decoded in any mixture of escapes", [keyWithEscapes, choices],
    ([{ decoded, key }, choices]) => {
      const { text } = Redaction.make(key)
      for (const echo of [key, decoded, JSON.stringify(key).slice(1, -1), write(decoded, choices), json(decoded, choices)]) {
        expect(text(`first\nthen ${echo} there\nlast`)).toMatch(/^first\n(?:then )?<redacted>(?: there)?\nlast$/)
      }
    })

  it.prop("of any printable characters is in no form of a text", [anyKey, choices, around, around], ([key, choices, left, right]) => {
    const { text } = Redaction.make(key)
    for (const echo of [key, write(key, choices), json(key, choices), JSON.stringify(JSON.stringify(key))]) {
      const out = text(`${left} ${echo} ${right}`)
      expect(out).toContain("<redacted>")
      expect(isLeaking(out, key)).toBe(false)
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
      (character, index) => entityOf(character, (choices[index % choices.length] ?? 0) % 6, zeros)).join("")
    for (const echo of [html, html.replaceAll("&", "&amp")]) {
      const out = text(`<p>\n<b>${echo}</b>\n</p>`)
      expect(out).toMatch(/^<p>\n.*<redacted>.*\n<\/p>$/)
      expect(isLeaking(out, key.replaceAll(";", ":"))).toBe(false)
    }
  })

  it.prop("is removed from JSON in any mixture of its escapes, as a value and as a property name, and the JSON stays valid", [
    anyKey,
    choices
  ], ([key, choices]) => {
    const { text } = Redaction.make(key)
    const echo = json(key, choices)
    const out = text(`{"error":{"code":"X","Bearer ${echo}":"a\\n${echo}\\n\\"","list":["${echo}",{"deep":"${echo}"},1]}}`)
    expect(isLeaking(out, key)).toBe(false)
    const hidden: unknown = expect.stringContaining("<redacted>")
    // The cast is true: the redaction keeps the shape of the JSON above.
    const { error } = JSON.parse(out) as { readonly error: Record<string, unknown> }
    const name = Object.keys(error).find((name) => name.includes("<redacted>")) ?? ""
    expect(error).toEqual({ code: "X", [name]: hidden, list: [hidden, { deep: hidden }, 1] })
  })

  it.prop("is removed without its prefix, in any mixture of escapes and from base64", [key, choices, fc.nat({ max: 5 })],
    ([key, choices, shift]) => {
      const { text } = Redaction.make(key)
      const secret = key.slice(-40)
      expect(text(`no key ${secret} here\n`)).toBe("<redacted>\n")
      expect(isLeaking(text(`no key ${write(secret, choices)} here`), key)).toBe(false)
      expect(text(Buffer.from(`${"x".repeat(shift)} ${secret} y`).toString("base64"))).toBe("<redacted>")
    })

  it.prop("is removed in any case, for example from the name of a header field", [key, choices], ([key, choices]) => {
    const { headers, text } = Redaction.make(key)
    for (
      const echo of [
        key.toLowerCase(),
        key.toUpperCase(),
        write(key, choices).toLowerCase(),
        Buffer.from(key).toString("base64").toLowerCase()
      ]
    ) {
      expect(isLeaking(text(`"${echo}"`), key)).toBe(false)
      expect(text(`"${echo}"`)).toContain("<redacted>")
      expect(headers({ [`x-${echo}-y`]: "1", accept: echo })).toEqual({
        [text(`x-${echo}-y`)]: "1",
        accept: text(echo)
      })
    }
  })

  it.prop("is removed from a header field that was folded in any place", [key, fc.array(fc.nat({ max: 80 }), { maxLength: 3 })],
    ([key, places]) => {
      const { headers } = Redaction.make(key)
      let folded = `Bearer ${key}`
      for (const place of places) folded = `${folded.slice(0, 8 + place)} \t${folded.slice(8 + place)}`
      expect(isLeaking(Object.values(headers({ "x-echo": folded })).join(""), key)).toBe(false)
      expect(headers({ "x-echo": "one two", "x-none": undefined })).toEqual({ "x-echo": "one two" })
    })

  it.prop("is removed from base64 and hexadecimal of a text that contains it, at any alignment", [anyKey, fc.nat({ max: 5 })],
    ([key, shift]) => {
      const { text } = Redaction.make(key)
      const plain = `${"x".repeat(shift)} ${key} y`
      for (const encoding of ["base64", "base64url", "hex"] as const) {
        const encoded = Buffer.from(plain).toString(encoding)
        expect(text(`{"sent":"Basic ${encoded}","n":1}`)).toBe(`{"sent":"<redacted>","n":1}`)
        expect(text(encoded.replaceAll("=", "%3D"))).toBe("<redacted>")
        expect(text(encoding === "hex" ? encoded.toUpperCase() : encoded)).toBe("<redacted>")
      }
    })

  it.prop("is removed from base64 in lines of any length, as text and as a JSON value", [
    key,
    fc.nat({ max: 100 }),
    fc.integer({ min: 1, max: 80 }),
    fc.constantFrom("\n", "\r\n", "\r\n  "),
    fc.boolean()
  ], ([key, shift, width, lineEnd, url]) => {
    const { text } = Redaction.make(key)
    const encoded = Buffer.from(`${"x".repeat(shift)} ${key} y`).toString(url ? "base64url" : "base64")
    const lines = encoded.replace(new RegExp(`.{${width}}(?=.)`, "g"), `$&${lineEnd}`)
    if (!lineEnd.endsWith(" ")) expect(JSON.parse(text(JSON.stringify({ echo: lines, n: 1 })))).toEqual({ echo: "<redacted>", n: 1 })
    expect(text(lines)).toContain("<redacted>")
    expect(isLeaking(text(lines), key)).toBe(false)
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
        cause: { code: "ECONNRESET", message: expect.stringContaining("<redacted>") as unknown }
      })
    })

  it.prop("that ends with backslashes is removed too, and JSON stays valid", [
    key,
    fc.integer({ min: 1, max: 3 }),
    fc.constantFrom("", "\"", " ")
  ], ([key, count, after]) => {
    const whole = key + "\\".repeat(count)
    const left = Redaction.make(whole).text(JSON.stringify({ [whole + after]: [`${whole}${after}`] }))
    expect(JSON.parse(left)).toEqual({ "<redacted>": ["<redacted>"] })
  })

  it("of fewer than 40 characters is removed in its own case only, and of fewer than 8 not at all", () => {
    expect(Redaction.make("Settings").text("Settings: settings")).toBe("<redacted>: settings")
    const short = Redaction.make("post")
    expect(short.text("a post")).toBe("a post")
    expect(short.headers({ post: "post", none: undefined })).toEqual({ post: "post" })
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
