/**
 * The memory in SQLite files: the laws of every ledger, whom a file lets in, what becomes of older ones, and what is said of one that
 * can't be used.
 */
import { FileSystem, Path } from "@effect/platform"
import { Reactivity } from "@effect/experimental"
import { NodeContext } from "@effect/platform-node"
import { SqlError } from "@effect/sql/SqlError"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { describe, expect, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Effect, Either, Layer, Option, Stream } from "effect"
import { Ledger, type LedgerFault, type SnapshotHeld } from "../src/Ledger.js"
import * as Access from "../src/Ledger/Access.js"
import * as LedgerSqlite from "../src/Ledger/Sqlite.js"
import * as Statements from "../src/Ledger/Statements.js"
import { faultOf } from "../src/Ledger/Trouble.js"
import { brake } from "./support/ledger/brake.js"
import { sends } from "./support/ledger/sends.js"
import { snapshots } from "./support/ledger/snapshots.js"
import { bad, collect, id, planOf, receive, row, settle, using } from "./support/ledger/using.js"
import { users } from "./support/ledger/users.js"
import { ledgerPath, terms } from "./support/world.js"

snapshots(ledgerPath, 20)
sends(ledgerPath)
brake(ledgerPath)
users(ledgerPath)

/** A folder of its own, gone at the end of the test. */
const inFolder = <A, E, R>(test: (path: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped()
    return yield* test((yield* Path.Path).join(folder, "ledger.sqlite"))
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

describe("who may use a file", () => {
  it.effect("a second user is turned away under any name of the file", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* using(path, () => Effect.void)
        yield* files.symlink(path, `${path}.link`)
        yield* using(path, () =>
          Effect.gen(function*() {
            for (const name of [path, `${path}.link`]) {
              const second = yield* Effect.flip(using(name, () => Effect.void))
              expect(second).toMatchObject({ _tag: "LedgerInUse", exitCode: 2 })
            }
          }).pipe(Effect.provide(NodeContext.layer)))
        yield* using(`${path}.link`, () => Effect.void)
      })))

  it.effect("a copy leaves the file as it is, byte for byte", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* using(path, (ledger) => Effect.zipRight(receive(ledger, row("A", 4), bad("B", "is odd", 7)), settle(ledger, "A")))
        const before = yield* files.readFile(path)
        yield* Effect.gen(function*() {
          const copy = yield* Ledger
          expect(yield* collect(copy.setAside)).toHaveLength(1)
          yield* receive(copy, row("A", 0), row("C", 1))
          expect(yield* planOf(copy)).toMatchObject([{ productId: "A", reason: "soldOut", from: 4 }, { productId: "C" }])
          yield* settle(copy, "C")
        }).pipe(Effect.provide(LedgerSqlite.layerCopy(path)))
        expect(Buffer.compare(yield* files.readFile(path), before)).toBe(0)
      })))

  it.effect("a copy of no ledger begins empty and makes no file", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* Effect.gen(function*() {
          const copy = yield* Ledger
          yield* receive(copy, row("C", 1))
          expect(yield* planOf(copy)).toMatchObject([{ productId: "C" }])
        }).pipe(Effect.provide(LedgerSqlite.layerCopy(path)))
        expect(yield* (yield* FileSystem.FileSystem).exists(path)).toBe(false)
      })))
})

