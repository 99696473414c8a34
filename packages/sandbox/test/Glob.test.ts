/**
 * Patterns of paths: their matches, and the linear time of every pattern.
 */
import { assert, describe, it } from "@effect/vitest"
import { anyOf, arrayOf } from "@plaza/testing/Generators"
import { Arbitrary } from "effect"
import * as Glob from "../src/http/Glob.ts"

/** A slow reference implementation that tries every split of the text. */
const reference = (pattern: string, text: string): boolean => {
  const [first] = pattern
  if (first === undefined) {
    return text === ""
  }
  return first === "*"
    ? Array.from({ length: text.length + 1 }, (_, index) => text.slice(index)).some((rest) => reference(pattern.slice(1), rest))
    : text.startsWith(first) && reference(pattern.slice(1), text.slice(1))
}

const of = (letters: ReadonlyArray<string>, maxLength: number) =>
  Arbitrary.map(arrayOf(anyOf(letters), { maxLength }), (drawn) => drawn.join(""))
const text = of(["a", "b", "/"], 12)
const pattern = of(["a", "b", "/", "*"], 8)

describe("a pattern of paths", () => {
  it.prop("matches like the reference implementation", [pattern, text], ([pattern, text]) => {
    assert.strictEqual(Glob.make(pattern)(text).matches, reference(pattern, text), `${pattern} on ${text}`)
  }, { arbitrary: { runs: 5_000 } })

  it.prop("takes no more steps than twice the characters of pattern and text", [pattern, text], ([pattern, text]) => {
    assert.isAtMost(Glob.make(pattern)(text).steps, 2 * (pattern.length + text.length))
  }, { arbitrary: { runs: 2_000 } })

  it("takes no more steps where a backtracking search takes exponential time", () => {
    for (
      const [pattern, text] of [
        [`/${"*a".repeat(20)}*b`, `/${"a".repeat(10_000)}`],
        [`*${"a".repeat(1_000)}b*`, "a".repeat(10_000)]
      ] as const
    ) {
      const { matches, steps } = Glob.make(pattern)(text)
      assert.isFalse(matches)
      assert.isAtMost(steps, 2 * (pattern.length + text.length))
    }
  })

  it("treats every character but the star literally", () => {
    for (const literal of ["\\", "^$.|?+()[]{}", "/a\nb", "é😀"]) {
      assert.isTrue(Glob.make(literal)(literal).matches)
      assert.isTrue(Glob.make(`*${literal}*`)(`x${literal}y`).matches)
      assert.isFalse(Glob.make(literal)(`${literal}x`).matches)
    }
  })
})
