/** Benchmark `size`: the size that one call of the client adds to a page that uses Effect already, and that of a page with the SDK. */
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { type Row, row, summary } from "./Harness.ts"
import { ProgramFailed } from "./Programs.ts"

/**
 * Bundles and minifies a page, from the sources or as it is installed, with or without the modules of Effect, and returns its gzipped size in
 * kB.
 */
const sizeOf = (
  page: string,
  { installed = false, withEffect = true }: { readonly installed?: boolean; readonly withEffect?: boolean } = {}
): Effect.Effect<number, ProgramFailed> =>
  Effect.tryPromise({
    try: async () => {
      const bundle = await rolldown({
        input: fileURLToPath(new URL(`size/${page}.ts`, import.meta.url)),
        platform: "browser",
        external: (id) => !withEffect && /^effect(?:\/|$)/.test(id),
        resolve: {
          conditionNames: [...(installed ? [] : ["@plaza/source"]), "browser", "import", "module", "default"],
          extensionAlias: { ".js": [".ts", ".js"] }
        },
        transform: { target: "es2022" },
        onLog: (level, log, handle) => {
          // A page without one of its modules would look too small.
          if (log.code === "UNRESOLVED_IMPORT") throw new Error(log.message)
          if (level !== "warn") handle(level, log)
        }
      })
      const { output } = await bundle.generate({ format: "esm", minify: true })
      await bundle.close()
      return gzipSync(output.map((part) => part.type === "chunk" ? part.code : "").join("\n"), { level: 9 }).length / 1_000
    },
    catch: (cause) => new ProgramFailed({ program: `the bundler with ${page}`, cause })
  })

export const report: Effect.Effect<ReadonlyArray<Row>, ProgramFailed> = Effect.gen(function*() {
  const plaza = yield* sizeOf("Plaza")
  const all = yield* sizeOf("AllServices")
  const effect = yield* sizeOf("Effect")
  const own = yield* sizeOf("Plaza", { withEffect: false })
  const sdk = yield* sizeOf("Sdk", { installed: true })
  return [
    row({
      claim: "a page with `@plaza/sdk`, gzipped",
      page: "docs/sdk.md#runtimes",
      limit: { atMost: 100 },
      samples: [sdk],
      unit: "kB",
      beside: summary("with every service of the client instead", [all], "kB")
    }),
    row({
      claim: "one service of the client in a page, gzipped, beyond `effect`",
      page: "docs/client.md#http-clients",
      limit: { atMost: 15 },
      samples: [plaza - effect],
      unit: "kB",
      beside: [
        summary("modules of Plaza alone", [own], "kB"),
        summary("the page", [plaza], "kB"),
        summary("with every service", [all], "kB"),
        summary("with one call of `HttpClient` and a schema instead", [effect], "kB")
      ].join("; ")
    })
  ]
})
