/**
 * The time of the shipped programs for `--version`, `--help` and a first useful command, compared with `node -e 0`.
 */
import { Clock, Data, Effect } from "effect"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { firstResponse, type NoResponse } from "./FirstResponse.js"
import { interleave, median, type Report, round } from "./Harness.js"
import { bundle, type ProgramFailed } from "./Programs.js"

export class StartFailed extends Data.TaggedError("StartFailed")<{ readonly args: ReadonlyArray<string>; readonly output: string }> {
  override get message(): string {
    return `node ${this.args.join(" ")} failed; build the programs with \`pnpm build\` first\n${this.output}`
  }
}

const program = (path: string) => fileURLToPath(new URL(`../../apps/${path}`, import.meta.url))
const plaza = program("cli/dist/plaza.cjs")
const stockSync = program("stock-sync/dist/plaza-stock-sync.cjs")

const bare = "node -e 0"
const contenders = {
  [bare]: ["-e", "0"],
  "plaza --version": [plaza, "--version"],
  "plaza --help": [plaza, "--help"],
  "plaza posts create --help": [plaza, "posts", "create", "--help"],
  // A command with almost no work of its own, so the time of the framework.
  "plaza completions bash": [plaza, "completions", "bash"],
  // The client, the sandbox and one call, in one process.
  "plaza --sandbox me": [plaza, "--sandbox", "me"],
  "plaza-stock-sync --version": [stockSync, "--version"],
  "plaza-stock-sync --help": [stockSync, "--help"]
}

const served = "plaza sandbox start, to its first response"

/** Starts, sends one request and ends. */
const embedded = "a program that embeds a sandbox"

// Node reads the certificates of NODE_EXTRA_CA_CERTS at every start, which would hide the differences.
const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...environment } = process.env

/** Milliseconds from the start of a process to its end. It blocks, so that nothing else runs at the same time. */
const start = (args: ReadonlyArray<string>): Effect.Effect<number, StartFailed> =>
  Effect.gen(function*() {
    const before = yield* Clock.currentTimeNanos
    const { status, stderr } = spawnSync(process.execPath, args, {
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
      timeout: 30_000
    })
    const after = yield* Clock.currentTimeNanos
    return status === 0 ? Number(after - before) / 1e6 : yield* new StartFailed({ args, output: stderr })
  })

export const report = (rounds: number): Effect.Effect<Report, StartFailed | NoResponse | ProgramFailed> =>
  Effect.gen(function*() {
    const pathOf = yield* bundle(["sandbox/EmbeddedSandbox"])
    const all = { ...contenders, [embedded]: [pathOf("sandbox/EmbeddedSandbox")] }
    const measures: Readonly<Record<string, Effect.Effect<number, StartFailed | NoResponse>>> = {
      ...Object.fromEntries(Object.entries(all).map(([name, args]) => [name, start(args)])),
      [served]: firstResponse(plaza, environment)
    }
    // One round without a measurement reads the files from disk.
    yield* interleave(measures, 1)
    const samples = yield* interleave(measures, rounds)
    const base = median(samples.get(bare) ?? [])
    return {
      name: "start",
      about: `wall time from start to end, median of ${rounds} interleaved runs`,
      columns: ["command", "ms", "fastest", `of ${bare}`],
      rows: [...samples].map((
        [name, millis]
      ) => [name, round(median(millis), 1), round(Math.min(...millis), 1), `${round(median(millis) / base)}x`])
    }
  })
