/**
 * Opens a ledger kept in an SQLite file: to work with (alone, held by a lock that the system releases even after kill -9), to look
 * at, or to try something out on a copy. Loading this module loads the native database.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as MonotonicClock from "../sync/MonotonicClock.js"
import * as DispatchQueries from "./DispatchQueries.js"
import { Ledger, LedgerFault, type LedgerInUse, type LedgerOptions } from "./Ledger.js"
import * as LedgerConnection from "./LedgerConnection.js"
import * as LedgerSql from "./LedgerSql.js"
import * as LockOwner from "./LockOwner.js"
import { codeOf, faultOf, sqliteBusy } from "./SqliteErrors.js"
import * as Schema from "./SqliteSchema.js"
import * as Tables from "./Tables.js"

type Files = FileSystem.FileSystem | Path.Path

/**
 * Opens the ledger for the worker, and creates it if it is not there. Holds its lock until the layer's scope ends: a second process gets
 * `LedgerInUse`. What an earlier process was sending when it ended becomes doubtful.
 */
export const layer = (path: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault | LedgerInUse, Files> =>
  Layer.scoped(Ledger, Effect.gen(function*() {
    yield* checkPlace(path)
    const lockPath = yield* lock(path)
    const sql = yield* connect(path, path)
    const fault = faultOf(path)
    // Full: what was written before a request has to be there after a power cut, too.
    yield* Effect.mapError(Effect.all([sql`PRAGMA journal_mode = WAL`, sql`PRAGMA synchronous = FULL`], { discard: true }), fault)
    yield* Effect.mapError(makeRoom(sql), fault)
    const found = yield* inspect(sql, path)
    // So that the file alone, copied while no worker runs, is the whole ledger.
    yield* Effect.addFinalizer(() => Effect.ignore(sql`PRAGMA wal_checkpoint(TRUNCATE)`))
    yield* Effect.mapError(Schema.migrate(sql, found), fault)
    const access = LedgerConnection.make(sql, path, fault)
    const isOwner = yield* access.run(LockOwner.enter(sql))
    yield* access.run(DispatchQueries.cutOff(sql, options))
    return LedgerSql.make(access, options, yield* ownership(path, lockPath, access.run(isOwner)))
  })).pipe(Layer.provide(Reactivity.layer))

/** Opens the ledger beside a running worker, for `retry` and `confirm`. Fails if there is none. */
export const layerBeside = (path: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault, Files> =>
  Layer.scoped(Ledger, Effect.gen(function*() {
    const sql = (yield* existing(path)) ?? (yield* none(path))
    return LedgerSql.make(LedgerConnection.make(sql, path, faultOf(path)), options)
  })).pipe(Layer.provide(Reactivity.layer))

/** Opens the ledger for reading, beside a running worker. Fails if there is none. */
export const layerReader = (path: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault, Files> =>
  Layer.scoped(Ledger, Effect.gen(function*() {
    const sql = (yield* existing(path)) ?? (yield* none(path))
    yield* Effect.mapError(sql`PRAGMA query_only = ON`, faultOf(path))
    return LedgerSql.make(LedgerConnection.make(sql, path, faultOf(path)), options)
  })).pipe(Layer.provide(Reactivity.layer))

/** A copy of the ledger for a preview, which leaves no trace. It begins empty if there is no ledger. */
export const layerCopy = (path: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault, Files> =>
  Layer.scoped(Ledger, Effect.gen(function*() {
    const found = yield* existing(path)
    const sql = found ?? (yield* connect(path, ":memory:"))
    yield* Effect.mapError(makeRoom(sql), faultOf(path))
    yield* Effect.mapError(Schema.shadow(sql, found === undefined), faultOf(path))
    return LedgerSql.make(LedgerConnection.make(sql, path, faultOf(path)), options)
  })).pipe(Layer.provide(Reactivity.layer))

// Looking at the files costs less than a request, and more than nothing.
const checkEvery = 1_000

/**
 * Fails once the ledger or its lock file is gone or another file, or another process has entered itself: what is written
 * then is lost or wrong. Looks at most once a second.
 */
const ownership = (path: string, lockPath: string, isOwner: Effect.Effect<boolean, LedgerFault>) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const identity = (file: string) =>
      Effect.option(Effect.map(files.stat(file), ({ dev, ino }) => `${dev}/${Option.getOrElse(ino, () => 0)}`))
    const identities = Effect.all([identity(path), identity(lockPath)])
    const before = yield* identities
    let next = 0
    return Effect.gen(function*() {
      const now = yield* MonotonicClock.now
      if (now < next) return
      const after = yield* identities
      const same = after.every((found, index) => Option.isSome(found) && Equal.equals(found, before[index]))
      if (!same)
        return yield* fail(path,
          "or its lock file was removed or replaced while it was in use; a new ledger begins empty, and every product is sent once")
      if (!(yield* isOwner)) return yield* fail(path, "was taken over by another plaza-stock-sync: let only one of them run")
      next = now + checkEvery
    })
  })

const fail = (path: string, what: string) => Effect.fail(new LedgerFault({ path, message: `the ledger ${path} ${what}` }))
const elsewhere = "name another file with --ledger or STOCK_SYNC_LEDGER"
const none = (path: string) =>
  fail(path, `does not exist yet: \`plaza-stock-sync once\` makes it, or name it with --ledger or STOCK_SYNC_LEDGER`)

/** A look at the place first, because the database says the same of a missing folder, of a folder and of a file it may not write. */
const checkPlace = (path: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const folder = paths.dirname(paths.resolve(path))
    const inFolder = yield* Effect.option(files.stat(folder))
    if (inFolder._tag === "None") return yield* fail(path,
        `can't be made, because the folder "${folder}" is not there: make it, or ${elsewhere}`)
    if (inFolder.value.type !== "Directory") return yield* fail(path, `can't be made, because "${folder}" is no folder: ${elsewhere}`)
    const there = yield* Effect.option(files.stat(path))
    if (there._tag === "Some" && there.value.type === "Directory") return yield* fail(path, `is a folder: ${elsewhere}`)
  })

/**
 * Room to compare a million products with a snapshot of them, in KiB where negative: with the usual 2 MiB, pages are read over and over.
 */
const makeRoom = (sql: SqlClient.SqlClient) =>
  Effect.all([sql`PRAGMA main.cache_size = -65536`, sql`PRAGMA temp.cache_size = -65536`], { discard: true })

/**
 * Opens a database file. The connection throws where it can't be opened, so that is caught here; nothing else in it is expected to.
 */
const connect = (path: string, filename: string): Effect.Effect<SqlClient.SqlClient, LedgerFault, Scope.Scope | Reactivity.Reactivity> =>
  SqliteClient.make({ filename, disableWAL: true }).pipe(
    Effect.catchAllDefect((defect) =>
      fail(path,
        `can't be opened (${
          defect instanceof Error ? defect.message : "unknown reason"
        }): let this user read and write it, or ${elsewhere}`)
    ),
    // The moment in which another process opens or closes the file is waited out.
    Effect.tap((sql) => Effect.mapError(sql`PRAGMA busy_timeout = 5000`, faultOf(path)))
  )

/** The version of the file, 0 for a new one. Fails if the file isn't a ledger, or one of a later program. */
const inspect = (sql: SqlClient.SqlClient, path: string) =>
  Effect.gen(function*() {
    const [[id], [version], [tables]] = yield* Effect.all([
      sql<{ application_id: number }>`PRAGMA application_id`,
      sql<{ user_version: number }>`PRAGMA user_version`,
      sql<{ n: number }>`SELECT count(*) AS n FROM sqlite_master`
    ]).pipe(Effect.mapError(faultOf(path)))
    if (tables?.n === 0) return 0
    if (id?.application_id !== Schema.applicationId) return yield* fail(path, `is the database of another program: ${elsewhere}`)
    const found = version?.user_version ?? 0
    return found <= Tables.version ? found : yield* fail(path, "was written by a later version of plaza-stock-sync: install that version")
  })

/** A connection to a ledger that is there and filled; undefined if there is none. */
const existing = (path: string) =>
  Effect.gen(function*() {
    yield* checkPlace(path)
    const there = yield* Effect.orElseSucceed(Effect.flatMap(FileSystem.FileSystem, (files) => files.exists(path)), () => true)
    if (!there) return undefined
    const sql = yield* connect(path, path)
    const found = yield* inspect(sql, path)
    if (found === 0) return undefined
    return found === Tables.version
      ? sql
      : yield* fail(path, "was written by an earlier version: `plaza-stock-sync once` brings it up to date")
  })

/**
 * Holds an exclusive transaction on a database of its own beside the ledger for as long as the scope lives. The system releases it
 * with the process, however that ends, which no file with a process number in it can offer.
 */
const lock = (path: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    // Two names of one file are one ledger.
    const real = yield* Effect.orElseSucceed(files.realPath(path), () => path)
    const lockPath = `${real}.lock`
    const sql = yield* connect(path, lockPath)
    // Closing alone would keep the lock until the last prepared statement is collected.
    yield* Effect.addFinalizer(() => Effect.ignore(sql`ROLLBACK`))
    yield* Effect.mapError(sql`PRAGMA busy_timeout = 0`, faultOf(path))
    const begun = yield* Effect.either(sql`BEGIN EXCLUSIVE`)
    if (Either.isRight(begun)) return lockPath
    if (codeOf(begun.left) !== sqliteBusy) return yield* faultOf(`${path}.lock`)(begun.left)
    return yield* yield* LockOwner.inUse(path, connect(path, real))
  })
