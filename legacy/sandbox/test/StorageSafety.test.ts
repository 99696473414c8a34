/**
 * A data file's files on the disk: a sandbox changes no foreign files, and other users can read none of its own.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import * as SmallDisk from "@plaza-legacy/testing/SmallDisk"
import { Effect, HashMap, Layer, Logger, LogLevel } from "effect"
import Mutable, * as Fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as MediaFiles from "../src/areas/media/MediaFiles.ts"
import * as Database from "../src/storage/Database.ts"
import { call, control, layerInProcess, layerSocket, messageOf, refusal } from "./support.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "plaza-storage-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, force: true }))
)
const refused = (options: Sandbox.Options) => Effect.flip(Effect.scoped(Layer.build(Sandbox.layerHttpClient(options))))
const started = (options: Sandbox.Options) => Effect.scoped(Effect.asVoid(Layer.build(Sandbox.layerHttpClient(options))))
const modeOf = (path: string) => (Fs.statSync(path).mode & 0o777).toString(8)

/** Every file of a folder with its bytes. */
const contents = (path: string) => Fs.readdirSync(path).sort().map((name) => [name, Fs.readFileSync(join(path, name)).toString("base64")])

const upload = () => {
  const form = new FormData()
  form.append("file", new File(["x"], "a.txt", { type: "a/b" }))
  return { form }
}

describe("the folder of uploads", () => {
  const cases: ReadonlyArray<readonly [string, (media: string, elsewhere: string) => void, RegExp]> = [
    ["is a symbolic link", (media, elsewhere) => Fs.symlinkSync(elsewhere, media), /is a symbolic link/],
    ["is a symbolic link that leads nowhere", (media, elsewhere) => Fs.symlinkSync(`${elsewhere}/none`, media), /is a symbolic link/],
    ["holds a file whose name is a number", (media) => {
      Fs.mkdirSync(media)
      Fs.writeFileSync(`${media}/2024`, "somebody's own")
    }, /"2024", which this sandbox did not write/],
    ["holds a folder", (media) => Fs.mkdirSync(`${media}/notes`, { recursive: true }), /"notes", which this sandbox did not write/]
  ]
  for (const [what, make, reason] of cases) {
    it.effect(`is refused with one sentence when it ${what}, and nothing in it is changed`, () =>
      Effect.scoped(Effect.gen(function*() {
        const path = yield* folder
        const [data, elsewhere] = [join(path, "shop.db"), join(path, "elsewhere")]
        Fs.mkdirSync(elsewhere)
        Fs.writeFileSync(join(elsewhere, "000001"), "somebody's own")
        make(`${data}-media`, elsewhere)
        const before = Fs.readdirSync(path, { recursive: true })
        const { message } = yield* refused({ data })
        assert.match(message, reason)
        assert.include(message, `${data}-media`)
        assert.include(message, "name another data file")
        assert.notInclude(message, "\n")
        assert.deepStrictEqual(Fs.readdirSync(path, { recursive: true }), before)
        assert.strictEqual(Fs.readFileSync(join(elsewhere, "000001"), "utf8"), "somebody's own")
      })))
  }

  it.effect("of another data file is refused, and its uploads are not deleted", () =>
    Effect.scoped(Effect.gen(function*() {
      const path = yield* folder
      const data = join(path, "shop.db")
      yield* Effect.provide(call("POST", "/media", upload()), layerInProcess({ data }))
      const kept = contents(`${data}-media`)
      assert.lengthOf(kept, 1)
      Fs.rmSync(data)
      assert.match((yield* refused({ data })).message, /which this sandbox did not write/)
      assert.deepStrictEqual(contents(`${data}-media`), kept)
    })))

  it.effect("that becomes a symbolic link while the sandbox runs loses nothing at the link's target", () =>
    Effect.scoped(Effect.gen(function*() {
      const path = yield* folder
      const data = join(path, "shop.db")
      const elsewhere = join(path, "elsewhere")
      yield* Effect.gen(function*() {
        yield* call("POST", "/media", upload())
        Fs.cpSync(`${data}-media`, elsewhere, { recursive: true })
        Fs.renameSync(`${data}-media`, join(path, "moved"))
        Fs.symlinkSync(elsewhere, `${data}-media`)
        const kept = contents(elsewhere)
        yield* control("POST", "/reset")
        assert.deepStrictEqual(contents(elsewhere), kept)
      }).pipe(Effect.provide(layerInProcess({ data })), Logger.withMinimumLogLevel(LogLevel.None))
    })))
})

