/** Sources over HTTP that may not hurt other accounts: one that never ends, and a large one whose rows keep changing. */
import { Clock, Effect } from "effect"
import { createServer } from "node:http"
import { pipeline, Readable } from "node:stream"
import { listening } from "../listening.ts"

// One in so many rows changes with each version.
const changing = 50
const versionMillis = 20_000

/** The stock of a row in a version, which only grows. */
export const stockOf = (row: number, version: number): number => 1 + Math.max(0, version - (version - row % changing + changing) % changing)

const header = "productId,stock\n"
const rowsPerChunk = 500

function* chunksOf(rows: number, version: number) {
  yield header
  for (let first = 0; first < rows; first += rowsPerChunk) {
    yield Array.from({ length: Math.min(rowsPerChunk, rows - first) }, (_, index) =>
      `L${first + index},${stockOf(first + index, version)}\n`)
      .join("")
  }
}

/** Both sources until the scope ends. The large one has so many rows. */
export const start = (rows: number) =>
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const startedAt = clock.currentTimeMillisUnsafe()
    const reads = { endless: 0, large: 0 }
    const server = createServer((request, response) => {
      if (request.url === "/endless.csv") {
        reads.endless++
        response.writeHead(200, { "content-type": "text/csv" }).write(header)
        let row = 0
        // 10,000 rows a second, unless the reader is slower.
        const timer = setInterval(() => {
          if (response.writableNeedDrain) return
          response.write(Array.from({ length: rowsPerChunk }, () => `E${row++},1\n`).join(""))
        }, 50)
        response.on("close", () => clearInterval(timer))
        return
      }
      const version = 1 + Math.floor((clock.currentTimeMillisUnsafe() - startedAt) / versionMillis)
      const etag = `"${version}"`
      if (request.headers["if-none-match"] === etag) {
        response.writeHead(304, { etag }).end()
        return
      }
      response.writeHead(200, { "content-type": "text/csv", etag })
      pipeline(Readable.from(chunksOf(rows, version)), response, (error) => {
        // A reader that is killed ends early.
        if (!error) reads.large++
      })
    })
    const origin = `http://127.0.0.1:${yield* listening(server)}`
    return {
      endless: `${origin}/endless.csv`,
      large: `${origin}/large.csv`,
      /** How often the endless one was requested, and the large one read to its end. */
      reads: () => ({ ...reads })
    }
  })
