/** What a failure below HTTP shows: its reason, and whether the request may have reached the service. */
import { describe, expect, it } from "@effect/vitest"
import { Chat, type Plaza, TransportReason } from "@plaza/client"
import { ConversationId } from "@plaza/domain"
import { Effect, Layer, Schedule, Stream } from "effect"
import { HttpBody, HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import * as RawServer from "./support/RawServer.ts"
import { isNodeHttp, runtimes } from "./support/Runtimes.ts"

const request = HttpClientRequest.post("https://service.test/open/v1/posts")

const transport = (cause?: unknown, of = request, description?: string) =>
  TransportReason.reasonOf(
    new HttpClientError.HttpClientError({
      reason: new HttpClientError.TransportError({ request: of, cause, ...(description === undefined ? {} : { description }) })
    })
  )
const failed = (code: string, more: object = {}) => Object.assign(new Error("failed"), { code, ...more })

const isConnected = (code: string, more?: object) => transport(failed(code, more)).connected

describe("the reason of a failure", () => {
  it("is the code of the first cause that has one", () => {
    const cause = new TypeError("fetch failed", { cause: new Error("wrapped", { cause: failed("ECONNRESET") }) })
    expect(transport(cause)).toMatchObject({ reason: "ECONNRESET", connected: true })
    expect(TransportReason.reasonOfCause(cause, "OTHER").reason).toBe("ECONNRESET")
  })

  it("is that of the HTTP client if no cause has a code, and the request counts as sent", () => {
    const cyclic = new Error("cyclic")
    cyclic.cause = cyclic
    for (const cause of [undefined, null, "lost", 7, new Error("lost"), new TypeError("Failed to fetch"), cyclic, [], { code: 7 }]) {
      expect(transport(cause)).toEqual({ reason: "TransportError", connected: true, hint: undefined })
      expect(TransportReason.reasonOfCause(cause, "OTHER")).toEqual({ reason: "OTHER", connected: true, hint: undefined })
    }
  })

  it("says that nothing was sent for an unknown host, a refused connection and an untrusted certificate", () => {
    const codes = [
      "ECONNREFUSED",
      "ENOTFOUND",
      "EAI_AGAIN",
      "EHOSTUNREACH",
      "ENETUNREACH",
      "UND_ERR_CONNECT_TIMEOUT",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "CERT_HAS_EXPIRED",
      "ERR_TLS_CERT_ALTNAME_INVALID",
      "ERR_SSL_WRONG_VERSION_NUMBER"
    ]
    expect(codes.filter((code) => isConnected(code))).toEqual([])
    expect(transport(Object.assign(new Error("write EPROTO 80:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:x"), {
      code: "EPROTO",
      syscall: "write"
    }))).toMatchObject({ reason: "ERR_SSL_WRONG_VERSION_NUMBER", connected: false })
  })

  it("counts as sent after codes that also occur on open connections", () => {
    const codes = [
      "ECONNRESET",
      "EPIPE",
      "ETIMEDOUT",
      "UND_ERR_SOCKET",
      "UND_ERR_HEADERS_TIMEOUT",
      "UND_ERR_DESTROYED",
      "HPE_INVALID_CONSTANT"
    ]
    expect(codes.filter((code) => !isConnected(code))).toEqual([])
    // The failed system call decides.
    expect([isConnected("ETIMEDOUT", { syscall: "connect" }), isConnected("ETIMEDOUT", { syscall: "read" })]).toEqual([false, true])
    expect([isConnected("EHOSTUNREACH", { syscall: "connect" }), isConnected("EHOSTUNREACH", { syscall: "write" })]).toEqual([false, true])
  })

  it("of several addresses is that of the one that may have connected", () => {
    const refused = failed("ECONNREFUSED", { syscall: "connect" })
    const lost = failed("ECONNRESET", { syscall: "read" })
    expect(transport(new AggregateError([refused, refused]))).toMatchObject({ reason: "ECONNREFUSED", connected: false })
    expect(transport(new AggregateError([refused, lost]))).toMatchObject({ reason: "ECONNRESET", connected: true })
  })

  it("counts as sent once the service has responded, whatever the code", () => {
    const cause = failed("ECONNREFUSED", { syscall: "connect" })
    const response = HttpClientResponse.fromWeb(request, new Response())
    const decode = new HttpClientError.DecodeError({ request, response, cause })
    expect(TransportReason.reasonOf(new HttpClientError.HttpClientError({ reason: decode }))).toMatchObject({
      reason: "ECONNREFUSED",
      connected: true
    })
  })

  it("says that nothing was sent for an invalid URL, and for a body that can't be encoded before it is sent", () => {
    const reasonOf = (reason: HttpClientError.RequestError) =>
      TransportReason.reasonOf(new HttpClientError.HttpClientError({ reason })).connected
    const streamed = HttpClientRequest.setBody(request, HttpBody.stream(Stream.make(new Uint8Array(1))))
    expect(reasonOf(new HttpClientError.InvalidUrlError({ request, cause: new TypeError("Invalid URL") }))).toBe(false)
    expect(reasonOf(new HttpClientError.EncodeError({ request, cause: new Error("circular") }))).toBe(false)
    expect(reasonOf(new HttpClientError.EncodeError({ request: streamed, description: "streams are not supported" }))).toBe(false)
    // The source failed while the body was sent.
    expect(reasonOf(new HttpClientError.EncodeError({ request: streamed, cause: new Error("disk") }))).toBe(true)
  })

  it("does not take a redirect for a rejected request", () => {
    const cause = Object.assign(new Error("Redirect loop detected. Cannot redirect to https://elsewhere."), { code: "UND_ERR_INVALID_ARG" })
    expect(transport(cause)).toMatchObject({ connected: true, hint: undefined })
  })

  it("names an HTTP client that accepts a 100 Continue", () => {
    const { connected, hint, reason } = transport(Object.assign(new Error("bad response"), { code: "UND_ERR_SOCKET" }))
    expect([reason, connected]).toEqual(["UNEXPECTED_CONTINUE", true])
    expect(hint).toContain("NodeHttpClient.layerNodeHttp")
  })
})

const say = Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("1"), "hello"))
const once = { retry: Schedule.recurs(0) }

