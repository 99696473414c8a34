/** Uploads whose source changes between attempts, or can't run again. */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { FailureScope, Media, Plaza } from "@plaza/client"
import { arrayOf, between, boolean, someOf } from "@plaza/testing/Generators"
import { Arbitrary, Effect, FileSystem, Layer, Result, Schedule, Stream } from "effect"
import { HttpClient } from "effect/http"
import { createHash } from "node:crypto"
import { renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import type { IncomingMessage } from "node:http"
import * as Source from "../src/internal/upload/Source.ts"
import type { Upload } from "../src/Media.ts"
import * as RawServer from "./support/RawServer.ts"
import { runtimes } from "./support/Runtimes.ts"

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

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

/** Receives a multipart body, and returns the digest of its file. */
const receive = (request: IncomingMessage, onEnd: (digest: string) => void) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
    const body = Buffer.concat(chunks)
    onEnd(sha256(body.subarray(body.indexOf("\r\n\r\n") + 4, body.lastIndexOf("\r\n--"))))
  })
}

const length = 1_000_000
// Beyond the length up to which the client compares the bytes of files.
const longLength = 17_000_000
const otherBytes = () => new Uint8Array(length).fill(2)

/** How the first attempt fails. */
const failures: ReadonlyArray<readonly [name: string, fail: RawServer.Handler]> = [
  ["that the service received completely", (request, response) => receive(request, () => RawServer.answerJson(response, {}, 500))],
  ["that broke midway", (request) => {
    let received = 0
    request.on("data", (chunk: Buffer) => {
      received += chunk.length
      if (received > length / 4) {
        request.socket.destroy()
      }
    })
  }]
]

const changes: ReadonlyArray<readonly [name: string, change: (bytes: Uint8Array) => Uint8Array]> = [
  ["has other bytes", otherBytes],
  ["has one other byte", (bytes) => bytes.with(7, 2)],
  ["has other signs of its numbers", (bytes) => bytes.map((byte, index) => index % 4 === 3 ? byte ^ 0x80 : byte)],
  ["has two parts exchanged", (bytes) => Buffer.concat([bytes.subarray(16, 32), bytes.subarray(0, 16), bytes.subarray(32)])],
  ["is shorter", (bytes) => bytes.subarray(0, length - 1)],
  ["is longer", (bytes) => Buffer.concat([bytes, new Uint8Array(1)])]
]
const ofSameLength = changes.slice(0, 4)

/** A source of bytes that change after the first attempt. */
interface Changing {
  readonly upload: (media: Media["Service"]) => Effect.Effect<unknown, Media.UploadFileFailure, FileSystem.FileSystem>
  readonly change: (change: (bytes: Uint8Array) => Uint8Array) => void
  readonly failure: { readonly field: string; readonly message: RegExp }
}

/** Writes a file with a modification time in the past, because the system's times are coarse. */
const writeOldFile = (path: string, bytes: Uint8Array) => {
  writeFileSync(path, bytes)
  utimesSync(path, 1_000_000_000, 1_000_000_000)
}

const changingFile = (path: string, bytes: Uint8Array, onProgress: Upload["onProgress"]): Changing => {
  writeOldFile(path, bytes)
  return {
    upload: ({ uploadFile }) => uploadFile(path, { onProgress }),
    change: (change) => writeFileSync(path, change(bytes)),
    failure: {
      field: "path",
      message: /^path must be a file that doesn't change during the upload; (the length of \/.* changed|\/.* was modified)$/
    }
  }
}

const changingStream = (_: string, bytes: Uint8Array, onProgress: Upload["onProgress"]): Changing => {
  let current = bytes
  const content = Stream.suspend(() => Stream.fromIterable([current.subarray(0, 100_000), current.subarray(100_000)]))
  return {
    upload: ({ upload }) => upload({ fileName: "a.bin", content, onProgress }),
    change: (change) => {
      current = change(bytes)
    },
    failure: {
      field: "content",
      message:
        /^content emitted other bytes in a retry of the upload; pass bytes, a path or a Stream that emits the same bytes in each run, /
    }
  }
}

const changingBytes = (_: string, bytes: Uint8Array, onProgress: Upload["onProgress"]): Changing => ({
  upload: ({ upload }) => upload({ fileName: "a.bin", content: bytes, onProgress }),
  change: (change) => bytes.set(change(bytes)),
  failure: { field: "content", message: /^content must not change during the upload, but a retry has other bytes$/ }
})

