/** Reading a million rows from each kind of source, without a ledger: time and memory. */
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, Schema, type Scope, Stream } from "effect"
import { createReadStream } from "node:fs"
import { createServer } from "node:http"
import { median, type Report, round } from "./Harness.js"
import { bundle, ProgramFailed, start } from "./Programs.js"
import type { Task } from "./programs/sources/Read.js"

const Read = Schema.Struct({ good: Schema.Number, seconds: Schema.Number, peak: Schema.Number })

const name = (id: number) => `Some product, number ${id}`
const formats: Readonly<Record<string, readonly [head: string, row: (id: number) => string, foot: string]>> = {
  csv: ["productId,stock,name\n", (id) => `SKU-${id},${id % 97},"${name(id)}"\n`, ""],
  json: ["[\n", (id) => `${id === 0 ? "" : ",\n"}${JSON.stringify({ productId: `SKU-${id}`, stock: id % 97, name: name(id) })}`, "\n]\n"],
  ndjson: ["", (id) => `${JSON.stringify({ productId: `SKU-${id}`, stock: id % 97, name: name(id) })}\n`, ""]
}
const perPiece = 10_000

const write = (folder: string, format: string, rows: number) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const [head, row, foot] = formats[format] ?? ["", String, ""]
    const path = `${folder}/stock.${format}`
    const pieces = Stream.map(Stream.rechunk(Stream.range(0, rows / perPiece - 1), 1),
      (piece) => Array.from({ length: perPiece }, (_, index) => row(piece * perPiece + index)).join(""))
    yield* Stream.make(head).pipe(
      Stream.concat(pieces),
      Stream.concat(Stream.make(foot)),
      // The sink takes a piece of nothing for a full disk.
      Stream.filter((text) => text !== ""),
      Stream.encodeText,
      Stream.run(files.sink(path))
    )
    return { name: format, source: path, query: undefined }
  })

/** A server that sends a file, and its address. */
const serving = (path: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((_, response) => createReadStream(path).pipe(response.setHeader("content-type", "text/csv")))
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    ),
    (server) => {
      const address = server.address()
      return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/stock.csv`
    }
  )

export const report = (
  rows: number,
  runs: number
): Effect.Effect<Report, ProgramFailed | PlatformError | Postgres.NoPostgres, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const path = (yield* bundle(["sources/Read"]))("sources/Read")
    const folder = yield* Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped())
    const files = yield* Effect.forEach(Object.keys(formats), (format) => write(folder, format, rows))
    const { url } = yield* Postgres.scoped
    const tasks: ReadonlyArray<Task & { readonly name: string }> = [
      ...files,
      { name: "csv over HTTP", source: yield* serving(`${folder}/stock.csv`), query: undefined },
      {
        name: "a query of Postgres",
        source: url,
        query: `SELECT 'SKU-' || id AS "productId", id % 97 AS stock FROM generate_series(1, ${rows}) AS id`
      }
    ]
    const measured = yield* Effect.forEach(tasks, ({ name, ...task }) =>
      Effect.map(
        // Each in a new process, which is as large as its own source made it.
        Effect.forEach(Array.from({ length: runs }), () => Effect.scoped(Effect.flatMap(start(path), ({ ask }) => ask(task, Read)))),
        (samples) => [name, samples] as const
      ))
    const short = measured.find(([, samples]) => samples.some(({ good }) => good !== rows))
    if (short !== undefined) return yield* new ProgramFailed({ program: "sources/Read", cause: `${short[0]} did not give all rows` })
    return {
      name: "sources",
      about: `${rows} rows read to nowhere, medians of ${runs} runs in new processes; what serves them is not counted`,
      columns: ["source", "s", "rows/s", "peak MiB"],
      rows: measured.map(([name, samples]) => {
        const seconds = median(samples.map((sample) => sample.seconds))
        return [name, round(seconds), Math.round(rows / seconds), Math.round(Math.max(...samples.map(({ peak }) => peak)) / 1_048_576)]
      })
    }
  }).pipe(Effect.scoped)
