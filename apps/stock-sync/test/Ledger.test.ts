/**
 * The memory on real SQLite files: what it takes over, what it keeps, whom it lets in, and what it says of a file it can't use.
 */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { ProductId } from "@plaza/domain"
import Sqlite from "better-sqlite3"
import { Chunk, Effect, Either, FastCheck, Layer, Option, Stream, TestClock } from "effect"
import type { Refusal } from "../src/Entry.js"
import { Ledger } from "../src/Ledger.js"
import * as LedgerSqlite from "../src/Ledger/Sqlite.js"
import * as Plan from "../src/Plan.js"
import { type Row, SourceRefused } from "../src/Source.js"
import { terms } from "./support/world.js"

const id = (text: string) => ProductId.make(text)
let line = 1
const row = (productId: string, stock: number, at?: number): Row => ({ _tag: "Good", line: at ?? ++line, productId: id(productId), stock })
const bad = (productId: string | undefined, reason: string, at?: number): Row => ({ _tag: "Bad", line: at ?? ++line, productId, reason })
const refusal = (value: number): Refusal => ({ tag: "NotFound", code: "NOT_FOUND", message: "no such product", value })

/** A folder of its own, gone at the end of the test. */
const inFolder = <A, E, R>(test: (path: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped()
    return yield* test((yield* Path.Path).join(folder, "ledger.sqlite"))
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

/** Uses the ledger as one process does, from opening to closing. */
const using = <A, E>(path: string, use: (ledger: Ledger["Type"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(Ledger, use).pipe(Effect.provide(LedgerSqlite.layer(path)))
const receive = (ledger: Ledger["Type"], ...rows: ReadonlyArray<Row>) => ledger.receive(Stream.fromIterable(rows), terms)
const collect = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)
const planOf = (ledger: Ledger["Type"]) => Effect.map(collect(ledger.unsettled), Plan.make)
const settle = (ledger: Ledger["Type"], productId: string) =>
  Effect.flatMap(ledger.begin(id(productId)), (value) => ledger.confirm(id(productId), value))
const stateOf = (ledger: Ledger["Type"], productId: string) =>
  Effect.map(collect(ledger.open), (open) => open.find((entry) => entry.productId === productId)?.state ?? "settled")

describe("snapshots", () => {
  it.effect("what was confirmed is known after the file is opened again, and only what differs is to be sent", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("007", 3))
            expect((yield* planOf(ledger)).map((step) => step.productId)).toEqual(["007", "A", "B"])
            yield* Effect.forEach(["A", "B", "007"], (each) => settle(ledger, each))
          }))
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 0), row("7", 1), row("007", 3))
            expect(yield* planOf(ledger)).toEqual([
              { productId: "B", reason: "soldOut", from: 2, to: 0 },
              { productId: "7", reason: "unconfirmed", from: undefined, to: 1 }
            ])
            expect(yield* ledger.counts).toMatchObject({ settled: 2, pending: 2, setAside: 0 })
          }))
      })))

  it.effect("a snapshot that fails halfway changes nothing", () =>
    inFolder((path) =>
      using(path, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, row("A", 1), bad("X", "is odd", 3))
          const refused = new SourceRefused({ source: "x", line: 9, message: "broken" })
          const many = Stream.range(1, 2000).pipe(Stream.map((n) => row(`P${n}`, n)))
          const failed = yield* Effect.flip(ledger.receive(Stream.concat(many, Stream.fail(refused)), terms))
          expect(failed).toBe(refused)
          expect(yield* planOf(ledger)).toEqual([{ productId: "A", reason: "unconfirmed", from: undefined, to: 1 }])
          expect(yield* collect(ledger.setAside)).toEqual([{ line: 3, productId: "X", reason: "is odd" }])
          yield* receive(ledger, row("A", 2))
          expect(yield* ledger.counts).toMatchObject({ pending: 1, setAside: 0 })
        }))))

  it.effect("a product that stands twice is refused with all its lines, also where one of them is bad, and keeps what was wanted", () =>
    inFolder((path) =>
      using(path, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, row("A", 5), row("B", 5))
          yield* Effect.forEach(["A", "B"], (each) => settle(ledger, each))
          yield* receive(ledger, row("A", 0, 2), row("C", 1, 3), row("A", 7, 4), bad("B", "stock is empty", 5), row("B", 0, 6))
          expect(yield* planOf(ledger)).toMatchObject([{ productId: "C" }])
          expect(yield* collect(ledger.setAside)).toEqual([
            { line: 2, productId: "A", reason: "the product stands on 2 lines (2, 4): keep one of them" },
            { line: 4, productId: "A", reason: "the product stands on 2 lines (2, 4): keep one of them" },
            { line: 5, productId: "B", reason: "stock is empty; the product stands on 2 lines (5, 6): keep one of them" },
            { line: 6, productId: "B", reason: "the product stands on 2 lines (5, 6): keep one of them" }
          ])
          expect(yield* stateOf(ledger, "A")).toBe("settled")
        }))))

  it.effect("a product on many lines names the first of them", () =>
    inFolder((path) =>
      using(path, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, ...Array.from({ length: 40 }, (_, index) => row("A", 1, index + 2)))
          const aside = yield* collect(ledger.setAside)
          expect(aside).toHaveLength(40)
          expect(aside[39]?.reason).toBe("the product stands on 40 lines (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …): keep one of them")
        }))))

  it.effect("a product that is gone from the file is left alone", () =>
    inFolder((path) =>
      using(path, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, row("A", 1), row("B", 2))
          yield* receive(ledger, row("B", 2))
          expect(yield* planOf(ledger)).toMatchObject([{ productId: "B" }])
          expect((yield* collect(ledger.open)).map((entry) => entry.productId)).toEqual(["A", "B"])
        }))))

  it.effect("more products than a page are all there, once", () =>
    inFolder((path) =>
      using(path, (ledger) =>
        Effect.gen(function*() {
          yield* ledger.receive(Stream.range(1, 3500).pipe(Stream.map((n) => row(`P${n}`, n, n + 1))), terms)
          const steps = yield* planOf(ledger)
          expect(new Set(steps.map((step) => step.productId)).size).toBe(3500)
        }))))

  it.effect.prop("ids and stocks come back as they went in", [
    FastCheck.uniqueArray(FastCheck.fullUnicodeString({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 20 }),
    FastCheck.maxSafeNat()
  ], ([ids, stock]) =>
    inFolder((path) =>
      using(path, (ledger) =>
        Effect.gen(function*() {
          const clean = ids.filter((each) => !/\p{Surrogate}/u.test(each))
          yield* receive(ledger, ...clean.map((each) => row(each, stock)))
          const entries = yield* collect(ledger.unsettled)
          expect(new Set(entries.map((entry) => entry.productId))).toEqual(new Set(clean))
          for (const entry of entries) {
            expect(yield* ledger.begin(entry.productId)).toBe(stock)
            yield* ledger.confirm(entry.productId, stock)
          }
          expect(yield* ledger.counts).toMatchObject({ settled: clean.length, pending: 0, sending: 0 })
        }))), { fastCheck: { numRuns: 20 } })
})

