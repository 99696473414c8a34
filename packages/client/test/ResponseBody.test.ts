/** Compressed responses of a service that is asked for none, over every HTTP client. */
import { describe, expect, it } from "@effect/vitest"
import { ClientError, Profiles, Store } from "@plaza/client"
import { ProductId } from "@plaza/domain"
import { Effect, Schedule } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Zlib from "node:zlib"
import * as RawServer from "./support/RawServer.ts"
import { runtimes } from "./support/Runtimes.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)
const setStock = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("7"), 7))

const codings = { gzip: Zlib.gzipSync, deflate: Zlib.deflateSync, br: Zlib.brotliCompressSync }

/** Responds to any request with these bytes. */
const respond = (coding: string, bytes: Uint8Array) => (request: IncomingMessage, response: ServerResponse) => {
  request.resume()
  request.on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": coding, "content-length": bytes.length }).end(bytes)
  })
}

for (const [client, http] of runtimes) {
  describe(`by ${client}, a response`, () => {
    for (const [coding, encode] of Object.entries(codings)) {
      it.live(`with ${coding} is read, whether it is of a read or of a write`, () =>
        Effect.gen(function*() {
          const server = yield* RawServer.make(respond(coding, encode(JSON.stringify({ id: "7", stock: 7, username: "zoë" }))))
          const layer = RawServer.layerPlaza(server.baseUrl, http)
          expect(yield* Effect.provide(me, layer)).toMatchObject({ id: "7", username: "zoë" })
          expect(yield* Effect.provide(setStock, layer)).toMatchObject({ id: "7", stock: 7 })
          expect(server.seen.map(({ headers, method }) => [method, headers["accept-encoding"]])).toEqual([
            ["GET", "identity"],
            ["PATCH", "identity"]
          ])
        }))

      it.live(`with ${coding} that can't be decoded is a fault of the service for a read, and UnreadableSuccess for a write`, () =>
        Effect.gen(function*() {
          const server = yield* RawServer.make(respond(coding, new Uint8Array(64).fill(0xff)))
          const layer = RawServer.layerPlaza(server.baseUrl, http, { retry: Schedule.recurs(1) })
          const read = yield* Effect.flip(Effect.provide(me, layer))
          expect(ClientError.categoryOf(read)).toBe("ServiceFault")
          const written = yield* Effect.flip(Effect.provide(setStock, layer))
          expect(written).toMatchObject({ _tag: "UnreadableSuccess", status: 200, attempts: 1 })
          for (const { message } of [read, written]) {
            // Fetch decodes responses itself, and reports only a code.
            expect(message).toMatch(
              client === "fetch" ? /the connection .*broke.*\((Z_DATA_ERROR|ERR__\w+)\)/ : `content encoding "${coding}"`
            )
          }
          expect(server.seen).toHaveLength(3)
        }))
    }
  })
}
