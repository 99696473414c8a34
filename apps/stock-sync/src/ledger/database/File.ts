/** A ledger in an SQLite file: its path, its lock, and the mark and version by which it is recognised. */
import * as Sqlite from "@plaza/client/sqlite"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { SqlClient } from "effect/sql/SqlClient"
import * as AccountLedger from "../AccountLedger.ts"
import { Ledger, type LedgerOptions } from "../Ledger.ts"
import { LedgerFault, type LedgerInUse } from "../LedgerError.ts"
import * as Operation from "../Operation.ts"
import type { Database, Failure } from "../Operation.ts"
import * as Rows from "../Rows.ts"
import * as Tables from "../Schema.ts"
import * as Faults from "./Faults.ts"
import { inUse } from "./InUse.ts"
import * as Migrations from "./Migrations.ts"

type Files = FileSystem.FileSystem | Path.Path

/** Marks a database file as a ledger ("PLZS" in ASCII), so that no other program's database is written to. */
const applicationId = 0x504c5a53

const fault = (path: string, message: string) => Effect.fail(new LedgerFault({ path, message: `the ledger ${path} ${message}` }))

const nameAnother = "name another file with --ledger or STOCK_SYNC_LEDGER"

/** The file of a ledger: none if it is not there yet. Fails if the path can't be that of a file. */
const find = (path: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const folder = paths.dirname(paths.resolve(path))
    const parent = yield* Effect.option(files.stat(folder))
    // SQLite has the same message for a missing folder, a folder and a read-only file.
    if (Option.isNone(parent))
      return yield* fault(path, `can't be made, because the folder "${folder}" is not there: make it, or ${nameAnother}`)
    if (parent.value.type !== "Directory") return yield* fault(path, `can't be made, because "${folder}" is no folder: ${nameAnother}`)
    const file = yield* Effect.option(files.stat(path))
    if (Option.exists(file, ({ type }) => type === "Directory")) return yield* fault(path, `is a folder: ${nameAnother}`)
    if (Option.exists(file, ({ size, type }) => type === "File" && size === 0n)) {
      return yield* fault(path,
        `is empty, so what it held is lost: restore it from a copy, or remove it to begin a new one, which sends every ` +
          "product once")
    }
    return file
  })

/**
 * Opens a database file. `path` is the ledger's, for messages. `busyTimeout`: how long a statement waits for the lock of another process,
 * which locks the file for a moment while it opens or closes it.
 */
const open = (path: string, filename: string, busyTimeout: Duration.Duration = Duration.seconds(5)) =>
  Sqlite.make({ filename, disableWAL: true }).pipe(
    Effect.catch((error) =>
      Faults.sqliteCodeOf(error) === 14
        ? fault(path, `can't be opened (${error.message}): let this user read and write it, or ${nameAnother}`)
        : Effect.fail(Faults.ofFile(path)(error))
    ),
    Effect.tap((sql) =>
      Effect.mapError(
        Migrations.inOrder(sql, [
          `PRAGMA busy_timeout = ${Duration.toMillis(busyTimeout)}`,
          // A million rows do not belong in memory. Not later: a change of it drops the temporary tables, those of a copy as well.
          "PRAGMA temp_store = FILE"
        ]),
        Faults.ofFile(path)
      )
    )
  )

// Longer than the transaction that applies or reverts a snapshot of hundreds of thousands of products.
const lockWait = Duration.seconds(20)

/** An open ledger. From here on its statements do not wait for locks in the thread. */
const databaseOf = (path: string, sql: SqlClient): Effect.Effect<Database, LedgerFault> =>
  Effect.as(orFault(path)(sql`PRAGMA busy_timeout = 10`), { sql, path, faultOf: Faults.ofFile(path), lockWait })

const header = Rows.only(Schema.Struct({ application_id: Schema.Int, migrations: Schema.Int }))

/** Fails if the file is not a ledger, or one of another version. */
const requireCurrent = (path: string, sql: SqlClient): Effect.Effect<void, Failure | LedgerFault> =>
  Effect.gen(function*() {
    const found = yield* header(
      sql`SELECT application_id, (SELECT count(*) FROM sqlite_master WHERE name = ${Migrations.table}) AS migrations
      FROM pragma_application_id`
    )
    if (found.application_id !== applicationId) return yield* fault(path, `is the database of another program: ${nameAnother}`)
    const recorded = found.migrations === 0 ? Option.none() : yield* Migrations.recordedVersion(sql)
    if (!Option.contains(recorded, Migrations.current)) return yield* fault(path, `${Migrations.ofOtherVersion}, or ${nameAnother}`)
  })

const orFault = (path: string) => Operation.orFault(Faults.ofFile(path))

/** The file that a path leads to, also by a link to a file that is not there yet. */
const targetOf = (path: string): Effect.Effect<string, never, Files> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const link = yield* Effect.option(files.readLink(path))
    return Option.isNone(link) ? path : yield* targetOf(paths.resolve(paths.dirname(path), link.value))
  })

/** Makes a ledger beside its place and moves it there, so that a crash leaves all of it or nothing. */
const create = (path: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const target = yield* targetOf(path)
    const unfinished = `${target}.new`
    const moved = Effect.mapError(({ message }: { readonly message: string }) =>
      new LedgerFault({ path, message: `the ledger ${path} can't be made (${message}): let this user write its folder` })
    )
    yield* moved(files.remove(unfinished, { force: true }))
    yield* Effect.scoped(Effect.gen(function*() {
      const sql = yield* open(path, unfinished)
      yield* Migrations.migrate(sql, Tables.sqlite, [
        ...Tables.addAccount(AccountLedger.single),
        `PRAGMA application_id = ${applicationId}`
      ])
    })).pipe(orFault(path))
    yield* moved(files.rename(unfinished, target))
  })

