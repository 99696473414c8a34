/** Ledgers in SQLite files: who may use a file, what the statements cost, and messages about files that can't be used. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import * as Sqlite from "@plaza/client/sqlite"
import { Duration, Effect, Exit, Fiber, FileSystem, Layer, Option, Path, Stream } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, SqlError, Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import { DatabaseSync } from "node:sqlite"
import * as AccountLedger from "../src/ledger/AccountLedger.ts"
import * as Faults from "../src/ledger/database/Faults.ts"
import type { Ledger } from "../src/ledger/Ledger.ts"
import type { LedgerFault } from "../src/ledger/LedgerError.ts"
import * as Open from "../src/ledger/Open.ts"
import { newFile } from "./support/ledger/newLedger.ts"
import {
  bad,
  collect,
  fail,
  id,
  intake,
  options,
  policy,
  queueOf,
  receive,
  row,
  settle,
  take,
  using as usingPlace
} from "./support/ledger/using.ts"
import { containing } from "./support/reading.ts"
import { utc } from "./support/utc.ts"

/** A folder of its own, gone at the end of the test. */
const inFolder = <A, E, R>(test: (path: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped()
    return yield* test((yield* Path.Path).join(folder, "ledger.sqlite"))
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const using = <A, E, R>(
  path: string,
  use: (ledger: Ledger["Service"]) => Effect.Effect<A, E, R>,
  access: Parameters<typeof usingPlace>[2] = "owner"
) => usingPlace({ kind: newFile, name: path }, use, access)

const ledgerOn = (path: string, sql: SqlClient.SqlClient) =>
  AccountLedger.make(
    { sql, path, faultOf: Faults.ofFile(path) },
    { account: AccountLedger.single, epoch: undefined },
    options
  )

/** The ledger in a file through another client of its database. */
const through = <A, E, R>(path: string, use: (ledger: Ledger["Service"], sql: SqlClient.SqlClient) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const sql = yield* Sqlite.make({ filename: path, disableWAL: true })
    return yield* use(ledgerOn(path, sql), sql)
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

describe("who may use a file", () => {
  it.effect("a second process is rejected under any name of the file", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* using(path, () => Effect.void)
        yield* files.symlink(path, `${path}.link`)
        yield* using(path, () =>
          Effect.gen(function*() {
            for (const name of [path, `${path}.link`])
              expect(yield* Effect.flip(using(name, () => Effect.void))).toMatchObject({ _tag: "LedgerInUse" })
          }))
        yield* using(`${path}.link`, () => Effect.void)
      })
    ))

  it.effect("a copy leaves the file as it is, byte for byte", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* using(path, (ledger) => Effect.andThen(receive(ledger, row("A", 4), bad("B", "is odd", 7)), settle(ledger, "A")))
        const before = yield* files.readFile(path)
        yield* using(path, (copy) =>
          Effect.gen(function*() {
            expect(yield* collect(copy.rowIssues)).toHaveLength(1)
            yield* receive(copy, row("A", 0), row("C", 1))
            expect(yield* queueOf(copy)).toMatchObject([{ productId: "A", priority: "soldOut", from: 4 }, { productId: "C" }])
          }), "copy")
        expect(Buffer.compare(yield* files.readFile(path), before)).toBe(0)
      })
    ))

  it.effect("a copy of no ledger begins empty and makes no file", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (copy) =>
          Effect.gen(function*() {
            yield* receive(copy, row("C", 1))
            expect(yield* queueOf(copy)).toMatchObject([{ productId: "C" }])
          }), "copy")
        expect(yield* (yield* FileSystem.FileSystem).exists(path)).toBe(false)
      })
    ))

  it.effect("the file alone, copied while no worker runs, is the whole ledger", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) => Effect.andThen(receive(ledger, row("A", 4)), settle(ledger, "A")))
        yield* (yield* FileSystem.FileSystem).copyFile(path, `${path}.copy`)
        yield* using(`${path}.copy`, (ledger) =>
          Effect.map(collect(ledger.all), (all) => expect(all).toMatchObject([{ productId: "A", confirmed: 4, state: "settled" }])))
      })
    ))
})