describe("an interrupted upload", () => {
  it.effect("deletes nothing at the target of a symbolic link that replaced the folder", () =>
    Effect.scoped(Effect.gen(function*() {
      const path = yield* folder
      const data = join(path, "shop.db")
      const elsewhere = join(path, "elsewhere")
      yield* Effect.gen(function*() {
        const { write } = yield* MediaFiles.MediaFiles
        const givenUp = write((append) =>
          Effect.gen(function*() {
            yield* append(new Uint8Array(1))
            Fs.cpSync(`${data}-media`, elsewhere, { recursive: true })
            Fs.renameSync(`${data}-media`, join(path, "moved"))
            Fs.symlinkSync(elsewhere, `${data}-media`)
            return yield* Effect.fail("given up")
          })
        )
        assert.strictEqual(yield* Effect.flip(givenUp), "given up")
        assert.strictEqual(contents(elsewhere).length, 1)
      }).pipe(Effect.provide(Layer.provide(MediaFiles.layer(data), Database.layer(data))))
    })))
})

describe("a foreign SQLite file", () => {
  for (const mode of ["DELETE", "WAL"]) {
    it.effect(`with journal mode ${mode} is refused and stays unchanged, with nothing created beside it`, () =>
      Effect.scoped(Effect.gen(function*() {
        const path = yield* folder
        const data = join(path, "other.db")
        const other = new DatabaseSync(data)
        other.exec(`PRAGMA journal_mode = ${mode}; CREATE TABLE notes (text); PRAGMA user_version = 2`)
        other.close()
        const before = contents(path)
        assert.match((yield* refused({ data })).message, /is not a data file of a sandbox/)
        assert.deepStrictEqual(contents(path), before)
      })))
  }

  it.effect("that a running program has open is refused, and its write-ahead log stays unchanged", () =>
    Effect.scoped(Effect.gen(function*() {
      const path = yield* folder
      const data = join(path, "other.db")
      const other = yield* Effect.acquireRelease(Effect.sync(() => new DatabaseSync(data)), (open) => Effect.sync(() => open.close()))
      other.exec("PRAGMA journal_mode = WAL; CREATE TABLE notes (text)")
      const before = contents(path)
      assert.match((yield* refused({ data })).message, /is not a data file of a sandbox/)
      assert.deepStrictEqual(contents(path), before)
    })))
})

describe("files and folders of a data file", () => {
  for (const mask of [0o000, 0o022, 0o777]) {
    it.effect(`can be read by their owner alone, with umask ${mask.toString(8)}`, () =>
      Effect.scoped(Effect.gen(function*() {
        const path = yield* folder
        const data = join(path, "shop.db")
        yield* Effect.acquireRelease(Effect.sync(() => process.umask(mask)), (before) => Effect.sync(() => process.umask(before)))
        yield* Effect.gen(function*() {
          assert.strictEqual((yield* call("POST", "/media", upload())).status, 200)
          for (const name of Fs.readdirSync(path)) {
            assert.strictEqual(modeOf(join(path, name)), name.endsWith("-media") ? "700" : "600", name)
          }
          for (const name of Fs.readdirSync(`${data}-media`)) {
            assert.strictEqual(modeOf(join(`${data}-media`, name)), "600", name)
          }
        }).pipe(Effect.provide(layerInProcess({ data })))
      })))
  }
})

describe("files of an earlier start that others can read", () => {
  it.effect("are made private when the sandbox opens them: data file, folder and uploads", () =>
    Effect.scoped(Effect.gen(function*() {
      const path = yield* folder
      const data = join(path, "shop.db")
      yield* Effect.provide(call("POST", "/media", upload()), layerInProcess({ data }))
      const uploads = Fs.readdirSync(`${data}-media`).map((name) => join(`${data}-media`, name))
      assert.isAbove(uploads.length, 0)
      for (const file of [data, ...uploads]) {
        Fs.chmodSync(file, 0o644)
      }
      Fs.chmodSync(`${data}-media`, 0o755)
      yield* Effect.sync(() => {
        assert.deepStrictEqual([data, ...uploads].map(modeOf), ["600", ...uploads.map(() => "600")])
        assert.strictEqual(modeOf(`${data}-media`), "700")
      }).pipe(Effect.provide(layerInProcess({ data })))
    })))

  it.effect("are made private with the log that a killed sandbox left beside them", () =>
    Effect.scoped(Effect.gen(function*() {
      const path = yield* folder
      const [data, copy] = [join(path, "shop.db"), join(path, "copy.db")]
      yield* Effect.gen(function*() {
        yield* call("POST", "/posts", { json: { text: "a" } })
        for (const end of ["", "-wal"]) {
          Fs.copyFileSync(`${data}${end}`, `${copy}${end}`)
          Fs.chmodSync(`${copy}${end}`, 0o644)
        }
        Fs.cpSync(`${data}-media`, `${copy}-media`, { recursive: true })
      }).pipe(Effect.provide(layerInProcess({ data })))
      yield* Effect.sync(() => {
        assert.deepStrictEqual(Fs.readdirSync(path).filter((name) => name.startsWith("copy.db") && !name.endsWith("-media")).map((name) =>
          modeOf(join(path, name))
        ), ["600", "600"])
      }).pipe(Effect.provide(layerInProcess({ data: copy })))
    })))

  it.effect("stay unchanged if no sandbox wrote them", () =>
    Effect.scoped(Effect.gen(function*() {
      const data = join(yield* folder, "other.db")
      const other = new DatabaseSync(data)
      other.exec("CREATE TABLE notes (text)")
      other.close()
      Fs.chmodSync(data, 0o644)
      yield* refused({ data })
      assert.strictEqual(modeOf(data), "644")
    })))
})

