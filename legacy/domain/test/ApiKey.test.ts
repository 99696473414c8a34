/**
 * The form of a key, its secrecy, and how many may be active.
 */
import { it } from "@effect/vitest"
import { Either, FastCheck, Redacted } from "effect"
import { inspect } from "node:util"
import { describe, expect } from "vitest"
import { canCreateKey, type KeyState, parse, revoke } from "../src/ApiKey.ts"

const printable = (length: FastCheck.StringConstraints) =>
  FastCheck.string({ unit: FastCheck.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), ...length })
const prefix = printable({ minLength: 1, maxLength: 12 })
const secret = printable({ minLength: 40, maxLength: 40 })
/** The forms of a value that can reach a log. */
const shown = (value: unknown) => `${String(value)} ${JSON.stringify({ value })} ${inspect(value, { depth: null, showHidden: true })}`

describe("an API key", () => {
  it.prop("is any printable ASCII without spaces, and is accepted unchanged", [printable({ minLength: 1, maxLength: 120 })], ([text]) => {
    expect(Redacted.value(Either.getOrThrow(parse(text)))).toBe(text)
  })

  it.prop("is accepted with any prefix before its 40 characters, with an underscore or without", [prefix, secret], ([prefix, secret]) => {
    for (const text of [`${prefix}_${secret}`, `${prefix}${secret}`, `${prefix}-${secret}`]) {
      expect(Redacted.value(Either.getOrThrow(parse(text)))).toBe(text)
    }
  })

  it.prop("doesn't appear in any output", [prefix, secret], ([prefix, secret]) => {
    const key = Either.getOrThrow(parse(`${prefix}_${secret}`))
    expect(shown(key)).not.toContain(secret)
  })

  it("is refused when it is empty", () => {
    expect(Either.isLeft(parse(""))).toBe(true)
  })

  it.prop("with a character that is invalid in a header is rejected", [
    FastCheck.integer({ min: 0, max: 39 }),
    FastCheck.oneof(FastCheck.constantFrom(" ", "\n", "\r", "\t", "\0", "\u007f", "é", "💡"),
      FastCheck.integer({ min: 0x80, max: 0xffff }).map((code) => String.fromCharCode(code)))
  ], ([at, odd]) => {
    const secret = "a".repeat(40)
    expect(Either.isLeft(parse(`key_${secret.slice(0, at)}${odd}${secret.slice(at + 1)}`))).toBe(true)
  })

  it.each([" ", "\n", "\r\n"])("with %j at the end is rejected, such as the last line of a file", (end) => {
    expect(Either.isLeft(parse(`key_${"a".repeat(40)}${end}`))).toBe(true)
  })

  it.prop("that is rejected gives an error with the valid characters and without the text", [
    FastCheck.string({ unit: FastCheck.constantFrom("ß", "€", "Ω", "💡"), minLength: 3 })
  ], ([text]) => {
    const refusal = Either.getOrThrow(Either.flip(parse(text)))
    expect(refusal.message).toContain("printable ASCII")
    expect(shown(refusal)).not.toContain(text)
  })
})

describe("the keys of an account", () => {
  const moves = FastCheck.array(FastCheck.oneof(
    FastCheck.constant({ make: true } as const),
    FastCheck.record({ make: FastCheck.constant(false as const), which: FastCheck.nat({ max: 20 }) })
  ), { maxLength: 60 })

  it.prop("are at most five active at a time, and another key can be created exactly while fewer are active", [moves], ([moves]) => {
    const keys: Array<KeyState> = []
    const active = () => keys.filter((state) => state === "active").length
    for (const move of moves) {
      expect(canCreateKey(keys)).toBe(active() < 5)
      if (move.make) {
        if (canCreateKey(keys)) keys.push("active")
      } else if (keys[move.which] !== undefined) {
        keys[move.which] = revoke("active")
      }
      expect(active()).toBeLessThanOrEqual(5)
    }
  })

  it.prop("don't count when they are revoked, in any number", [FastCheck.nat({ max: 50 }), FastCheck.nat({ max: 7 })],
    ([revoked, active]) => {
      const held = [...Array<KeyState>(revoked).fill("revoked"), ...Array<KeyState>(active).fill("active")]
      expect(canCreateKey(held)).toBe(active < 5)
    })

  it("stay revoked", () => {
    expect(revoke("active")).toBe("revoked")
    expect(revoke("revoked")).toBe("revoked")
  })
})