/** The texts of the statements of an effect. */
const statementsOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const texts: Array<string> = []
    yield* Effect.provideService(effect, Statement.CurrentTransformer, (statement) =>
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
        const used = using(path, (ledger) => Effect.andThen(receive(ledger, ...rows), ledger.counts))
        const first = yield* statementsOf(used)
        const second = yield* statementsOf(used)
        // A millisecond of CPU each in a program that has just started.
        expect(second.length).toBeLessThanOrEqual(15)
        const creates = (text: string) => text.startsWith("CREATE TABLE") || text.includes("INSERT INTO product")
        expect([first.some(creates), second.some(creates)]).toEqual([true, false])
      })
    ))

  it.effect("are synced to the disk when they are committed", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const texts = yield* statementsOf(using(path, (ledger) => Effect.andThen(receive(ledger, row("A", 4)), settle(ledger, "A"))))
        expect(texts.some((text) => text.includes("SET state = 'sending'"))).toBe(true)
        expect(texts.filter((text) => text.includes("synchronous"))).toEqual([])
        // FULL, which a client has unless a statement changes it.
        yield* through(path, (_, sql) => Effect.map(sql`PRAGMA synchronous`, (rows) => expect(rows).toEqual([{ synchronous: 2 }])))
      })
    ))

  // Without it, 12,000 products that all change again within a day take ten times as long, and 100,000 some minutes.
  it.effect("that measure a snapshot find the products that change by an index", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) => receive(ledger, ...rows))
        const plans: Array<ReadonlyArray<string>> = []
        yield* through(path, (ledger, sql) =>
          Effect.provideService(receive(ledger, ...rows.map((_, index) => row(`P${index}`, index + 1))), Statement.CurrentTransformer,
            (statement) => {
              const [text, params] = statement.compile()
              if (!text.includes("AS counted")) return Effect.succeed(statement)
              return sql.unsafe<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, params).pipe(
                Effect.map((plan) => {
                  plans.push(plan.map(({ detail }) => detail))
                  return statement
                }),
                Effect.provideService(Statement.CurrentTransformer, undefined),
                Effect.orDie
              )
            }))
        expect(plans).toEqual([expect.arrayContaining(["SEARCH change USING PRIMARY KEY (id=?)"])])
      })
    ))

  it.effect("around a request find their rows by an index, whatever the size of the ledger", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, () => Effect.void)
        const statements = new Map<string, ReadonlyArray<unknown>>()
        yield* through(path, (ledger, sql) =>
          Effect.gen(function*() {
            yield* receive(ledger, ...Array.from({ length: 30 }, (_, index) => row(`P${index}`, index)))
            yield* Effect.gen(function*() {
              const confirmedBefore = Option.some(utc(1))
              const quarantined = yield* ledger.take({ _tag: "Due", confirmedBefore })
              if (Option.isSome(quarantined)) yield* fail(ledger, quarantined.value, "quarantined", { retryIn: Duration.hours(1) })
              for (let index = 0; index < 20; index++) {
                const taken = yield* ledger.take({ _tag: "Due", confirmedBefore, yielding: ["soldOut", "falling"] })
                if (Option.isSome(taken)) yield* fail(ledger, taken.value, "doubtful", { retryIn: Duration.minutes(1) })
              }
              const taken = yield* ledger.take({ _tag: "HalfOpen", except: [] })
              if (Option.isSome(taken)) yield* ledger.confirm(taken.value)
              yield* ledger.take({ _tag: "SoldOut", outcomes: "known" })
              yield* ledger.backlog
              yield* ledger.nextDelayed
              yield* ledger.nextDue(Option.none())
              yield* ledger.requests
              yield* ledger.countRequest(Effect.void)
              for (const stream of [ledger.queue, ledger.unsettled, ledger.quarantined, ledger.uncertain, ledger.all])
                yield* Stream.runDrain<unknown, LedgerFault, never>(stream)
              yield* ledger.retryNow
              yield* ledger.release(Option.none())
              yield* ledger.clockChanged(5_000)
              yield* AccountLedger.recover({ sql, account: AccountLedger.single, epoch: undefined }, options)
              yield* ledger.observe([{ productId: id("P1"), stock: 1 }], utc(0), true)
            }).pipe(Effect.provideService(Statement.CurrentTransformer, (statement) =>
              Effect.sync(() => {
                statements.set(...statement.compile())
                return statement
              })))
            expect(statements.size).toBeGreaterThan(25)
            for (const [statement, params] of statements) {
              const plan = yield* sql.unsafe<{ detail: string }>(`EXPLAIN QUERY PLAN ${statement}`, params)
              // Of a table as a whole, or of the account's part of its key.
              const scans = plan.filter(({ detail }) =>
                /^SCAN (?:product|history|request)\b|^SEARCH product USING PRIMARY KEY \(account=\?\)$/.test(detail)
              )
              expect({ statement, scans }).toEqual({ statement, scans: [] })
            }
          }))
      })
    ))
})

