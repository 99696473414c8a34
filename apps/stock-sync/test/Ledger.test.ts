/** Ledgers in SQLite files: what holds for every ledger, who may use a file, and messages about files that can't be used. */
import { Reactivity } from "@effect/experimental"
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SqlClient, Statement } from "@effect/sql"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { describe, expect, it } from "@effect/vitest"
import * as SqliteClient from "@plaza-legacy/client/sqlite"
import { Duration, Effect, Either, Layer, Option, Stream, TestClock } from "effect"
import { DatabaseSync } from "node:sqlite"
import { Ledger } from "../src/ledger/Ledger.ts"
import * as LedgerConnection from "../src/ledger/LedgerConnection.ts"
import type { LedgerFault } from "../src/ledger/LedgerError.ts"
import * as LedgerSql from "../src/ledger/LedgerSql.ts"
import * as LedgerSqlite from "../src/ledger/Sqlite.ts"
import { faultOf } from "../src/ledger/SqliteErrors.ts"
import { guard, previews } from "./support/ledger/guard.ts"
import { model } from "./support/ledger/model.ts"
import { rules } from "./support/ledger/rules.ts"
import { sends } from "./support/ledger/sends.ts"
import { snapshots } from "./support/ledger/snapshots.ts"
import { accounts, users } from "./support/ledger/users.ts"
import {
  bad,
  collect,
  fail,
  freshFile,
  freshStagingFile,
  id,
  intake,
  options,
  policy,
  queueOf,
  receive,
  row,
  settle,
  take,
  using
} from "./support/ledger/using.ts"
import { utc } from "./support/utc.ts"

snapshots(freshFile, 20)
rules(freshFile, 60)
sends(freshFile, 20)
guard(freshFile)
previews(freshFile)
accounts(freshFile)
users(freshFile)
model(freshFile, 200)

describe("a ledger that stages every snapshot", () => {
  snapshots(freshStagingFile, 20)
  rules(freshStagingFile, 60)
  guard(freshStagingFile)
  model(freshStagingFile, 40)
})

/** A folder of its own, gone at the end of the test. */
const inFolder = <A, E, R>(test: (path: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped()
    return yield* test((yield* Path.Path).join(folder, "ledger.sqlite"))
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

describe("who may use a file", () => {
  it.effect("a second process is rejected under any name of the file", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* using(path, () => Effect.void)
        yield* files.symlink(path, `${path}.link`)
        yield* using(path, () =>
          Effect.gen(function*() {
            for (const name of [path, `${path}.link`]) {
              const second = yield* Effect.flip(using(name, () => Effect.void))
              expect(second).toMatchObject({ _tag: "LedgerInUse" })
            }
          }).pipe(Effect.provide(NodeContext.layer)))
        yield* using(`${path}.link`, () => Effect.void)
      })
    ))

  it.effect("a copy leaves the file as it is, byte for byte", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* using(path, (ledger) => Effect.zipRight(receive(ledger, row("A", 4), bad("B", "is odd", 7)), settle(ledger, "A")))
        const before = yield* files.readFile(path)
        yield* Effect.gen(function*() {
          const copy = yield* Ledger
          expect(yield* collect(copy.rowIssues)).toHaveLength(1)
          yield* receive(copy, row("A", 0), row("C", 1))
          expect(yield* queueOf(copy)).toMatchObject([{ productId: "A", priority: "soldOut", from: 4 }, { productId: "C" }])
        }).pipe(Effect.provide(LedgerSqlite.layerTemporaryCopy(path, options)))
        expect(Buffer.compare(yield* files.readFile(path), before)).toBe(0)
      })
    ))

  it.effect("a copy of no ledger begins empty and makes no file", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* Effect.gen(function*() {
          const copy = yield* Ledger
          yield* receive(copy, row("C", 1))
          expect(yield* queueOf(copy)).toMatchObject([{ productId: "C" }])
        }).pipe(Effect.provide(LedgerSqlite.layerTemporaryCopy(path, options)))
        expect(yield* (yield* FileSystem.FileSystem).exists(path)).toBe(false)
      })
    ))
})

/** The texts of the statements of an effect. */
const statementsOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const texts: Array<string> = []
    yield* Statement.withTransformer(effect, (statement) =>
      Effect.sync(() => {
        texts.push(statement.compile()[0])
        return statement
      }))
    return texts
  })

