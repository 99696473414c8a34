import { describe, expect, it } from "@effect/vitest"
import { Chat, type ClientError, Plaza, Posts } from "@plaza-legacy/client"
import { Cursor, Post } from "@plaza-legacy/domain"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Chunk, Clock, Effect, Either, FastCheck as fc, Schema, Stream } from "effect"
import * as Fake from "./support/FakeService.ts"
import * as OnSandbox from "./support/OnSandbox.ts"
import * as Virtual from "./support/Virtual.ts"

const createdAt = "2026-01-01T00:00:00.000Z"
const itemsFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => ({ id: String(first + index), createdAt }))

/** A service with this many posts, which returns pages by `limit` and `cursor`. */
const holding = (total: number, calls: Array<Fake.Call> = []) =>
  Fake.layerPlaza((call) =>
    Effect.sync(() => {
      calls.push(call)
      const first = Number(call.query["cursor"] ?? 0)
      const count = Math.min(Number(call.query["limit"]), total - first)
      return Fake.json({ data: itemsFrom(first, count), next_cursor: first + count < total ? String(first + count) : null })
    }), { rateLimit: 1_000 })

const firstPage = JSON.stringify({ data: itemsFrom(1, 1), next_cursor: "a cursor of another time" })

const ids = (options?: Parameters<typeof Posts.Service.list>[0]) =>
  Effect.flatMap(Posts, ({ list }) => Stream.runCollect(list(options))).pipe(
    Effect.map((posts) => Chunk.toReadonlyArray(posts).map(({ id }) => Number(id)))
  )

