/**
 * Lists: pages, cursors, and what becomes of them while the list grows.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, TestClock } from "effect"
import { call, field, layerInProcess, pageOf, refusal } from "./support.js"

const page = (path: string, query: Readonly<Record<string, string>> = {}) =>
  Effect.map(call("GET", `${path}?${new URLSearchParams(query).toString()}`), pageOf)

const all = (path: string, limit: number) =>
  Effect.gen(function*() {
    const ids: Array<string> = []
    const sizes: Array<number> = []
    let next: string | null = null
    do {
      const found: { readonly ids: ReadonlyArray<string>; readonly next: string | null } = yield* page(path, {
        limit: String(limit),
        ...(next === null ? {} : { cursor: next })
      })
      ids.push(...found.ids)
      sizes.push(found.ids.length)
      next = found.next
    } while (next !== null)
    return { ids, sizes }
  })

describe("lists", () => {
  it.effect("stay stable while items are added: nothing comes twice, nothing is left out", () =>
    Effect.gen(function*() {
      const before = yield* all("/me/posts", 100)
      const first = yield* page("/me/posts", { limit: "10" })
      for (const text of ["one", "two", "three"]) {
        yield* call("POST", "/posts", { json: { text } })
      }
      const second = yield* page("/me/posts", { limit: "100", cursor: first.next ?? "" })
      assert.deepStrictEqual([...first.ids, ...second.ids], before.ids)
      assert.strictEqual((yield* all("/me/posts", 7)).ids.length, 28)
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("have the newest post first, by the clock and then by the order of creation", () =>
    Effect.gen(function*() {
      const create = (text: string) => Effect.map(call("POST", "/posts", { json: { text } }), (reply) => String(field(reply, "id")))
      const first = yield* create("one")
      const second = yield* create("two, in the same millisecond")
      yield* TestClock.adjust("1 millis")
      const third = yield* create("three")
      assert.deepStrictEqual((yield* page("/me/posts", { limit: "3" })).ids, [third, second, first])
      assert.deepStrictEqual((yield* all("/me/posts", 1)).ids.slice(0, 3), [third, second, first])
    }).pipe(Effect.provide(layerInProcess())))

  layer(layerInProcess())((it) => {
    it.effect("hold 20 items a page unless told, and 1 to 100 when told", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* page("/me/posts")).ids.length, 20)
        assert.strictEqual((yield* page("/me/posts", { limit: "1" })).ids.length, 1)
        const whole = yield* page("/me/posts", { limit: "100" })
        assert.strictEqual(whole.ids.length, 25)
        assert.isNull(whole.next)
      }))

    it.effect("give every item once, whatever the size of the page", () =>
      Effect.gen(function*() {
        const { ids } = yield* page("/me/posts", { limit: "100" })
        for (const [limit, sizes] of [[1, Array<number>(25).fill(1)], [5, [5, 5, 5, 5, 5]], [10, [10, 10, 5]], [24, [24, 1]], [25, [25]]] as const) {
          assert.deepStrictEqual(yield* all("/me/posts", limit), { ids, sizes: [...sizes] })
        }
        assert.strictEqual(new Set((yield* all("/conversations", 3)).ids).size, 8)
      }))

    it.effect("say that they are at their end with next_cursor null, an empty list too", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* sandbox.createAccount()
        const { apiKey: key } = yield* sandbox.createKey(id)
        assert.strictEqual((yield* call("GET", "/conversations", { key })).text, "{\"data\":[],\"next_cursor\":null}")
      }))

    it.effect("refuse a cursor that was altered, invented, of another list or of another account", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* sandbox.createAccount()
        const { apiKey: key } = yield* sandbox.createKey(id)
        const { next: cursor } = yield* page("/me/posts", { limit: "3" })
        assert.isNotNull(cursor)
        const own = cursor ?? ""
        const flipped = own.slice(0, -3) + (own.at(-3) === "A" ? "B" : "A") + own.slice(-2)
        const refused = (path: string, text: string) =>
          Effect.map(call("GET", `${path}?cursor=${encodeURIComponent(text)}`), refusal)
        for (const text of [flipped, `${own}A`, `${own}=`, own.slice(1), own.toUpperCase(), "", "AAAA", "💥", "e30"]) {
          assert.strictEqual(yield* refused("/me/posts", text), "400 VALIDATION_ERROR cursor", text)
        }
        assert.strictEqual(yield* refused("/conversations", own), "400 VALIDATION_ERROR cursor")
        const foreign = yield* call("GET", `/me/posts?cursor=${own}`, { key })
        assert.strictEqual(refusal(foreign), "400 VALIDATION_ERROR cursor")
        assert.strictEqual((yield* call("GET", `/me/posts?cursor=${own}`)).status, 200)
      }))
  })
})
