/** Responses that are compressed although the client asks for none. */
import { describe, expect, it } from "@effect/vitest"
import { Profiles, Store } from "@plaza/client"
import { ProductId } from "@plaza/domain"
import * as Generate from "@plaza/testing/Generators"
import { Effect, Schedule } from "effect"
import * as Zlib from "node:zlib"
import { vi } from "vitest"
import * as ContentEncoding from "../src/internal/transport/ContentEncoding.ts"
import * as RawServer from "./support/RawServer.ts"
import { runtimes } from "./support/Runtimes.ts"

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const encoders: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  gzip: Zlib.gzipSync,
  "x-gzip": Zlib.gzipSync,
  deflate: Zlib.deflateSync,
  "deflate without the header of zlib": Zlib.deflateRawSync,
  br: Zlib.brotliCompressSync,
  zstd: Zlib.zstdCompressSync
}
const cases = Object.entries(encoders).map(([name, encode]) => [name, name.split(" ")[0] ?? "", encode] as const)

const limit = 100_000
const decode = (bytes: Uint8Array, encoding: string, maxBytes = limit) =>
  Effect.map(ContentEncoding.decode(bytes, encoding, maxBytes), ({ bytes, ...rest }) => ({ text: textOf(bytes), ...rest }))
const whole = (text: string) => ({ text, isCut: false, problem: undefined })

const json = JSON.stringify({ id: "1", username: "zoë" })
const page = "<!doctype html><p>Bad gateway ü</p>"

describe("a compressed body", () => {
  for (const [name, coding, encode] of cases) {
    it.effect.prop(`is decoded from ${name}, whatever its bytes`, [Generate.bytes({ maxLength: 300 })], ([bytes]) =>
      Effect.gen(function*() {
        const decoded = yield* ContentEncoding.decode(encode(bytes), coding, limit)
        expect({ ...decoded, bytes: new Uint8Array(decoded.bytes) }).toEqual({ bytes, isCut: false, problem: undefined })
      }))

    it.effect(`of ${name} ends at the limit, also one that would fill the memory`, () =>
      Effect.gen(function*() {
        const bomb = encode(new Uint8Array(50_000_000))
        const before = process.memoryUsage().rss
        const decoded = yield* ContentEncoding.decode(bomb, coding, limit)
        expect([decoded.bytes.length, decoded.isCut, decoded.problem]).toEqual([limit, true, undefined])
        expect(process.memoryUsage().rss - before).toBeLessThan(25_000_000)
      }))

    it.effect(`of ${name} may be exactly as long as the limit, and no byte longer`, () =>
      Effect.gen(function*() {
        const encoded = encode(bytesOf("x".repeat(limit)))
        expect(yield* decode(encoded, coding)).toEqual(whole("x".repeat(limit)))
        expect(yield* decode(encoded, coding, limit - 1)).toMatchObject({ isCut: true })
      }))

    it.effect(`is returned as it is if the HTTP client has decoded ${name} but kept the header`, () =>
      Effect.gen(function*() {
        for (const text of [json, page, "[]", "0", "", "plain text", "x^", json.repeat(5_000), "ü".repeat(500)]) {
          expect(yield* decode(bytesOf(text), coding)).toEqual(whole(text))
        }
      }))

    it.effect(`is returned as it is if the HTTP client has decoded ${name} and the limit cut a character`, () =>
      Effect.gen(function*() {
        const cut = bytesOf(page).subarray(0, bytesOf(page).indexOf(0xc3) + 1)
        const { bytes, problem } = yield* ContentEncoding.decode(cut, coding, limit)
        expect([bytes, problem]).toEqual([cut, undefined])
      }))
  }

  // Node 22 returns the beginning of zstd data that ends too early.
  for (const [name, coding, encode] of cases.filter(([name]) => name !== "zstd")) {
    it.effect(`of ${name} that ends too early has a problem that says so`, () =>
      Effect.gen(function*() {
        const { problem } = yield* decode(encode(bytesOf(json.repeat(100))).subarray(0, -6), coding)
        expect(problem).toBe(`content encoding "${coding}" doesn't fit its bytes: unexpected end of file`)
      }))
  }

  it.effect("may have several encodings, in any case and with blanks", () =>
    Effect.gen(function*() {
      const twice = Zlib.brotliCompressSync(Zlib.gzipSync(json))
      expect(yield* decode(twice, "gzip, br")).toEqual(whole(json))
      expect(yield* decode(twice, " GZIP ,identity,, Br")).toEqual(whole(json))
      expect(yield* decode(bytesOf(json), "identity")).toEqual(whole(json))
      expect(yield* decode(bytesOf(json), "gzip, br")).toEqual(whole(json))
      expect((yield* decode(twice, "br, gzip")).problem).toBe(`content encoding "gzip" doesn't fit its bytes: incorrect header check`)
    }))

  it.effect("with an encoding that nobody knows has a problem that names it, unless the body is text", () =>
    Effect.gen(function*() {
      expect(yield* decode(Uint8Array.of(0x1f, 0x9d, 0x90), "compress")).toEqual({
        text: "",
        isCut: false,
        problem: `content encoding "compress" is not supported`
      })
      expect((yield* decode(Uint8Array.of(0x1f, 0x9d), RawServer.key)).problem).toBe("content encoding is not supported")
      expect(yield* decode(bytesOf(page), "none")).toEqual(whole(page))
    }))

  it.effect("is decoded by DecompressionStream where there is no zlib, such as in a browser", () =>
    Effect.gen(function*() {
      const builtin = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)
      yield* Effect.addFinalizer(() => Effect.sync(() => builtin.mockRestore()))
      for (const [name, coding, encode] of cases.filter(([name]) => name !== "zstd")) {
        expect([name, yield* decode(encode(bytesOf(json.repeat(9))), coding)]).toEqual([name, whole(json.repeat(9))])
      }
      expect(yield* decode(Zlib.gzipSync(new Uint8Array(10_000_000)), "gzip")).toMatchObject({ isCut: true, problem: undefined })
      expect(builtin).toHaveBeenCalled()
    }))
})

