import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { afterEach, beforeEach, describe, expect, it, vi } from "@effect/vitest"
import { Media } from "@plaza/client"
import { Effect, Schedule } from "effect"
import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import * as RawServer from "./support/RawServer.js"
import { runtimes } from "./support/Runtimes.js"

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

// No two pieces of it are alike, wherever they begin.
const words = Uint32Array.from({ length: 8 * 1_024 * 1_024 }, (_, index) => Math.imul(index + 1, 2_654_435_761))
const bytes = new Uint8Array(words.buffer).subarray(0, -1_234)
const whole = sha256(bytes)

/** Takes in a body by fits and starts, so that the connection is full again and again, and tells what the file was. */
const takeIn = (request: IncomingMessage, done: (digest: string) => void) => {
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
    done(sha256(body.subarray(body.indexOf("\r\n\r\n") + 4, body.lastIndexOf("\r\n--"))))
  })
}

/** A file, and the buffers that it was read into until now. */
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
      it.scopedLive(`a large file arrives as it is, by ${client}`, () =>
        Effect.gen(function*() {
          const digests: Array<string> = []
          const server = yield* RawServer.make((request, response) =>
            takeIn(request, (digest) => {
              // One is refused when it is there, and comes again from its beginning.
              const status = digests.push(digest) === 1 ? 500 : 200
              RawServer.answerJson(response, { mediaId: "1" }, status)
            }), scheme)
          const { buffers, upload } = yield* file
          const uploads = Effect.all([upload, upload], { concurrency: 2, discard: true })
          yield* Effect.provide(uploads, RawServer.layerPlaza(server.baseUrl, http, { retry: Schedule.recurs(1) }))
          expect(digests).toEqual([whole, whole, whole])
          // Well over a hundred pieces each time, were none used again.
          if (client === "undici") {
            expect(buffers.size).toBeLessThan(3 * 20)
          }
        }))
    }
  })
}
