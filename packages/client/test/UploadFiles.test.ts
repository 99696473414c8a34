/** Files arrive unchanged, although `uploadFile` reuses its buffers. */
import { NodeFileSystem } from "@effect/platform-node"
import { afterEach, beforeEach, describe, expect, it, vi } from "@effect/vitest"
import { Media } from "@plaza/client"
import { arrayOf, between, weighted } from "@plaza/testing/Generators"
import { Arbitrary, Context, Effect, FileSystem, Layer, Schedule } from "effect"
import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import * as RawServer from "./support/RawServer.ts"
import { runtimes } from "./support/Runtimes.ts"

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

// No two parts of it are equal, wherever they begin.
const words = Uint32Array.from({ length: 8 * 1_024 * 1_024 }, (_, index) => Math.imul(index + 1, 2_654_435_761))
const bytes = new Uint8Array(words.buffer).subarray(0, -1_234)
const whole = sha256(bytes)

/** Reads a body with pauses, so that the connection fills up repeatedly, and returns the digest of the file. */
const receive = (request: IncomingMessage, onEnd: (digest: string) => void) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => {
    chunks.push(chunk)
    if (chunks.length % 16 === 0) {
      request.pause()
      setImmediate(() => setImmediate(() => request.resume()))
    }
  })
  request.on("end", () => {
    const body = Buffer.concat(chunks)
    onEnd(sha256(body.subarray(body.indexOf("\r\n\r\n") + 4, body.lastIndexOf("\r\n--"))))
  })
}

/** A file, and the buffers that it was read into. */
const file = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* fs.makeTempFileScoped()
  yield* fs.writeFile(path, bytes)
  const buffers = new Set<ArrayBufferLike>()
  const open: FileSystem.FileSystem["open"] = (path, options) =>
    Effect.map(fs.open(path, options), (file) => {
      const read = file.read.bind(file)
      return Object.assign(file, {
        read: (buffer: Uint8Array) => {
          buffers.add(buffer.buffer)
          return read(buffer)
        }
      })
    })
  const upload = Effect.provideService(
    Effect.flatMap(Media, ({ uploadFile }) => uploadFile(path)),
    FileSystem.FileSystem,
    FileSystem.FileSystem.of({ ...fs, open })
  )
  return { buffers, upload }
}).pipe(Effect.provide(NodeFileSystem.layer))

for (const scheme of ["http", "https"] as const) {
  describe(`over ${scheme}`, () => {
    beforeEach(() => {
      vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0")
    })
    afterEach(() => {
      vi.unstubAllEnvs()
    })

    for (const [client, http] of runtimes) {
      it.live(`a large file arrives unchanged, by ${client}`, () =>
        Effect.gen(function*() {
          const digests: Array<string> = []
          const server = yield* RawServer.make((request, response) =>
            receive(request, (digest) => {
              // The first upload fails after it has arrived, and is repeated from its beginning.
              const status = digests.push(digest) === 1 ? 500 : 200
              RawServer.answerJson(response, { mediaId: "1" }, status)
            }), scheme)
          const { buffers, upload } = yield* file
          const uploads = Effect.all([upload, upload], { concurrency: 2, discard: true })
          yield* Effect.provide(uploads, RawServer.layerPlaza(server.baseUrl, http, { retry: Schedule.recurs(1) }))
          expect(digests).toEqual([whole, whole, whole])
          // Each upload has 20 chunks or more.
          if (client === "undici") {
            expect(buffers.size).toBeLessThan(3 * 16)
          }
        }))
    }
  })
}

interface Attempt {
  /** The service closes the connection after more bytes than this. If the body is shorter, it responds with a 500. */
  readonly cutAt: number
}

interface Received {
  readonly name: string
  readonly isWhole: boolean
  readonly content: Buffer
}

/** The speed of a service: it pauses after a number of bytes. */
interface Pace {
  readonly stallEvery: number
  readonly stallMillis: number
}