describe("the statements", () => {
  const rows = Array.from({ length: 100 }, (_, index) => row(`P${index}`, index))

  it.effect("are few for a snapshot without changes, from opening to closing", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const used = using(path, (ledger) => Effect.zipRight(receive(ledger, ...rows), ledger.counts))
        const first = yield* statementsOf(used)
        const second = yield* statementsOf(used)
        expect(second.length).toBeLessThan(first.length)
        // A millisecond of CPU each in a program that has just started.
        expect(second.length).toBeLessThanOrEqual(20)
        const creates = (text: string) => text.startsWith("CREATE TABLE") || text.includes("INSERT INTO product")
        expect([first.some(creates), second.some(creates)]).toEqual([true, false])
      })
    ))

  // Without it, 12,000 products that all change again within a day take ten times as long, and 100,000 some minutes.
  it.effect("index the changed products of a staged snapshot before they are measured", () =>
    Effect.gen(function*() {
      const place = yield* freshStagingFile
      const texts = yield* statementsOf(using(place, (ledger) => receive(ledger, ...rows)))
      const index = texts.indexOf("CREATE INDEX changed_id ON changed (id)")
      expect(index).toBeGreaterThan(texts.findIndex((text) => text.startsWith("CREATE TEMP TABLE changed")))
      expect(texts.findIndex((text) => text.includes("AS counted"))).toBeGreaterThan(index)
    }).pipe(Effect.scoped))

  it.effect("are synced to the disk from the first product on that is sent", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const texts = yield* statementsOf(using(path, (ledger) => Effect.zipRight(receive(ledger, row("A", 4)), settle(ledger, "A"))))
        const synced = texts.indexOf("PRAGMA synchronous = FULL")
        expect(texts.indexOf("PRAGMA synchronous = NORMAL")).toBeLessThan(synced)
        expect(texts.findIndex((text) => text.includes("SET state = 'sending'"))).toBe(synced + 1)
        expect(texts.findIndex((text) => text.includes("SET confirmed ="))).toBeGreaterThan(synced)
        expect(texts.lastIndexOf("PRAGMA synchronous = NORMAL")).toBeLessThan(synced)
      })
    ))
})

describe("a worker", () => {
  for (
    const [what, change] of [
      ["was removed", (files, path) => files.remove(path)],
      ["was replaced", (files, path) => Effect.zipRight(files.copyFile(path, `${path}.new`), files.rename(`${path}.new`, path))],
      ["has lost its lock file", (files, path) => files.remove(`${path}.lock`)]
    ] as ReadonlyArray<readonly [string, (files: FileSystem.FileSystem, path: string) => Effect.Effect<void, unknown>]>
  ) {
    it.effect(`notices within a second that its file ${what}`, () =>
      inFolder((path) =>
        Effect.flatMap(FileSystem.FileSystem, (files) =>
          using(path, (ledger) =>
            Effect.gen(function*() {
              yield* receive(ledger, row("A", 1))
              yield* ledger.check
              yield* change(files, path)
              // It does not look at the files for every request.
              yield* ledger.check
              yield* TestClock.adjust("1 second")
              for (const _ of [1, 2]) {
                expect((yield* Effect.flip(ledger.check)).message).toContain("or its lock file was removed or replaced while it was in use")
              }
            })))
      ))
  }
})

