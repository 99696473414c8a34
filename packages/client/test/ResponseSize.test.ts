/** Responses that are larger than `maxResponseBytes`, and how a response begins. */
import { describe, expect, it } from "@effect/vitest"
import { Chat, Profiles } from "@plaza/client"
import { ConversationId } from "@plaza/domain"
import { Effect, Schedule } from "effect"
import { gzipSync } from "node:zlib"
import * as RawServer from "./support/RawServer.ts"
import { runtimes } from "./support/Runtimes.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)
const say = Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("1"), "hello"))

const endless = (status: number): RawServer.Handler => (request, response) => {
  request.resume()
  response.writeHead(status)
  const more = () => {
    while (!response.destroyed) {
      if (!response.write("x".repeat(10_000))) {
        response.once("drain", more)
        return
      }
    }
  }
  more()
}
const declared = (status: number): RawServer.Handler => (request, response) => {
  request.resume()
  response.writeHead(status, { "content-length": "100000000" }).write("x".repeat(10_000))
}
const packed = gzipSync(Buffer.alloc(2_000_000, " "))
const bomb: RawServer.Handler = (request, response) => {
  request.resume()
  response.writeHead(200, { "content-encoding": "gzip", "content-type": "application/json" }).end(packed)
}

for (const [client, http] of runtimes) {
  describe(`a response that is larger than the bound, by ${client},`, () => {
    const maxResponseBytes = 100_000
    const over = (server: RawServer.RawServer) =>
      RawServer.layerPlaza(server.baseUrl, http, { retry: Schedule.recurs(0), maxResponseBytes })
    const closed = (server: RawServer.RawServer) => RawServer.until("no connection is open", () => server.sockets() === 0)

    for (const [kind, handler] of [["without a length", endless], ["with its length", declared]] as const) {
      it.live(`${kind} is not read to its end: a read failed, and a write happened`, () =>
        Effect.gen(function*() {
          const server = yield* RawServer.make(handler(200))
          yield* Effect.gen(function*() {
            expect(yield* Effect.flip(me)).toMatchObject({ _tag: "ConnectionLost", reason: "RESPONSE_TOO_LARGE" })
            yield* closed(server)
            const failure = yield* Effect.flip(say)
            expect(failure).toMatchObject({ _tag: "UnreadableSuccess", status: 200 })
            expect(failure.message).toContain("larger than 100000 bytes")
            yield* closed(server)
          }).pipe(Effect.provide(over(server)))
        }))

      it.live(`${kind} is still the error of its status, with its beginning`, () =>
        Effect.gen(function*() {
          const server = yield* RawServer.make(handler(403))
          yield* Effect.gen(function*() {
            const failure = yield* Effect.flip(say)
            expect(failure).toMatchObject({ _tag: "UnrecognizedError", status: 403, details: { body: "x".repeat(500) } })
            yield* closed(server)
          }).pipe(Effect.provide(over(server)))
        }))
    }

    it.live("after decompression isn't read further either", () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make(bomb)
        expect((yield* Effect.flip(Effect.provide(say, over(server)))).message).toContain("larger than 100000 bytes")
      }))
  })

  it.live(`a byte order mark is no part of a response, by ${client}`, () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((_, response) => {
        response.writeHead(200, { "content-type": "application/json" }).end("\uFEFF{\"id\":\"1\"}")
      })
      expect(yield* Effect.provide(me, RawServer.layerPlaza(server.baseUrl, http))).toMatchObject({ id: "1" })
    }))
}
