/**
 * The memory in SQLite files: the laws of every ledger, whom a file lets in, what becomes of older ones, and what is said of one that
 * can't be used.
 */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Effect, Either, Layer, Stream } from "effect"
import { Ledger } from "../src/Ledger.js"
import * as LedgerSqlite from "../src/Ledger/Sqlite.js"
import { brake } from "./support/ledger/brake.js"
import { sends } from "./support/ledger/sends.js"
import { snapshots } from "./support/ledger/snapshots.js"
import { bad, collect, planOf, receive, row, settle, using } from "./support/ledger/using.js"
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