describe("files it can't use", () => {
  const openers = { work: LedgerSqlite.layer, look: LedgerSqlite.layerReader, copy: LedgerSqlite.layerCopy }
  const refusedBy = (path: string, how: keyof typeof openers) =>
    Effect.gen(function*() {
      const built = yield* Effect.either(Effect.scoped(Layer.build(openers[how](path))))
      if (Either.isRight(built)) throw new Error(`${path} was taken to ${how}`)
      expect(built.left).toMatchObject({ _tag: "LedgerFault", exitCode: 2 })
      expect(built.left.message).toContain(path)
      return built.left.message
    })

  it.effect("says which folder is missing", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        expect(yield* refusedBy(`${path}/none/x.sqlite`, "work")).toContain(`the folder "${path}/none" is not there`)
        yield* (yield* FileSystem.FileSystem).writeFileString(path, "x")
        expect(yield* refusedBy(`${path}/x.sqlite`, "work")).toContain("is no folder")
      })))

  it.effect("says that a folder is one", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* (yield* FileSystem.FileSystem).makeDirectory(path)
        for (const how of ["work", "look", "copy"] as const) expect(yield* refusedBy(path, how)).toContain("is a folder")
      })))

  it.effect("says that there is nothing to look at yet", () =>
    inFolder((path) => Effect.map(refusedBy(path, "look"), (message) => expect(message).toContain("once"))))

  it.effect("refuses another kind of file and leaves it as it is", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const text = "productId,stock\n".repeat(100)
        yield* files.writeFileString(path, text)
        for (const how of ["work", "look", "copy"] as const) expect(yield* refusedBy(path, how)).toContain("is not a ledger")
        expect(yield* files.readFileString(path)).toBe(text)
      })))

  it.effect("refuses the database of another program, and one of a later version", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const other = new Sqlite(path)
        other.exec("CREATE TABLE mine (x)")
        other.close()
        for (const how of ["work", "look", "copy"] as const) expect(yield* refusedBy(path, how)).toContain("another program")
        const later = `${path}.later`
        yield* using(later, () => Effect.void)
        const changed = new Sqlite(later)
        changed.exec("PRAGMA user_version = 99")
        changed.close()
        for (const how of ["work", "look", "copy"] as const) expect(yield* refusedBy(later, how)).toContain("later version")
      })))

  it.effect("says that a damaged file is damaged", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* using(path, (ledger) => ledger.receive(Stream.range(1, 3000).pipe(Stream.map((n) => row(`P${n}`, n, n + 1))), terms))
        const bytes = yield* files.readFile(path)
        yield* files.writeFile(path, bytes.fill(0x5a, 4096))
        const error = yield* Effect.flip(using(path, (ledger) => receive(ledger, row("A", 1))))
        expect(error._tag).toBe("LedgerFault")
        expect(error.message).toContain("is damaged")
      })))

  it.effect("begins anew in a file of no bytes, as a crash at the first start leaves it", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* (yield* FileSystem.FileSystem).writeFileString(path, "")
        yield* using(path, (ledger) => receive(ledger, row("A", 1)))
      })))
})

describe("a file of the first version", () => {
  // As that version made it.
  const first = `
    CREATE TABLE account (one INTEGER PRIMARY KEY CHECK (one = 1), base_url TEXT NOT NULL, account_id TEXT NOT NULL) STRICT;
    CREATE TABLE product (
      id TEXT PRIMARY KEY NOT NULL, wanted INTEGER NOT NULL, confirmed INTEGER, confirmed_at INTEGER, sent INTEGER, doubt INTEGER,
      attempts INTEGER NOT NULL, state TEXT NOT NULL CHECK (state IN ('settled', 'pending', 'sending', 'doubtful', 'quarantined')),
      refusal_tag TEXT, refusal_code TEXT, refusal_message TEXT, refused INTEGER,
      line INTEGER NOT NULL, snapshot INTEGER NOT NULL, updated_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE set_aside (line INTEGER NOT NULL, product_id TEXT, reason TEXT NOT NULL) STRICT;
    CREATE TABLE snapshot (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, taken_at INTEGER) STRICT;
    CREATE INDEX product_unsettled ON product (id) WHERE state <> 'settled';
    PRAGMA application_id = ${0x504c5a53};
    PRAGMA user_version = 1;
    INSERT INTO snapshot VALUES (1, 7, 500);
    INSERT INTO account VALUES (1, 'https://one.example/open/v1', '1001');
    INSERT INTO set_aside VALUES (9, 'X', 'is odd');
    INSERT INTO product VALUES
      ('A', 4, 4, 100, 4, NULL, 0, 'settled', NULL, NULL, NULL, NULL, 2, 7, 100),
      ('B', 0, 3, 100, NULL, NULL, 0, 'pending', NULL, NULL, NULL, NULL, 3, 7, 200),
      ('C', 5, 2, 100, 5, NULL, 1, 'sending', NULL, NULL, NULL, NULL, 4, 7, 300),
      ('D', 9, NULL, NULL, 9, NULL, 1, 'quarantined', 'NotFound', 'NOT_FOUND', 'no', 9, 5, 7, 300),
      ('E', 1, NULL, NULL, NULL, NULL, 0, 'pending', NULL, NULL, NULL, NULL, 6, 3, 50);`

  it.effect("is brought up to date by the one who works with it, and nothing it knew is lost; looking at it asks for that", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        const old = new Sqlite(path)
        old.exec(first)
        old.close()
        for (const how of ["layerReader", "layerBeside", "layerCopy"] as const) {
          expect((yield* Effect.flip(using(path, () => Effect.void, how))).message).toContain("`plaza-stock-sync once` brings it up to date")
        }
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            expect(Option.getOrThrow(yield* ledger.account)).toEqual({ baseUrl: "https://one.example/open/v1", id: "1001" })
            expect(yield* ledger.takenAt).toEqual(Option.some(500))
            expect(yield* collect(ledger.setAside)).toEqual([{ line: 9, productId: "X", reason: "is odd" }])
            expect(yield* ledger.counts).toEqual({ settled: 1, pending: 1, sending: 0, doubtful: 1, quarantined: 1, setAside: 1 })
            expect((yield* collect(ledger.open)).map((entry) => entry.productId)).toEqual(["B", "C", "D", "E"])
            expect(yield* ledger.backlog).toMatchObject({
              waiting: { soldOut: 1, doubtful: 1, rest: 0 },
              oldest: Option.some({ productId: "B", since: 200 }),
              oldestConfirmation: Option.some(100)
            })
          }))
        yield* using(path, () => Effect.void, "layerReader")
      })))
})