const onProgress = () => Effect.void

for (const [client, http] of runtimes) {
  for (const [failure, fail] of failures) {
    describe(`after an attempt ${failure}, by ${client},`, () => {
      /** Changes a source after the first attempt, and returns the digests of the files that the service then receives completely. */
      const uploaded = (
        source: (path: string, bytes: Uint8Array) => Changing,
        change: (bytes: Uint8Array) => Uint8Array,
        size = length
      ) =>
        Effect.gen(function*() {
          const digests: Array<string> = []
          const server = yield* RawServer.make((request, response) =>
            server.seen.length === 1 ? fail(request, response) : receive(request, (digest) => {
              digests.push(digest)
              RawServer.answerJson(response, { mediaId: "1" })
            })
          )
          const path = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempFileScoped())
          const bytes = Uint8Array.from({ length: size }, (_, index) => index % 251)
          const digest = sha256(bytes)
          const changing = source(path, bytes)
          const result = yield* Effect.flatMap(Media, changing.upload).pipe(
            Plaza.onAttempt(({ number }) => Effect.sync(() => number === 1 && changing.change(change))),
            Effect.result,
            Effect.provide(RawServer.layerPlaza(server.baseUrl, http, { retry: Schedule.recurs(2) }))
          )
          return { result, digest, digests, changing }
        }).pipe(Effect.provide(NodeFileSystem.layer))

      const isStopped = (
        source: (path: string, bytes: Uint8Array) => Changing,
        change: (bytes: Uint8Array) => Uint8Array,
        size = length
      ) =>
        Effect.map(uploaded(source, change, size), ({ changing, digests, result }) => {
          const { field, message } = changing.failure
          expect(result).toMatchObject({ _tag: "Failure", failure: { _tag: "InvalidInput", field } })
          expect(Result.isFailure(result) && FailureScope.mayHaveHappened(result.failure)).toBe(true)
          expect(Result.isFailure(result) && result.failure.message).toMatch(message)
          expect(digests).toEqual([])
        })

      const isUploaded = (size: number) => {
        const unchanged = (path: string, bytes: Uint8Array): Changing => ({
          ...changingFile(path, bytes, undefined),
          change: () => {}
        })
        return Effect.map(uploaded(unchanged, (bytes) => bytes, size), ({ digest, digests, result }) => {
          expect(result).toMatchObject({ _tag: "Success" })
          expect(digests).toEqual([digest])
        })
      }

      for (const [name, change] of changes) {
        it.live(`a file that ${name} is not uploaded`, () => isStopped((path, bytes) => changingFile(path, bytes, undefined), change))
      }
      for (const [name, change] of ofSameLength) {
        it.live(`a stream that ${name} is not uploaded`, () => isStopped((path, bytes) => changingStream(path, bytes, undefined), change))
      }
      it.live("a file with onProgress that has other bytes is not uploaded", () =>
        isStopped((path, bytes) => changingFile(path, bytes, onProgress), otherBytes))
      it.live("a stream with onProgress that has other bytes is not uploaded", () =>
        isStopped((path, bytes) => changingStream(path, bytes, onProgress), otherBytes))
      it.live("an array with onProgress that has other bytes is not uploaded", () =>
        isStopped((path, bytes) => changingBytes(path, bytes, onProgress), otherBytes))
      it.live("an array that has other bytes is uploaded as it was at first", () =>
        Effect.map(uploaded((path, bytes) => changingBytes(path, bytes, undefined), otherBytes), ({ digest, digests, result }) => {
          expect(result).toMatchObject({ _tag: "Success" })
          expect(digests).toEqual([digest])
        }))
      it.live("a file with other bytes and the same modification time is not uploaded", () =>
        isStopped((path, bytes) => ({
          ...changingFile(path, bytes, undefined),
          change: (change) => writeOldFile(path, change(bytes))
        }), otherBytes))
      it.live("a file that is missing is not uploaded, and fails with the error of the file system", () =>
        Effect.gen(function*() {
          const removed = (path: string, bytes: Uint8Array): Changing => ({
            ...changingFile(path, bytes, undefined),
            change: () => rmSync(path)
          })
          const { digests, result } = yield* uploaded(removed, (bytes) => bytes)
          expect(result).toMatchObject({ _tag: "Failure", failure: { _tag: "PlatformError", reason: { _tag: "NotFound" } } })
          expect(Result.isFailure(result) && FailureScope.mayHaveHappened(result.failure)).toBe(true)
          expect(digests).toEqual([])
        }))
      it.live("a file that doesn't change is uploaded", () => isUploaded(length))

      // One kind of failure is enough for them, because they take longer.
      if (fail === failures[0]?.[1]) {
        it.live("a long file that has one other byte is not uploaded", () =>
          isStopped((path, bytes) => changingFile(path, bytes, undefined), (bytes) => bytes.with(7, 2), longLength))
        it.live("a long file that is replaced by one with the same modification time is not uploaded", () =>
          isStopped((path, bytes) => ({
            ...changingFile(path, bytes, undefined),
            change: (change) => {
              writeOldFile(`${path}.new`, change(bytes))
              renameSync(`${path}.new`, path)
            }
          }), (bytes) => bytes.with(7, 2), longLength))
        it.live("a long file that doesn't change is uploaded", () => isUploaded(longLength))
      }
    })
  }

  describe(`an upload whose first attempt was refused, by ${client},`, () => {
    const uploaded = (file: Omit<Upload, "fileName">, firstStatus = 500, httpClient = http) =>
      Effect.gen(function*() {
        let complete = 0
        const server = yield* RawServer.make((request, response) => {
          request.resume().on("end", () => RawServer.answerJson(response, { mediaId: "1" }, ++complete === 1 ? firstStatus : 200))
        })
        const upload = Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a.bin", ...file }))
        const layer = RawServer.layerPlaza(server.baseUrl, httpClient, { retry: Schedule.recurs(2) })
        const result = yield* Effect.result(Effect.provide(upload, layer))
        return { result, complete, seen: server.seen.length }
      })

    const sources: ReadonlyArray<readonly [string, () => Stream.Stream<Uint8Array>]> = [
      ["is used up", once],
      ["emits fewer bytes", () => changing([[new Uint8Array(9)], [new Uint8Array(8)]])],
      ["emits more bytes", () => changing([[new Uint8Array(8)], [new Uint8Array(9)]])],
      ["emits the first bytes", () => changing([[], [new Uint8Array(9)]])]
    ]
    for (const [name, source] of sources) {
      it.live(`is never completed by a source that ${name} in the next run`, () =>
        Effect.gen(function*() {
          const { complete, result } = yield* uploaded({ content: source() })
          expect(result).toMatchObject({ _tag: "Failure", failure: { _tag: "InvalidInput", field: "content" } })
          expect(complete).toBe(1)
        }))
    }

    it.live("fails with that failure if its source can't run again", () =>
      Effect.gen(function*() {
        const { result, seen } = yield* uploaded({ content: once(), rerunnable: false })
        expect(result).toMatchObject({ _tag: "Failure", failure: { category: "ServiceFault", status: 500 } })
        expect(seen).toBe(1)
      }))

    it.live("fails with a 429 if its source can't run again", () =>
      Effect.gen(function*() {
        const { result, seen } = yield* uploaded({ content: once(), rerunnable: false }, 429)
        expect(result).toMatchObject({ _tag: "Failure", failure: { category: "RateLimited", status: 429 } })
        expect(seen).toBe(1)
      }))

    it.live("stores no part of a source that can't run again, if a 429 arrives before the end of the upload", () =>
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
        const result = yield* Effect.result(Effect.provide(upload, layer))
        expect(result).toMatchObject(stored.length === 0 ? { _tag: "Failure" } : { _tag: "Success" })
        expect(stored.every((length) => length > onceLength)).toBe(true)
      }))

    it.live("is retried after a 429 if its source can run again", () =>
      Effect.gen(function*() {
        const { complete, result } = yield* uploaded({ content: Stream.make(new Uint8Array(9)) }, 429)
        expect(result).toMatchObject({ _tag: "Success" })
        expect(complete).toBe(2)
      }))

    it.live("is not completed with a source that can't run again, if the HTTP client repeats requests itself", () =>
      Effect.gen(function*() {
        const repeating = Layer.effect(
          HttpClient.HttpClient,
          Effect.map(HttpClient.HttpClient, (client) => HttpClient.retryTransient(client, { times: 2 }))
        ).pipe(Layer.provide(http))
        const { complete, result } = yield* uploaded({ content: once(), rerunnable: false }, 500, repeating)
        expect(result).toMatchObject({ _tag: "Failure", failure: { _tag: "InvalidInput", field: "content" } })
        expect(complete).toBe(1)
      }))

    it.live("is retried if its source emits the same bytes in other pieces", () =>
      Effect.gen(function*() {
        const content = changing([[new Uint8Array(9)], [new Uint8Array(4), new Uint8Array(5)]])
        expect((yield* uploaded({ content })).result).toMatchObject({ _tag: "Success" })
      }))
  })

  describe(`a file that changes while it is read, by ${client},`, () => {
    for (
      const [size, problem] of [
        [500_000, "the length of PATH changed"],
        [4_000_000, "the length of PATH changed"],
        [2_000_000, "PATH was modified"]
      ] as const
    ) {
      it.live(`is not uploaded with ${size} bytes instead of two million`, () =>
        Effect.gen(function*() {
          let complete = 0
          const server = yield* RawServer.make((request, response) =>
            receive(request, () => {
              complete++
              RawServer.answerJson(response, { mediaId: "1" })
            })
          )
          const path = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempFileScoped())
          writeOldFile(path, new Uint8Array(2_000_000))
          const onProgress = () => Effect.sync(() => writeFileSync(path, new Uint8Array(size).fill(1)))
          const failure = yield* Effect.flatMap(Media, ({ uploadFile }) => uploadFile(path, { onProgress })).pipe(
            Effect.flip,
            Effect.provide(RawServer.layerPlaza(server.baseUrl, http))
          )
          expect(failure).toMatchObject({
            _tag: "InvalidInput",
            field: "path",
            message: `path must be a file that doesn't change during the upload; ${problem.replace("PATH", path)}`
          })
          expect(FailureScope.mayHaveHappened(failure)).toBe(false)
          expect(complete).toBe(0)
        }).pipe(Effect.provide(NodeFileSystem.layer)))
    }
  })
}

