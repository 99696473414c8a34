/**
 * The program of the process that reads an SQLite file. SQLite computes a query without a pause, which would stop all other work of the
 * process, and nothing but the end of the process ends it. Without Effect, because it is loaded for each read.
 */
import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs"
import { setPriority } from "node:os"
import { geteuid, ppid, stdin, stdout } from "node:process"
import { DatabaseSync } from "node:sqlite"
import { text } from "node:stream/consumers"
import { pathToFileURL } from "node:url"
import { Worker } from "node:worker_threads"
import type { Message, Request } from "./Sqlite.ts"

const rowsPerMessage = 500
// Another process may be writing the file.
const longestLockMillis = 5_000
const options = { readOnly: true, timeout: longestLockMillis }

type Failure = Extract<Message, { readonly error: unknown }>

const send = (message: Message): Promise<void> => new Promise((resolve) => stdout.write(`${JSON.stringify(message)}\n`, () => resolve()))

// By primary result code, which is in the lower eight bits of an extended one.
const codes: Readonly<Record<number, string>> = { 1: "SQLITE_ERROR", 5: "SQLITE_BUSY", 8: "SQLITE_READONLY", 26: "SQLITE_NOTADB" }

const failure = (cause: unknown): Failure => {
  const code = cause instanceof Error && "errcode" in cause && typeof cause.errcode === "number" ? codes[cause.errcode & 0xff] : undefined
  return {
    error: "database",
    ...(code === undefined ? {} : { code }),
    message: cause instanceof Error ? cause.message : "SQLite failed"
  }
}

const cannotOpen: Failure = {
  error: "database",
  code: "SQLITE_CANTOPEN",
  message: "the file can't be opened: it does not exist, or this user may not read it"
}

const changed: Failure = {
  error: "database",
  code: "SQLITE_BUSY",
  message: "another program wrote the file while it was read"
}

/** JSON has neither integers beyond 2 to the 53rd nor infinity, and a blob is no value of a product. */
const plain = (value: unknown): unknown =>
  typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))
    ? String(value)
    : typeof value === "object" && value !== null
    ? {}
    : value

const plainRow = (row: object): object => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)]))

/**
 * Why the query is not one SELECT. A file that is opened read-only can still be copied (`VACUUM INTO`), and others can be created beside
 * it (`ATTACH`); the driver runs the first of several statements and ignores the rest. In parentheses SQLite accepts only a query: a second
 * statement is a syntax error there. A text that closes the parenthesis itself is invalid without it, which the first prepare rejects.
 */
const refusal = (database: DatabaseSync, query: string): Failure | undefined => {
  database.prepare(query)
  try {
    database.prepare(`SELECT * FROM (${query.replace(/[\s;]+$/, "")}\n)`)
    return undefined
  } catch (cause) {
    return { error: cause instanceof Error && cause.message.includes("near \";\"") ? "moreThanOne" : "noSelect" }
  }
}

/** What changes with each write into the file, or `undefined` if there is no file. */
const versionOf = (path: string): string | undefined => {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
}

/**
 * Whether SQLite would create the files of its write-ahead log, and as a user who is not that of the file. It would leave them, and the
 * program that owns the file could not write into them. As the administrator SQLite gives them to the owner of the file.
 */
const wouldLeaveLog = (path: string): boolean => {
  const user = geteuid?.() ?? 0
  return user !== 0 && user !== statSync(path).uid && isInWalMode(path) && !existsSync(`${path}-wal`)
}

const isInWalMode = (path: string): boolean => {
  const file = openSync(path, "r")
  try {
    // Bytes 18 and 19 of the file are the versions that a writer and a reader need; 2 is the write-ahead log.
    const header = Buffer.alloc(20)
    readSync(file, header, 0, header.length, 0)
    return header[19] === 2
  } finally {
    closeSync(file)
  }
}

interface Opened {
  readonly database: DatabaseSync
  /** Whether somebody has written the file since it was opened, if SQLite does not see to that. */
  readonly isChanged: () => boolean
}

/** The file, opened read-only. */
const open = (name: string): Opened | undefined => {
  try {
    // Opening a named pipe would never end.
    if (!statSync(name).isFile()) return undefined
    const path = realpathSync(name)
    if (!wouldLeaveLog(path)) return { database: new DatabaseSync(path, options), isChanged: () => false }
    const version = versionOf(path)
    return {
      database: new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, options),
      isChanged: () => existsSync(`${path}-wal`) || versionOf(path) !== version
    }
  } catch {
    return undefined
  }
}

const read = async ({ path, query }: Request): Promise<Message> => {
  const opened = open(path)
  if (opened === undefined) return cannotOpen
  const { database, isChanged } = opened
  try {
    const refused = refusal(database, query)
    if (refused !== undefined) return refused
    const statement = database.prepare(query)
    await send({ columns: statement.columns().map(({ name }) => name) })
    let rows: Array<object> = []
    statement.setReadBigInts(true)
    for (const row of statement.iterate()) {
      rows.push(plainRow(row))
      if (rows.length === rowsPerMessage) {
        // Waits until it is read.
        await send({ rows })
        rows = []
      }
    }
    await send({ rows })
  } catch (cause) {
    return isChanged() ? changed : failure(cause)
  }
  return isChanged() ? changed : { isComplete: true }
}

try {
  // A query without an end leaves the rest of the machine to others.
  setPriority(10)
} catch {
  // Some confinements refuse that.
}
// A program that is killed can't end this process, and a query may compute without an end. The query blocks this thread only.
new Worker(
  `const { workerData } = require("node:worker_threads")
  setInterval(() => process.ppid === workerData || process.kill(process.pid, "SIGKILL"), 1_000)`,
  { eval: true, workerData: ppid }
)
// The process that starts this one is the only other that writes it.
void text(stdin).then((request) => read(JSON.parse(request) as Request)).then(send).then(() => process.exit())
