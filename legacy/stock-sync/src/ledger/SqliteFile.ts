/** The database file of a ledger: its path, its connection, and the mark and version by which it is recognised. */
import type * as Reactivity from "@effect/experimental/Reactivity"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type * as SqlClient from "@effect/sql/SqlClient"
import * as SqliteClient from "@plaza-legacy/client/sqlite"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { LedgerConnection } from "./LedgerConnection.ts"
import { LedgerFault } from "./LedgerError.ts"
import * as LedgerRows from "./LedgerRows.ts"
import * as Migrations from "./Migrations.ts"
import { faultOf } from "./SqliteErrors.ts"

/** Marks a database file as a ledger ("PLZS" in ASCII), so that no other program's database is written to. */
export const applicationId = 0x504c5a53

export const fault = (path: string, message: string) => Effect.fail(new LedgerFault({ path, message: `the ledger ${path} ${message}` }))

const nameAnother = "name another file with --ledger or STOCK_SYNC_LEDGER"

/** Fails if the path can't be that of a file. SQLite has the same message for a missing folder, a folder and a read-only file. */
export const checkPath = (path: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const folder = paths.dirname(paths.resolve(path))
    const parent = yield* Effect.option(files.stat(folder))
    if (Option.isNone(parent))
      return yield* fault(path, `can't be made, because the folder "${folder}" is not there: make it, or ${nameAnother}`)
    if (parent.value.type !== "Directory") return yield* fault(path, `can't be made, because "${folder}" is no folder: ${nameAnother}`)
    const file = yield* Effect.option(files.stat(path))
    if (Option.exists(file, ({ type }) => type === "Directory")) return yield* fault(path, `is a folder: ${nameAnother}`)
  })

/**
 * Opens a database file. `path` is the ledger's, for messages. `busyMillis`: how long a statement waits for the lock of another process,
 * which locks the file for a moment while it opens or closes it.
 */
export const open = (
  path: string,
  filename: string,
  busyMillis = 5_000
): Effect.Effect<SqlClient.SqlClient, LedgerFault, Scope.Scope | Reactivity.Reactivity> =>
  SqliteClient.make({ filename, disableWAL: true }).pipe(
    Effect.catchAll(({ cause }) =>
      fault(path,
        `can't be opened (${
          cause instanceof Error ? cause.message : "unknown reason"
        }): let this user read and write it, or ${nameAnother}`)
    ),
    Effect.tap((sql) => Effect.mapError(sql`PRAGMA busy_timeout = ${sql.literal(String(busyMillis))}`, faultOf(path)))
  )

const header = LedgerRows.first(Schema.Struct({ application_id: Schema.Int, tables: Schema.Int, migration_tables: Schema.Int }))

/** The version of the ledger; none if the file is empty. Fails if it is no ledger, or that of another version. */
export const versionOf = ({ path, run, sql }: LedgerConnection): Effect.Effect<Option.Option<number>, LedgerFault> =>
  Effect.gen(function*() {
    const found = yield* run(header(
      sql`SELECT application_id, (SELECT count(*) FROM sqlite_master WHERE name <> ${Migrations.table}) AS tables,
        (SELECT count(*) FROM sqlite_master WHERE name = ${Migrations.table}) AS migration_tables
      FROM pragma_application_id`
    ))
    // The table of migrations is created first: alone, it is what a crash at the first start leaves.
    if (!Option.exists(found, ({ tables }) => tables > 0)) return Option.none()
    const { application_id, migration_tables } = Option.getOrThrow(found)
    if (application_id !== applicationId) return yield* fault(path, `is the database of another program: ${nameAnother}`)
    const recorded = migration_tables === 0 ? Option.none() : yield* run(Migrations.recordedVersion(sql))
    return Option.contains(recorded, Migrations.current) ? recorded : yield* fault(path, `${Migrations.ofOtherVersion}, or ${nameAnother}`)
  })