/** Fails the first attempts of each file by plan, accepts the next one, and keeps the content of all attempts. */
const failing = (
  plans: ReadonlyMap<string, ReadonlyArray<Attempt>>,
  { stallEvery, stallMillis }: Pace,
  received: Array<Received>
): RawServer.Handler => {
  const attempts = new Map<string, number>()
  return (request, response) => {
    const chunks: Array<Buffer> = []
    let length = 0
    let plan: Attempt | undefined
    let stallAt = stallEvery
    const keep = (isWhole: boolean) => {
      const body = Buffer.concat(chunks)
      const start = body.indexOf("\r\n\r\n") + 4
      received.push({
        name: nameIn(body),
        isWhole,
        content: start < 4 ? Buffer.alloc(0) : body.subarray(start, isWhole ? body.lastIndexOf("\r\n--") : undefined)
      })
    }
    request.on("data", (chunk: Buffer) => {
      if (length === 0) {
        const name = nameIn(chunk)
        const attempt = attempts.get(name) ?? 0
        attempts.set(name, attempt + 1)
        plan = plans.get(name)?.[attempt]
      }
      chunks.push(chunk)
      length += chunk.length
      if (plan !== undefined && length > plan.cutAt) {
        keep(false)
        request.removeAllListeners("data")
        request.socket.destroy()
      } else if (length > stallAt) {
        stallAt = length + stallEvery
        request.pause()
        setTimeout(() => request.resume(), stallMillis)
      }
    })
    request.on("end", () => {
      keep(true)
      RawServer.answerJson(response, { mediaId: "1" }, plan === undefined ? 200 : 500)
    })
  }
}

const nameIn = (body: Buffer): string => /filename="([^"]*)"/.exec(body.subarray(0, 1_000).toString("latin1"))?.[1] ?? "nameless"

const MiB = 1_024 * 1_024
const attempt: Arbitrary.Arbitrary<Attempt> = Arbitrary.map(between(1, 30 * MiB), (cutAt) => ({ cutAt }))
// Short ones for the ends of files, long ones to fill the buffers of the system and to reuse those of the client.
const length = weighted([1, between(0, MiB)], [1, between(10 * MiB, 20 * MiB)])
const files = arrayOf(
  Arbitrary.map(
    Arbitrary.all([between(0, MiB), length, arrayOf(attempt, { maxLength: 2 })]),
    ([offset, length, attempts]) => ({ offset, length, attempts })
  ),
  { minLength: 1, maxLength: 3 }
)
const pace: Arbitrary.Arbitrary<Pace> = Arbitrary.map(
  Arbitrary.all([between(MiB / 4, 2 * MiB), between(0, 10)]),
  ([stallEvery, stallMillis]) => ({ stallEvery, stallMillis })
)

describe("every byte that a service receives is a byte of the file, under stalls, cut connections and retries", () => {
  beforeEach(() => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0")
  })
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  // The first client reuses buffers, the second doesn't.
  for (const [client, http] of runtimes.slice(0, 2)) {
    for (const scheme of ["http", "https"] as const) {
      it.live.prop(`over ${scheme}, by ${client}`, [files, pace], ([files, pace]) =>
        Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          const folder = yield* fs.makeTempDirectoryScoped()
          const contents = new Map(files.map(({ length, offset }, index) => [`file-${index}`, bytes.subarray(offset, offset + length)]))
          yield* Effect.forEach(contents, ([name, content]) => fs.writeFile(`${folder}/${name}`, content))
          const received: Array<Received> = []
          const plans = new Map(files.map(({ attempts }, index) => [`file-${index}`, attempts]))
          const server = yield* RawServer.make(failing(plans, pace, received), scheme)
          const { uploadFile } = yield* Effect.map(
            Layer.build(RawServer.layerPlaza(server.baseUrl, http, { retry: Schedule.recurs(2) })),
            (context) => Context.get(context, Media)
          )
          yield* Effect.forEach(contents.keys(), (name) => uploadFile(`${folder}/${name}`), { concurrency: "unbounded" })
          for (const { content, isWhole, name } of received) {
            const whole = contents.get(name) ?? new Uint8Array()
            const expected = isWhole ? whole : whole.subarray(0, content.length)
            expect([name, sha256(content.subarray(0, isWhole ? undefined : whole.length))]).toEqual([name, sha256(expected)])
          }
          const arrived = received.filter(({ isWhole }) => isWhole).map(({ name }) => name)
          expect(new Set(arrived)).toEqual(new Set(contents.keys()))
        }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer)), { arbitrary: { runs: 8 } })
    }
  }
})
