/**
 * A large file sent to a server on loopback that throws it away: how fast, and how much the sending process grows, by
 * Plaza on undici and by curl.
 *
 * @since 0.1.0
 */
import { FileSystem, Path } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import { interleave, median, type Report, round } from "./Harness.js"
import { bundle, ProgramFailed, service, start } from "./Programs.js"
import { apiKey } from "./programs/apiKey.js"

const Sent = Schema.Struct({
  bytes: Schema.Number,
  seconds: Schema.Number,
  /** Of the sending process, user and system, where that is known. */
  cpu: Schema.optional(Schema.Number),
  /** Bytes that its process grew by at most; and by the middle of the upload. */
  growth: Schema.optional(Schema.Number),
  growthInHalf: Schema.optional(Schema.Number)
})
type Sent = typeof Sent.Type

const program = "upload/PlazaUpload"
const patience = "2 minutes"

const byCurl = (address: string, path: string): Effect.Effect<Sent, ProgramFailed> =>
  Effect.async<string, ProgramFailed>((resume) => {
    const args = ["-sS", "--fail", "-H", `Authorization: Bearer ${apiKey}`, "-F", `file=@${path}`, "-o", "/dev/null", "-w", "%{size_upload} %{time_total}", `${address}/open/v1/media`]
    const child = execFile("curl", args, (error, stdout) => resume(error === null ? Effect.succeed(stdout) : new ProgramFailed({ program: "curl", cause: error })))
    return Effect.sync(() => child.kill())
  }).pipe(Effect.map((said) => {
    const [bytes, seconds] = said.split(" ").map(Number)
    return { bytes: bytes ?? Number.NaN, seconds: seconds ?? Number.NaN }
  }))

const inTime = (name: string) =>
  Effect.timeoutFail({ duration: patience, onTimeout: () => new ProgramFailed({ program: name, cause: `it did not end within ${patience}` }) })

const whole = (size: number, name: string) => (sent: Sent): Effect.Effect<Sent, ProgramFailed> =>
  sent.bytes > size ? Effect.succeed(sent) : new ProgramFailed({ program: name, cause: `only ${sent.bytes} of ${size} bytes arrived` })

const hasCurl = Effect.async<boolean>((resume) => {
  execFile("curl", ["--version"], (error) => resume(Effect.succeed(error === null)))
})

/** @since 0.1.0 @category reports */
export const report = (size: number, rounds: number): Effect.Effect<Report, ProgramFailed | PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const pathOf = yield* bundle(["LocalService", program])
    const address = yield* service(pathOf("LocalService"))
    const folder = yield* files.makeTempDirectoryScoped()
    const path = paths.join(folder, "holes.bin")
    // All holes: it takes no room and costs next to nothing to read.
    yield* files.writeFile(path, new Uint8Array())
    yield* files.truncate(path, size)
    const plaza = Effect.scoped(Effect.flatMap(start(pathOf(program)), ({ ask }) => ask({ address, path }, Sent)))
    const curl = yield* hasCurl
    const contenders: Readonly<Record<string, Effect.Effect<Sent, ProgramFailed>>> = {
      ...(curl ? { "curl -F": byCurl(address, path) } : {}),
      "Plaza on undici": plaza
    }
    const measures = Object.fromEntries(Object.entries(contenders).map(([name, sent]) =>
      [name, sent.pipe(inTime(name), Effect.flatMap(whole(size, name)))]))
    const all = yield* interleave(measures, rounds)
    const speed = (samples: ReadonlyArray<Sent>) => median(samples.map(({ bytes, seconds }) => bytes / seconds / 1_048_576))
    const base = speed(all.get("curl -F") ?? [])
    return {
      name: "upload",
      about: `${round(size / 1_073_741_824, 1)} GiB of a sparse file on loopback, median of ${rounds} interleaved runs${curl ? "" : "; there is no curl here to compare with"}`,
      columns: ["sender", "MiB a second", "of curl", "CPU s", "growth, MiB", "growth by half of it"],
      rows: [...all].map(([name, samples]) => {
        const known = samples.flatMap(({ cpu, growth, growthInHalf }) =>
          cpu === undefined || growth === undefined || growthInHalf === undefined ? [] : [{ cpu, growth, growthInHalf }])
        const figure = (of: (sent: (typeof known)[number]) => number, digits: number) => known.length === 0 ? "-" : round(median(known.map(of)), digits)
        return [
          name,
          round(speed(samples), 0),
          curl ? `${round(speed(samples) / base)}x` : "-",
          figure(({ cpu }) => cpu, 1),
          figure(({ growth }) => growth / 1_048_576, 0),
          figure(({ growthInHalf }) => growthInHalf / 1_048_576, 0)
        ]
      })
    }
  }).pipe(Effect.scoped)
