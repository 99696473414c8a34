/** Benchmark `start`: the time of the programs from start to end, compared with `node -e 0`. */
import { Effect, FileSystem, Schema } from "effect"
import type { PlatformError } from "effect/PlatformError"
import * as FirstResponse from "./FirstResponse.ts"
import { type BenchmarkFailed, type Form, format, interleave, median, ratios, type Row, row, summary } from "./Harness.ts"
import { bare, installed, run, stockSync, time } from "./Processes.ts"
import { bundle, type ProgramFailed, start } from "./Programs.ts"

const rows = 100
const Server = Schema.Struct({ address: Schema.String, key: Schema.String })

const page = "docs/cli.md#start-up"
const artefact = "installed from its tarball"

const claims = {
  "plaza --help": { claim: `\`plaza --help\`, ${artefact}`, page, atMost: 3 },
  "plaza me": { claim: `\`plaza me\` against a local sandbox, ${artefact}, the whole process`, page, atMost: 4.5 },
  "plaza me, first run": { claim: "the same with an empty compile cache", page, atMost: 6 },
  "plaza posts list": { claim: `\`plaza posts list --limit ${rows}\` against a local sandbox, ${artefact}`, page, atMost: 6 },
  "plaza mcp": { claim: `\`plaza mcp\`, ${artefact}, from its start to its first response`, page: "docs/mcp.md#start-up", atMost: 5 },
  once: {
    claim: `\`plaza-stock-sync once\` with ${rows} unchanged rows of a CSV file and a SQLite ledger, the whole process`,
    page: "docs/stock-sync.md#run-from-cron",
    atMost: 12
  }
} as const

export const report = (
  form: Form
): Effect.Effect<ReadonlyArray<Row>, BenchmarkFailed | ProgramFailed | PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped()
    const pathOf = yield* bundle(["sandbox/PlazaSandbox"])
    const { ask } = yield* start(pathOf("sandbox/PlazaSandbox"), [String(rows)])
    const { address, key } = yield* ask("where", Server)
    const source = `${folder}/stock.csv`
    yield* files.writeFileString(source, `productId,stock\n${Array.from({ length: rows }, (_, index) => `P${index},${index}\n`).join("")}`)
    // The program waits for a file that has changed in the last seconds.
    yield* files.utimes(source, 1, 1)
    const service = { PLAZA_BASE_URL: address, PLAZA_API_KEY: key }
    // The first run sends all rows. Later ones would wait for a slot of the rate limit.
    const syncing = {
      ...service,
      PLAZA_RATE_LIMIT: "100000",
      STOCK_SYNC_SOURCE: source,
      STOCK_SYNC_LEDGER: `${folder}/ledger.sqlite`
    }
    const plaza = yield* installed(folder)
    const user = { HOME: folder, XDG_CACHE_HOME: `${folder}/cache` }
    const firstRun = Effect.gen(function*() {
      const cache = yield* files.makeTempDirectory({ directory: folder })
      return yield* time([plaza, "me"], { ...service, ...user, XDG_CACHE_HOME: cache })
    })
    const measures = {
      bare,
      "plaza --help": time([plaza, "--help"], user),
      "plaza me": time([plaza, "me"], { ...service, ...user }),
      "plaza me, first run": firstRun,
      "plaza posts list": time([plaza, "posts", "list", "--limit", String(rows)], { ...service, ...user }),
      "plaza mcp": FirstResponse.mcp(plaza, { ...service, ...user }),
      once: time([stockSync, "once"], { ...syncing, ...user }),
      sandbox: FirstResponse.sandbox(plaza, user)
    }
    yield* run([stockSync, "once"], syncing)
    // A round without a measurement reads the files from disk, and fills the compile cache.
    if (form === "full") yield* interleave(measures, 1)
    const samples = yield* interleave(measures, form === "full" ? 21 : 1)
    const node = summary("`node -e 0`", samples.bare, "ms")
    const programs = (["plaza --help", "plaza me", "plaza me, first run", "plaza posts list", "plaza mcp", "once"] as const).map((name) =>
      row({
        claim: claims[name].claim,
        page: claims[name].page,
        limit: { atMost: claims[name].atMost },
        samples: ratios(samples[name], samples.bare),
        unit: "x",
        beside: `${format(median(samples[name]), "ms")}; ${node}`
      })
    )
    return [
      ...programs,
      row({
        claim: "`plaza sandbox start`, from its start to its first response",
        page: "docs/sandbox.md#start",
        limit: { atMost: 300 },
        samples: samples.sandbox,
        unit: "ms",
        beside: node
      })
    ]
  }).pipe(Effect.scoped)
