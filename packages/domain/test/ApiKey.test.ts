/**
 * The form of a key, its secrecy, and how many may be active.
 */
import { it } from "@effect/vitest"
import { Either, FastCheck, Redacted } from "effect"
import { inspect } from "node:util"
import { describe, expect } from "vitest"
import { type KeyState, mayCreate, parse, revoke } from "../src/ApiKey.js"

const printable = (length: FastCheck.StringConstraints) =>
  FastCheck.string({ unit: FastCheck.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), ...length })
const prefix = printable({ minLength: 1, maxLength: 12 })
const secret = printable({ minLength: 40, maxLength: 40 })
const plain = FastCheck.string({ unit: FastCheck.constantFrom("a", "b", "X", "Y", "0", "9"), maxLength: 80 })
/** All the ways in which a value gets into a log. */
const shown = (value: unknown) => `${String(value)} ${JSON.stringify({ value })} ${inspect(value, { depth: null, showHidden: true })}`

describe("an API key", () => {
  it.prop("is any prefix, an underscore and 40 characters, and is taken as it is", [prefix, secret], ([prefix, secret]) => {
    const key = Either.getOrThrow(parse(`${prefix}_${secret}`))
    expect(Redacted.value(key)).toBe(`${prefix}_${secret}`)
  })

  it.prop("shows nothing of itself", [prefix, secret], ([prefix, secret]) => {
    const key = Either.getOrThrow(parse(`${prefix}_${secret}`))
    expect(shown(key)).not.toContain(secret)
  })

  it.prop("of any other length is refused", [plain.filter((text) => text.length !== 40)], ([text]) => {
    expect(Either.isLeft(parse(`key_${text}`))).toBe(true)
  })

  it.prop("without a prefix or without the underscore is refused", [FastCheck.string({ unit: FastCheck.constantFrom("a", "b", "0", "9"), minLength: 40, maxLength: 41 })], ([text]) => {
    expect(Either.isLeft(parse(`_${text.slice(0, 40)}`))).toBe(true)
    expect(Either.isLeft(parse(text))).toBe(true)
  })

  it.prop("with anything that a header can't carry is refused", [
    FastCheck.integer({ min: 0, max: 39 }),
    FastCheck.oneof(FastCheck.constantFrom(" ", "\n", "\r", "\t", "\0", "\u007f", "é", "💡"), FastCheck.integer({ min: 0x80, max: 0xffff }).map((code) => String.fromCharCode(code)))
  ], ([at, odd]) => {
    const secret = "a".repeat(40)
    expect(Either.isLeft(parse(`key_${secret.slice(0, at)}${odd}${secret.slice(at + 1)}`))).toBe(true)
  })

  it.each([" ", "\n", "\r\n"])("with %j behind it is refused, as a file's last line would have it", (end) => {
    expect(Either.isLeft(parse(`key_${"a".repeat(40)}${end}`))).toBe(true)
  })

  it.prop("that is malformed says how a key looks, and shows nothing of the text", [
    FastCheck.string({ unit: FastCheck.constantFrom("ß", "€", "Ω", "💡"), minLength: 3 })
  ], ([text]) => {
    const refusal = Either.getOrThrow(Either.flip(parse(text)))
    expect(refusal.message).toContain("40 characters")
    expect(shown(refusal)).not.toContain(text)
  })
})

describe("the keys of an account", () => {
  const moves = FastCheck.array(FastCheck.oneof(
    FastCheck.constant({ make: true } as const),
    FastCheck.record({ make: FastCheck.constant(false as const), which: FastCheck.nat({ max: 20 }) })
  ), { maxLength: 60 })

  it.prop("are never more than five active at a time, and one more may be made exactly while there are fewer", [moves], ([moves]) => {
    const keys: Array<KeyState> = []
    const active = () => keys.filter((state) => state === "active").length
    for (const move of moves) {
      expect(mayCreate(keys)).toBe(active() < 5)
      if (move.make) {
        if (mayCreate(keys)) keys.push("active")
      } else if (keys[move.which] !== undefined) {
        keys[move.which] = revoke("active")
      }
      expect(active()).toBeLessThanOrEqual(5)
    }
  })

  it.prop("that were revoked don't count, however many", [FastCheck.nat({ max: 50 }), FastCheck.nat({ max: 7 })], ([revoked, active]) => {
    const held = [...Array<KeyState>(revoked).fill("revoked"), ...Array<KeyState>(active).fill("active")]
    expect(mayCreate(held)).toBe(active < 5)
  })

  it("stay revoked once they are", () => {
    expect(revoke("active")).toBe("revoked")
    expect(revoke("revoked")).toBe("revoked")
  })
})
