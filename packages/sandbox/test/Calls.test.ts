/** How the console groups requests into calls. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { elementOf } from "@plaza/testing/Generators"
import { Arbitrary, DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import type { RequestRecord } from "../src/http/RequestLog.ts"
import type { Original } from "../src/http/RequestMessages.ts"
import * as Latitude from "../src/Latitude.ts"
import * as Calls from "../src/web/Calls.ts"
import { call, layerInProcess, Transport } from "./support.ts"
import { request } from "./WebPages.ts"

/** The summaries of the calls with several requests, newest first. */
const summaries = Effect.map(
  request("GET", "/console"),
  ({ text }) => [...text.matchAll(/One call:<\/span> ([^<]*)/g)].map(([, summary = ""]) => summary)
)

const post = (text: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.ignore(call("POST", "/posts", { json: { text }, headers }))
const list = (headers: Readonly<Record<string, string>> = {}) => call("GET", "/me/posts", { headers })

/** A sandbox without requests and faults. */
const fresh = Effect.flatMap(Sandbox.Sandbox, (sandbox) => Effect.as(sandbox.reset, sandbox))

layer(layerInProcess())("the requests of one call", (it) => {
  it.effect("stand together: a post whose response is lost is found in the list", () =>
    Effect.gen(function*() {
      const sandbox = yield* fresh
      yield* sandbox.addFault({ kind: "status", when: "after", status: 503 })
      yield* post("hello")
      yield* list()
      assert.deepStrictEqual(yield* summaries, ["503 replaced, then GET /me/posts, found"])
    }))

  it.effect("end with the post that is found: an equal one that follows is another call", () =>
    Effect.gen(function*() {
      const sandbox = yield* fresh
      yield* sandbox.addFault({ kind: "drop", when: "after" })
      yield* post("hello")
      yield* list()
      yield* post("hello")
      yield* list()
      assert.deepStrictEqual(yield* summaries, ["dropped, then GET /me/posts, found"])
    }))

  it.effect("go on with a post that is not found and sent again", () =>
    Effect.gen(function*() {
      const sandbox = yield* fresh
      yield* sandbox.addFault({ kind: "status", when: "before", status: 500 })
      yield* post("hello")
      yield* list()
      yield* post("hello")
      assert.deepStrictEqual(yield* summaries, ["500 replaced, then GET /me/posts, not found, then 200"])
    }))

  it.effect("are counted if they end alike", () =>
    Effect.gen(function*() {
      const sandbox = yield* fresh
      yield* sandbox.addFault({ kind: "status", when: "before", status: 429, times: 3 })
      for (let attempt = 0; attempt < 4; attempt++) yield* call("GET", "/me")
      assert.deepStrictEqual(yield* summaries, ["429 replaced (3 times), then 200"])
    }))

  it.effect("have the same method, path, query, body, key and program", () =>
    Effect.gen(function*() {
      const sandbox = yield* fresh
      const { apiKey } = yield* sandbox.createKey("1001")
      for (
        const [first, second] of [
          [post("hello"), post("hallo")],
          [call("GET", "/me/posts"), call("GET", "/me/posts?limit=3")],
          [call("GET", "/me"), call("GET", "/users/1002")],
          [call("GET", "/me"), call("GET", "/me", { key: apiKey })],
          [call("GET", "/me", { headers: { "user-agent": "one" } }), call("GET", "/me", { headers: { "user-agent": "other" } })],
          [post("hello", { "user-agent": "one" }), list({ "user-agent": "other" })]
        ] as const
      ) {
        yield* sandbox.addFault({ kind: "status", when: "after", status: 503 })
        yield* first
        yield* second
        assert.deepStrictEqual(yield* summaries, [])
        yield* sandbox.reset
      }
    }))

  it.effect("have the same body, also if a fault stops them before the service reads it", () =>
    Effect.gen(function*() {
      const sandbox = yield* fresh
      yield* sandbox.addFault({ kind: "status", when: "before", status: 503, times: 3 })
      for (const text of ["Post 1", "Post 2", "Post 3"]) yield* post(text)
      assert.deepStrictEqual(yield* summaries, [])
      yield* post("Post 2")
      assert.deepStrictEqual(yield* summaries, ["503 replaced, then 200"])
    }))

  it.effect("say if a repetition created the post once more", () =>
    Effect.gen(function*() {
      const sandbox = yield* fresh
      yield* sandbox.addFault({ kind: "status", when: "after", status: 503 })
      yield* post("twice")
      yield* post("twice")
      assert.deepStrictEqual(yield* summaries, ["503 replaced, then 200: created 2 times"])
    }))

  it.effect("do not say that a post is missing in a list that nobody can read, or that goes on", () =>
    Effect.gen(function*() {
      const sandbox = yield* fresh
      yield* sandbox.addFault({ kind: "drop", when: "after", method: "POST" })
      yield* post("hello")
      yield* sandbox.addFault({ kind: "garbage", body: "<html>", method: "GET" })
      yield* list()
      yield* sandbox.setLatitude({ listOrder: "oldestFirst" })
      yield* call("GET", "/me/posts?limit=2")
      yield* sandbox.setLatitude({ listOrder: "newestFirst" })
      yield* list()
      assert.deepStrictEqual(yield* summaries, [
        "dropped, then GET /me/posts, 200 replaced, then GET /me/posts, 200, then GET /me/posts, found"
      ])
    }))

  it.effect("have a failure before them: a definite response ends a call", () =>
    Effect.gen(function*() {
      const sandbox = yield* fresh
      yield* call("GET", "/users/nobody")
      yield* call("GET", "/users/nobody")
      yield* sandbox.addFault({ kind: "status", when: "before", status: 429 })
      yield* post("refused")
      yield* list()
      assert.deepStrictEqual(yield* summaries, [])
    }))

  it.effect("follow each other within two minutes", () =>
    Effect.gen(function*() {
      const sandbox = yield* fresh
      yield* sandbox.addFault({ kind: "status", when: "before", status: 503, times: 2 })
      yield* call("GET", "/me")
      yield* TestClock.adjust("2 minutes")
      yield* call("GET", "/me")
      assert.deepStrictEqual(yield* summaries, ["503 replaced (2 times)"])
      yield* TestClock.adjust("121 seconds")
      yield* call("GET", "/me")
      assert.deepStrictEqual(yield* summaries, ["503 replaced (2 times)"])
    }))

  it.effect("include an upload, whose boundary differs each time", () =>
    Effect.gen(function*() {
      const sandbox = yield* fresh
      const { baseUrl } = sandbox
      const { send } = yield* Transport
      const upload = (size: number) => {
        const form = new FormData()
        form.append("file", new Blob([new Uint8Array(size)], { type: "image/png" }), "a.png")
        return send("POST", `${baseUrl}/media`, { form })
      }
      yield* sandbox.addFault({ kind: "status", when: "after", status: 429 })
      yield* upload(10)
      yield* upload(10)
      assert.strictEqual((yield* summaries).length, 1)
      yield* sandbox.reset
      yield* sandbox.addFault({ kind: "status", when: "after", status: 429 })
      yield* upload(10)
      yield* upload(11)
      assert.strictEqual((yield* summaries).length, 0)
    }))
})

const record = (fields: Partial<RequestRecord>, index: number): RequestRecord => ({
  id: `req_${index + 1}`,
  method: "GET",
  path: "/me",
  query: "",
  operation: "getMe",
  params: {},
  accountId: "1001",
  keyId: "k1",
  at: DateTime.makeUnsafe(index * 1_000),
  durationMillis: 1,
  status: 200,
  rule: "profiles.getMe",
  reason: "accepted",
  delivered: "complete",
  deliveredStatus: 200,
  faults: [],
  truncated: false,
  ...fields
})

const targets = elementOf([
  { method: "GET", path: "/me", operation: "getMe" },
  { method: "GET", path: "/me/posts", operation: "listPosts" },
  { method: "POST", path: "/posts", operation: "createPost" }
])
const outcomes = elementOf<Partial<RequestRecord>>([
  { delivered: "complete", deliveredStatus: 200 },
  { delivered: "replaced", deliveredStatus: 503 },
  { delivered: "dropped", deliveredStatus: null },
  { delivered: "waiting", deliveredStatus: null, durationMillis: null }
])
const keys = elementOf<string | null>(["k1", "k2", null])
const drawnFields = Arbitrary.flatMap(targets,
  (target) =>
    Arbitrary.flatMap(outcomes, (outcome) => Arbitrary.map(keys, (keyId): Partial<RequestRecord> => ({ ...target, ...outcome, keyId }))))
const drawnRecords = Arbitrary.map(Arbitrary.array(drawnFields), (drawn) => drawn.map(record))

/** Bodies of few forms, so that some are equal; every seventh is not kept. */
const bodies = {
  get: (id: string): Original | undefined => {
    const number = Number(id.slice(4))
    return number % 7 === 0 ? undefined : {
      method: "POST",
      url: "/posts",
      headers: { "user-agent": "test", "content-length": "1" },
      hasBody: true,
      body: number % 5 === 0 ? undefined : new Uint8Array([number % 2]),
      bodySize: 1,
      upload: undefined,
      response: undefined,
      streamed: undefined,
      faults: [],
      latitude: Latitude.defaults
    }
  }
}

describe("calls", () => {
  it.prop("contain every request once and in order, and only requests of one key", [drawnRecords], ([records]) => {
    const calls = Calls.group(records, {
      original: (id) => bodies.get(id),
      lists: (id) => [true, false, undefined][Number(id.slice(4)) % 3]
    })
    assert.sameOrderedMembers(
      calls.flatMap((call) => call.map((attempt) => attempt.record)).toSorted((one, other) =>
        one.at.epochMilliseconds - other.at.epochMilliseconds
      ),
      records
    )
    for (const call of calls) {
      assert.strictEqual(new Set(call.map((attempt) => attempt.record.keyId)).size, 1)
      const times = call.map((attempt) => attempt.record.at.epochMilliseconds)
      assert.deepStrictEqual(times, times.toSorted((one, other) => one - other))
      const sent = call.flatMap(({ record: { id }, role }) => role === "send" ? [bodies.get(id)?.body?.[0]] : [])
      // Bodies that are not kept are not known to be equal.
      if (call[0].record.method === "POST" && sent.length > 1) {
        assert.notStrictEqual(sent[0], undefined)
        assert.strictEqual(new Set(sent).size, 1)
      }
    }
    const ends = calls.map((call) => call.at(-1)?.record.at.epochMilliseconds ?? 0)
    assert.deepStrictEqual(ends, ends.toSorted((one, other) => one - other))
  })
})
