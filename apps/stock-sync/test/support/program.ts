/**
 * The built program as a child process, with the environment that a test gives it and nothing else. Every run is looked through for the
 * key and for the trace of a stack.
 */
import { Sandbox } from "@plaza/sandbox"
import { Effect, Redacted, type Scope } from "effect"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect } from "vitest"

export const dist = fileURLToPath(new URL("../../dist", import.meta.url))
const built = `${dist}/plaza-stock-sync.cjs`

export interface Ended {
  /** The status, or the signal that ended it. */
  readonly status: number | NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly ended: Effect.Effect<Ended>
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  readonly stderr: () => string
  readonly pid: number | undefined
}

export interface RunOptions {
  readonly cwd: string
  /** Files are read without settling unless this sets another time. */
  readonly env?: Readonly<Record<string, string>>
  /** Standard input (default: empty). */
  readonly input?: string | Uint8Array
  readonly program?: string
}

/** No output has the key or the trace of a stack. */
export const checkOutput = ({ stderr, stdout }: Ended, env: Readonly<Record<string, string>>): void => {
  const key = env["PLAZA_API_KEY"]
  // A key of the documented form ends with 40 characters.
  if (key !== undefined && key.length > 40) expect(`${stdout}${stderr}`).not.toContain(key.slice(-40))
  expect(`${stdout}${stderr}`).not.toMatch(/\n\s+at .+:\d+:\d+/)
}

/** Starts the program; what is still running at the end of the scope is killed. */
export const start = (
  args: ReadonlyArray<string>,
  { cwd, env = {}, input = "", program = built }: RunOptions
): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      if (!existsSync(program)) throw new Error("plaza-stock-sync is not built: run the build first (pnpm build)")
      const child = spawn(process.execPath, [program, ...args], { cwd, env: { STOCK_SYNC_SETTLE: "0 seconds", ...env }, stdio: "pipe" })
      let stdout = ""
      let stderr = ""
      child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
      child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
      child.stdin.on("error", () => undefined)
      child.stdin.end(input)
      const ended = new Promise<Ended>((resolve) => {
        child.once("close", (code, signal) => {
          const ended = { status: code ?? signal, stdout, stderr }
          checkOutput(ended, env)
          resolve(ended)
        })
      })
      return {
        ended: Effect.promise(() => ended),
        kill: (signal: NodeJS.Signals) => Effect.sync(() => void child.kill(signal)),
        stderr: () => stderr,
        pid: child.pid
      }
    }),
    (running) => Effect.andThen(running.kill("SIGKILL"), Effect.ignore(running.ended))
  )

export const run = (args: ReadonlyArray<string>, options: RunOptions): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(start(args, options), ({ ended }) => ended))

/** The address and the key of the sandbox as environment variables. */
export const account = Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => ({
  PLAZA_BASE_URL: baseUrl,
  PLAZA_API_KEY: Redacted.value(apiKey)
}))

/** What `--json` printed, for looking at with matchers. */
export const parsed = (text: string): unknown => JSON.parse(text)
