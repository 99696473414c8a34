/** The program that reads an SQLite file, on the Node of the repository and on the oldest supported one. */
import { NodeServices } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { oldestNode } from "@plaza/testing/Nodes"
import { Effect, FileSystem, Option, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { TestClock } from "effect/testing"
import { spawnSync } from "node:child_process"
import { getPriority } from "node:os"
import { execPath } from "node:process"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { expect } from "vitest"
import { eventually } from "./support/eventually.ts"

// As the worker starts it.
const reader = fileURLToPath(new URL("../src/source/sql/SqliteReader.ts", import.meta.url))
const flag = "--disable-warning=ExperimentalWarning"

layer(NodeServices.layer)("the reader of an SQLite file", (it) => {
  for (const [name, node] of [["this Node", execPath], ["the oldest Node", oldestNode]] as const) {
    it.effect(`has the same rows and errors on ${name}`, () =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const path = `${yield* files.makeTempDirectoryScoped()}/stock of #1.db`
        const database = new DatabaseSync(path)
        database.exec(`CREATE TABLE product (id TEXT, stock INTEGER);
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) INSERT INTO product SELECT 'P' || i, i FROM n`)
        database.close()
        const read = (query: string, from = path) => {
          const { status, stderr, stdout } = spawnSync(node, [flag, reader], {
            encoding: "utf8",
            input: JSON.stringify({ path: from, query })
          })
          expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
          return stdout.trim().split("\n").map((line): unknown => JSON.parse(line))
        }
        const rows = Array.from({ length: 1_200 }, (_, index) => ({ id: `P${index + 1}`, stock: String(index + 1) }))
        expect(read("SELECT id, stock FROM product ORDER BY stock")).toEqual([
          { columns: ["id", "stock"] },
          { rows: rows.slice(0, 500) },
          { rows: rows.slice(500, 1_000) },
          { rows: rows.slice(1_000) },
          { isComplete: true }
        ])
        expect(read("SELECT 9007199254740993 AS i, 1.5 AS r, 9e999 AS f, NULL AS n, 'añ😀' AS t, x'01' AS b -- all of them")).toEqual([
          { columns: ["i", "r", "f", "n", "t", "b"] },
          { rows: [{ i: "9007199254740993", r: 1.5, f: "Infinity", n: null, t: "añ😀", b: {} }] },
          { isComplete: true }
        ])
        expect(read("SELECT 1 AS stock, 2 AS other, 3 AS stock")).toEqual([
          { columns: ["stock", "other", "stock"] },
          { rows: [{ stock: "3", other: "2" }] },
          { isComplete: true }
        ])
        expect(read("SELECT 1; SELECT 2")).toEqual([{ error: "moreThanOne" }])
        expect(read("PRAGMA user_version")).toEqual([{ error: "noSelect" }])
        expect(read("SELECT id FROM missing")).toEqual([{ error: "database", code: "SQLITE_ERROR", message: "no such table: missing" }])
        expect(read("SELECT 1", `${path}.none`)).toMatchObject([{ error: "database", code: "SQLITE_CANTOPEN" }])
        expect(yield* files.exists(`${path}.none`)).toBe(false)
      }))

    it.effect(`waits for its request on ${name}`, () =>
      Effect.gen(function*() {
        const path = `${yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()}/stock.db`
        new DatabaseSync(path).close()
        const process = yield* ChildProcess.make(node, [flag, reader])
        // It lowers its priority before it reads.
        yield* TestClock.withLive(eventually(Effect.sync(() => getPriority(process.pid)), (priority) => priority === 10))
        const request = JSON.stringify({ path, query: "SELECT 1 AS stock" })
        yield* Stream.run(Stream.encodeText(Stream.succeed(request)), process.stdin)
        const output = yield* Stream.mkString(Stream.decodeText(process.all))
        expect(output.trim().split("\n")).toEqual([`{"columns":["stock"]}`, `{"rows":[{"stock":"1"}]}`, `{"isComplete":true}`])
      }))

    it.effect(`leaves no log of SQLite beside the file of another user on ${name}`, () =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const folder = yield* files.makeTempDirectoryScoped()
        const path = `${folder}/stock.db`
        const write = (statements: string) => {
          const database = new DatabaseSync(path)
          database.exec(statements)
          database.close()
        }
        write(`PRAGMA journal_mode = WAL;
          CREATE TABLE product (id TEXT, stock INTEGER);
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) INSERT INTO product SELECT 'P' || i, i FROM n`)
        yield* files.writeFileString(`${folder}/user.cjs`, "process.geteuid = () => 4711")
        const read = Effect.gen(function*() {
          const request = JSON.stringify({ path, query: "SELECT id, stock FROM product ORDER BY stock" })
          const process = yield* ChildProcess.make(node, [flag, "--require", `${folder}/user.cjs`, reader], {
            stdin: Stream.encodeText(Stream.succeed(request))
          })
          return process.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.map((line): unknown => JSON.parse(line)))
        })
        const last = yield* Stream.runLast(yield* read)
        expect(Option.getOrThrow(last)).toEqual({ isComplete: true })
        expect((yield* files.readDirectory(folder)).sort()).toEqual(["stock.db", "user.cjs"])

        // Written while the reader waits until its rows are read.
        let messages = 0
        const final = yield* (yield* read).pipe(
          Stream.tap(() =>
            Effect.sync(() => {
              if (++messages === 1) write("UPDATE product SET stock = stock + 1")
            })
          ),
          Stream.runLast
        )
        expect(messages).toBe(103)
        expect(Option.getOrThrow(final)).toMatchObject({ error: "database", code: "SQLITE_BUSY" })
      }))
  }
})
