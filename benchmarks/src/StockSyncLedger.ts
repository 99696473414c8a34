/**
 * Benchmark `ledger`: time and memory of a snapshot of a million products: the first one of a ledger, and one that is compared with as many known
 * products, of which a thousand have changed. Rows are generated on demand and not sorted. The memory of the Postgres server is not included.
 */
import { PgClient } from "@effect/sql-pg"
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, FileSystem, Redacted, Schema } from "effect"
import type { PlatformError } from "effect/PlatformError"
import { Reactivity } from "effect/reactivity"
import { type Form, format, type Row, row } from "./Harness.ts"
import { bundle, type ProgramFailed, start } from "./Programs.ts"
import type { Task } from "./programs/ledger/Task.ts"

const Received = Schema.Struct({ seconds: Schema.Number, peak: Schema.Number })

const page = "docs/concepts/ledger.md#the-ledger"

/** Creates an empty database on the server of another one, and returns its address. */
const newDatabase = (url: string, name: string) =>
  Effect.gen(function*() {
    const sql = yield* PgClient.make({ url: Redacted.make(url) })
    yield* sql.unsafe(`CREATE DATABASE ${name}`)
    return url.replace(/[^/]*$/, name)
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer), Effect.orDie)

export const report = (
  form: Form
): Effect.Effect<ReadonlyArray<Row>, ProgramFailed | PlatformError | Postgres.NoPostgres, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const [products, changes, firstLoads, runs] = form === "full" ? [1_000_000, 1_000, 3, 5] : [2_000, 10, 1, 1]
    const path = (yield* bundle(["ledger/Receive"]))("ledger/Receive")
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped()
    const { url } = yield* Postgres.scoped
    // A new process for each run, so that its largest memory is that of this run.
    const receive = (task: Task) => Effect.scoped(Effect.flatMap(start(path), ({ ask }) => ask({ ...task }, Received)))
    const measure = (name: string, place: (run: number) => Effect.Effect<string>) =>
      Effect.gen(function*() {
        const places = yield* Effect.forEach(Array.from({ length: firstLoads }, (_, run) => run), place)
        const first = yield* Effect.forEach(places, (place, run) => receive({ place, products, changes: 0, settle: run === 0 }))
        const known = places[0] ?? ""
        // Alternates between two snapshots, so that each run finds the same number of changes.
        const second = yield* Effect.forEach(Array.from({ length: runs }, (_, run) => run % 2 === 0 ? changes : 0),
          (changes) => receive({ place: known, products, changes, settle: false }))
        const seconds = (samples: typeof first) => samples.map(({ seconds }) => seconds)
        const peak = (samples: typeof first) => samples.map(({ peak }) => peak / 1_048_576)
        const title = `${products.toLocaleString("en")} rows against as many known ones, ${name}`
        return {
          first,
          rows: [
            row({
              claim: `a snapshot of ${title}`,
              page,
              limit: { atMost: 10 },
              samples: seconds(second),
              unit: "s",
              beside: `${format(changes, "")} of them changed`
            }),
            row({
              claim: `largest memory of a snapshot of ${title}`,
              page,
              limit: { atMost: 512 },
              samples: peak(second),
              unit: "MiB",
              beside: `first load: ${format(Math.max(...peak(first)), "MiB")}`
            })
          ]
        }
      })
    const sqlite = yield* measure("SQLite", (run) => Effect.succeed(`${folder}/ledger-${run}.sqlite`))
    const postgres = yield* measure("Postgres", (run) => newDatabase(url, `ledger_${run}`))
    const first = ({ first }: typeof sqlite) => first.map(({ seconds }) => seconds)
    return [
      ...sqlite.rows,
      ...postgres.rows,
      row({
        claim: `first load of ${products.toLocaleString("en")} rows into Postgres`,
        page,
        limit: { atMost: 15 },
        samples: first(postgres),
        unit: "s",
        beside: `into SQLite ${format(Math.min(...first(sqlite)), "s")} at best`
      })
    ]
  }).pipe(Effect.scoped)
