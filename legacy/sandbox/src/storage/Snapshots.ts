/**
 * Named snapshots of everything the database holds. The rows of a snapshot are in tables of the same database, so a data file
 * keeps its snapshots. Uploaded files stay while a snapshot names them.
 *
 * @since 0.1.0
 */
import type { NotFound, ValidationError } from "@plaza-legacy/domain/Errors"
import { Timestamp } from "@plaza-legacy/domain/Resources"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { RateWindow } from "../access/RateWindow.ts"
import { MediaFiles } from "../areas/media/MediaFiles.ts"
import { MediaRepo } from "../areas/media/MediaRepo.ts"
import * as Envelope from "../http/Envelope.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { LateCommits } from "../latitude/LateCommits.ts"
import { VirtualClock } from "../VirtualClock.ts"
import * as Database from "./Database.ts"
import { Sql } from "./Sql.ts"
import * as SqlSchema from "./SqlSchema.ts"

/** @since 0.1.0 @category models */
export const Snapshot = Schema.Struct({
  name: Schema.String,
  /** By the sandbox's clock. */
  createdAt: Timestamp,
  /** The number of rows of all tables. */
  rows: Schema.NonNegativeInt
}).annotations({ identifier: "Snapshot" })
/** @since 0.1.0 @category models */
export interface Snapshot extends Schema.Schema.Type<typeof Snapshot> {}

/** @since 0.1.0 @category services */
export class Snapshots extends Context.Tag("@plaza-legacy/sandbox/Snapshots")<Snapshots, {
  /** All snapshots, oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<Snapshot>>
  /** Saves the data. Replaces a snapshot of the same name. */
  readonly save: (name: string) => Effect.Effect<Snapshot, ValidationError>
  /**
   * Replaces the data by a snapshot, the offset of the clock included. Keeps the request log, commits, faults and latitude.
   */
  readonly restore: (name: string) => Effect.Effect<void, NotFound>
  readonly remove: (name: string) => Effect.Effect<void, NotFound>
}>() {}

// In the path of a URL, "." and ".." name a folder.
const validName = /^(?!\.{1,2}$)[\w.-]{1,100}$/

const Row = Schema.Struct({
  seq: Schema.Int,
  name: Schema.String,
  createdAt: Schema.DateTimeUtcFromNumber,
  rows: Schema.Int
})

const Column = Schema.Struct({ name: Schema.String }).pipe(Schema.pluck("name"))

const Count = Schema.Struct({ rows: Schema.Int }).pipe(Schema.pluck("rows"))

const toSnapshot = ({ createdAt, name, rows }: typeof Row.Type): Snapshot => ({ name, createdAt, rows })

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Snapshots["Type"],
  never,
  Sql | MediaRepo | MediaFiles | VirtualClock | RateWindow | LateCommits | CurrentLatitude
> = Effect.gen(function*() {
  const sql = yield* Sql
  const media = yield* MediaRepo
  const files = yield* MediaFiles
  const clock = yield* VirtualClock
  const window = yield* RateWindow
  const late = yield* LateCommits
  const latitude = yield* CurrentLatitude

  const all = SqlSchema.findAll({
    Result: Row,
    execute: () => sql`SELECT seq, name, created_at AS createdAt, row_count AS rows FROM snapshots ORDER BY seq`
  })
  const findRow = SqlSchema.findOne({
    Result: Row,
    execute: (name: string) => sql.first`SELECT seq, name, created_at AS createdAt, row_count AS rows FROM snapshots WHERE name = ${name}`
  })
  const insert = SqlSchema.single({
    Result: Row,
    execute: (name: string, createdAt: number) =>
      sql.first`INSERT INTO snapshots (name, created_at, row_count) VALUES (${name}, ${createdAt}, 0)
        RETURNING seq, name, created_at AS createdAt, row_count AS rows`
  })
  const columns = SqlSchema.findAll({
    Result: Column,
    // Generated columns are not listed.
    execute: (table: string) => sql`SELECT name FROM pragma_table_info(${table})`
  })
  const count = SqlSchema.single({
    Result: Count,
    execute: (table: string) => sql.first`SELECT count(*) AS rows FROM ${sql.literal(table)}`
  })
  const tableOf = (seq: number, table: string) => sql.literal(`snapshot_${seq}_${table}`)

  const find = (name: string) =>
    Effect.flatMap(findRow(name), (row) => Option.isSome(row) ? Effect.succeed(row.value) : Effect.fail(Envelope.unknown("snapshot", name)))

  const drop = (seq: number) =>
    Effect.gen(function*() {
      yield* Effect.forEach(Database.tableNames, (table) => sql`DROP TABLE ${tableOf(seq, table)}`, { discard: true })
      yield* sql`DELETE FROM snapshot_files WHERE snapshot_seq = ${seq}`
      yield* sql`DELETE FROM snapshots WHERE seq = ${seq}`
    })

  /** Every file that the data or a snapshot names. */
  const namedFiles = Effect.map(Effect.all([media.files(), media.snapshotFiles()]), ([own, saved]) => [...own, ...saved])

  /** Runs a change of rows, and then deletes the files that no row names any more. */
  const change = <A, E>(rows: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.gen(function*() {
      const [before, result, after] = yield* Effect.all([namedFiles, rows, namedFiles]).pipe(sql.withTransaction)
      const kept = new Set(after)
      yield* files.remove([...new Set(before)].filter((file) => !kept.has(file)))
      return result
    })

  return {
    list: Effect.map(all(), (rows) => rows.map(toSnapshot)),

    save: (name) =>
      validName.test(name)
        ? change(Effect.gen(function*() {
          const existing = yield* findRow(name)
          if (Option.isSome(existing)) {
            yield* drop(existing.value.seq)
          }
          const row = yield* insert(name, yield* Clock.currentTimeMillis)
          let rows = 0
          for (const table of Database.tableNames) {
            const copied = sql.literal(table)
            yield* table === "sqlite_sequence"
              // The counter of snapshots itself goes on.
              ? sql`CREATE TABLE ${tableOf(row.seq, table)} AS SELECT * FROM ${copied} WHERE name <> 'snapshots'`
              : sql`CREATE TABLE ${tableOf(row.seq, table)} AS SELECT * FROM ${copied}`
            rows += yield* count(table)
          }
          yield* sql`INSERT INTO snapshot_files (snapshot_seq, file) SELECT ${row.seq}, file FROM media`
          yield* sql`UPDATE snapshots SET row_count = ${rows} WHERE seq = ${row.seq}`
          return toSnapshot({ ...row, rows })
        }))
        : Effect.fail(
          Envelope.invalidField("name", "must be 1 to 100 letters, digits, dots, dashes or underscores, and not \".\" or \"..\"")
        ),

    restore: (name) =>
      Effect.gen(function*() {
        yield* change(Effect.gen(function*() {
          const { seq } = yield* find(name)
          for (const table of Database.tableNames) {
            const names = sql.literal((yield* columns(table)).join(", "))
            const target = sql.literal(table)
            yield* table === "sqlite_sequence"
              ? sql`DELETE FROM ${target} WHERE name <> 'snapshots'`
              : sql`DELETE FROM ${target}`
            yield* sql`INSERT INTO ${target} (${names}) SELECT ${names} FROM ${tableOf(seq, table)}`
          }
        }))
        yield* late.clear
        yield* clock.reload
        yield* window.reload
        yield* latitude.store
      }),

    remove: (name) => change(Effect.flatMap(find(name), ({ seq }) => drop(seq)))
  }
})
