/**
 * The recorded headers and bodies of requests: as they were sent, bounded, and without keys.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Latitude, Sandbox } from "@plaza-legacy/sandbox"
import { Effect, Redacted, Schema } from "effect"
import * as KeyMask from "../src/http/KeyMask.ts"
import { RequestDetail } from "../src/http/RequestLog.ts"
import * as Messages from "../src/http/RequestMessages.ts"
import { call, control, layerInProcess, layerSocket, refusal } from "./support.ts"

const readDetail = Schema.decodeUnknownSync(RequestDetail)

const detail = (id: string) => Effect.map(control("GET", `/requests/${id}`), ({ json }) => readDetail(json))

/** The newest request. */
const newest = Effect.gen(function*() {
  const { requests } = yield* Sandbox.Sandbox
  return yield* detail((yield* requests).at(-1)?.id ?? "")
})

const messages = Effect.map(newest, (record) => record.messages ?? assert.fail("the messages are not kept"))

for (const [where, transport] of [["in process", layerInProcess()], ["over a socket", layerSocket()]] as const) {
  layer(transport, { excludeTestServices: true })(`the messages of a request ${where}`, (it) => {
    it.effect("have the headers and bodies of both sides", () =>
      Effect.gen(function*() {
        yield* call("POST", "/posts", { json: { text: "Fresh tea" }, headers: { "x-trace": "t1" } })
        const record = yield* newest
        assert.deepInclude(record, { keyId: "k1", deliveredStatus: 200 })
        assert.isAtLeast(record.durationMillis ?? -1, 0)
        const { request, response } = record.messages ?? assert.fail("the messages are not kept")
        assert.deepInclude(request.headers, { "x-trace": "t1", "content-type": "application/json", authorization: "Bearer key_***" })
        assert.deepStrictEqual(request.body, {
          form: "text",
          contentType: "application/json",
          size: 20,
          text: `{"text":"Fresh tea"}`,
          truncated: false
        })
        assert.strictEqual(response?.headers["x-request-id"], record.id)
        assert.include(response?.body.text, `"text":"Fresh tea"`)
      }))

    it.effect("have the type and size of an upload, and no bytes", () =>
      Effect.gen(function*() {
        const form = new FormData()
        form.append("file", new Blob([new Uint8Array(1_234)], { type: "image/png" }), "tea.png")
        yield* call("POST", "/media", { form })
        assert.deepInclude((yield* messages).request.body, { form: "binary", contentType: "image/png", size: 1_234, text: null })
      }))

    it.effect("of a refused request name the size of the body that the sandbox did not read", () =>
      Effect.gen(function*() {
        yield* call("POST", "/posts", { key: null, json: { text: "x" } })
        const { request, response } = yield* messages
        assert.deepInclude(request.body, { form: "unread", text: null })
        assert.strictEqual(response?.status, 401)
      }))

    it.effect("have the response that a fault made, and the fault", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        yield* sandbox.addFault({ kind: "cut", when: "after" })
        yield* Effect.ignore(call("GET", "/me"))
        const cut = yield* messages
        assert.deepStrictEqual(cut.appliedFaults, [{ kind: "cut", when: "after" }])
        assert.match(cut.response?.body.text ?? "", /^\{[^}]*$/)
        yield* sandbox.addFault({ kind: "drop", when: "before" })
        yield* Effect.ignore(call("GET", "/me"))
        const dropped = yield* newest
        assert.deepStrictEqual([dropped.delivered, dropped.messages?.response], ["dropped", null])
      }))
  })
}

layer(layerInProcess({ latitude: { createStatus: 201 } }))("the messages of a request", (it) => {
  it.effect("have the latitude that differed from the default", () =>
    Effect.gen(function*() {
      yield* call("GET", "/me")
      assert.deepStrictEqual((yield* messages).latitude, { createStatus: 201 })
    }))

  it.effect("contain no key, wherever it was sent and however it was written", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const value = Redacted.value(sandbox.apiKey)
      const escaped = Array.from(value, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")
      for (
        const [headers, text] of [
          [{ "x-copy": value, cookie: `session=${value}` }, JSON.stringify({ text: value })],
          [{}, `{"text":"${escaped}"}`],
          [{}, `{"text":"${"a".repeat(Messages.maxBodyBytes - 20)}${value}"}`],
          [{}, `{"text":"${"a".repeat(Messages.maxBodyBytes - 100)}${escaped}"}`],
          // Masked keys are shorter, so the end of what is kept must not move into what is shown.
          [{}, `{"text":"${value.repeat(40)}`.padEnd(Messages.copy(new Uint8Array(100_000)).length - 30, "a") + value + "a".repeat(100)],
          [{ "x-copy": escaped }, "{}"]
        ] as const
      ) {
        yield* call("POST", "/posts", { headers, text })
        const { text: shown } = yield* control("GET", `/requests/${(yield* sandbox.requests).at(-1)?.id ?? ""}`)
        assert.include(shown, "key_***")
        assert.notInclude(shown, value.slice(4, 12))
        assert.notInclude(shown.replaceAll("\\\\", "\\"), escaped.slice(24, 60))
        assert.notInclude(shown, "session=")
      }
    }))

  it.effect("end when the log is cleared", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* call("GET", "/me")
      const id = (yield* sandbox.requests).at(-1)?.id ?? ""
      yield* sandbox.reset
      assert.strictEqual(refusal(yield* control("GET", `/requests/${id}`)), "404 NOT_FOUND")
    }))
})

describe("kept messages", () => {
  const original = (size: number): Messages.Original => ({
    method: "POST",
    url: "/open/v1/posts",
    headers: { "content-type": "text/plain" },
    hasBody: true,
    body: Messages.copy(new TextEncoder().encode("é".repeat(size / 2))),
    bodySize: size,
    upload: undefined,
    response: undefined,
    streamed: undefined,
    faults: [],
    latitude: Latitude.defaults
  })

  it("are at most 16 MiB, and the newest ones", () => {
    const store = Messages.makeStore()
    for (let index = 0; index < 2_000; index++) {
      store.add(`req_${index}`, original(100_000))
    }
    const kept = Array.from({ length: 2_000 }, (_, index) => store.find(`req_${index}`)).filter((found) => found !== undefined)
    const bytes = kept.reduce((sum, { body }) => sum + (body?.length ?? 0), 0)
    assert.isAtMost(bytes, Messages.maxBytes)
    assert.isAbove(bytes, Messages.maxBytes / 2)
    assert.isDefined(store.find("req_1999"))
  })

  it("show the beginning of a long body, also if a character was cut", () => {
    const { body } = Messages.read(original(100_000), KeyMask.make(new Set())).request
    assert.deepInclude(body, { form: "text", size: 100_000, truncated: true })
    assert.match(body.text ?? "", /^é+$/)
  })
})
