/** Informational responses that the client didn't ask for, such as the `100 Continue` of a proxy. */
import { describe, expect, it } from "@effect/vitest"
import { type ClientError, FailureScope, Media, type Plaza, Posts, Profiles } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { PostId } from "@plaza/domain"
import * as Generate from "@plaza/testing/Generators"
import { Effect, Schedule, Stream } from "effect"
import type { Socket } from "node:net"
import * as RawServer from "./support/RawServer.ts"
import { isNodeHttp, runtimes } from "./support/Runtimes.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)
const comment = Effect.flatMap(Posts, ({ comment }) => comment(PostId.make("1"), "hello"))

const continues = "HTTP/1.1 100 Continue\r\n\r\n"
const others = "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n"
const responseWith = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
const response = responseWith(JSON.stringify({ id: "1", text: "hello", mediaId: "1" }))

/** Writes parts in separate packets. */
const writeAll = ([part, ...rest]: ReadonlyArray<string>, socket: Socket) => {
  if (part !== undefined) {
    socket.write(part, () => setImmediate(() => writeAll(rest, socket)))
  }
}

/** Calls a function for each complete request. Returns the base URL. */
const responding = (respond: (socket: Socket) => void) =>
  Effect.map(
    RawServer.makeNet((socket) => {
      let text = ""
      socket.setNoDelay(true).on("data", (chunk) => {
        text += chunk.toString("latin1")
        // The end of a head, or of a body in JSON.
        if (text.endsWith("\r\n\r\n") ? text.startsWith("GET") : text.endsWith("}")) {
          text = ""
          respond(socket)
        }
      })
    }),
    (port) => `http://127.0.0.1:${port}/open/v1`
  )

const over = (baseUrl: string, http = NodeClient.layer, options: Partial<Plaza.Options> = {}) =>
  RawServer.layerPlaza(baseUrl, http, { retry: Schedule.recurs(0), ...options })

const calls: Effect.Effect<unknown, ClientError.Failure, Plaza.Services> = Effect.andThen(me, comment)

describe("responses with status 102 and 103", () => {
  for (const [client, http] of runtimes) {
    it.live(`before the response are skipped, by ${client}`, () =>
      Effect.gen(function*() {
        const baseUrl = yield* responding((socket) => writeAll([others, response], socket))
        yield* Effect.provide(calls, over(baseUrl, http))
      }))
  }
})

describe("a 100 Continue", () => {
  for (const [client, http] of runtimes) {
    const accepts = client === "undici" || isNodeHttp(client)
    it.live(`that nobody asked for ${accepts ? "is skipped" : "is named as the reason"}, by ${client}`, () =>
      Effect.gen(function*() {
        const baseUrl = yield* responding((socket) => writeAll([continues, others + continues, response], socket))
        if (accepts) {
          yield* Effect.provide(calls, over(baseUrl, http))
        } else {
          const failure = yield* Effect.flip(Effect.provide(me, over(baseUrl, http)))
          expect(failure).toMatchObject({ _tag: "ConnectionLost", reason: "UNEXPECTED_CONTINUE" })
        }
      }))
  }

  it.live.prop("is skipped wherever packets split it, on new and on kept connections", [
    Generate.arrayOf(Generate.elementOf([continues, others]), { maxLength: 3 }),
    Generate.arrayOf(Generate.between(1, 60), { minLength: 1, maxLength: 4 })
  ], ([before, lengths]) =>
    Effect.gen(function*() {
      const text = before.join("") + response
      const parts: Array<string> = []
      let offset = 0
      for (const length of lengths) {
        parts.push(text.slice(offset, offset + length))
        offset += length
      }
      const baseUrl = yield* responding((socket) => writeAll([...parts, text.slice(offset)], socket))
      yield* Effect.provide(Effect.andThen(Effect.andThen(me, calls), me), over(baseUrl))
    }))

  it.live("in the body of a response is a part of it", () =>
    Effect.gen(function*() {
      const username = `${continues}${others}`
      const body = JSON.stringify({ id: "1", username })
      const head = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n`
      const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
      let requests = 0
      const baseUrl = yield* responding((socket) => {
        const at = body.indexOf("HTTP")
        // As the beginning of a packet, in JSON and raw.
        if (requests++ === 0) {
          writeAll([head, chunk(body.slice(0, at)), chunk(body.slice(at)), "0\r\n\r\n"], socket)
        } else {
          const raw = responseWith(`${continues}${response}`)
          const end = raw.indexOf("\r\n\r\n") + 4
          writeAll([raw.slice(0, end), raw.slice(end)], socket)
        }
      })
      const [first, second] = yield* Effect.provide(Effect.all([me, Effect.flip(me)]), over(baseUrl))
      expect(first).toMatchObject({ username })
      expect(JSON.stringify(second)).toContain("100 Continue")
    }))

  it.live("is skipped while an upload is in flight", () =>
    Effect.gen(function*() {
      const baseUrl = yield* Effect.map(
        RawServer.makeNet((socket) => {
          let count = 0
          socket.on("data", (chunk) => {
            // One for the first packets, in between the chunks of the body.
            if (count++ < 5) socket.write(continues)
            if (chunk.toString("latin1").endsWith("0\r\n\r\n")) socket.write(response)
          })
        }),
        (port) => `http://127.0.0.1:${port}/open/v1`
      )
      const content = Stream.rechunk(Stream.fromIterable(Array.from({ length: 50 }, () => new Uint8Array(64 * 1024))), 1)
      const upload = Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a", content }))
      expect(yield* Effect.provide(upload, over(baseUrl))).toEqual({ mediaId: "1" })
    }))

  for (
    const [what, text] of [
      ["without a response", continues],
      ["that is cut", continues.slice(0, 20)],
      ["that is cut within its version", continues.slice(0, 7)],
      ["with a response that is cut", continues + response.slice(0, 20)],
      ["with a head that doesn't end", `${continues.slice(0, -2)}x: ${"x".repeat(100_000)}`]
    ] as const
  ) {
    it.live(`${what} is a lost connection`, () =>
      Effect.gen(function*() {
        const baseUrl = yield* responding((socket) => void socket.end(text))
        expect(yield* Effect.flip(Effect.provide(me, over(baseUrl)))).toMatchObject({ _tag: "ConnectionLost" })
      }))
  }

  it.live("again and again ends at the timeout", () =>
    Effect.gen(function*() {
      const baseUrl = yield* responding((socket) => {
        const timer = setInterval(() => socket.write(continues.repeat(100)), 1)
        socket.on("close", () => clearInterval(timer))
      })
      const failure = yield* Effect.flip(Effect.provide(me, over(baseUrl, NodeClient.layer, { timeout: "200 millis" })))
      expect(failure).toMatchObject({ _tag: "AttemptTimeout" })
    }))
})

describe("a 101 Switching Protocols", () => {
  for (const [client, http] of runtimes) {
    it.live(`that nobody asked for leaves the outcome open, by ${client}`, () =>
      Effect.gen(function*() {
        const baseUrl = yield* responding((socket) =>
          void socket.end("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n")
        )
        const failure = yield* Effect.flip(Effect.provide(comment, over(baseUrl, http)))
        expect(FailureScope.mayHaveHappened(failure)).toBe(true)
      }))
  }
})
