/** Benchmark `size`: the size that one call of a client adds to a page, bundled by the same bundler and compressed. */
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { type Report, round } from "./Harness.js"
import { ProgramFailed } from "./Programs.js"

const pages = {
  "Plaza, one service": "Plaza",
  "effect + @effect/platform": "Effect",
  stripe: "Stripe",
  "@octokit/core": "OctokitCore",
  octokit: "Octokit",
  openai: "OpenAi"
}

/** Bundles and minifies a page. */
const build = (page: string): Effect.Effect<string, ProgramFailed> =>
  Effect.tryPromise({
    try: async () => {
      const bundle = await rolldown({
        input: fileURLToPath(new URL(`size/${page}.ts`, import.meta.url)),
        platform: "browser",
        resolve: { conditionNames: ["@plaza/source", "browser", "import", "module", "default"], extensionAlias: { ".js": [".ts", ".js"] } },
        transform: { target: "es2022" },
        onLog: (level, log, handle) => {
          // A page without one of its modules would look too small.
          if (log.code === "UNRESOLVED_IMPORT") throw new Error(log.message)
          if (level !== "warn") handle(level, log)
        }
      })
      const { output } = await bundle.generate({ format: "esm", minify: true })
      await bundle.close()
      return output.map((part) => part.type === "chunk" ? part.code : "").join("\n")
    },
    catch: (cause) => new ProgramFailed({ program: `the bundler with ${page}`, cause })
  })

const kilo = (bytes: number) => round(bytes / 1_000, 1)

export const report: Effect.Effect<Report, ProgramFailed> = Effect.gen(function*() {
  const sizes = yield* Effect.forEach(Object.entries(pages),
    ([name, page]) =>
      Effect.map(build(page), (code) => ({ name, minified: Buffer.byteLength(code), gzipped: gzipSync(code, { level: 9 }).length })))
  const base = sizes[0]?.gzipped ?? Number.NaN
  return {
    name: "size",
    about: "a page that makes one call, bundled and minified by rolldown for browsers, gzip level 9",
    columns: ["client", "minified kB", "gzipped kB", "gzipped, of Plaza"],
    rows: sizes.map(({ gzipped, minified, name }) => [name, kilo(minified), kilo(gzipped), `${round(gzipped / base)}x`])
  }
})
