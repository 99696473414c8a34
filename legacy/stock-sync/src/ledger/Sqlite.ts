/**
 * Opens a ledger in an SQLite file: with its lock, beside a running worker, read-only, or as a temporary copy.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ApplySnapshot from "./ApplySnapshot.ts"
import * as Dialect from "./Dialect.ts"
import { Ledger, type LedgerOptions } from "./Ledger.ts"
import * as LedgerConnection from "./LedgerConnection.ts"
import type { LedgerFault, LedgerInUse } from "./LedgerError.ts"
import * as LedgerSql from "./LedgerSql.ts"
import * as LockOwner from "./LockOwner.ts"
import * as Migrations from "./Migrations.ts"
import * as OutcomeQueries from "./OutcomeQueries.ts"
import { faultOf } from "./SqliteErrors.ts"
import * as SqliteFile from "./SqliteFile.ts"
import * as SqliteLock from "./SqliteLock.ts"
import * as Tables from "./Tables.ts"

type Files = FileSystem.FileSystem | Path.Path

/**
 * Opens the ledger for the worker, and creates it. Holds its lock until the scope of the layer closes: a second process
 * gets `LedgerInUse`. Requests that an earlier process did not finish become doubtful.
 */
export const layer = (path: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault | LedgerInUse, Files> =>
  open(Effect.gen(function*() {
    yield* SqliteFile.checkPath(path)
    const lockPath = yield* SqliteLock.acquire(path)
    const connection = yield* connect(path, path)
    const { run, sql } = connection
    // NORMAL until the first product is taken: until then, a power cut may undo the snapshot, which the source still has, and the counts of
    // requests that concern no product.
    yield* run(Effect.all([sql`PRAGMA journal_mode = WAL`, sql`PRAGMA synchronous = NORMAL`], { discard: true }))
    const found = yield* SqliteFile.versionOf(connection)
    // The file alone, copied while no worker runs, is the whole ledger.
    yield* Effect.addFinalizer(() => Effect.ignore(run(sql`PRAGMA wal_checkpoint(TRUNCATE)`)))
    yield* run(Migrations.migrate(sql, Dialect.sqlite, found, [`PRAGMA application_id = ${SqliteFile.applicationId}`]))
    const isOwner = yield* run(LockOwner.record(sql))
    yield* run(OutcomeQueries.markInterrupted(sql, options))
    return {
      ...LedgerSql.make(connection, options, yield* SqliteLock.ownershipCheck(path, lockPath, run(isOwner))),
      applySnapshot: ApplySnapshot.applyAhead(connection)
    }
  }))

/** Opens the ledger beside a running worker, for `retry` and `confirm`. Fails if it does not exist. */
export const layerWithoutLock = (path: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault, Files> =>
  open(Effect.map(existing(path), (connection) => LedgerSql.make(connection, options)))

/** Opens the ledger for reading, beside a running worker. Fails if it does not exist. */
export const layerReadOnly = (path: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault, Files> =>
  open(Effect.gen(function*() {
    const connection = yield* existing(path)
    yield* connection.run(connection.sql`PRAGMA query_only = ON`)
    return LedgerSql.make(connection, options)
  }))

/** A temporary copy of the ledger, empty if the ledger does not exist. */
export const layerTemporaryCopy = (path: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault, Files> =>
  open(Effect.gen(function*() {
    const found = yield* find(path)
    const connection = Option.isSome(found) ? found.value : yield* connect(path, ":memory:")
    const { run, sql } = connection
    yield* run(Migrations.inOrder(sql, Tables.createTemporaryCopy(Dialect.sqlite, Option.isSome(found) ? "main" : undefined)))
    return LedgerSql.make(connection, options)
  }))

const open = <E, R>(ledger: Effect.Effect<Ledger["Type"], E, R>) =>
  Layer.scoped(Ledger, Effect.withSpan(ledger, "StockSync.openLedger", { attributes: { "db.system.name": "sqlite" } })).pipe(
    Layer.provide(Reactivity.layer)
  )

const connect = (path: string, filename: string) =>
  Effect.map(SqliteFile.open(path, filename), (sql) => LedgerConnection.make(sql, path, faultOf(path)))

/** A connection to a ledger of the current version; none if there is no ledger. */
const find = (path: string) =>
  Effect.gen(function*() {
    yield* SqliteFile.checkPath(path)
    const exists = yield* Effect.orElseSucceed(Effect.flatMap(FileSystem.FileSystem, (files) => files.exists(path)), () => true)
    if (!exists) return Option.none()
    const connection = yield* connect(path, path)
    const found = yield* SqliteFile.versionOf(connection)
    return Option.as(found, connection)
  })

const existing = (path: string) =>
  Effect.flatMap(find(path), Option.match({
    onNone: () =>
      SqliteFile.fault(path, "does not exist yet: `plaza-stock-sync once` makes it, or name it with --ledger or STOCK_SYNC_LEDGER"),
    onSome: Effect.succeed
  }))
