/**
 * Opens a ledger kept in an SQLite file: to work with (alone, held by a lock that the system releases even after kill -9), to look
 * at, or to try something out on a copy. Loading this module loads the native database. Knows nothing of what the ledger is for.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Ledger, LedgerFault, type LedgerInUse } from "../Ledger.js"
import * as Access from "./Access.js"
import * as Holder from "./Holder.js"
import * as Schema from "./Schema.js"
import * as Sends from "./Sends.js"
import * as Statements from "./Statements.js"
import * as Tables from "./Tables.js"
import { codeOf, faultOf, sqliteBusy } from "./Trouble.js"

type Files = FileSystem.FileSystem | Path.Path

/**
 * Opens the ledger to work with, and makes it if it isn't there. Holds it until the layer's scope ends: a second process gets
 * `LedgerInUse`. What an earlier process was sending when it ended becomes doubtful.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (path: string): Layer.Layer<Ledger, LedgerFault | LedgerInUse, Files> =>
  Layer.scoped(Ledger, Effect.gen(function*() {
    yield* checkPlace(path)
    yield* lock(path)
    const sql = yield* connect(path, path)
    const fault = faultOf(path)
    // Full: what was written before a send has to be there after a power cut, too.
    yield* Effect.mapError(Effect.all([sql`PRAGMA journal_mode = WAL`, sql`PRAGMA synchronous = FULL`], { discard: true }), fault)
    yield* Effect.mapError(makeRoom(sql), fault)
    const found = yield* inspect(sql, path)
    // So that the file alone, copied between two passes, is the whole ledger.
    yield* Effect.addFinalizer(() => Effect.ignore(sql`PRAGMA wal_checkpoint(TRUNCATE)`))
    yield* Effect.mapError(Schema.migrate(sql, found), fault)
    yield* Effect.mapError(Effect.all([Holder.enter(sql), Sends.cutOff(sql)], { discard: true }), fault)
    return Statements.make(Access.make(sql, path, fault))
  })).pipe(Layer.provide(Reactivity.layer))

/**
 * Opens the ledger for a word to a process that works with it, or to the next one. Fails if there is none.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerBeside = (path: string): Layer.Layer<Ledger, LedgerFault, Files> =>
  Layer.scoped(Ledger, Effect.gen(function*() {
    const sql = (yield* existing(path)) ?? (yield* none(path))
    return Statements.make(Access.make(sql, path, faultOf(path)))
  })).pipe(Layer.provide(Reactivity.layer))

/**
 * Opens the ledger to look at, beside a process that works with it. Fails if there is none.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerReader = (path: string): Layer.Layer<Ledger, LedgerFault, Files> =>
  Layer.scoped(Ledger, Effect.gen(function*() {
    const sql = (yield* existing(path)) ?? (yield* none(path))
    yield* Effect.mapError(sql`PRAGMA query_only = ON`, faultOf(path))
    return Statements.make(Access.make(sql, path, faultOf(path)))
  })).pipe(Layer.provide(Reactivity.layer))

/**
 * A copy of the ledger to try something out on, which leaves no trace. It begins empty if there is no ledger.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerCopy = (path: string): Layer.Layer<Ledger, LedgerFault, Files> =>
  Layer.scoped(Ledger, Effect.gen(function*() {
    const found = yield* existing(path)
    const sql = found ?? (yield* connect(path, ":memory:"))
    yield* Effect.mapError(makeRoom(sql), faultOf(path))
    yield* Effect.mapError(Schema.shadow(sql, found === undefined), faultOf(path))
    return Statements.make(Access.make(sql, path, faultOf(path)))
  })).pipe(Layer.provide(Reactivity.layer))

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
    if (inFolder._tag === "None") return yield* fail(path, `can't be made, because the folder "${folder}" is not there: make it, or ${elsewhere}`)
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
      fail(path, `can't be opened (${defect instanceof Error ? defect.message : "unknown reason"}): let this user read and write it, or ${elsewhere}`)
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
    return found === Tables.version ? sql : yield* fail(path, "was written by an earlier version: `plaza-stock-sync once` brings it up to date")
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
    const sql = yield* connect(path, `${real}.lock`)
    // Closing alone would keep the lock until the last prepared statement is collected.
    yield* Effect.addFinalizer(() => Effect.ignore(sql`ROLLBACK`))
    yield* Effect.mapError(sql`PRAGMA busy_timeout = 0`, faultOf(path))
    const begun = yield* Effect.either(sql`BEGIN EXCLUSIVE`)
    if (Either.isRight(begun)) return
    if (codeOf(begun.left) !== sqliteBusy) return yield* faultOf(`${path}.lock`)(begun.left)
    return yield* yield* Holder.inUse(path, connect(path, real))
  })
