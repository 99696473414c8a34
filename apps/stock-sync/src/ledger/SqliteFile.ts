/** The database file of a ledger: its path, its connection, and the mark and version by which it is recognised. */
import type * as Reactivity from "@effect/experimental/Reactivity"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { LedgerConnection } from "./LedgerConnection.js"
import { LedgerFault } from "./LedgerError.js"
import * as LedgerRows from "./LedgerRows.js"
import * as Migrations from "./Migrations.js"
import { faultOf } from "./SqliteErrors.js"

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

/** Opens a database file. `path` is the ledger's, for messages. */
export const open = (
  path: string,
  filename: string
): Effect.Effect<SqlClient.SqlClient, LedgerFault, Scope.Scope | Reactivity.Reactivity> =>
  SqliteClient.make({ filename, disableWAL: true }).pipe(
    // The client dies if the file can't be opened, and of nothing else.
    Effect.catchAllDefect((defect) =>
      fault(path,
        `can't be opened (${
          defect instanceof Error ? defect.message : "unknown reason"
        }): let this user read and write it, or ${nameAnother}`)
    ),
    // Another process locks the file for a moment while it opens or closes it.
    Effect.tap((sql) => Effect.mapError(sql`PRAGMA busy_timeout = 5000`, faultOf(path)))
  )

const idRow = LedgerRows.first(Schema.Struct({ application_id: Schema.Int }))
const versionRow = LedgerRows.first(Schema.Struct({ user_version: Schema.Int }))

/** The version of the ledger, 0 for a new file. Fails if the file is no ledger, or that of a later program. */
export const versionOf = ({ path, run, sql }: LedgerConnection): Effect.Effect<number, LedgerFault> =>
  Effect.gen(function*() {
    const tables = yield* run(LedgerRows.countOf(sql`SELECT count(*) AS n FROM sqlite_master WHERE name <> ${Migrations.table}`))
    // The table of migrations is created first: alone, it is what a crash at the first start leaves.
    if (tables === 0) return 0
    const id = yield* run(idRow(sql`PRAGMA application_id`))
    if (!Option.exists(id, ({ application_id }) => application_id === applicationId))
      return yield* fault(path, `is the database of another program: ${nameAnother}`)
    const isRecorded = yield* run(LedgerRows.countOf(sql`SELECT count(*) AS n FROM sqlite_master WHERE name = ${Migrations.table}`))
    const recorded = isRecorded === 0 ? Option.none() : yield* run(Migrations.recordedVersion(sql))
    // Versions 1 to 3 were kept in the header of the file.
    const found = Option.isSome(recorded)
      ? recorded.value
      : Option.match(yield* run(versionRow(sql`PRAGMA user_version`)), { onNone: () => 0, onSome: ({ user_version }) => user_version })
    return found <= Migrations.current
      ? found
      : yield* fault(path, "was written by a later version of plaza-stock-sync: install that version")
  })