/** The client on an HTTP client to which the application adds a header. */
const withHeader = (
  server: RawServer.RawServer,
  http: Layer.Layer<HttpClient.HttpClient>,
  name: string,
  value: string,
  options: Partial<Plaza.Options> = once
) =>
  RawServer.layerPlaza(
    server.baseUrl,
    Layer.provide(
      Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, HttpClient.mapRequest((request) => HttpClientRequest.setHeader(request, name, value)))
      ),
      http
    ),
    options
  )

describe("a header that the HTTP client rejects", () => {
  const rejected: ReadonlyArray<readonly [name: string, value: string]> = [
    ["expect", "100-continue"],
    ["keep-alive", "timeout=5"],
    ["upgrade", "h2c"],
    ["transfer-encoding", "chunked"],
    ["connection", "@ @"],
    ["x-shop", "north\r\nx-other: 1"],
    ["x-shop", "€"],
    ["x shop", "north"],
    ["", "north"]
  ]
  for (const [client, http] of runtimes) {
    // These send them: the service decides.
    const sent = isNodeHttp(client)
      ? ["expect", "keep-alive", "upgrade", "transfer-encoding", "connection"]
      : client === "fetch"
      ? []
      : ["upgrade"]
    for (const [name, value] of rejected.filter(([name]) => !sent.includes(name))) {
      it.live(`is a request that was not sent: ${JSON.stringify(name)}: ${JSON.stringify(value)}, by ${client}`, () =>
        Effect.gen(function*() {
          const server = yield* RawServer.make((request, response) => {
            request.resume()
            RawServer.answerJson(response, { text: "hello" })
          })
          const failure = yield* Effect.flip(Effect.provide(say, withHeader(server, http, name, value)))
          expect(failure._tag).toBe("ConnectionFailed")
          expect(server.seen).toEqual([])
        }))
    }
  }
})
