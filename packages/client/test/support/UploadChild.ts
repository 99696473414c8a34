/**
 * A process that uploads many bytes and prints the growth of its memory in MiB, compared with a smaller upload:
 * `UploadChild.ts BASE_URL CLIENT MEGABYTES`, with node's `--expose-gc`.
 */
import { Media } from "@plaza/client"
import { Effect, Schedule, Stream } from "effect"
import * as RawServer from "./RawServer.ts"
import { runtimes } from "./Runtimes.ts"

const [baseUrl = "", client, megabytes] = process.argv.slice(2)
const http = runtimes.find(([name]) => name === client)?.[1]
if (http === undefined) {
  throw new Error(`no client ${client}`)
}

const { gc } = globalThis
if (gc === undefined) {
  throw new Error("start node with --expose-gc")
}

// New bytes each time, as a file has them. Node keeps some 64 MiB of unused buffers before it collects them, and more when it is busy.
// With a collection every 8 MiB, the growth is what something retains.
const piecesBetweenCollections = 128
const content = (pieces: number) =>
  Stream.range(1, pieces).pipe(
    Stream.rechunk(1),
    Stream.map((piece) => {
      if (piece % piecesBetweenCollections === 0) {
        gc()
      }
      return new Uint8Array(65_536).fill(7)
    })
  )
const upload = (size: number) => Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a.bin", size, content: content(size / 65_536) }))

const peak = () => process.resourceUsage().maxRSS / 1024

const program = Effect.gen(function*() {
  // The first upload loads code and fills pools.
  yield* upload(64 * 1_048_576)
  const before = peak()
  yield* upload(Number(megabytes) * 1_048_576)
  process.stdout.write(String(peak() - before))
}).pipe(Effect.provide(RawServer.layerPlaza(baseUrl, http, { retry: Schedule.recurs(0) })))

await Effect.runPromise(program)
