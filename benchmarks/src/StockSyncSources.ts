/** Benchmark `sources`: time and memory to read a million rows from each kind of source, without a ledger. */
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
const rowsPerChunk = 10_000

const write = (folder: string, format: string, rows: number) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const [head, row, foot] = formats[format] ?? ["", String, ""]
    const path = `${folder}/stock.${format}`
    const chunks = Stream.map(Stream.rechunk(Stream.range(0, rows / rowsPerChunk - 1), 1),
      (chunk) => Array.from({ length: rowsPerChunk }, (_, index) => row(chunk * rowsPerChunk + index)).join(""))
    yield* Stream.make(head).pipe(
      Stream.concat(chunks),
      Stream.concat(Stream.make(foot)),
      // The file sink fails on an empty chunk, as on a full disk.
      Stream.filter((text) => text !== ""),
      Stream.encodeText,
      Stream.run(files.sink(path))
    )
    return { name: format, source: path, query: undefined }
  })

/** Starts a server that sends a file, and returns its address. */
const serve = (path: string): Effect.Effect<string, never, Scope.Scope> =>
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
      { name: "csv over HTTP", source: yield* serve(`${folder}/stock.csv`), query: undefined },
      {
        name: "a query of Postgres",
        source: url,
        query: `SELECT 'SKU-' || id AS "productId", id % 97 AS stock FROM generate_series(1, ${rows}) AS id`
      }
    ]
    const measured = yield* Effect.forEach(tasks, ({ name, ...task }) =>
      Effect.map(
        // A new process for each run, so that its largest memory is that of this run.
        Effect.forEach(Array.from({ length: runs }), () => Effect.scoped(Effect.flatMap(start(path), ({ ask }) => ask(task, Read)))),
        (samples) => [name, samples] as const
      ))
    const short = measured.find(([, samples]) => samples.some(({ good }) => good !== rows))
    if (short !== undefined) return yield* new ProgramFailed({ program: "sources/Read", cause: `${short[0]} did not return all rows` })
    return {
      name: "sources",
      about: `${rows} rows read and discarded, medians of ${runs} runs in new processes; without the memory of the servers`,
      columns: ["source", "s", "rows/s", "peak MiB"],
      rows: measured.map(([name, samples]) => {
        const seconds = median(samples.map((sample) => sample.seconds))
        return [name, round(seconds), Math.round(rows / seconds), Math.round(Math.max(...samples.map(({ peak }) => peak)) / 1_048_576)]
      })
    }
  }).pipe(Effect.scoped)