const content = Uint8Array.from({ length: 100 }, (_, index) => index * 7)

interface Drawn {
  /** The run has its first bytes of the content. */
  readonly length: number
  readonly changedAt?: number
  readonly isExtended: boolean
  /** The lengths of its pieces, the last of which is the rest. */
  readonly pieces: ReadonlyArray<number>
  readonly ends: boolean
}

const drawnRun: Arbitrary.Arbitrary<Drawn> = Arbitrary.map(
  Arbitrary.all([
    between(0, content.length),
    someOf({ changedAt: between(0, content.length - 1) }),
    boolean,
    arrayOf(between(0, 40), { maxLength: 6 }),
    boolean
  ]),
  ([length, changed, isExtended, pieces, ends]) => ({ length, ...changed, isExtended, pieces, ends })
)

const bytesOf = ({ changedAt, isExtended, length }: Drawn): Uint8Array => {
  const bytes = content.slice(0, length)
  const changed = changedAt === undefined || changedAt >= length ? bytes : bytes.with(changedAt, (bytes[changedAt] ?? 0) ^ 0x80)
  return isExtended ? Uint8Array.of(...changed, 1, 2, 3) : changed
}

const divided = (bytes: Uint8Array, lengths: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  let start = 0
  return [...lengths, bytes.length].map((length) => bytes.subarray(start, start += length))
}

