/**
 * Any id that may travel reaches the other side as one segment, unchanged; every other is refused.
 */
import { it } from "@effect/vitest"
import { Either, FastCheck, Schema } from "effect"
import { describe, expect } from "vitest"
import { PostId } from "../src/Ids.ts"
import { encode, inPath } from "../src/PathSegment.ts"

const accept = Schema.decodeUnknownEither(inPath(PostId))
const pathOf = (id: string) => new URL(`http://service.test/open/v1/posts/${encode(id)}/like`).pathname
/** Half a surrogate pair has no bytes of its own. */
const isWellFormed = (text: string) => Buffer.from(text).toString() === text

/** Texts with many characters that have a meaning in URLs. */
const anyText = FastCheck.oneof(
  FastCheck.string({ unit: "binary" }),
  FastCheck.string({ unit: "grapheme" }),
  FastCheck.string({
    unit: FastCheck.constantFrom(".", "/", "\\", "%", "2", "e", "E", "?", "#", ":", "@", ";", "&", "=", "+", " ", "\t", "\n", "\0", "'",
      "|")
  }),
  FastCheck.array(FastCheck.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units))
)

describe("an id in a path", () => {
  it.prop("is rejected, or is one segment that a URL parser doesn't change and that decodes to the id", [anyText], ([id]) => {
    const accepted = accept(id)
    const sendable = id !== "" && id !== "." && id !== ".." && isWellFormed(id)
    expect(Either.isRight(accepted)).toBe(sendable)
    if (sendable) {
      const segments = pathOf(id).split("/")
      expect(segments).toHaveLength(6)
      expect(segments[4]).toBe(encode(id))
      expect(decodeURIComponent(segments[4] ?? "")).toBe(id)
      expect(accepted).toEqual(Either.right(id))
    }
  }, { fastCheck: { numRuns: 2_000 } })

  it.each(["a/b?c=1#d", "../../me", "%2e%2e", "...", " ", "a\\b", "\u0000", "007", "💡", "ä", "a;b", ":id"])("%j is sent unchanged",
    (id) => {
      expect(accept(id)).toEqual(Either.right(id))
      expect(pathOf(id)).toBe(`/open/v1/posts/${encode(id)}/like`)
    })

  it.each([
    ["", "must not be empty"],
    [".", "must not be"],
    ["..", "must not be"],
    ["\ud83d", "must be well-formed Unicode"],
    ["a\udca1b", "must be well-formed Unicode"]
  ])("%j is refused with a reason", (id, reason) => {
    expect(Either.getOrThrow(Either.flip(accept(id))).message).toContain(reason)
  })

  it.each([7, null, undefined, {}])("%j is not an id", (id) => {
    expect(Either.isLeft(accept(id))).toBe(true)
  })
})
