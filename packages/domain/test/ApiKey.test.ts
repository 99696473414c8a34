/**
 * The form of a key, its secrecy, and how many may be active.
 */
import { describe, expect, it } from "@effect/vitest"
import { anyOf, arrayOf, between, type Lengths, oneOf, textOf } from "@plaza/testing/Generators"
import { Arbitrary, Redacted, Result } from "effect"
import { inspect } from "node:util"
import { canCreateKey, type KeyState, parse, revoke } from "../src/ApiKey.ts"

const printable = (lengths: Lengths) => textOf(between(0x21, 0x7e), lengths)
const prefix = printable({ minLength: 1, maxLength: 12 })
const secret = printable({ minLength: 40, maxLength: 40 })
/** The forms of a value that can reach a log. */
const shown = (value: unknown) => `${String(value)} ${JSON.stringify({ value })} ${inspect(value, { depth: null, showHidden: true })}`

describe("an API key", () => {
  it.prop("is any printable ASCII without spaces, and is accepted unchanged", [printable({ minLength: 1, maxLength: 120 })], ([text]) => {
    expect(Redacted.value(Result.getOrThrow(parse(text)))).toBe(text)
  })

  it.prop("is accepted with any prefix before its 40 characters, with an underscore or without", [prefix, secret], ([prefix, secret]) => {
    for (const text of [`${prefix}_${secret}`, `${prefix}${secret}`, `${prefix}-${secret}`]) {
      expect(Redacted.value(Result.getOrThrow(parse(text)))).toBe(text)
    }
  })

  it.prop("doesn't appear in any output", [prefix, secret], ([prefix, secret]) => {
    const key = Result.getOrThrow(parse(`${prefix}_${secret}`))
    expect(shown(key)).not.toContain(secret)
  })

  it("is refused when it is empty", () => {
    expect(Result.isFailure(parse(""))).toBe(true)
  })

  const odd = oneOf<string>(anyOf([" ", "\n", "\r", "\t", "\0", "\u007f", "é", "💡"]),
    Arbitrary.map(between(0x80, 0xffff), String.fromCharCode))

  it.prop("with a character that is invalid in a header is rejected", [between(0, 39), odd], ([at, odd]) => {
    const secret = "a".repeat(40)
    expect(Result.isFailure(parse(`key_${secret.slice(0, at)}${odd}${secret.slice(at + 1)}`))).toBe(true)
  })

  it.each([" ", "\n", "\r\n"])("with %j at the end is rejected, such as the last line of a file", (end) => {
    expect(Result.isFailure(parse(`key_${"a".repeat(40)}${end}`))).toBe(true)
  })

  it.prop("that is rejected gives an error with the valid characters and without the text", [
    arrayOf(anyOf(["ß", "€", "Ω", "💡"]), { minLength: 3 })
  ], ([characters]) => {
    const text = characters.join("")
    const refusal = Result.getOrThrow(Result.flip(parse(text)))
    expect(refusal.message).toContain("printable ASCII")
    expect(shown(refusal)).not.toContain(text)
  })
})

describe("the keys of an account", () => {
  // Undefined creates a key, a number revokes one.
  const moves = arrayOf(oneOf<number | undefined>(Arbitrary.Constant(undefined), between(0, 20)), { maxLength: 60 })

  it.prop("are at most five active at a time, and another key can be created exactly while fewer are active", [moves], ([moves]) => {
    const keys: Array<KeyState> = []
    const active = () => keys.filter((state) => state === "active").length
    for (const move of moves) {
      expect(canCreateKey(keys)).toBe(active() < 5)
      if (move === undefined) {
        if (canCreateKey(keys)) keys.push("active")
      } else if (keys[move] !== undefined) {
        keys[move] = revoke("active")
      }
      expect(active()).toBeLessThanOrEqual(5)
    }
  })

  it.prop("don't count when they are revoked, in any number", [between(0, 50), between(0, 7)], ([revoked, active]) => {
    const held = [...Array<KeyState>(revoked).fill("revoked"), ...Array<KeyState>(active).fill("active")]
    expect(canCreateKey(held)).toBe(active < 5)
  })

  it("stay revoked", () => {
    expect(revoke("active")).toBe("revoked")
    expect(revoke("revoked")).toBe("revoked")
  })
})
