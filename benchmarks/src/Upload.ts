/**
 * Benchmark `upload`: throughput and memory growth of an upload of a large file by the client, compared with curl and with a loop of Node
 * without an HTTP client. The server is on loopback and discards the file.
 */
import { Effect, FileSystem, Schema } from "effect"
import type { PlatformError } from "effect/PlatformError"
import { execFile } from "node:child_process"
import { type Form, interleave, ratios, type Row, row, summary } from "./Harness.ts"
import { bundle, ProgramFailed, service, start } from "./Programs.ts"
import { apiKey } from "./programs/ApiKey.ts"

const Sent = Schema.Struct({
  bytes: Schema.Number,
  seconds: Schema.Number,
  /** Seconds of CPU of the process, user and system. */
  cpu: Schema.Number,
  /** Largest growth of the process in bytes. */
  growth: Schema.Number
})

const page = "docs/client.md#uploads"

const hasCurl = Effect.callback<boolean>((resume) => {
  execFile("curl", ["--version"], (error) => resume(Effect.succeed(error === null)))
})

/** Sends a file by curl and returns the seconds. */
const byCurl = (address: string, path: string): Effect.Effect<number, ProgramFailed> =>
  Effect.callback<string, ProgramFailed>((resume) => {
    const args = [
      "-sS",
      "--fail",
      "-H",
      `Authorization: Bearer ${apiKey}`,
      "-F",
      `file=@${path}`,
      "-o",
      "/dev/null",
      "-w",
      "%{time_total}",
      `${address}/open/v1/media`
    ]
    const child = execFile("curl", args,
      (error, stdout) => resume(error === null ? Effect.succeed(stdout) : new ProgramFailed({ program: "curl", cause: error })))
    return Effect.sync(() => child.kill())
  }).pipe(Effect.map(Number))

export const report = (form: Form): Effect.Effect<ReadonlyArray<Row>, ProgramFailed | PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const [size, title, rounds] = form === "full" ? [2 * 1_024 ** 3, "2 GiB", 7] : [8 * 1_024 ** 2, "8 MiB", 1]
    const files = yield* FileSystem.FileSystem
    const pathOf = yield* bundle(["LocalService", "upload/PlazaUpload", "upload/NodeUpload"])
    const address = yield* service(pathOf("LocalService"))
    const path = `${yield* files.makeTempDirectoryScoped()}/sparse.bin`
    // A sparse file uses no disk space and is fast to read.
    yield* files.writeFile(path, new Uint8Array())
    yield* files.truncate(path, size)
    const by = (program: string) =>
      Effect.scoped(Effect.gen(function*() {
        const { ask } = yield* start(pathOf(program))
        const sent = Effect.filterOrFail(ask({ address, path }, Sent), ({ bytes }) => bytes >= size, ({ bytes }) =>
          new ProgramFailed({ program, cause: `only ${bytes} of ${size} bytes arrived` }))
        return { first: yield* sent, further: yield* sent }
      }))
    const withCurl = yield* hasCurl
    const samples = yield* interleave({
      curl: withCurl ? byCurl(address, path) : Effect.succeed(Number.NaN),
      client: by("upload/PlazaUpload"),
      node: by("upload/NodeUpload")
    }, rounds)
    const first = samples.client.map(({ first }) => first)
    const further = samples.client.map(({ further }) => further)
    const seconds = (sent: ReadonlyArray<typeof Sent.Type>) => sent.map(({ seconds }) => seconds)
    const described = (name: string, runs: ReadonlyArray<typeof Sent.Type>) =>
      `${summary(name, seconds(runs), "s")}, ${summary("CPU", runs.map(({ cpu }) => cpu), "s")}`
    const loop = (runs: ReadonlyArray<typeof Sent.Type>) => described("a loop of `fs.read` and `socket.write`", runs)
    const curl = withCurl ? summary("`curl -F`", samples.curl, "s") : "curl is not installed"
    return [
      row({
        claim: `memory growth by an upload of ${title}`,
        page,
        limit: { atMost: 64 },
        samples: first.map(({ growth }) => growth / 1_048_576),
        unit: "MiB"
      }),
      row({
        claim: "speed of this upload, the first one of a process, of curl",
        page,
        limit: { atLeast: 0.9 },
        samples: ratios(samples.curl, seconds(first)),
        unit: "x",
        beside: `${described("client", first)}; ${loop(samples.node.map(({ first }) => first))}; ${curl}`
      }),
      row({
        claim: "the same for a second upload of the process",
        page,
        limit: { atLeast: 0.9 },
        samples: ratios(samples.curl, seconds(further)),
        unit: "x",
        beside: `${described("client", further)}; ${loop(samples.node.map(({ further }) => further))}; ${curl}`
      })
    ]
  }).pipe(Effect.scoped)
