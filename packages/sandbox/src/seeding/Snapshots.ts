/**
 * Named snapshots of everything the database holds. The rows of a snapshot are in tables of the same database, so a data file
 * keeps its snapshots. Uploaded files stay while a snapshot names them.
 *
 * @since 0.1.0
 */
import type { NotFound, ValidationError } from "@plaza/domain/Errors"
import { Timestamp } from "@plaza/domain/Resources"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { RateWindow } from "../access/RateWindow.ts"
import { MediaFiles } from "../areas/media/MediaFiles.ts"
import { MediaRepo } from "../areas/media/MediaRepo.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { LateCommits } from "../latitude/LateCommits.ts"
import { tableNames } from "../storage/Database.ts"
import { Db, literal } from "../storage/Db.ts"
import { invalidField, nonNegativeInt, unknown } from "../Validation.ts"
import { VirtualClock } from "../VirtualClock.ts"

/** @since 0.1.0 @category models */
export const Snapshot = Schema.Struct({
  name: Schema.String,
  /** By the sandbox's clock. */
  createdAt: Timestamp,
  /** The number of rows of all tables. */
  rows: nonNegativeInt
}).annotate({ identifier: "Snapshot" })
/** @since 0.1.0 @category models */
export interface Snapshot extends Schema.Struct.Type<typeof Snapshot.fields> {}

// In the path of a URL, "." and ".." name a folder.
const validName = /^(?!\.{1,2}$)[\w.-]{1,100}$/

const Row = Schema.Struct({
  seq: Schema.Int,
  name: Schema.String,
  createdAt: Schema.DateTimeUtcFromMillis,
  rows: Schema.Int
})

const Column = Schema.Struct({ name: Schema.String })

const Count = Schema.Struct({ rows: Schema.Int })

const toSnapshot = ({ createdAt, name, rows }: typeof Row.Type): Snapshot => ({ name, createdAt, rows })

/** @since 0.1.0 @category services */
export class Snapshots extends Context.Service<Snapshots>()("@plaza/sandbox/Snapshots", {
  make: Effect.gen(function*() {
    const db = yield* Db
    const media = yield* MediaRepo
    const files = yield* MediaFiles
    const clock = yield* VirtualClock
    const window = yield* RateWindow
    const late = yield* LateCommits
    const latitude = yield* CurrentLatitude

    const findRow = (name: string) =>
      db.first(Row)`SELECT seq, name, created_at AS createdAt, row_count AS rows FROM snapshots WHERE name = ${name}`
    const tableOf = (seq: number, table: string) => literal(`snapshot_${seq}_${table}`)
    /** Without generated columns. */
    const columnsOf = (table: string) =>
      literal(db.all(Column)`SELECT name FROM pragma_table_info(${table})`.map(({ name }) => name).join(", "))

    const find = (name: string): Effect.Effect<typeof Row.Type, NotFound> => {
      const row = findRow(name)
      return row === undefined ? Effect.fail(unknown("snapshot", name)) : Effect.succeed(row)
    }

    const drop = (seq: number): void => {
      for (const table of tableNames) {
        db.run`DROP TABLE ${tableOf(seq, table)}`
      }
      db.run`DELETE FROM snapshot_files WHERE snapshot_seq = ${seq}`
      db.run`DELETE FROM snapshots WHERE seq = ${seq}`
    }

    /** Every file that the data or a snapshot names. */
    const namedFiles = () => [...media.files(), ...media.snapshotFiles()]

    /** Runs a change of rows, and then deletes the files that no row names any more. */
    const change = Effect.fnUntraced(function*<A, E>(rows: Effect.Effect<A, E>) {
      const before = namedFiles()
      const result = yield* db.transaction(rows)
      const kept = new Set(namedFiles())
      yield* files.remove([...new Set(before)].filter((file) => !kept.has(file)))
      return result
    })

    return {
      /** All snapshots, oldest first. */
      list: (): ReadonlyArray<Snapshot> =>
        db.all(Row)`SELECT seq, name, created_at AS createdAt, row_count AS rows FROM snapshots ORDER BY seq`.map(toSnapshot),

      /** Saves the data. Replaces a snapshot of the same name. */
      save: (name: string): Effect.Effect<Snapshot, ValidationError> =>
        validName.test(name)
          ? change(Effect.map(Clock.currentTimeMillis, (now) => {
            const existing = findRow(name)
            if (existing !== undefined) {
              drop(existing.seq)
            }
            const row = db.one(Row)`INSERT INTO snapshots (name, created_at, row_count) VALUES (${name}, ${now}, 0)
              RETURNING seq, name, created_at AS createdAt, row_count AS rows`
            let rows = 0
            for (const table of tableNames) {
              // The counter of snapshots itself goes on.
              const which = literal(table === "sqlite_sequence" ? "WHERE name <> 'snapshots'" : "")
              db.run`CREATE TABLE ${tableOf(row.seq, table)} AS SELECT * FROM ${literal(table)} ${which}`
              rows += db.one(Count)`SELECT count(*) AS rows FROM ${literal(table)}`.rows
            }
            db.run`INSERT INTO snapshot_files (snapshot_seq, file) SELECT ${row.seq}, file FROM media`
            db.run`UPDATE snapshots SET row_count = ${rows} WHERE seq = ${row.seq}`
            return toSnapshot({ ...row, rows })
          }))
          : Effect.fail(
            invalidField("name", "must be 1 to 100 letters, digits, dots, dashes or underscores, and not \".\" or \"..\"")
          ),

      /**
       * Replaces the data by a snapshot, the offset of the clock included. Keeps the request log, commits, faults and latitude.
       */
      restore: Effect.fnUntraced(function*(name: string) {
        yield* change(Effect.map(find(name), ({ seq }) => {
          for (const table of tableNames) {
            const columns = columnsOf(table)
            const target = literal(table)
            const which = literal(table === "sqlite_sequence" ? "WHERE name <> 'snapshots'" : "")
            db.run`DELETE FROM ${target} ${which}`
            db.run`INSERT INTO ${target} (${columns}) SELECT ${columns} FROM ${tableOf(seq, table)}`
          }
        }))
        yield* late.clear
        clock.reload()
        window.reload()
        latitude.store()
      }),

      remove: (name: string): Effect.Effect<void, NotFound> => change(Effect.map(find(name), ({ seq }) => drop(seq)))
    }
  })
}) {
  static readonly layer = Layer.effect(Snapshots, Snapshots.make)
}
