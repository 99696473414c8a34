import { HttpClient } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Media } from "@plaza-legacy/client"
import { Context, Effect, FastCheck as fc, Layer, Schedule, Stream } from "effect"
import * as SentContent from "../src/internal/upload/SentContent.ts"
import type { Upload } from "../src/Media.ts"
import * as RawServer from "./support/RawServer.ts"
import { runtimes } from "./support/Runtimes.ts"

/** Emits each piece once, in any number of iterations. */
const usedUp = (): AsyncIterable<Uint8Array> => {
  const pieces = Array.from({ length: 5 }, (_, index) => new Uint8Array(50_000).fill(index))
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(nextOf(pieces)) }) }
}
const nextOf = (pieces: Array<Uint8Array>): IteratorResult<Uint8Array, undefined> => {
  const value = pieces.shift()
  return value === undefined ? { done: true, value } : { done: false, value }
}
const onceLength = 5 * 50_000
const once = () => Stream.orDie(Stream.fromAsyncIterable(usedUp(), (error) => error))

/** A stream that differs from run to run. */
const changing = (contents: ReadonlyArray<ReadonlyArray<Uint8Array>>) => {
  let run = 0
  return Stream.suspend(() => Stream.fromIterable(contents[run++] ?? []))
}

for (const [client, http] of runtimes) {
  describe(`an upload whose first attempt was refused, by ${client},`, () => {
    const uploaded = (file: Omit<Upload, "fileName">, firstStatus = 500, httpClient = http) =>
      Effect.gen(function*() {
        let whole = 0
        const server = yield* RawServer.make((request, response) => {
          request.resume().on("end", () => RawServer.answerJson(response, { mediaId: "1" }, ++whole === 1 ? firstStatus : 200))
        })
        const upload = Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a.bin", ...file }))
        const layer = RawServer.layerPlaza(server.baseUrl, httpClient, { retry: Schedule.recurs(2) })
        const result = yield* Effect.either(Effect.provide(upload, layer))
        return { result, whole, seen: server.seen.length }
      })

    const sources: ReadonlyArray<readonly [string, () => Stream.Stream<Uint8Array>]> = [
      ["is used up", once],
      ["gives other bytes", () => changing([[new Uint8Array(9).fill(1)], [new Uint8Array(9).fill(2)]])],
      ["gives fewer bytes", () => changing([[new Uint8Array(9)], [new Uint8Array(8)]])],
      ["gives more bytes", () => changing([[new Uint8Array(8)], [new Uint8Array(9)]])]
    ]
    for (const [what, source] of sources) {
      it.scopedLive(`is never completed by a source that ${what} when it is run again`, () =>
        Effect.gen(function*() {
          const { result, whole } = yield* uploaded({ content: source() })
          expect(result).toMatchObject({ _tag: "Left", left: { _tag: "InvalidInput", field: "content" } })
          expect(whole).toBe(1)
        }))
    }

    it.scopedLive("fails with that failure if its source can't run again", () =>
      Effect.gen(function*() {
        const { result, seen } = yield* uploaded({ content: once(), rerunnable: false })
        expect(result).toMatchObject({ _tag: "Left", left: { category: "ServiceFault", status: 500 } })
        expect(seen).toBe(1)
      }))

    it.scopedLive("fails with a 429 if its source can't run again", () =>
      Effect.gen(function*() {
        const { result, seen } = yield* uploaded({ content: once(), rerunnable: false }, 429)
        expect(result).toMatchObject({ _tag: "Left", left: { category: "RateLimited", status: 429 } })
        expect(seen).toBe(1)
      }))

    it.scopedLive("stores no part of a source that can't run again, if a 429 arrives before the end of the upload", () =>
      Effect.gen(function*() {
        const stored: Array<number> = []
        const server = yield* RawServer.make((request, response) => {
          if (server.seen.length === 1) {
            RawServer.answerJson(response, {}, 429, { "retry-after": "0", connection: "close" })
            return
          }
          let length = 0
          request.on("data", (chunk: Buffer) => length += chunk.length).on("end", () => {
            stored.push(length)
            RawServer.answerJson(response, { mediaId: "1" })
          })
        })
        const upload = Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a.bin", content: once(), rerunnable: false }))
        const layer = RawServer.layerPlaza(server.baseUrl, http, { retry: Schedule.recurs(2) })
        const result = yield* Effect.either(Effect.provide(upload, layer))
        expect(result).toMatchObject(stored.length === 0 ? { _tag: "Left" } : { _tag: "Right" })
        expect(stored.every((length) => length > onceLength)).toBe(true)
      }))

    it.scopedLive("is retried after a 429 if its source can run again", () =>
      Effect.gen(function*() {
        const { result, whole } = yield* uploaded({ content: Stream.make(new Uint8Array(9)) }, 429)
        expect(result).toMatchObject({ _tag: "Right" })
        expect(whole).toBe(2)
      }))

    it.scopedLive("is not completed with a source that can't run again, if the HTTP client repeats requests itself", () =>
      Effect.gen(function*() {
        const repeating = Layer.map(http, (context) =>
          Context.make(HttpClient.HttpClient, HttpClient.retryTransient(Context.get(context, HttpClient.HttpClient), { times: 2 })))
        const { result, whole } = yield* uploaded({ content: once(), rerunnable: false }, 500, repeating)
        expect(result).toMatchObject({ _tag: "Left", left: { _tag: "InvalidInput", field: "content" } })
        expect(whole).toBe(1)
      }))

    it.scopedLive("is retried if its source emits the same bytes in other pieces", () =>
      Effect.gen(function*() {
        const content = changing([[new Uint8Array(9)], [new Uint8Array(4), new Uint8Array(5)]])
        expect((yield* uploaded({ content })).result).toMatchObject({ _tag: "Right" })
      }))
  })
}

const pieces = fc.array(fc.uint8Array({ maxLength: 4 }), { maxLength: 6 })
const bytesOf = (run: ReadonlyArray<Uint8Array>) => run.flatMap((piece) => [...piece])

describe("the sent content", () => {
  it.prop("is compared byte by byte, for any pieces and any length of a run", [
    fc.array(fc.tuple(pieces, fc.boolean()), { maxLength: 4 }),
    pieces
  ], ([earlier, last]) => {
    const content = SentContent.make()
    let known: ReadonlyArray<number> = []
    let isWhole = false
    for (const [run, ends] of [...earlier, [last, true] as const]) {
      const bytes = bytesOf(run)
      const length = Math.min(known.length, bytes.length)
      const isSame = bytes.slice(0, length).every((byte, index) => byte === known[index])
      const { add, end } = content.begin()
      const isTaken = run.every((piece) => add(piece))
      if (!isSame || (isWhole && bytes.length > known.length)) {
        // A run that is shorter than what is known is found out at its end.
        expect(isTaken && end()).toBe(false)
        return
      }
      if (bytes.length < known.length) {
        expect(isTaken).toBe(true)
        if (ends) {
          expect(end()).toBe(false)
          return
        }
        continue
      }
      expect(isTaken).toBe(true)
      if (ends) {
        const isEmptyNow = bytes.length === 0 && !isWhole && earlier[0] !== undefined && run !== earlier[0][0]
        expect(end()).toBe(!isEmptyNow)
        if (isEmptyNow) {
          return
        }
        isWhole = true
      }
      known = bytes
    }
  })
})