describe("a failure of the storage", () => {
  interface Event {
    readonly event: string
    readonly fields: Readonly<Record<string, unknown>>
  }
  const listening = (events: Array<Event>) =>
    Logger.replace(Logger.defaultLogger, Logger.make(({ annotations, message }) => {
      events.push({ event: [message].flat().join(" "), fields: Object.fromEntries(HashMap.toEntries(annotations)) })
    }))

  for (const [way, make] of [["in process", layerInProcess], ["over a socket", layerSocket]] as const) {
    it.live.skipIf(SmallDisk.missing !== undefined)(`is 500 INTERNAL_ERROR and one event in the log, ${way}: a full disk`, () =>
      Effect.scoped(Effect.gen(function*() {
        const disk = yield* SmallDisk.scoped
        const events: Array<Event> = []
        yield* Effect.gen(function*() {
          yield* disk.fill
          const reply = yield* call("POST", "/posts", { json: { text: "x".repeat(4_000) } }).pipe(
            Effect.repeat({
              until: ({ status }) =>
                status !== 200
            })
          )
          assert.strictEqual(refusal(reply), "500 INTERNAL_ERROR")
          assert.notInclude(messageOf(reply), "SQLITE")
          assert.deepStrictEqual(events, [
            { event: "sandbox.storage_failed", fields: { operation: "createPost", code: "SQLITE_FULL" } }
          ])
          yield* disk.free
          assert.strictEqual((yield* call("POST", "/posts", { json: { text: "a" } })).status, 200)
          assert.strictEqual(events.length, 1)
        }).pipe(Effect.provide(Layer.provideMerge(make({ data: join(disk.folder, "shop.db") }), listening(events))))
      })))
  }

  it.effect("logs the error code of the file system when the upload folder is gone", () =>
    Effect.scoped(Effect.gen(function*() {
      const data = join(yield* folder, "shop.db")
      const events: Array<Event> = []
      yield* Effect.gen(function*() {
        Fs.rmSync(`${data}-media`, { recursive: true })
        assert.strictEqual(refusal(yield* call("POST", "/media", upload())), "500 INTERNAL_ERROR")
        assert.deepStrictEqual(events, [
          { event: "sandbox.storage_failed", fields: { operation: "uploadMedia", code: "ENOENT" } }
        ])
      }).pipe(Effect.provide(Layer.provideMerge(layerInProcess({ data }), listening(events))))
    })).pipe(Effect.provide(NodeContext.layer)))

  it.effect("logs a warning with each file whose mode can't be set, and uses it", () =>
    Effect.scoped(Effect.gen(function*() {
      const data = join(yield* folder, "shop.db")
      yield* started({ data })
      Fs.chmodSync(data, 0o644)
      // As of a file of another user.
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const { chmodSync } = Mutable
          Mutable.chmodSync = () => {
            throw Object.assign(new Error("operation not permitted"), { code: "EPERM" })
          }
          syncBuiltinESMExports()
          return chmodSync
        }),
        (chmodSync) =>
          Effect.sync(() => {
            Mutable.chmodSync = chmodSync
            syncBuiltinESMExports()
          })
      )
      const events: Array<Event> = []
      yield* Effect.provide(call("GET", "/me"), Layer.provideMerge(layerInProcess({ data }), listening(events)))
      // SQLite creates its log with the mode of the data file.
      assert.deepStrictEqual(events, [data, `${data}-wal`].map((file) => ({ event: "sandbox.data_file_shared", fields: { file } })))
      assert.strictEqual(modeOf(data), "644")
    })))
})
