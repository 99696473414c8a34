/**
 * Uploads: one file part named `file` with any file name and bytes; every other body is refused.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { anyOf, arrayOf, bytes, oneOf } from "@plaza/testing/Generators"
import { Arbitrary, Effect, Layer, Redacted, Stream } from "effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { createHash } from "node:crypto"
import { call, field, layerInProcess, layerSocket, refusal } from "./support.ts"

const upload = (file: File, name = "file") => {
  const form = new FormData()
  form.append(name, file)
  return call("POST", "/media", { form })
}
const held = (id: unknown) =>
  Effect.flatMap(Sandbox.Sandbox, ({ state }) =>
    Effect.map(state, ({ media }): Record<string, unknown> => ({ ...media.find((one) => one.id === id) })))
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const boundary = "the-boundary"
const multipart = (lines: ReadonlyArray<string>, type = `multipart/form-data; boundary=${boundary}`) =>
  call("POST", "/media", { text: lines.join("\r\n"), headers: { "content-type": type } })
const disposition = "content-disposition: form-data; name=\"file\"; filename=\"a.txt\""
const part = (...headers: ReadonlyArray<string>) => [`--${boundary}`, ...headers, "", "content"]
const end = [`--${boundary}--`, ""]

const names = [
  "a.png",
  "quote\".png",
  "two\r\nlines.png",
  "日本語 ファイル.png",
  "😀.png",
  "back\\slash.png",
  "semi;colon.png",
  "a=b.png",
  "Ä.png",
  " spaced .png"
]

for (const [way, provide] of [["in process", layerInProcess()], ["over a socket", layerSocket()]] as const) {
  layer(provide, { excludeTestServices: true })(`an upload ${way}`, (it) => {
    it.effect("keeps name, content type and bytes, whatever characters the name has", () =>
      Effect.gen(function*() {
        for (const name of names) {
          const bytes = Uint8Array.from({ length: 1_000 }, (_, index) => index * 7 % 256)
          const reply = yield* upload(new File([bytes], name, { type: "image/png" }))
          assert.strictEqual(reply.status, 200)
          assert.deepInclude(yield* held(field(reply, "mediaId")), {
            accountId: "1001",
            name,
            contentType: "image/png",
            size: 1_000,
            sha256: sha256(bytes)
          })
        }
      }))

    it.effect("can be used in a post", () =>
      Effect.gen(function*() {
        const mediaId = field(yield* upload(new File(["x"], "a.txt", { type: "text/plain" })), "mediaId")
        assert.deepInclude((yield* call("POST", "/posts", { json: { text: "a", mediaIds: [mediaId] } })).json, { mediaIds: [mediaId] })
      }))

    it.effect("of a large file is accepted, and of an empty one too", () =>
      Effect.gen(function*() {
        for (const size of [0, 3_000_000]) {
          const bytes = new Uint8Array(size).fill(13)
          const reply = yield* upload(new File([bytes], "a.bin", { type: "application/octet-stream" }))
          assert.deepInclude(yield* held(field(reply, "mediaId")), { size, sha256: sha256(bytes) })
        }
      }))
  })
}

layer(layerInProcess({ assumptions: { requestsPerWindow: 10_000 } }))("an upload", (it) => {
  // Adjacent chunks can form the delimiter itself, which a sender never has in a part (RFC 2046, 5.1.1).
  const delimiter = `\r\n--${boundary}`
  const near = anyOf(["\r\n", "\r\n--", delimiter.slice(0, -1), "\r\n\r\n", "--"])
  const pieces = arrayOf(
    oneOf<Uint8Array>(bytes({ maxLength: 20 }), Arbitrary.map(near, (text) => new TextEncoder().encode(text))),
    { maxLength: 10 }
  )
  const contents = Arbitrary.filter(
    Arbitrary.map(pieces, (all) => Buffer.concat(all)),
    (content) => !`\r\n${content.toString("latin1")}`.includes(delimiter)
  )

  it.effect.prop("keeps any bytes, line ends and near-delimiters included", [contents], ([content]) =>
    Effect.gen(function*() {
      const body = Buffer.concat([
        Buffer.from([`--${boundary}`, disposition, "content-type: a/b", "", ""].join("\r\n")),
        content,
        Buffer.from(`\r\n--${boundary}--\r\n`)
      ])
      const reply = yield* call("POST", "/media", { bytes: body, headers: { "content-type": `multipart/form-data; boundary=${boundary}` } })
      assert.deepInclude(yield* held(field(reply, "mediaId")), { size: content.length, sha256: sha256(content) })
    }), { arbitrary: { runs: 50 } })

  it.effect("keeps a name that a client escapes with backslashes", () =>
    Effect.gen(function*() {
      const escaped = [
        ["a\\\"b.png", "a\"b.png"],
        ["\\\"\\\".png", "\"\".png"],
        ["back\\\\slash and \\\"quote\\\".png", "back\\slash and \"quote\".png"],
        ["ends with \\\"", "ends with \""],
        // Without an escaped quote it is the name of a form, which escapes no backslash.
        ["C:\\fakepath\\a.png", "C:\\fakepath\\a.png"],
        ["two\\\\.png", "two\\\\.png"],
        ["a%22b.png", "a\"b.png"]
      ] as const
      for (const [sent, name] of escaped) {
        const head = `content-disposition: form-data; name="file"; filename="${sent}"`
        const reply = yield* multipart([...part(head, "content-type: a/b"), ...end])
        assert.strictEqual(field(reply, "fileName"), name)
        assert.deepInclude(yield* held(field(reply, "mediaId")), { name })
      }
    }))

  it.effect("with any other body is refused with the name of its part", () =>
    Effect.gen(function*() {
      const good = part(disposition, "content-type: text/plain")
      assert.strictEqual((yield* multipart([...good, ...end])).status, 200)
      assert.strictEqual((yield* multipart(["a preamble", ...good, ...end])).status, 200)
      assert.strictEqual((yield* multipart([...good, ...end, "an epilogue", ...good, ...end])).status, 200)
      assert.strictEqual((yield* multipart([...good, ...end], `Multipart/Form-Data; charset=utf-8; boundary="${boundary}"`)).status, 200)
      for (
        const lines of [
          [],
          end,
          good,
          [...good, ...good, ...end],
          [...part(disposition), ...end],
          [...part("content-type: text/plain"), ...end],
          [...part(), ...end],
          [...part("content-disposition: form-data; name=\"file\"", "content-type: text/plain"), ...end],
          [...part("content-disposition: form-data; name=\"file\"; filename=\"\"", "content-type: text/plain"), ...end],
          [...part("content-disposition: form-data; name=\"photo\"; filename=\"a.txt\"", "content-type: text/plain"), ...end],
          [...part("content-disposition: attachment; name=\"file\"; filename=\"a.txt\"", "content-type: text/plain"), ...end],
          ["--other", ...good.slice(1), "--other--"]
        ]
      ) {
        assert.strictEqual(refusal(yield* multipart(lines)), "400 VALIDATION_ERROR file", lines.join(" | "))
      }
      for (const type of ["application/json", "multipart/form-data", "multipart/mixed; boundary=the-boundary"]) {
        assert.strictEqual(refusal(yield* multipart([...good, ...end], type)), "400 VALIDATION_ERROR file", type)
      }
      assert.strictEqual(refusal(yield* upload(new File(["x"], "a.txt", { type: "a/b" }), "photo")), "400 VALIDATION_ERROR file")
    }))

  it.effect("accepts every kind of body that a client has", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const client = yield* HttpClient.HttpClient
      const text = [...part(disposition, "content-type: text/plain"), ...end].join("\r\n")
      const bytes = new TextEncoder().encode(text)
      const contentType = `multipart/form-data; boundary=${boundary}`
      for (
        const body of [
          HttpBody.text(text, contentType),
          HttpBody.uint8Array(bytes, contentType),
          HttpBody.stream(Stream.make(bytes.subarray(0, 9), bytes.subarray(9)), contentType),
          HttpBody.raw(text, { contentType }),
          HttpBody.raw(bytes.buffer, { contentType }),
          HttpBody.raw(new Blob([text]), { contentType }),
          HttpBody.raw(new Blob([text]).stream(), { contentType })
        ]
      ) {
        const request = HttpClientRequest.post(`${sandbox.baseUrl}/media`).pipe(
          HttpClientRequest.bearerToken(Redacted.value(sandbox.apiKey)),
          HttpClientRequest.setBody(body)
        )
        const response = yield* client.execute(request)
        assert.strictEqual(response.status, 200, body._tag)
      }
    }))

  it.effect("with a failing stream fails for the caller, and nothing is stored", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const client = yield* HttpClient.HttpClient
      const before = yield* sandbox.state
      const error = yield* Effect.flip(client.execute(
        HttpClientRequest.post(`${sandbox.baseUrl}/media`).pipe(
          HttpClientRequest.bearerToken(Redacted.value(sandbox.apiKey)),
          HttpClientRequest.bodyStream(Stream.concat(Stream.make(new Uint8Array(5)), Stream.fail("unplugged")), {
            contentType: "a/b; boundary=x"
          })
        )
      ))
      assert.deepStrictEqual([error._tag, error.reason._tag, error.reason.cause], ["HttpClientError", "EncodeError", "unplugged"])
      assert.deepStrictEqual((yield* sandbox.state).media, before.media)
    }))
})

describe("an upload that is too large", () => {
  const limits = { assumptions: { maxFileBytes: 100_000 } }
  const bytes = Buffer.concat([
    Buffer.from(`--${boundary}\r\n${disposition}\r\n\r\n`),
    Buffer.alloc(20_000_000),
    Buffer.from(`\r\n--${boundary}--\r\n`)
  ])
  // Not with fetch: Node 24's fetch keeps writing the body after the response arrived, and throws outside of every promise.
  const ways = [
    ["in process", Sandbox.layerHttpClient(limits)],
    ["over a socket", Layer.merge(Sandbox.layerServer(limits), NodeHttpClient.layerUndici)]
  ] as const
  layer(layerInProcess(limits))((it) => {
    it.effect("is refused for its size before any other error", () =>
      Effect.gen(function*() {
        const text = "x".repeat(200_000)
        const unnamed = [`--${boundary}`, "content-disposition: form-data; name=\"photo\"", "", text, ...end].join("\r\n")
        for (
          const [body, type] of [[unnamed, `multipart/form-data; boundary=${boundary}`], [text, "multipart/form-data; boundary=b"], [
            text,
            "text/plain"
          ]] as const
        ) {
          assert.strictEqual(refusal(yield* call("POST", "/media", { text: body, headers: { "content-type": type } })),
            "413 PAYLOAD_TOO_LARGE", type)
        }
      }))
  })

  for (const [way, provide] of ways) {
    layer(provide, { excludeTestServices: true })(way, (it) => {
      it.effect("is refused while it arrives, and the caller receives the response", () =>
        Effect.gen(function*() {
          const sandbox = yield* Sandbox.Sandbox
          const client = yield* HttpClient.HttpClient
          const send = (request: HttpClientRequest.HttpClientRequest) =>
            client.execute(HttpClientRequest.bearerToken(request, Redacted.value(sandbox.apiKey)))
          const refused = yield* send(
            HttpClientRequest.post(`${sandbox.baseUrl}/media`).pipe(
              HttpClientRequest.bodyUint8Array(bytes, `multipart/form-data; boundary=${boundary}`)
            )
          )
          assert.strictEqual(refused.status, 413)
          assert.include(yield* refused.text, "PAYLOAD_TOO_LARGE")
          assert.strictEqual((yield* send(HttpClientRequest.get(`${sandbox.baseUrl}/me`))).status, 200)
        }))
    })
  }
})