describe("a file that can't be written for a while", () => {
  const snapshot = (products: number) => Stream.range(1, products).pipe(Stream.map((n) => row(`P${n}`, n, n + 1)))

  it.effect("says that the disk is full, keeps what it has, and goes on when there is room", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) => Effect.zipRight(ledger.receive(snapshot(2_000), terms), settle(ledger, "P7")))
        yield* Effect.gen(function*() {
          const sql = yield* SqliteClient.make({ filename: path })
          const ledger = Statements.make(Access.make(sql, path, faultOf(path)))
          const [pages] = yield* sql<{ page_count: number }>`PRAGMA page_count`
          yield* sql`PRAGMA max_page_count = ${sql.literal(String((pages?.page_count ?? 0) + 2))}`
          const full = yield* Effect.flip(ledger.receive(snapshot(20_000), terms))
          expect(full).toMatchObject({ _tag: "LedgerFault", exitCode: 2 })
          expect(full.message).toContain("the disk is full")
        }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            expect(yield* ledger.counts).toMatchObject({ settled: 1, pending: 1_999 })
            expect(yield* ledger.receive(snapshot(20_000), terms)).toMatchObject({ changed: 18_000 })
            expect(yield* ledger.counts).toMatchObject({ settled: 1, pending: 19_999 })
          }))
      })))

  it.effect("says that another program writes it, and goes on when that has ended", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) => receive(ledger, row("A", 1)))
        const other = new Sqlite(path)
        other.exec("BEGIN IMMEDIATE")
        for (const write of [(ledger: Ledger["Type"]) => ledger.begin(id("A")), (ledger: Ledger["Type"]) => receive(ledger, row("A", 2))]) {
          yield* Effect.gen(function*() {
            const sql = yield* SqliteClient.make({ filename: path })
            yield* sql`PRAGMA busy_timeout = 0`
            const refused = yield* Effect.flip(Effect.asVoid<unknown, LedgerFault | SnapshotHeld, never>(write(Statements.make(Access.make(sql, path, faultOf(path))))))
            expect(refused.message).toContain("is being written by another program")
          }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
        }
        other.exec("ROLLBACK")
        other.close()
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 2))
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "A", to: 2 }])
          }))
      })))

  it.effect("is waited for once: from then on it fails at once, until it is opened anew", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) => receive(ledger, row("A", 1)))
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            const other = new Sqlite(path)
            other.exec("BEGIN IMMEDIATE")
            const first = yield* Effect.flip(ledger.begin(id("A")))
            other.exec("ROLLBACK")
            other.close()
            expect(yield* Effect.flip(ledger.begin(id("A")))).toBe(first)
            expect(yield* Effect.flip(ledger.counts)).toBe(first)
          }))
        yield* using(path, (ledger) => settle(ledger, "A"))
      })))

  it.effect("says so where it is noticed at the commit, too", () =>
    Effect.gen(function*() {
      const failed = new SqlError({ cause: Object.assign(new Error("database or disk is full"), { rawCode: 13 }) })
      const sql = yield* SqliteClient.make({ filename: ":memory:" })
      const { run } = Access.make(sql, "a.sqlite", faultOf("a.sqlite"))
      expect((yield* Effect.flip(run(Effect.die(failed)))).message).toContain("the disk is full")
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer)))
})