describe("a worker", () => {
  for (
    const [what, change] of [
      ["was removed", (files, path) => files.remove(path)],
      ["was emptied", (files, path) => files.truncate(path, 0)],
      ["was replaced", (files, path) => Effect.andThen(files.copyFile(path, `${path}.2`), files.rename(`${path}.2`, path))],
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
              for (const _ of [1, 2])
                expect((yield* Effect.flip(ledger.check)).message).toContain(
                  "or its lock file was removed, emptied or replaced while it was in use"
                )
            })))
      ))
  }
})

describe("unusable files", () => {
  const openers = { work: Open.layer, look: Open.layerReadOnly, beside: Open.layerBeside, copy: Open.layerCopy }
  const each = ["work", "look", "beside", "copy"] as const
  const refusedBy = (path: string, how: keyof typeof openers) =>
    Effect.gen(function*() {
      const built = yield* Effect.exit(Effect.scoped(Layer.build(openers[how](path, options))))
      if (Exit.isSuccess(built)) throw new Error(`${path} was taken to ${how}`)
      const error = yield* Effect.flip(built)
      expect(error).toMatchObject({ _tag: "LedgerFault" })
      expect(error.message).toContain(path)
      return error.message
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
        for (const how of each) expect(yield* refusedBy(path, how)).toContain("is a folder")
      })
    ))

  it.effect("says that the ledger does not exist yet", () =>
    inFolder((path) => Effect.map(refusedBy(path, "look"), (message) => expect(message).toContain("once"))))

  it.effect("makes the ledger where a link leads to, also if nothing is there yet", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* files.symlink("elsewhere.sqlite", path)
        yield* using(path, (ledger) => receive(ledger, row("A", 1)))
        expect(yield* files.readLink(path)).toBe("elsewhere.sqlite")
        yield* using(path.replace("ledger.sqlite", "elsewhere.sqlite"),
          (ledger) => Effect.map(queueOf(ledger), (queue) => expect(queue).toHaveLength(1)))
      })
    ))

  it.effect("says that an empty file has lost its content, instead of sending every product again", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* (yield* FileSystem.FileSystem).writeFileString(path, "")
        for (const how of each) expect(yield* refusedBy(path, how)).toContain("is empty, so what it held is lost: restore it from a copy")
      })
    ))

  it.effect("begins again after a crash while the ledger was made", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* (yield* FileSystem.FileSystem).writeFileString(`${path}.new`, "half of a ledger")
        yield* using(path, (ledger) => receive(ledger, row("A", 1)))
        expect(yield* (yield* FileSystem.FileSystem).exists(`${path}.new`)).toBe(false)
      })
    ))

  it.effect("refuses another kind of file and leaves it as it is", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const text = "productId,stock\n".repeat(100)
        yield* files.writeFileString(path, text)
        for (const how of each) expect(yield* refusedBy(path, how)).toContain("is not a ledger")
        expect(yield* files.readFileString(path)).toBe(text)
      })
    ))

  it.effect("refuses the database of another program, and one of another version", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const other = new DatabaseSync(path)
        other.exec("CREATE TABLE mine (x)")
        other.close()
        for (const how of each) expect(yield* refusedBy(path, how)).toContain("another program")
        const later = `${path}.later`
        yield* using(later, () => Effect.void)
        const changed = new DatabaseSync(later)
        changed.exec("INSERT INTO ledger_migrations (migration_id, name) VALUES (99, 'later')")
        changed.close()
        for (const how of each) expect(yield* refusedBy(later, how)).toContain("another version")
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
})

