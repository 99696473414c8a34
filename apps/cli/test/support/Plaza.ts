/** Runs the built program as a child process with an empty environment except PATH, and without profiles. */
import { Sandbox } from "@plaza/sandbox"
import { Effect, Redacted } from "effect"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

export const dist = fileURLToPath(new URL("../../dist", import.meta.url))

/** The path of the built program. Throws if it is not built. */
export const builtProgram = (folder = dist): string => {
  const program = `${folder}/plaza.cjs`
  if (!existsSync(program)) throw new Error(`${program} is missing: run npx tsc -b apps/cli && node scripts/bundle.mjs apps/cli`)
  return program
}

/** A folder that does not exist, so that the tests never read the profiles of the user who runs them. */
export const noProfiles = `${dist}/../no-such-folder`

/** Where Node keeps the compiled program, so that no test finds it in its own folders. */
export const compileCache = `${dist}/../node_modules/.cache`

export interface Finished {
  /** The status, or the signal that ended it. */
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
}

export interface Options {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Standard input; `open`: it stays open (default: empty). */
  readonly stdin?: string
  /** Where the program lies. */
  readonly dist?: string
}

/** Starts the program; it is killed when the scope closes before it has ended. */
export const start = (argv: ReadonlyArray<string>, options: Options = {}) =>
  Effect.acquireRelease(
    Effect.sync((): ChildProcessWithoutNullStreams => {
      const child = spawn(process.execPath, [builtProgram(options.dist), ...argv], {
        cwd: options.cwd,
        env: { PATH: process.env["PATH"], XDG_CONFIG_HOME: noProfiles, XDG_CACHE_HOME: compileCache, ...options.env }
      })
      // A program that ends without reading its input is fine.
      child.stdin.on("error", () => {})
      if (options.stdin !== "open") child.stdin.end(options.stdin ?? "")
      return child
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

/** Everything that a started program writes, and how it ends. */
export const finished = (child: ChildProcessWithoutNullStreams): Effect.Effect<Finished> =>
  Effect.callback((resume) => {
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
    })
    child.once("close", (code, signal) => resume(Effect.succeed({ code: code ?? signal ?? "unknown", stdout, stderr })))
  })

/** Waits until a started program has written something that matches. */
export const written = (child: ChildProcessWithoutNullStreams, pattern: RegExp): Effect.Effect<string> =>
  Effect.callback((resume) => {
    let stdout = ""
    const read = (text: string) => {
      stdout += text
      if (pattern.test(stdout)) {
        child.stdout.off("data", read)
        resume(Effect.succeed(stdout))
      }
    }
    child.stdout.setEncoding("utf8").on("data", read)
  })

/** Runs the program to its end. */
export const run = (argv: ReadonlyArray<string>, options?: Options): Effect.Effect<Finished> =>
  Effect.scoped(Effect.flatMap(start(argv, options), finished))

/** The environment that leads to the sandbox of the test. */
export const environment = Effect.map(Sandbox.Sandbox,
  ({ apiKey, baseUrl }) => ({ PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: Redacted.value(apiKey) }))

/** Runs the program against the sandbox of the test, and sees to it that the key is in nothing it says. */
export const plaza = (...argv: ReadonlyArray<string>) => plazaWith(argv)

/** The same with options; `env` is stronger than what leads to the sandbox. */
export const plazaWith = (argv: ReadonlyArray<string>, options: Options = {}) =>
  Effect.gen(function*() {
    const env = yield* environment
    const result = yield* run(argv, { ...options, env: { ...env, ...options.env } })
    if (`${result.stdout}${result.stderr}`.includes(env.PLAZA_API_KEY))
      return yield* Effect.die(new Error("the key is in what the program said"))
    return result
  })