describe("the runs of a source", () => {
  it.prop("are compared byte by byte, whatever their pieces and their lengths", [
    arrayOf(drawnRun, { maxLength: 4 }),
    drawnRun
  ], ([earlier, last]) => {
    const begin = Source.comparison()
    let known: Uint8Array = new Uint8Array()
    let isWhole = false
    let runs = 0
    for (const drawn of [...earlier, { ...last, ends: true }]) {
      const bytes = bytesOf(drawn)
      const length = Math.min(known.length, bytes.length)
      const isSame = Buffer.from(bytes.subarray(0, length)).equals(known.subarray(0, length))
      const { add, end } = begin()
      const isAccepted = divided(bytes, drawn.pieces).every((piece) => add(piece))
      if (isWhole && bytes.length > known.length) {
        expect(isAccepted).toBe(false)
        return
      }
      if (bytes.length < known.length) {
        // Other bytes are recognised where the longest run ended, and a shorter run at its end.
        expect(isAccepted).toBe(true)
        if (drawn.ends) {
          expect(end()).toBe(false)
          return
        }
        continue
      }
      expect(isAccepted).toBe(isSame)
      if (!isSame) {
        return
      }
      if (drawn.ends) {
        const isEmptyNow = bytes.length === 0 && !isWhole && runs > 0
        expect(end()).toBe(!isEmptyNow)
        if (isEmptyNow) {
          return
        }
        isWhole = true
      }
      known = bytes
      runs++
    }
  }, { arbitrary: { runs: 2_000 } })
})
