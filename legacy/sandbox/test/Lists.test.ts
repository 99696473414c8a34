/**
 * Lists: pages and cursors, also while the list changes.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { DateTime, Effect, TestClock } from "effect"
import { call, field, layerInProcess, pageOf, refusal } from "./support.ts"

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

const lists = ["/me/posts", "/conversations", "/store/products", "/store/orders", "/conversations/conv_301/messages"]

describe("lists", () => {
  it.effect("stay stable while items are added: no item is repeated or missing", () =>
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

  it.effect("stay stable while items are deleted: a cursor stays valid without the item at its position", () =>
    Effect.gen(function*() {
      const before = yield* all("/me/posts", 100)
      const first = yield* page("/me/posts", { limit: "10" })
      // One that was read, the one at the cursor's position, and the next one.
      const gone = [before.ids[3], before.ids[9], before.ids[10]].map(String)
      for (const id of gone) {
        assert.strictEqual((yield* call("DELETE", `/posts/${id}`)).status, 204)
      }
      const second = yield* page("/me/posts", { limit: "100", cursor: first.next ?? "" })
      assert.deepStrictEqual(second.ids, before.ids.slice(11))
      assert.deepStrictEqual((yield* all("/me/posts", 7)).ids, before.ids.filter((id) => !gone.includes(id)))
    }).pipe(Effect.provide(layerInProcess())))

  for (
    const [path, add] of [
      ["/store/products", (sandbox: Sandbox.Sandbox["Type"], id: string, accountId: string) => sandbox.setProduct({ id, accountId })],
      ["/store/orders", (sandbox: Sandbox.Sandbox["Type"], id: string, accountId: string) => sandbox.setOrder({ id, accountId })]
    ] as const
  ) {
    it.effect(`stay stable while items of ${path} are added, deleted and changed`, () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const before = (yield* all(path, 100)).ids
        const first = yield* page(path, { limit: "10" })
        yield* add(sandbox, "new", "1001")
        // To another store, where they are not visible.
        yield* add(sandbox, String(before[9]), "1002")
        yield* add(sandbox, String(before[10]), "1002")
        yield* add(sandbox, String(before[12]), "1001")
        const second = yield* page(path, { limit: "15", cursor: first.next ?? "" })
        assert.deepStrictEqual(second.ids, before.slice(11, 26))
        assert.deepStrictEqual((yield* all(path, 9)).ids, ["new", ...before.filter((_, index) => index !== 9 && index !== 10)])
      }).pipe(Effect.provide(layerInProcess())))
  }

  it.effect("have the newest post first, by time and then by order of creation", () =>
    Effect.gen(function*() {
      const create = (text: string) => Effect.map(call("POST", "/posts", { json: { text } }), (reply) => String(field(reply, "id")))
      const first = yield* create("one")
      const second = yield* create("two, in the same millisecond")
      yield* TestClock.adjust("1 millis")
      const third = yield* create("three")
      assert.deepStrictEqual((yield* page("/me/posts", { limit: "3" })).ids, [third, second, first])
      assert.deepStrictEqual((yield* all("/me/posts", 1)).ids.slice(0, 3), [third, second, first])
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("sort a backdated post by its time, and split pages between posts of the same time", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { id: accountId } = yield* sandbox.createAccount()
      const { apiKey: key } = yield* sandbox.createKey(accountId)
      const at = (millis: number) => sandbox.createPost({ accountId, text: "a", createdAt: DateTime.unsafeMake(millis) })
      const [first, second, early, third, late, fourth] = yield* Effect.all([at(5), at(5), at(4), at(5), at(6), at(5)])
      const ids: Array<string> = []
      for (let next: string | null = ""; next !== null;) {
        const cursor: string = next === "" ? "" : `&cursor=${next}`
        const found = pageOf(yield* call("GET", `/me/posts?limit=2${cursor}`, { key }))
        ids.push(...found.ids)
        next = found.next
      }
      assert.deepStrictEqual(ids, [late, fourth, third, second, first, early])
    }).pipe(Effect.provide(layerInProcess())))

  layer(layerInProcess({ assumptions: { requestsPerWindow: 10_000 } }))((it) => {
    it.effect("have 20 items a page by default, and 1 to 100 with a limit", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* page("/me/posts")).ids.length, 20)
        assert.strictEqual((yield* page("/me/posts", { limit: "1" })).ids.length, 1)
        const whole = yield* page("/me/posts", { limit: "100" })
        assert.strictEqual(whole.ids.length, 25)
        assert.isNull(whole.next)
      }))

    it.effect("have every item once, whatever the page size", () =>
      Effect.gen(function*() {
        const { ids } = yield* page("/me/posts", { limit: "100" })
        for (
          const [limit, sizes] of [[1, Array<number>(25).fill(1)], [5, [5, 5, 5, 5, 5]], [10, [10, 10, 5]], [24, [24, 1]], [25, [
            25
          ]]] as const
        ) {
          assert.deepStrictEqual(yield* all("/me/posts", limit), { ids, sizes: [...sizes] })
        }
        for (const [path, length] of [["/conversations", 8], ["/store/products", 110], ["/store/orders", 30]] as const) {
          for (const limit of [3, 10, 100]) {
            const found = yield* all(path, limit)
            assert.strictEqual(new Set(found.ids).size, length, path)
            assert.strictEqual(found.ids.length, length, path)
            assert.isTrue(found.sizes.slice(0, -1).every((size) => size === limit), path)
          }
        }
      }))

    it.effect("of messages have every message once, newest first", () =>
      Effect.gen(function*() {
        const path = "/conversations/conv_301/messages"
        const sent: Array<string> = []
        for (const text of ["one", "two", "three", "four", "five"]) {
          sent.unshift(String(field(yield* call("POST", path, { json: { text } }), "id")))
        }
        assert.deepStrictEqual(yield* all(path, 2), { ids: sent, sizes: [2, 2, 1] })
        const first = yield* page(path, { limit: "2" })
        yield* call("POST", path, { json: { text: "six" } })
        assert.deepStrictEqual((yield* page(path, { limit: "100", cursor: first.next ?? "" })).ids, sent.slice(2))
        const elsewhere = yield* call("GET", `/conversations/conv_303/messages?cursor=${first.next ?? ""}`)
        assert.strictEqual(refusal(elsewhere), "400 VALIDATION_ERROR cursor")
      }))

    it.effect("accept every limit from 1 to 100 in digits", () =>
      Effect.gen(function*() {
        for (const path of lists) {
          for (const limit of ["0", "101", "1e1", "+5", "-1", "2.5", "", "ten"]) {
            const reply = yield* call("GET", `${path}?limit=${encodeURIComponent(limit)}`)
            assert.strictEqual(refusal(reply), "400 VALIDATION_ERROR limit", `${path} ${limit}`)
          }
          assert.strictEqual((yield* call("GET", `${path}?limit=100`)).status, 200)
        }
      }))

    it.effect("end with next_cursor null, also if empty", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* sandbox.createAccount()
        const { apiKey: key } = yield* sandbox.createKey(id)
        assert.strictEqual((yield* call("GET", "/conversations", { key })).text, "{\"data\":[],\"next_cursor\":null}")
      }))

    it.effect("refuse a cursor that is altered, forged, of another list or of another account", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id } = yield* sandbox.createAccount()
        const { apiKey: key } = yield* sandbox.createKey(id)
        const { next: cursor } = yield* page("/me/posts", { limit: "3" })
        assert.isNotNull(cursor)
        const own = cursor ?? ""
        const flipped = own.slice(0, -3) + (own.at(-3) === "A" ? "B" : "A") + own.slice(-2)
        const refused = (path: string, text: string) => Effect.map(call("GET", `${path}?cursor=${encodeURIComponent(text)}`), refusal)
        for (const text of [flipped, `${own}A`, `${own}=`, own.slice(1), own.toUpperCase(), "", "AAAA", "💥", "e30"]) {
          assert.strictEqual(yield* refused("/me/posts", text), "400 VALIDATION_ERROR cursor", text)
        }
        assert.strictEqual(yield* refused("/conversations", own), "400 VALIDATION_ERROR cursor")
        for (const path of lists.slice(0, -1)) {
          const { next } = yield* page(path, { limit: "1" })
          for (const other of [...lists, "/conversations/conv_303/messages"].filter((list) => list !== path)) {
            assert.strictEqual(yield* refused(other, next ?? ""), "400 VALIDATION_ERROR cursor", `${other} by a cursor of ${path}`)
          }
          assert.strictEqual((yield* call("GET", `${path}?cursor=${next ?? ""}`)).status, 200)
          const theirs = yield* call("GET", `${path}?cursor=${next ?? ""}`, { key })
          assert.strictEqual(refusal(theirs), "400 VALIDATION_ERROR cursor", `${path} of another account`)
        }
        const foreign = yield* call("GET", `/me/posts?cursor=${own}`, { key })
        assert.strictEqual(refusal(foreign), "400 VALIDATION_ERROR cursor")
        assert.strictEqual((yield* call("GET", `/me/posts?cursor=${own}`)).status, 200)
      }))
  })
})