describe("a list", () => {
  it.effect.prop(
    "emits every item once and in order, for any page size, up to the limit",
    [fc.integer({ min: 0, max: 250 }), fc.integer({ min: 1, max: 100 }), fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined })],
    ([total, pageSize, limit]) =>
      Effect.gen(function*() {
        const calls: Array<Fake.Call> = []
        const found = yield* Effect.provide(
          ids({ pageSize, limit }),
          holding(total, calls)
        )
        const expected = Math.min(total, limit ?? total)
        expect(found).toEqual(Array.from({ length: expected }, (_, index) => index))
        // Not a request more than the items need; an empty list takes one to see.
        expect(calls).toHaveLength(Math.max(1, Math.ceil(expected / pageSize)))
      }),
    { fastCheck: { numRuns: 40 } }
  )

  it.effect("requests 100 items per page by default", () =>
    Effect.gen(function*() {
      const calls: Array<Fake.Call> = []
      yield* Effect.provide(ids(), holding(150, calls))
      expect(calls.map(({ query }) => query)).toEqual([{ limit: "100" }, { limit: "100", cursor: "100" }])
    }))

  it.effect("fails for an invalid limit or page size, without a request", () =>
    Effect.gen(function*() {
      for (const options of [{ limit: 0 }, { limit: -1 }, { limit: 1.5 }, { limit: Number.NaN }, { pageSize: 0 }, { pageSize: 101 }]) {
        const calls: Array<Fake.Call> = []
        const failure = yield* Effect.flip(Effect.provide(ids(options), holding(5, calls)))
        expect(failure).toMatchObject({ _tag: "InvalidInput", field: Object.keys(options)[0] })
        expect(calls).toHaveLength(0)
      }
    }))

  it.effect("fails on a repeated cursor instead of looping forever", () =>
    Effect.gen(function*() {
      const page = (next: string) => Fake.json({ data: itemsFrom(0, 1), next_cursor: next })
      const { calls, layer } = Fake.scripted([page("a"), page("b"), page("a")])
      expect(yield* Effect.flip(Effect.provide(ids(), layer))).toMatchObject({ _tag: "CursorRepeated" })
      expect(calls.map(({ query }) => query["cursor"])).toEqual([undefined, "a", "b"])
    }))

  it.effect("whose cursor expires fails with CursorRejected after the items before it", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { list } = yield* Posts
      const seen: Array<string> = []
      yield* sandbox.addFault({
        kind: "status",
        when: "after",
        status: 200,
        path: "/me/posts",
        body: firstPage,
        contentType: "application/json"
      })
      const failure = yield* list({ pageSize: 1 }).pipe(
        Stream.runForEach(({ id }) => Effect.sync(() => seen.push(id))),
        Effect.flip
      )
      expect(seen).toEqual(["1"])
      expect(failure).toMatchObject({
        _tag: "CursorRejected",
        operation: "listPosts",
        cause: { code: "VALIDATION_ERROR", details: { field: "cursor" } }
      })
    }).pipe(Effect.provide(OnSandbox.inProcess())))

  it.effect("that is refused on its first page, or for another reason later, fails with that refusal", () =>
    Effect.gen(function*() {
      const invalid = Fake.refusal(400, "VALIDATION_ERROR", { field: "cursor" })
      const page = Fake.json({ data: itemsFrom(0, 1), next_cursor: "a" })
      const endOf = (replies: ReadonlyArray<Fake.Reply>) => Effect.flip(Effect.provide(ids(), Fake.scripted(replies).layer))
      expect(yield* endOf([invalid])).toMatchObject({ status: 400, code: "VALIDATION_ERROR" })
      expect(yield* endOf([page, Fake.refusal(403, "FORBIDDEN")])).toMatchObject({ status: 403 })
      expect(yield* endOf([page, invalid])).toMatchObject({ _tag: "CursorRejected", cause: { status: 400 } })
      for (const status of [302, 408, 413]) {
        expect(yield* Virtual.run(endOf([page, { status }]))).toMatchObject({ _tag: "UnrecognizedError", status })
      }
    }))

  it.effect("fails with CursorRejected for every invalid request and every 404 of a later page", () =>
    Effect.gen(function*() {
      const page = Fake.json({ data: itemsFrom(0, 1), next_cursor: "a" })
      const conversations = Effect.flatMap(Chat, ({ list }) => Stream.runDrain(list()))
      for (
        const refusal of [Fake.refusal(400, "CURSOR_EXPIRED"), Fake.refusal(404, "NOT_FOUND"), Fake.refusal(410, "GONE"), {
          status: 422,
          body: "no"
        }]
      ) {
        const open = Stream.runDrain(Plaza.paginate({ path: "/x", item: Schema.Unknown }))
        const lists: ReadonlyArray<Effect.Effect<unknown, ClientError.Failure, Plaza.Services>> = [ids(), conversations, open]
        for (const list of lists) {
          expect(yield* Effect.flip(Effect.provide(list, Fake.scripted([page, refusal]).layer))).toMatchObject({ _tag: "CursorRejected" })
          expect(yield* Effect.flip(Effect.provide(list, Fake.scripted([refusal]).layer))).toMatchObject({
            category: expect.any(String) as unknown
          })
        }
      }
    }))

  it.effect("continues from the cursor of a failed page, without repeating items", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const all = yield* ids({ pageSize: 5 })
      yield* sandbox.addFault({ kind: "drop", when: "after", path: "/me/posts", times: 3 })
      yield* sandbox.addFault({ kind: "cut", when: "after", path: "/me/posts" })
      expect(yield* ids({ pageSize: 5 })).toEqual(all)
      expect(all.length).toBeGreaterThan(20)
    }).pipe(Virtual.run, Effect.provide(OnSandbox.inProcess())))

  it.effect("fetches the next page while the program consumes the current one", () =>
    Effect.gen(function*() {
      const slow = Fake.layerPlaza((call) =>
        Effect.delay(
          Effect.sync(() => {
            const page = Number(call.query["cursor"] ?? 0)
            return Fake.json({ data: itemsFrom(page, 1), next_cursor: page < 9 ? String(page + 1) : null })
          }),
          "1 second"
        )
      )
      yield* Effect.flatMap(Posts, ({ pages }) => Stream.runForEach(pages(), () => Effect.sleep("1 second"))).pipe(
        Effect.provide(slow),
        Effect.zipRight(Clock.currentTimeMillis),
        Effect.tap((end) => Effect.sync(() => expect(end).toBe(11_000))),
        Virtual.run
      )
    }))

  it.effect("that the program stops reading requests no page beyond the next", () =>
    Effect.gen(function*() {
      const calls: Array<Fake.Call> = []
      const first = yield* Effect.flatMap(Posts, ({ list }) => Stream.runCollect(Stream.take(list({ pageSize: 10 }), 3))).pipe(
        Effect.provide(holding(1_000, calls))
      )
      expect(first.length).toBe(3)
      expect(calls.length).toBeLessThanOrEqual(2)
    }))

  it.effect("starts at a given cursor and requests no page before it", () =>
    Effect.gen(function*() {
      const calls: Array<Fake.Call> = []
      const found = yield* Effect.provide(ids({ pageSize: 10, cursor: Cursor.make("30"), limit: 15 }), holding(100, calls))
      expect(found).toEqual(Array.from({ length: 15 }, (_, index) => 30 + index))
      expect(calls.map(({ query }) => query)).toEqual([{ limit: "10", cursor: "30" }, { limit: "5", cursor: "40" }])
    }))

  it.effect("whose first cursor has expired fails with CursorRejected, and an empty cursor fails without a request", () =>
    Effect.gen(function*() {
      const { calls, layer } = Fake.scripted([Fake.refusal(400, "VALIDATION_ERROR", { field: "cursor" })])
      const failure = yield* Effect.flip(Effect.provide(ids({ cursor: Cursor.make("old") }), layer))
      expect(failure).toMatchObject({ _tag: "CursorRejected", message: expect.stringContaining("can't start") as unknown })
      expect(calls).toHaveLength(1)
      expect(yield* Effect.flip(Effect.provide(ids({ cursor: Cursor.make("") }), layer))).toMatchObject({
        _tag: "InvalidInput",
        field: "cursor"
      })
      expect(calls).toHaveLength(1)
    }))

  it.effect("that returns its first cursor again fails", () =>
    Effect.gen(function*() {
      const { layer } = Fake.scripted([Fake.json({ data: itemsFrom(0, 1), next_cursor: "a" })])
      expect(yield* Effect.flip(Effect.provide(ids({ cursor: Cursor.make("a") }), layer))).toMatchObject({ _tag: "CursorRepeated" })
    }))

  it.effect("ends at an empty next_cursor, as at null", () =>
    Effect.gen(function*() {
      const { calls, layer } = Fake.scripted([Fake.json({ data: itemsFrom(0, 2), next_cursor: "" })])
      expect(yield* Effect.provide(ids(), layer)).toEqual([0, 1])
      expect(calls).toHaveLength(1)
    }))

  it.effect("with an undecodable item emits the items before it, then fails with its position and the cursor to continue", () =>
    Effect.gen(function*() {
      const bad = { data: [...itemsFrom(2, 1), { id: "3", createdAt: "yesterday" }, ...itemsFrom(4, 1)], next_cursor: "c" }
      const { calls, layer } = Fake.scripted([Fake.json({ data: itemsFrom(0, 2), next_cursor: "b" }), Fake.json(bad)])
      const seen: Array<string> = []
      const failure = yield* Effect.flatMap(Posts, ({ list }) =>
        Stream.runForEach(list({ pageSize: 3 }), ({ id }) => Effect.sync(() => seen.push(id)))).pipe(Effect.flip, Effect.provide(layer))
      expect(seen).toEqual(["0", "1", "2"])
      expect(failure).toMatchObject({ _tag: "UnreadableItem", operation: "listPosts", page: 2, position: 2, cursor: "b", nextCursor: "c" })
      expect(failure.message).toMatch(
        /^listPosts: item 2 of page 2 can't be decoded \(createdAt: .+\); to continue with the next page, start from cursor "c"$/
      )
      expect(calls).toHaveLength(2)
    }))

  it.effect("ignores an undecodable item beyond its limit, and fails at once for the first item", () =>
    Effect.gen(function*() {
      const { layer } = Fake.scripted([Fake.json({ data: [...itemsFrom(0, 1), {}], next_cursor: null })])
      expect(yield* Effect.provide(ids({ limit: 1 }), layer)).toEqual([0])
      const open = Plaza.paginate({ path: "/x", item: Schema.Struct({ id: Schema.Number }) })
      const first = Fake.scripted([Fake.json({ data: [{ id: "no number" }], next_cursor: null })])
      expect(yield* Effect.flip(Effect.provide(Stream.runDrain(open), first.layer))).toMatchObject({
        _tag: "UnreadableItem",
        operation: "GET /x",
        page: 1,
        position: 1,
        cursor: undefined,
        nextCursor: null
      })
    }))

  it.effect("of conversations and an undocumented list behave alike", () =>
    Effect.gen(function*() {
      const { list } = yield* Chat
      const conversations = yield* Stream.runCollect(list({ pageSize: 3 }))
      const open = yield* Stream.runCollect(
        Plaza.paginate({ path: "/conversations", item: Schema.Struct({ id: Schema.String }), pageSize: 3 })
      )
      expect(Chunk.toReadonlyArray(open).map(({ id }) => id)).toEqual(Chunk.toReadonlyArray(conversations).map(({ id }) => id))
      expect(open.length).toBeGreaterThan(3)
    }).pipe(Effect.provide(OnSandbox.inProcess())))
})

