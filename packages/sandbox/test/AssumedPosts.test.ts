/**
 * Single posts: reading, editing and deleting them, in process and on a socket.
 */
import { assert, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect } from "effect"
import { call, field, layerInProcess, layerSocket, pageOf, refusal, someone } from "./support.ts"

const shop = "1001"
const options = { assumptions: { requestsPerWindow: 10_000, maxBodyBytes: 2_000 } }
const state = Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.state)

/** A new post of the shop. */
const published = Effect.map(
  call("POST", "/posts", { json: { text: "first", mediaIds: ["media-000001"] } }),
  (reply) => ({ created: reply.json, id: String(field(reply, "id")), path: `/posts/${String(field(reply, "id"))}` })
)

/** Every operation on a single post. */
const operations = [["GET"], ["PATCH", { text: "other" }], ["DELETE"]] as const

for (const [way, world] of [["in process", layerInProcess(options)], ["over a socket", layerSocket(options)]] as const) {
  layer(world, { excludeTestServices: true })(`a single post, ${way}`, (it) => {
    it.effect("is read as it was created, by its author and by others", () =>
      Effect.gen(function*() {
        const { created, path } = yield* published
        const { key } = yield* someone
        assert.deepStrictEqual((yield* call("GET", path)).json, created)
        assert.deepStrictEqual((yield* call("GET", path, { key })).json, created)
      }))

    it.effect("is changed only in the fields of an edit", () =>
      Effect.gen(function*() {
        const { created, id, path } = yield* published
        assert(typeof created === "object")
        const retold = yield* call("PATCH", path, { json: { text: "second" } })
        assert.strictEqual(retold.status, 200)
        assert.deepStrictEqual(retold.json, { ...created, text: "second" })
        const bare = yield* call("PATCH", path, { json: { mediaIds: [], text: null } })
        assert.deepStrictEqual(bare.json, { ...created, text: "second", mediaIds: [] })
        assert.deepStrictEqual((yield* call("GET", path)).json, bare.json)
        assert.strictEqual(pageOf(yield* call("GET", "/me/posts?limit=1")).ids[0], id)
      }))

    it.effect("keeps a text or media through every edit", () =>
      Effect.gen(function*() {
        const { path } = yield* published
        const edit = (json: object) => Effect.map(call("PATCH", path, { json }), (reply) => reply.status === 200 ? "200" : refusal(reply))
        assert.strictEqual(yield* edit({ text: "" }), "200")
        assert.strictEqual(yield* edit({ mediaIds: [] }), "400 VALIDATION_ERROR mediaIds")
        assert.strictEqual(yield* edit({ text: "a", mediaIds: [] }), "200")
        assert.strictEqual(yield* edit({ text: "" }), "400 VALIDATION_ERROR text")
        assert.strictEqual(yield* edit({ text: "", mediaIds: ["media-000001"] }), "200")
      }))

    it.effect("refuses an invalid edit with the name of the field, and stays unchanged", () =>
      Effect.gen(function*() {
        const { created, path } = yield* published
        const { key } = yield* someone
        const own = String(field(yield* call("POST", "/posts", { key, json: { text: "mine" } }), "id"))
        for (
          const [json, problem] of [
            [{}, "body"],
            [{ text: null }, "body"],
            [[], "body"],
            [{ text: "", mediaIds: [] }, "text"],
            [{ text: 5 }, "text"],
            [{ text: "a\u0000b" }, "text"],
            [{ mediaIds: "a" }, "mediaIds"],
            [{ text: "a", mediaIds: ["media-000001", "none"] }, "mediaIds.1"]
          ] as const
        ) {
          assert.strictEqual(refusal(yield* call("PATCH", path, { json })), `400 VALIDATION_ERROR ${problem}`, JSON.stringify(json))
        }
        const foreign = yield* call("PATCH", `/posts/${own}`, { key, json: { mediaIds: ["media-000001"] } })
        assert.strictEqual(refusal(foreign), "400 VALIDATION_ERROR mediaIds.0")
        assert.strictEqual(refusal(yield* call("PATCH", path, { text: "{" })), "400 INVALID_JSON")
        assert.strictEqual(refusal(yield* call("PATCH", path, { json: { text: "x".repeat(3_000) } })), "413 PAYLOAD_TOO_LARGE")
        assert.deepStrictEqual((yield* call("GET", path)).json, created)
      }))

    it.effect("can be changed and deleted only by its author", () =>
      Effect.gen(function*() {
        const { created, path } = yield* published
        const { key } = yield* someone
        assert.strictEqual(refusal(yield* call("PATCH", path, { key, json: { text: "mine now" } })), "403 FORBIDDEN")
        assert.strictEqual(refusal(yield* call("DELETE", path, { key })), "403 FORBIDDEN")
        assert.deepStrictEqual((yield* call("GET", path)).json, created)
      }))

    it.effect("is deleted with its comments and likes; a second deletion is not found", () =>
      Effect.gen(function*() {
        const { id, path } = yield* published
        const { key } = yield* someone
        yield* call("POST", `${path}/comments`, { key, json: { text: "nice" } })
        yield* call("POST", `${path}/like`, { key })
        const reply = yield* call("DELETE", path)
        assert.deepStrictEqual([reply.status, reply.text], [204, ""])
        for (const [method, json] of operations) {
          assert.strictEqual(refusal(yield* call(method, path, { json })), "404 NOT_FOUND", method)
        }
        assert.strictEqual(refusal(yield* call("POST", `${path}/like`)), "404 NOT_FOUND")
        assert.notInclude(pageOf(yield* call("GET", "/me/posts?limit=100")).ids, id)
        const { comments, likes, posts } = yield* state
        assert.deepStrictEqual([
          comments.filter(({ postId }) => postId === id),
          likes.filter(({ postId }) => postId === id),
          posts.filter((post) => post.id === id)
        ], [[], [], []])
      }))

    it.effect("has an id that is never reused", () =>
      Effect.gen(function*() {
        const { id, path } = yield* published
        yield* call("DELETE", path)
        assert.notStrictEqual((yield* published).id, id)
      }))

    it.effect("has the first id again after a reset", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        yield* sandbox.reset
        const { id, path } = yield* published
        yield* call("DELETE", path)
        yield* sandbox.reset
        assert.strictEqual((yield* published).id, id)
      }))

    it.effect("of a user who is suspended, private or blocked either way is not available to any operation", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id, key } = yield* someone
        const path = `/posts/${String(field(yield* call("POST", "/posts", { key, json: { text: "theirs" } }), "id"))}`
        const unavailable = Effect.gen(function*() {
          for (const [method, json] of operations) {
            assert.strictEqual(refusal(yield* call(method, path, { json })), "403 USER_UNAVAILABLE", method)
          }
        })
        yield* sandbox.setProfile(id, { availability: "suspended" })
        yield* unavailable
        yield* sandbox.setProfile(id, { availability: "private" })
        yield* unavailable
        assert.strictEqual((yield* call("GET", path, { key })).status, 200)
        yield* sandbox.setProfile(id, { availability: "available" })
        yield* sandbox.setRelation(id, shop, { blocks: true })
        yield* unavailable
        yield* sandbox.setRelation(id, shop, { blocks: false })
        yield* sandbox.setRelation(shop, id, { blocks: true })
        yield* unavailable
        yield* sandbox.setRelation(shop, id, { blocks: false })
        assert.strictEqual((yield* call("GET", path)).status, 200)
      }))

    it.effect("of an unknown id is not found, and the envelope repeats the id", () =>
      Effect.gen(function*() {
        for (const [method, json] of operations) {
          const reply = yield* call(method, "/posts/a%2Fb", { json })
          assert.strictEqual(refusal(reply), "404 NOT_FOUND", method)
          assert.include(reply.text, "\"id\":\"a/b\"")
        }
      }))

    it.effect("can be read, but not changed or deleted, by an account without photo or cover", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { id, key } = yield* someone
        const path = `/posts/${String(field(yield* call("POST", "/posts", { key, json: { text: "mine" } }), "id"))}`
        for (const change of [{ photo: false }, { photo: true, cover: false }]) {
          yield* sandbox.setProfile(id, change)
          assert.strictEqual(refusal(yield* call("PATCH", path, { key, json: { text: "a" } })), "403 PROFILE_INCOMPLETE")
          assert.strictEqual(refusal(yield* call("DELETE", path, { key })), "403 PROFILE_INCOMPLETE")
          assert.strictEqual((yield* call("GET", path, { key })).status, 200)
        }
      }))
  })
}