/**
 * Holds the lock of a ledger until the scope closes: an exclusive transaction on a database beside it, which the system releases with the
 * process, also after kill -9. Returns the path of the lock file.
 */
const acquireLock = (path: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    // Two names of one file have one lock.
    const real = yield* Effect.orElseSucceed(files.realPath(path), () => path)
    const lockPath = `${real}.lock`
    const sql = yield* open(path, lockPath, Duration.zero)
    const connection = yield* Effect.mapError(sql.reserve, Faults.ofFile(`${path}.lock`))
    // Closing the connection keeps the lock until the last prepared statement is collected.
    yield* Effect.addFinalizer(() => Effect.ignore(connection.executeUnprepared("ROLLBACK", [], undefined)))
    const lock = yield* Effect.result(connection.executeUnprepared("BEGIN EXCLUSIVE", [], undefined))
    if (Result.isSuccess(lock)) return lockPath
    if (Faults.sqliteCodeOf(lock.failure) !== Faults.busyCode) return yield* Effect.fail(Faults.ofFile(`${path}.lock`)(lock.failure))
    return yield* Effect.flatMap(Effect.scoped(inUse(path, open(path, real))), Effect.fail)
  })

/** The check costs less than a request, and more than nothing. */
const checkInterval = Duration.toMillis("1 second")

/** Fails once the ledger is missing, empty or another file, or its lock file is missing or another one: writes would be lost. Looks at the files at most once a second. */
const presence = (path: string, lockPath: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const identityOf = (file: string) =>
      Effect.map(Effect.option(files.stat(file)), (found) =>
        Option.match(found, {
          onNone: () => "",
          onSome: ({ dev, ino, size }) => `${dev}/${Option.getOrElse(ino, () => 0)}/${file === path && size === 0n ? "empty" : ""}`
        }))
    const identities = Effect.map(Effect.all([identityOf(path), identityOf(lockPath)]), (all) => all.join(" "))
    const before = yield* identities
    let nextCheck = 0n
    return Effect.gen(function*() {
      const now = yield* Clock.monotonicTimeNanos
      if (now < nextCheck) return
      if ((yield* identities) !== before) {
        return yield* fault(path,
          "or its lock file was removed, emptied or replaced while it was in use; a new ledger begins empty, and every product is sent once")
      }
      nextCheck = now + BigInt(checkInterval) * 1_000_000n
    })
  })

const layerOf = <E>(
  ledger: Effect.Effect<Ledger["Service"], E, Files | Reactivity.Reactivity | Scope.Scope>
): Layer.Layer<Ledger, E, Files> =>
  Layer.effect(Ledger, Effect.withSpan(ledger, "StockSync.openLedger", { attributes: { "db.system.name": "sqlite" } })).pipe(
    Layer.provide(Reactivity.layer)
  )

/**
 * Opens the ledger for the worker, and creates it. Holds its lock until the scope of the layer closes: a second process gets
 * `LedgerInUse`. Requests that an earlier process did not finish become doubtful.
 */
export const layer = (path: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault | LedgerInUse, Files> =>
  layerOf(Effect.gen(function*() {
    yield* find(path)
    const lockPath = yield* acquireLock(path)
    // Again, because another process may have made it meanwhile.
    if (Option.isNone(yield* find(path))) yield* create(path)
    const sql = yield* open(path, path)
    return yield* Effect.gen(function*() {
      yield* sql`PRAGMA journal_mode = WAL`
      yield* requireCurrent(path, sql)
      // The file alone, copied while no worker runs, is the whole ledger.
      yield* Effect.addFinalizer(() => Effect.ignore(sql`PRAGMA wal_checkpoint(TRUNCATE)`))
      const epoch = yield* AccountLedger.takeOver(sql, AccountLedger.single)
      yield* AccountLedger.recover({ sql, account: AccountLedger.single, epoch }, options)
      const database = yield* databaseOf(path, sql)
      return AccountLedger.make(database, { account: AccountLedger.single, epoch }, options, { present: yield* presence(path, lockPath) })
    }).pipe(orFault(path))
  }))

const beside = (database: Database, options: LedgerOptions) =>
  AccountLedger.make(database, { account: AccountLedger.single, epoch: undefined }, options)

const existing = (path: string) =>
  Effect.gen(function*() {
    if (Option.isNone(yield* find(path)))
      return yield* fault(path,
        "does not exist yet: `plaza-stock-sync once` creates it, or name another one with --ledger or STOCK_SYNC_LEDGER")
    const sql = yield* open(path, path)
    yield* orFault(path)(requireCurrent(path, sql))
    return sql
  })

/** Opens the ledger beside a running worker, for commands that write. Fails if it does not exist. */
export const layerBeside = (path: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault, Files> =>
  layerOf(Effect.gen(function*() {
    const sql = yield* existing(path)
    return beside(yield* databaseOf(path, sql), options)
  }))

/** Opens the ledger for reading, beside a running worker. Fails if it does not exist. */
export const layerReadOnly = (path: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault, Files> =>
  layerOf(Effect.gen(function*() {
    const sql = yield* existing(path)
    yield* orFault(path)(sql`PRAGMA query_only = ON`)
    return beside(yield* databaseOf(path, sql), options)
  }))

/** A temporary copy of the ledger, empty if the ledger does not exist. */
export const layerCopy = (path: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault, Files> =>
  layerOf(Effect.gen(function*() {
    const exists = Option.isSome(yield* find(path))
    const sql = yield* (exists ? existing(path) : open(path, ":memory:"))
    yield* orFault(path)(Migrations.inOrder(sql, Tables.createCopy(Tables.sqlite, AccountLedger.single, exists ? "main" : undefined)))
    return beside(yield* databaseOf(path, sql), options)
  }))