describe("a request to an undocumented endpoint", () => {
  it.effect("has the key, the query, the body and a decoded response", () =>
    Effect.gen(function*() {
      const { calls, layer } = Fake.scripted([Fake.json({ id: "1", createdAt, more: true })])
      const post = yield* Plaza.request({
        method: "PUT",
        path: "/posts/1",
        query: { a: "b c" },
        payload: { text: "new" },
        response: Post
      }).pipe(Effect.provide(layer))
      expect(post.id).toBe("1")
      expect(calls).toMatchObject([{ method: "PUT", path: "/posts/1", query: { a: "b c" }, body: "{\"text\":\"new\"}" }])
      expect(calls[0]?.headers["authorization"]).toBe(`Bearer ${Fake.key}`)
    }))

  it.effect("is sent again after an ambiguous failure only if it is a GET or has delivery Repeatable", () =>
    Effect.gen(function*() {
      const attempt = (method: "GET" | "POST", delivery?: "Repeatable") => {
        const { calls, layer } = Fake.scripted([Fake.lost, Fake.json({})])
        return Effect.map(
          Virtual.run(Effect.either(Effect.provide(
            Plaza.request({ method, path: "/x", response: Schema.Unknown, delivery }),
            layer
          ))),
          (result) => [Either.isRight(result), calls.length]
        )
      }
      expect(yield* attempt("GET")).toEqual([true, 2])
      expect(yield* attempt("POST")).toEqual([false, 1])
      expect(yield* attempt("POST", "Repeatable")).toEqual([true, 2])
    }))

  it.effect("fails if its path would reach another endpoint", () =>
    Effect.gen(function*() {
      for (const path of ["", "x", "/../x", "/a/../../x", "//evil.test/x", "/a?b=c", "/a#b", "/a b", "/%2e%2e/x", "/\\x"]) {
        const { calls, layer } = Fake.scripted([Fake.json({})])
        const result = yield* Effect.either(Effect.provide(
          Plaza.request({ method: "GET", path, response: Schema.Unknown }),
          layer
        ))
        if (Either.isLeft(result)) {
          expect(result.left).toMatchObject({ _tag: "InvalidInput", field: "path" })
          expect(calls).toHaveLength(0)
        } else {
          expect(calls[0]?.path).toBe(path)
        }
        expect([path, Either.isLeft(result)]).toEqual([path, path !== "//evil.test/x"])
      }
    }))
})