const me = Effect.flatMap(Profiles, ({ me }) => me)
const setStock = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("1"), 7))
const once = { retry: Schedule.recurs(0) }

for (const [client, http] of runtimes) {
  describe(`a response that is compressed all the same, by ${client}`, () => {
    for (const [name, coding, encode] of cases) {
      it.live(`with ${name} is read, and so is a refusal`, () =>
        Effect.gen(function*() {
          const server = yield* RawServer.make((request, response) => {
            const isRead = request.method === "GET"
            const body = isRead ? json : JSON.stringify({ error: { code: "NOT_FOUND", message: "no such product" } })
            const bytes = encode(bytesOf(body))
            request.resume()
            response.writeHead(isRead ? 200 : 404, { "content-encoding": coding, "content-length": bytes.length }).end(bytes)
          })
          const layer = RawServer.layerPlaza(server.baseUrl, http, once)
          expect(server.seen).toEqual([])
          expect(yield* Effect.provide(me, layer)).toMatchObject({ username: "zoë" })
          expect(yield* Effect.flip(Effect.provide(setStock, layer))).toMatchObject({ _tag: "NotFound", message: "no such product" })
          expect(server.seen.map(({ headers }) => headers["accept-encoding"])).toEqual(["identity", "identity"])
        }))
    }
  })
}

describe("a response that can't be decoded", () => {
  for (const [client, http] of runtimes.filter(([client]) => client !== "fetch")) {
    it.live(`says why, by ${client}`, () =>
      Effect.gen(function*() {
        const server = yield* RawServer.make((request, response) => {
          request.resume()
          response.writeHead(200, { "content-encoding": "gzip" }).end(Uint8Array.of(0x1f, 0x8b, 8, 0, 255, 254, 253))
        })
        const layer = RawServer.layerPlaza(server.baseUrl, http, once)
        const read = yield* Effect.flip(Effect.provide(me, layer))
        expect(read).toMatchObject({ _tag: "UnrecognizedError", category: "ServiceFault" })
        expect(read.message).toContain(`content encoding "gzip" doesn't fit its bytes`)
        const written = yield* Effect.flip(Effect.provide(setStock, layer))
        expect(written).toMatchObject({ _tag: "UnreadableSuccess" })
        expect(written.message).toContain(`content encoding "gzip" doesn't fit its bytes`)
      }))
  }
})
