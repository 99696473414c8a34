/**
 * The time of the shipped programs for `--version`, `--help` and a first useful command, compared with `node -e 0`.
 */
import { Clock, Data, Effect } from "effect"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { firstAnswer, type NoAnswer } from "./FirstAnswer.js"
import { interleave, median, type Report, round } from "./Harness.js"
import { bundle, type ProgramFailed } from "./Programs.js"

export class StartFailed extends Data.TaggedError("StartFailed")<{ readonly args: ReadonlyArray<string>; readonly output: string }> {
  override get message(): string {
    return `node ${this.args.join(" ")} did not end well; build the programs with \`pnpm build\` first\n${this.output}`
  }
}

const program = (path: string) => fileURLToPath(new URL(`../../apps/${path}`, import.meta.url))
const plaza = program("cli/dist/plaza.mjs")
const stockSync = program("stock-sync/dist/plaza-stock-sync.mjs")

const bare = "node -e 0"
const contenders = {
  [bare]: ["-e", "0"],
  "plaza --version": [plaza, "--version"],
  "plaza --help": [plaza, "--help"],
  "plaza posts create --help": [plaza, "posts", "create", "--help"],
  // A command that does next to nothing: the framework around every one.
  "plaza completions bash": [plaza, "completions", "bash"],
  // The client, the service and one call, in one process.
  "plaza --sandbox me": [plaza, "--sandbox", "me"],
  "plaza-stock-sync --version": [stockSync, "--version"],
  "plaza-stock-sync --help": [stockSync, "--help"]
}

const served = "plaza sandbox start, to its first answer"

/** To its first answer, and its end. */
const embedded = "a program that embeds a sandbox"

// The certificates that this variable names are read at every start of node, whatever the program does.
const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...environment } = process.env

/** Milliseconds from asking for a process to its end. Nothing else may happen meanwhile, so it is waited for on the spot. */
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

export const report = (rounds: number): Effect.Effect<Report, StartFailed | NoAnswer | ProgramFailed> =>
  Effect.gen(function*() {
    const pathOf = yield* bundle(["sandbox/FirstAnswer"])
    const all = { ...contenders, [embedded]: [pathOf("sandbox/FirstAnswer")] }
    const measures: Readonly<Record<string, Effect.Effect<number, StartFailed | NoAnswer>>> = {
      ...Object.fromEntries(Object.entries(all).map(([name, args]) => [name, start(args)])),
      [served]: firstAnswer(plaza, environment)
    }
    // Once unmeasured: the files have to be read from disk.
    yield* interleave(measures, 1)
    const samples = yield* interleave(measures, rounds)
    const base = median(samples.get(bare) ?? [])
    return {
      name: "start",
      about: `wall time from start to end, median of ${rounds} interleaved runs`,
      columns: ["command", "ms", "quickest", `of ${bare}`],
      rows: [...samples].map((
        [name, millis]
      ) => [name, round(median(millis), 1), round(Math.min(...millis), 1), `${round(median(millis) / base)}x`])
    }
  })
