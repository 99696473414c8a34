/**
 * Benchmark `upload`: throughput, CPU and memory growth of an upload of a large file by Plaza on undici, undici alone and curl. The server
 * is on loopback and discards the file.
 */
import { FileSystem, Path } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect, Record, Schema } from "effect"
import { execFile } from "node:child_process"
import { interleave, median, type Report, round } from "./Harness.js"
import { bundle, ProgramFailed, service, start } from "./Programs.js"
import { apiKey } from "./programs/ApiKey.js"

const Sent = Schema.Struct({
  bytes: Schema.Number,
  seconds: Schema.Number,
  /** Seconds of the sending process, user and system. Not known of curl. */
  cpu: Schema.optional(Schema.Number),
  /** Largest growth of its process in bytes, and largest growth in the first half of the upload. */
  growth: Schema.optional(Schema.Number),
  growthInHalf: Schema.optional(Schema.Number)
})
type Sent = typeof Sent.Type

/** The first upload of a new process, and a second one of the same process. */
interface Uploads {
  readonly first: Sent
  readonly second?: Sent
}

const programs = {
  "undici.request, fs.createReadStream": "upload/StreamOnUndici",
  "Plaza on undici": "upload/PlazaUpload"
}
const timeLimit = "2 minutes"

const byCurl = (address: string, path: string): Effect.Effect<Sent, ProgramFailed> =>
  Effect.async<string, ProgramFailed>((resume) => {
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
      "%{size_upload} %{time_total}",
      `${address}/open/v1/media`
    ]
    const child = execFile("curl", args,
      (error, stdout) => resume(error === null ? Effect.succeed(stdout) : new ProgramFailed({ program: "curl", cause: error })))
    return Effect.sync(() => child.kill())
  }).pipe(Effect.map((output) => {
    const [bytes, seconds] = output.split(" ").map(Number)
    return { bytes: bytes ?? Number.NaN, seconds: seconds ?? Number.NaN }
  }))

const withTimeLimit = (name: string) =>
  Effect.timeoutFail({
    duration: timeLimit,
    onTimeout: () => new ProgramFailed({ program: name, cause: `it took longer than ${timeLimit}` })
  })

const requireAllBytes = (size: number, name: string) => (sent: Sent): Effect.Effect<Sent, ProgramFailed> =>
  sent.bytes >= size ? Effect.succeed(sent) : new ProgramFailed({ program: name, cause: `only ${sent.bytes} of ${size} bytes arrived` })

const hasCurl = Effect.async<boolean>((resume) => {
  execFile("curl", ["--version"], (error) => resume(Effect.succeed(error === null)))
})

export const report = (
  size: number,
  rounds: number
): Effect.Effect<Report, ProgramFailed | PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const pathOf = yield* bundle(["LocalService", ...Object.values(programs)])
    const address = yield* service(pathOf("LocalService"))
    const folder = yield* files.makeTempDirectoryScoped()
    const path = paths.join(folder, "sparse.bin")
    // A sparse file uses no disk space and is fast to read.
    yield* files.writeFile(path, new Uint8Array())
    yield* files.truncate(path, size)
    const by = (program: string): Effect.Effect<Uploads, ProgramFailed> =>
      Effect.scoped(Effect.gen(function*() {
        const { ask } = yield* start(pathOf(program))
        const sent = Effect.flatMap(ask({ address, path }, Sent), requireAllBytes(size, program))
        return { first: yield* sent, second: yield* sent }
      }))
    const curl = yield* hasCurl
    const contenders: Readonly<Record<string, Effect.Effect<Uploads, ProgramFailed>>> = {
      ...(curl
        ? { "curl -F": Effect.map(Effect.flatMap(byCurl(address, path), requireAllBytes(size, "curl")), (first) => ({ first })) }
        : {}),
      ...Record.map(programs, by)
    }
    const all = yield* interleave(Record.map(contenders, (sent, name) => withTimeLimit(name)(sent)), rounds)
    const speed = (samples: ReadonlyArray<Sent>) => median(samples.map(({ bytes, seconds }) => bytes / seconds / 1_048_576))
    const base = speed((all.get("curl -F") ?? []).map(({ first }) => first))
    const ofCurl = (samples: ReadonlyArray<Sent>) => curl ? `${round(speed(samples) / base)}x` : "-"
    const figure = (samples: ReadonlyArray<Sent>, of: "cpu" | "growth" | "growthInHalf", unit: number, digits = 0) => {
      const known = samples.flatMap((sent) => sent[of] ?? [])
      return known.length === 0 ? "-" : round(median(known) / unit, digits)
    }
    return {
      name: "upload",
      about: `${round(size / 1_073_741_824, 1)} GiB of a sparse file on loopback, median of ${rounds} interleaved runs${
        curl ? "" : "; curl is not installed"
      }`,
      columns: [
        "sender",
        "MiB per s",
        "of curl",
        "CPU s",
        "growth, MiB",
        "growth, first half",
        "second upload, of curl",
        "CPU s",
        "growth, MiB"
      ],
      rows: [...all].map(([name, samples]) => {
        const first = samples.map(({ first }) => first)
        const second = samples.flatMap(({ second }) => second ?? [])
        return [
          name,
          round(speed(first), 0),
          ofCurl(first),
          figure(first, "cpu", 1, 1),
          figure(first, "growth", 1_048_576),
          figure(first, "growthInHalf", 1_048_576),
          second.length === 0 ? "-" : ofCurl(second),
          figure(second, "cpu", 1, 1),
          figure(second, "growth", 1_048_576)
        ]
      })
    }
  }).pipe(Effect.scoped)