describe("a file that can't be written for a while", () => {
  const snapshot = (products: number) => intake(Stream.range(1, products).pipe(Stream.map((n) => row(`P${n}`, n, n + 1))))

  it.effect("says that the disk is full, keeps its content, and works again when there is room", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) => Effect.andThen(ledger.applySnapshot(snapshot(2_000), policy), settle(ledger, "P7")))
        yield* through(path, (ledger, sql) =>
          Effect.gen(function*() {
            const [pages] = yield* sql<{ page_count: number }>`PRAGMA page_count`
            yield* sql`PRAGMA max_page_count = ${sql.literal(String((pages?.page_count ?? 0) + 2))}`
            const full = yield* Effect.flip(ledger.applySnapshot(snapshot(20_000), policy))
            expect(full).toMatchObject({ _tag: "LedgerFault" })
            expect(full.message).toContain("the disk is full")
          }))
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            expect(yield* ledger.counts).toMatchObject({ settled: 1, pending: 1_999 })
            expect(yield* ledger.applySnapshot(snapshot(20_000), policy)).toMatchObject({ changed: 18_000 })
            expect(yield* ledger.counts).toMatchObject({ settled: 1, pending: 19_999 })
          }))
      })
    ))

  it.effect("waits for another program that writes it without stopping anything else, for twenty seconds", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) => receive(ledger, row("A", 1)))
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            const other = new DatabaseSync(path)
            other.exec("BEGIN IMMEDIATE")
            const waiting = yield* Effect.forkChild(take(ledger), { startImmediately: true })
            yield* TestClock.adjust("1 second")
            expect(waiting.pollUnsafe()).toBeUndefined()
            other.exec("ROLLBACK")
            yield* TestClock.adjust("1 second")
            const taken = yield* Fiber.join(waiting)
            expect(taken).toMatchObject({ productId: "A" })
            other.exec("BEGIN IMMEDIATE")
            const late = yield* Effect.forkChild(Effect.flip(ledger.retryNow), { startImmediately: true })
            yield* TestClock.adjust("19 seconds")
            expect(late.pollUnsafe()).toBeUndefined()
            yield* TestClock.adjust("2 seconds")
            expect((yield* Fiber.join(late)).message).toContain("is being written by another program")
            other.close()
          }))
      })
    ))

  it.effect("says that another program writes it, at once for every later operation, and works again after that", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) => receive(ledger, row("A", 1)))
        const other = new DatabaseSync(path)
        for (
          const write of [
            (ledger: Ledger["Service"]) => Effect.asVoid(take(ledger)),
            (ledger: Ledger["Service"]) => Effect.asVoid(receive(ledger, row("A", 2)))
          ]
        ) {
          yield* through(path, (ledger, sql) =>
            Effect.gen(function*() {
              yield* sql`PRAGMA busy_timeout = 0`
              other.exec("BEGIN IMMEDIATE")
              const refused = yield* Effect.flip(write(ledger))
              other.exec("ROLLBACK")
              expect(refused.message).toContain("is being written by another program")
              // It is waited for once, not by each of the fibers that wait.
              expect(yield* Effect.flip(take(ledger))).toBe(refused)
              expect(yield* Effect.flip(ledger.counts)).toBe(refused)
            }))
        }
        other.close()
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 2))
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "A", to: 2 }])
          }))
      })
    ))

  it.effect("is also reported if the commit fails, and nothing of the transaction is kept", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) => receive(ledger, row("A", 1)))
        yield* through(path, (_, client) =>
          Effect.gen(function*() {
            const cause = Object.assign(new Error("database or disk is full"), { errcode: 13 })
            const sql = yield* SqlClient.make({
              acquirer: client.reserve,
              compiler: Statement.makeCompilerSqlite(),
              driver: client.driver,
              spanAttributes: [],
              commit: () => Effect.fail(new SqlError.SqlError({ reason: SqlError.classifySqliteError(cause) }))
            })
            const refused = yield* Effect.flip(receive(ledgerOn(path, sql), row("A", 2)))
            expect(refused).toMatchObject({ _tag: "LedgerFault", message: containing("the disk is full") })
          }))
        yield* using(path, (ledger) => Effect.map(queueOf(ledger), (queue) => expect(queue).toMatchObject([{ productId: "A", to: 1 }])))
      })
    ))
})