describe("unusable files", () => {
  const openers = { work: LedgerSqlite.layer, look: LedgerSqlite.layerReadOnly, copy: LedgerSqlite.layerTemporaryCopy }
  const refusedBy = (path: string, how: keyof typeof openers) =>
    Effect.gen(function*() {
      const built = yield* Effect.either(Effect.scoped(Layer.build(openers[how](path, options))))
      if (Either.isRight(built)) throw new Error(`${path} was taken to ${how}`)
      expect(built.left).toMatchObject({ _tag: "LedgerFault" })
      expect(built.left.message).toContain(path)
      return built.left.message
    })

  it.effect("says which folder is missing", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        expect(yield* refusedBy(`${path}/none/x.sqlite`, "work")).toContain(`the folder "${path}/none" is not there`)
        yield* (yield* FileSystem.FileSystem).writeFileString(path, "x")
        expect(yield* refusedBy(`${path}/x.sqlite`, "work")).toContain("is no folder")
      })
    ))

  it.effect("says that the path is a folder", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* (yield* FileSystem.FileSystem).makeDirectory(path)
        for (const how of ["work", "look", "copy"] as const) expect(yield* refusedBy(path, how)).toContain("is a folder")
      })
    ))

  it.effect("says that the ledger does not exist yet", () =>
    inFolder((path) => Effect.map(refusedBy(path, "look"), (message) => expect(message).toContain("once"))))

  it.effect("refuses another kind of file and leaves it as it is", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const text = "productId,stock\n".repeat(100)
        yield* files.writeFileString(path, text)
        for (const how of ["work", "look", "copy"] as const) expect(yield* refusedBy(path, how)).toContain("is not a ledger")
        expect(yield* files.readFileString(path)).toBe(text)
      })
    ))

  it.effect("refuses the database of another program, and one of another version", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const other = new DatabaseSync(path)
        other.exec("CREATE TABLE mine (x)")
        other.close()
        for (const how of ["work", "look", "copy"] as const) expect(yield* refusedBy(path, how)).toContain("another program")
        const later = `${path}.later`
        yield* using(later, () => Effect.void)
        const changed = new DatabaseSync(later)
        changed.exec("INSERT INTO ledger_migrations (migration_id, name) VALUES (99, 'later')")
        changed.close()
        for (const how of ["work", "look", "copy"] as const) expect(yield* refusedBy(later, how)).toContain("another version")
      })
    ))

  it.effect("says that a damaged file is damaged", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* using(path,
          (ledger) => ledger.applySnapshot(intake(Stream.range(1, 3000).pipe(Stream.map((n) => row(`P${n}`, n, n + 1)))), policy))
        const bytes = yield* files.readFile(path)
        yield* files.writeFile(path, bytes.fill(0x5a, 4096))
        const error = yield* Effect.flip(using(path, (ledger) => receive(ledger, row("A", 1))))
        expect(error._tag).toBe("LedgerFault")
        expect(error.message).toContain("is damaged")
      })
    ))

  it.effect("creates the ledger in an empty file, which a crash at the first start leaves", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* (yield* FileSystem.FileSystem).writeFileString(path, "")
        yield* using(path, (ledger) => receive(ledger, row("A", 1)))
      })
    ))
})

describe("statements around a request", () => {
  it.effect("find their rows by an index, whatever the size of the ledger", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, () => Effect.void)
        yield* Effect.gen(function*() {
          const connection = yield* (yield* SqliteClient.make({ filename: path, disableWAL: true })).reserve
          const statements = new Map<string, ReadonlyArray<unknown>>()
          const recorded: Connection = {
            ...connection,
            execute: (statement, params, transform) => {
              statements.set(statement, params)
              return connection.execute(statement, params, transform)
            }
          }
          const sql = yield* SqlClient.make({
            acquirer: Effect.succeed(recorded),
            compiler: Statement.makeCompilerSqlite(),
            spanAttributes: []
          })
          const ledger = LedgerSql.make(LedgerConnection.make(sql, path, faultOf(path)), options)
          const products = Array.from({ length: 30 }, (_, index) => row(`P${index}`, index))
          yield* receive(ledger, ...products)
          statements.clear()
          const confirmedBefore = Option.some(utc(1))
          const quarantined = yield* ledger.take({ _tag: "Due", confirmedBefore })
          if (Option.isSome(quarantined)) yield* fail(ledger, quarantined.value, "quarantined", { retryIn: Duration.hours(1) })
          for (let index = 0; index < 20; index++) {
            const taken = yield* ledger.take({ _tag: "Due", confirmedBefore })
            if (Option.isSome(taken)) yield* fail(ledger, taken.value, "doubtful", { retryIn: Duration.minutes(1) })
          }
          const taken = yield* ledger.take({ _tag: "HalfOpen", except: [] })
          if (Option.isSome(taken)) yield* ledger.confirm(taken.value)
          yield* ledger.backlog
          yield* ledger.nextDue(Option.none())
          yield* ledger.requests
          yield* ledger.countRequest(Effect.void)
          for (const stream of [ledger.queue, ledger.unsettled, ledger.quarantined, ledger.all])
            yield* Stream.runDrain<unknown, LedgerFault, never>(stream)
          yield* ledger.retryNow
          yield* ledger.release(Option.none())
          yield* ledger.clockChanged(5_000)
          yield* ledger.observe([{ productId: id("P1"), stock: 1 }], utc(0), true)
          const asked = [...statements].filter(([statement]) => !/^\s*(BEGIN|COMMIT|PRAGMA)/.test(statement))
          expect(asked.length).toBeGreaterThan(25)
          for (const [statement, params] of asked) {
            const plan = yield* connection.execute(`EXPLAIN QUERY PLAN ${statement}`, params, undefined)
            const scans = JSON.stringify(plan).match(/SCAN (product|history)\b(?!"| USING[^"]*INDEX)|SCAN (product|history)"/g) ?? []
            expect({ statement, scans }).toEqual({ statement, scans: [] })
          }
        }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
      })
    ))
})