describe("what becomes of a send", () => {
  it.effect("a send that a crash cut off is doubtful at the next start, and is sent again", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) => Effect.zipRight(receive(ledger, row("A", 1)), ledger.begin(id("A"))))
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            expect(yield* stateOf(ledger, "A")).toBe("doubtful")
            yield* receive(ledger, row("A", 1))
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "A", reason: "doubtful", to: 1 }])
          }))
      })))

  it.effect("a doubt stays when another value is wanted, and when that value certainly didn't arrive", () =>
    inFolder((path) =>
      using(path, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, row("A", 4))
          yield* settle(ledger, "A")
          yield* receive(ledger, row("A", 9))
          yield* ledger.begin(id("A"))
          yield* ledger.fail(id("A"), "doubtful", refusal(9), false)
          yield* receive(ledger, row("A", 4))
          expect(yield* planOf(ledger)).toMatchObject([{ productId: "A", reason: "falling", to: 4 }])
          yield* ledger.begin(id("A"))
          yield* ledger.fail(id("A"), "pending", refusal(4), false)
          expect(yield* collect(ledger.open)).toMatchObject([{ state: "doubtful", sent: 9, wanted: 4, confirmed: 4 }])
          yield* settle(ledger, "A")
          expect(yield* planOf(ledger)).toEqual([])
        }))))

  it.effect("a refused product is quarantined with its reason until another value is wanted", () =>
    inFolder((path) =>
      using(path, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, row("A", 4))
          yield* ledger.begin(id("A"))
          yield* ledger.fail(id("A"), "quarantined", refusal(4), false)
          yield* receive(ledger, row("A", 4))
          expect(yield* planOf(ledger)).toEqual([])
          expect(yield* collect(ledger.open)).toMatchObject([{ state: "quarantined", refusal: refusal(4), attempts: 1 }])
          yield* receive(ledger, row("A", 5))
          expect(yield* planOf(ledger)).toMatchObject([{ productId: "A", to: 5 }])
          yield* settle(ledger, "A")
          expect(yield* ledger.counts).toMatchObject({ settled: 1, quarantined: 0 })
        }))))

  it.effect("a product that the service doesn't have is sent even if an earlier confirmed value is wanted again", () =>
    inFolder((path) =>
      using(path, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, row("A", 4))
          yield* settle(ledger, "A")
          yield* receive(ledger, row("A", 5))
          yield* ledger.begin(id("A"))
          yield* ledger.fail(id("A"), "quarantined", refusal(5), true)
          yield* receive(ledger, row("A", 4))
          expect(yield* planOf(ledger)).toMatchObject([{ productId: "A", reason: "unconfirmed", to: 4 }])
        }))))

  it.effect("a confirmation says when it came, by the clock", () =>
    inFolder((path) =>
      using(path, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, row("A", 4))
          yield* TestClock.setTime(1_700_000_000_000)
          yield* settle(ledger, "A")
          yield* receive(ledger, row("A", 5))
          expect(yield* collect(ledger.open)).toMatchObject([{ confirmed: 4, confirmedAt: 1_700_000_000_000 }])
        }))))
})

