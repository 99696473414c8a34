/**
 * A process that uploads many bytes and prints the growth of its memory in MiB, compared with a smaller upload:
 * `UploadChild.ts BASE_URL CLIENT MEGABYTES`, with node's `--expose-gc`.
 */
import { Media } from "@plaza-legacy/client"
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

// New bytes each time, as a file gives them. Node lets some 64 MiB of buffers that nobody uses any more lie about before it collects
// them, and more when it is busy; collected every 8 MiB, what is left is what something holds on to.
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
  // What the first upload takes is code, pools, and what the collector leaves lying about.
  yield* upload(64 * 1_048_576)
  const before = peak()
  yield* upload(Number(megabytes) * 1_048_576)
  process.stdout.write(String(peak() - before))
}).pipe(Effect.provide(RawServer.layerPlaza(baseUrl, http, { retry: Schedule.stop })))

await Effect.runPromise(program)