describe("a file that can't be written for a while", () => {
  const snapshot = (products: number) => intake(Stream.range(1, products).pipe(Stream.map((n) => row(`P${n}`, n, n + 1))))

  it.effect("says that the disk is full, keeps its content, and works again when there is room", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) => Effect.zipRight(ledger.applySnapshot(snapshot(2_000), policy), settle(ledger, "P7")))
        yield* Effect.gen(function*() {
          const sql = yield* SqliteClient.make({ filename: path })
          const ledger = LedgerSql.make(LedgerConnection.make(sql, path, faultOf(path)), options)
          const [pages] = yield* sql<{ page_count: number }>`PRAGMA page_count`
          yield* sql`PRAGMA max_page_count = ${sql.literal(String((pages?.page_count ?? 0) + 2))}`
          const full = yield* Effect.flip(ledger.applySnapshot(snapshot(20_000), policy))
          expect(full).toMatchObject({ _tag: "LedgerFault" })
          expect(full.message).toContain("the disk is full")
        }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            expect(yield* ledger.counts).toMatchObject({ settled: 1, pending: 1_999 })
            expect(yield* ledger.applySnapshot(snapshot(20_000), policy)).toMatchObject({ changed: 18_000 })
            expect(yield* ledger.counts).toMatchObject({ settled: 1, pending: 19_999 })
          }))
      })
    ))

  it.effect("says that another program writes it, and works again after that", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) => receive(ledger, row("A", 1)))
        const other = new DatabaseSync(path)
        other.exec("BEGIN IMMEDIATE")
        for (
          const write of [
            (ledger: Ledger["Type"]) => Effect.asVoid(take(ledger)),
            (ledger: Ledger["Type"]) => Effect.asVoid(receive(ledger, row("A", 2)))
          ]
        ) {
          yield* Effect.gen(function*() {
            const sql = yield* SqliteClient.make({ filename: path })
            yield* sql`PRAGMA busy_timeout = 0`
            const refused = yield* Effect.flip(write(LedgerSql.make(LedgerConnection.make(sql, path, faultOf(path)), options)))
            expect(refused.message).toContain("is being written by another program")
          }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
        }
        other.exec("ROLLBACK")
        other.close()
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 2))
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "A", to: 2 }])
          }))
      })
    ))

  it.effect("is waited for once: later operations fail at once until the ledger is opened again", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) => receive(ledger, row("A", 1)))
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            const other = new DatabaseSync(path)
            other.exec("BEGIN IMMEDIATE")
            const first = yield* Effect.flip(take(ledger))
            other.exec("ROLLBACK")
            other.close()
            expect(yield* Effect.flip(take(ledger))).toBe(first)
            expect(yield* Effect.flip(ledger.counts)).toBe(first)
          }))
        yield* using(path, (ledger) => settle(ledger, "A"))
      })
    ))

  it.effect("is also reported if the commit fails", () =>
    Effect.gen(function*() {
      const failed = new SqlError({ cause: Object.assign(new Error("database or disk is full"), { errcode: 13 }) })
      const sql = yield* SqliteClient.make({ filename: ":memory:" })
      const { run } = LedgerConnection.make(sql, "a.sqlite", faultOf("a.sqlite"))
      expect((yield* Effect.flip(run(Effect.die(failed)))).message).toContain("the disk is full")
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer)))
})
