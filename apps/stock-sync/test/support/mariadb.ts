/**
 * Starts a MariaDB for tests if the server is installed: Debian's `mariadb-server-core`, or the program that
 * `MARIADBD` names.
 */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { accessSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { env, stderr } from "node:process"
import { freePort } from "./freePort.ts"

const found = [
  ...(env["MARIADBD"] === undefined ? [] : [env["MARIADBD"]]),
  "/usr/sbin/mariadbd",
  "/usr/local/sbin/mariadbd",
  "/opt/homebrew/bin/mariadbd"
]
  .find((path) => {
    try {
      accessSync(path)
      return true
    } catch {
      return false
    }
  })

/** Why there is none; undefined where there is one. */
export const missing = found === undefined
  ? "no MariaDB is installed: install Debian's mariadb-server-core, or name mariadbd in MARIADBD, to test a real one as a source"
  : undefined
if (missing !== undefined) stderr.write(`skipped: ${missing}\n`)

const systemTables = "/usr/share/mysql/mysql_system_tables.sql"

/** The statements after which procedures and functions can be created: their table is a system table. None where its definition is not installed. */
export const routines: ReadonlyArray<string> = existsSync(systemTables)
  ? [`USE mysql; ${/CREATE TABLE IF NOT EXISTS proc \([^;]*;/.exec(readFileSync(systemTables, "utf8"))?.[0] ?? ""}`]
  : []

const ready = (server: ChildProcess) =>
  Effect.callback<void>((resume) => {
    let said = ""
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4_000)
      if (said.includes("ready for connections")) resume(Effect.void)
    })
    server.once("exit", () => resume(Effect.die(new Error(`mariadbd ended: ${said}`))))
  })

/** Starts one that lets everybody in, and stops it with the scope. Gives its address, with a database to use. */
export const scoped = Effect.gen(function*() {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(Path.join(tmpdir(), "plaza-mariadb-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  // A folder of the data is a database.
  mkdirSync(Path.join(folder, "data", "mysql"), { recursive: true })
  mkdirSync(Path.join(folder, "data", "shop"), { recursive: true })
  const port = yield* freePort
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(found ?? "", [
        "--no-defaults",
        `--datadir=${Path.join(folder, "data")}`,
        `--socket=${Path.join(folder, "socket")}`,
        `--tmpdir=${folder}`,
        "--bind-address=127.0.0.1",
        `--port=${port}`,
        "--character-set-server=utf8mb4",
        "--skip-grant-tables",
        "--skip-networking=0",
        ...(process.getuid?.() === 0 ? ["--user=root"] : [])
      ], { stdio: ["ignore", "ignore", "pipe"] })
    ),
    (running) =>
      Effect.callback<void>((resume) => {
        if (running.exitCode !== null || running.signalCode !== null) return resume(Effect.void)
        running.once("exit", () => resume(Effect.void))
        running.kill("SIGKILL")
      })
  )
  yield* ready(server)
  return `mysql://plaza:secret@127.0.0.1:${port}/shop`
})