describe("who may use it", () => {
  const account = { baseUrl: "https://one.example/open/v1", id: "1001" }

  it.effect("it belongs to the account of the first pass and to no other, nor to another service", () =>
    inFolder((path) =>
      Effect.gen(function*() {
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            expect(yield* ledger.account).toEqual(Option.none())
            yield* ledger.bind(account)
          }))
        yield* using(path, (ledger) =>
          Effect.gen(function*() {
            yield* ledger.bind(account)
            for (const other of [{ ...account, id: "1002" }, { ...account, baseUrl: "https://two.example/open/v1" }]) {
              const error = yield* Effect.flip(ledger.bind(other))
              expect(error).toMatchObject({ _tag: "OtherAccount", exitCode: 2 })
              expect(error.message).toContain("1001")
              expect(error.message).toContain("--ledger")
            }
          }))
      })))

  it.effect("a second user is turned away while the first works, under any name of the file, and let in afterwards", () =>
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

  it.effect("looking at it is possible beside the one who works, and can't change it", () =>
    inFolder((path) =>
      using(path, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, row("A", 4))
          yield* Effect.gen(function*() {
            const reader = yield* Ledger
            expect(yield* collect(reader.open)).toMatchObject([{ productId: "A", wanted: 4 }])
            expect(yield* Effect.flip(reader.begin(id("A")))).toMatchObject({ _tag: "LedgerFault" })
          }).pipe(Effect.provide(Layer.provide(LedgerSqlite.layerReader(path), NodeContext.layer)))
        }))))

  it.effect("a copy takes everything and leaves the file as it is, byte for byte", () =>
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
