/** Runs programs to their end and measures their time, such as `node -e 0`. */
import { Clock, Effect, Schema } from "effect"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { BenchmarkFailed } from "./Harness.ts"

const Manifest = Schema.fromJsonString(Schema.Struct({ bin: Schema.Record(Schema.String, Schema.String) }))

/** The path of a program, from the manifest of its app. */
const built = (app: string, name: string): string => {
  const manifest = new URL(`../../apps/${app}/package.json`, import.meta.url)
  const { bin } = Schema.decodeSync(Manifest)(readFileSync(manifest, "utf8"))
  return fileURLToPath(new URL(bin[name] ?? "", manifest))
}

/** Packs the built command as it is published, and installs it with npm into a folder. Returns the path of the installed program. */
export const installed = (folder: string): Effect.Effect<string, BenchmarkFailed> =>
  Effect.gen(function*() {
    const started = (file: string, args: ReadonlyArray<string>, cwd: URL | string) =>
      Effect.suspend(() => {
        const { status, stderr, stdout } = spawnSync(file, args, { cwd, encoding: "utf8", timeout: 300_000 })
        return status === 0 ? Effect.void : new BenchmarkFailed({ message: `${file} ${args.join(" ")} failed\n${stdout}${stderr}` })
      })
    yield* started("npx", ["-y", "pnpm@12.21.0", "pack", "--out", `${folder}/plaza.tgz`], new URL("../../apps/cli/", import.meta.url))
    yield* started("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error", `${folder}/plaza.tgz`], folder)
    return `${folder}/node_modules/@plaza/cli/dist/plaza.cjs`
  })

/** The built worker. */
export const stockSync = built("stock-sync", "plaza-stock-sync")

// Node reads the certificates of NODE_EXTRA_CA_CERTS at every start, which would hide the differences.
const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...inherited } = process.env

/** The environment of all measured programs. */
export const environment: NodeJS.ProcessEnv = inherited

interface Ended {
  /** Milliseconds from the start of the process to its end. */
  readonly millis: number
  readonly output: string
}

/** Runs Node with arguments to its end. It blocks, so that nothing else of this process runs at the same time. */
export const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}): Effect.Effect<Ended, BenchmarkFailed> =>
  Effect.gen(function*() {
    const before = yield* Clock.monotonicTimeNanos
    const { status, stderr, stdout } = spawnSync(process.execPath, args, {
      env: { ...environment, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      encoding: "utf8",
      timeout: 300_000
    })
    const after = yield* Clock.monotonicTimeNanos
    return status === 0
      ? { millis: Number(after - before) / 1e6, output: stdout }
      : yield* new BenchmarkFailed({ message: `node ${args.join(" ")} failed\n${stderr}` })
  })

/** The same, without the output. */
export const time = (args: ReadonlyArray<string>, env?: Readonly<Record<string, string>>): Effect.Effect<number, BenchmarkFailed> =>
  Effect.map(run(args, env), ({ millis }) => millis)

/** The time of the smallest program, to compare with. */
export const bare = time(["-e", "0"])
