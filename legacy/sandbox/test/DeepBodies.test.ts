/**
 * Bodies that are nested extremely deeply: a parser reads them, and recursive code that walks through them
 * overflows the stack.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { call, layerInProcess, refusal } from "./support.ts"

const nested = (depth: number) => `{"text":${"[".repeat(depth)}${"]".repeat(depth)}}`

layer(layerInProcess())("a deep body", (it) => {
  it.effect("is refused like any other invalid body and causes no failure", () =>
    Effect.gen(function*() {
      for (const depth of [200, 2_000, 50_000]) {
        for (const path of ["/posts", "/stories", "/posts/9007199254740993/comments"]) {
          assert.strictEqual(refusal(yield* call("POST", path, { text: nested(depth) })), "400 VALIDATION_ERROR body", `${path} ${depth}`)
        }
      }
    }))

  it.effect("is accepted up to the allowed depth where any JSON is allowed", () =>
    Effect.gen(function*() {
      // The object around it is a level too.
      assert.strictEqual((yield* call("POST", "/stories", { text: nested(199) })).status, 200)
    }))
})
