/**
 * Any id that may travel reaches the other side as one segment, unchanged; every other is refused.
 */
import { describe, expect, it } from "@effect/vitest"
import { anyOf, arrayOf, between, oneOf, text, textOf } from "@plaza/testing/Generators"
import { Result, Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { PostId } from "../src/Ids.ts"
import { encode, inPath } from "../src/PathSegment.ts"

const accept = Schema.decodeUnknownResult(inPath(PostId))
const pathOf = (id: string) => new URL(`http://service.test/open/v1/posts/${encode(id)}/like`).pathname
/** Half a surrogate pair has no bytes of its own. */
const isWellFormed = (text: string) => Buffer.from(text).toString() === text

/** Texts with many characters that have a meaning in URLs. */
const urlText = Arbitrary.map(arrayOf(anyOf(Array.from("./\\%2eE?#:@;&=+ \t\n\0'|")), { maxLength: 6 }), (units) => units.join(""))

describe("an id in a path", () => {
  it.prop("is rejected, or is one segment that a URL parser doesn't change and that decodes to the id", [
    oneOf(text, urlText, textOf(between(0, 0xffff)))
  ], ([id]) => {
    const accepted = accept(id)
    const sendable = id !== "" && id !== "." && id !== ".." && isWellFormed(id)
    expect(Result.isSuccess(accepted)).toBe(sendable)
    if (sendable) {
      const segments = pathOf(id).split("/")
      expect(segments).toHaveLength(6)
      expect(segments[4]).toBe(encode(id))
      expect(decodeURIComponent(segments[4] ?? "")).toBe(id)
      expect(accepted).toEqual(Result.succeed(id))
    }
  }, { arbitrary: { runs: 2_000 } })

  it.each(["a/b?c=1#d", "../../me", "%2e%2e", "...", " ", "a\\b", "\u0000", "007", "💡", "ä", "a;b", ":id"])("%j is sent unchanged",
    (id) => {
      expect(accept(id)).toEqual(Result.succeed(id))
      expect(pathOf(id)).toBe(`/open/v1/posts/${encode(id)}/like`)
    })

  it.each([
    ["", "must not be empty"],
    [".", "must not be"],
    ["..", "must not be"],
    ["\ud83d", "must be well-formed Unicode"],
    ["a\udca1b", "must be well-formed Unicode"]
  ])("%j is refused with a reason", (id, reason) => {
    expect(String(Result.getOrThrow(Result.flip(accept(id))))).toContain(reason)
  })

  it.each([7, null, undefined, {}])("%j is not an id", (id) => {
    expect(Result.isFailure(accept(id))).toBe(true)
  })
})
