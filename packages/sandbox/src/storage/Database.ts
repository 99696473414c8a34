/** Opens the SQLite database of a sandbox and creates its tables. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Fs from "node:fs"
import type * as NodeSqlite from "node:sqlite"
import { SandboxError } from "../SandboxError.ts"

/** Node 22 prints a warning when it loads the module, which would be the first output of every program that uses it. */
const load = (): typeof NodeSqlite => {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule("node:sqlite")
  } finally {
    process.emitWarning = emitWarning
  }
}

/** The data file of a sandbox that keeps everything in memory. */
export const inMemory = ":memory:"

const { DatabaseSync } = load()

// Source: https://sqlite.org/rescode.html, the primary result codes from 0 on.
const names =
  "OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB"
    .split(" ")

/** The name of the result code of an error of SQLite, such as `SQLITE_FULL`; undefined for another error. */
export const resultCode = (error: object): string | undefined => {
  if (!("errcode" in error) || typeof error.errcode !== "number") return undefined
  // The lower eight bits of an extended result code are the primary one.
  const code = error.errcode & 0xff
  return `SQLITE_${names[code] ?? code}`
}

/** The version of the tables. A file of another version is rejected, not migrated. */
const schemaVersion = 5

/** SQLite `application_id` of a data file: "PLZA". */
const applicationId = 0x50_4C_5A_41

const tables = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE accounts (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, username TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    photo INTEGER NOT NULL, cover INTEGER NOT NULL, access TEXT NOT NULL, availability TEXT NOT NULL
  )`,
  `CREATE TABLE keys (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL, name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE, last_four TEXT NOT NULL, scopes TEXT NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL
  )`,
  `CREATE INDEX keys_of_account ON keys (account_id, seq)`,
  `CREATE TABLE access_requests (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL, use_case TEXT NOT NULL, website TEXT,
    bot_name TEXT NOT NULL, status TEXT NOT NULL, created_at INTEGER NOT NULL, decided_at INTEGER
  )`,
  `CREATE INDEX access_requests_of_account ON access_requests (account_id, seq)`,
  `CREATE TABLE relations (
    from_id TEXT NOT NULL, to_id TEXT NOT NULL, follows INTEGER NOT NULL DEFAULT 0, blocks INTEGER NOT NULL DEFAULT 0,
    has_written INTEGER NOT NULL DEFAULT 0, blocks_from_store INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (from_id, to_id)
  ) WITHOUT ROWID`,
  `CREATE TABLE media (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL, name TEXT NOT NULL,
    content_type TEXT NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL, file TEXT NOT NULL
  )`,
  // Part of the name of every uploaded file: distinguishes the files of this data file.
  `CREATE TABLE media_folder (id TEXT NOT NULL)`,
  `INSERT INTO media_folder VALUES (lower(hex(randomblob(8))))`,
  // AUTOINCREMENT never reuses the number of a deleted post. `sort_seq` repeats it, since SQLite seeks a pair of columns in an
  // index only if neither of them is the rowid.
  `CREATE TABLE posts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL, text TEXT NOT NULL,
    media_ids TEXT NOT NULL, created_at INTEGER NOT NULL, sort_seq INTEGER AS (seq)
  )`,
  `CREATE INDEX posts_of_account ON posts (account_id, created_at, sort_seq)`,
  `CREATE TABLE comments (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, post_id TEXT NOT NULL, account_id TEXT NOT NULL, text TEXT NOT NULL,
    created_at INTEGER NOT NULL
  )`,
  `CREATE INDEX comments_of_post ON comments (post_id)`,
  `CREATE TABLE likes (post_id TEXT NOT NULL, account_id TEXT NOT NULL, PRIMARY KEY (post_id, account_id)) WITHOUT ROWID`,
  `CREATE TABLE stories (
    seq INTEGER PRIMARY KEY, account_id TEXT NOT NULL, payload TEXT NOT NULL, created_at INTEGER NOT NULL
  )`,
  `CREATE TABLE products (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL, name TEXT NOT NULL, stock INTEGER NOT NULL
  )`,
  `CREATE INDEX products_of_account ON products (account_id, seq)`,
  `CREATE TABLE orders (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL, carrier TEXT, tracking_number TEXT,
    shipped_at INTEGER
  )`,
  `CREATE INDEX orders_of_account ON orders (account_id, seq)`,
  `CREATE TABLE conversations (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL, peer_id TEXT NOT NULL
  )`,
  `CREATE INDEX conversations_of_account ON conversations (account_id, seq)`,
  `CREATE TABLE messages (
    seq INTEGER PRIMARY KEY, conversation_id TEXT NOT NULL, account_id TEXT NOT NULL, pair TEXT NOT NULL,
    text TEXT NOT NULL, created_at INTEGER NOT NULL
  )`,
  `CREATE INDEX messages_of_pair ON messages (pair, seq)`,
  `CREATE TABLE arrivals (
    seq INTEGER PRIMARY KEY, key_id TEXT NOT NULL, account_id TEXT NOT NULL, at INTEGER NOT NULL, used INTEGER NOT NULL
  )`,
  // The rows of a snapshot are in tables of their own; see `Snapshots`.
  `CREATE TABLE snapshots (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL, row_count INTEGER NOT NULL
  )`,
  `CREATE TABLE snapshot_files (snapshot_seq INTEGER NOT NULL, file TEXT NOT NULL)`
]

/** The names of all tables that a data file has. */
const created = tables.flatMap((statement) => /^CREATE TABLE (\w+)/.exec(statement)?.[1] ?? [])

/**
 * Every table with state, in an order in which they can be emptied and filled. The last one is SQLite's own: the counters of
 * AUTOINCREMENT. Snapshots are not part of the state: a reset keeps them.
 */
export const tableNames = [
  "meta",
  "accounts",
  "keys",
  "access_requests",
  "relations",
  "media",
  "posts",
  "comments",
  "likes",
  "stories",
  "products",
  "orders",
  "conversations",
  "messages",
  "arrivals",
  "sqlite_sequence"
] as const

const advice = (reason: string): string =>
  /not a database|malformed/i.test(reason)
    ? "it is not a SQLite file, or a damaged one"
    : /locked|busy/i.test(reason)
    ? "another program has it open"
    : /readonly|read-only/i.test(reason)
    ? "it can't be written"
    : /unable to open|ENOENT|ENOTDIR|EISDIR|EACCES/i.test(reason)
    ? "it can't be opened or created there"
    : "SQLite can't use it"

/** The refusal of a data file that SQLite can't open, read or write. */
export const unusable = (file: string, cause: unknown): SandboxError =>
  new SandboxError({
    message: `the data file ${file} can't be used, ${
      advice(cause instanceof Error ? cause.message : "")
    }: name another file, or leave it out to keep everything in memory`,
    cause
  })

/** Whether an error is a violation of a unique column. */
export const isConflict = (error: unknown): boolean => error instanceof Error && resultCode(error) === "SQLITE_CONSTRAINT"

/** Whether an error reports a damaged data file. Any statement can detect it. */
export const isDamage = (error: unknown): boolean =>
  error instanceof Error && ["SQLITE_CORRUPT", "SQLITE_NOTADB"].includes(resultCode(error) ?? "")

const foreign = (file: string): SandboxError =>
  new SandboxError({ message: `the data file ${file} is not a data file of a sandbox: name another file` })

const ofAnotherVersion = (file: string): SandboxError =>
  new SandboxError({ message: `the data file ${file} was created by another version of the sandbox: name another file` })

// Source: https://sqlite.org/fileformat.html, the database header.
const headerLength = 100
const magic = "SQLite format 3\0"

interface Header {
  readonly id: number
  readonly version: number
}

/** The numbers in the header of a data file. */
const readHeader = (file: string): Header => {
  const bytes = Buffer.alloc(headerLength)
  const opened = Fs.openSync(file, "r")
  try {
    const length = Fs.readSync(opened, bytes, 0, headerLength, 0)
    if (length < headerLength || bytes.toString("latin1", 0, magic.length) !== magic) throw new Error("file is not a database")
    return { id: bytes.readInt32BE(68), version: bytes.readInt32BE(60) }
  } finally {
    Fs.closeSync(opened)
  }
}

const decodeHeader = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.Int, version: Schema.Int }))

const headerOf = (database: NodeSqlite.DatabaseSync): Header =>
  decodeHeader(
    database.prepare("SELECT application_id AS id, user_version AS version FROM pragma_application_id, pragma_user_version").get()
  )

/**
 * Checks that a file is new or a data file, without writing to it or beside it. Both numbers are in the file itself from its creation
 * on, not only in its log, so that no connection is necessary: without the log, the file of a sandbox that stopped on a full disk looks
 * damaged. Returns true if the file is new.
 */
const identify = (file: string): boolean | SandboxError => {
  const stat = Fs.statSync(file, { throwIfNoEntry: false })
  if (stat === undefined || (stat.isFile() && stat.size === 0)) {
    return true
  }
  // A pipe would have to be waited for.
  if (!stat.isFile()) throw new Error("EISDIR: it is not a file")
  const { id, version } = readHeader(file)
  return id !== applicationId ? foreign(file) : version !== schemaVersion && ofAnotherVersion(file)
}

/** Creates an empty file that only its owner can read, whatever the umask. SQLite gives its logs the same mode. */
const createPrivate = (file: string): void => {
  const opened = Fs.openSync(file, Fs.constants.O_CREAT | Fs.constants.O_RDWR, 0o600)
  try {
    Fs.fchmodSync(opened, 0o600)
  } finally {
    Fs.closeSync(opened)
  }
}

/** The data file and the files that SQLite creates beside it. */
const filesOf = (file: string): ReadonlyArray<string> => [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]

/**
 * Restricts a file or folder to its owner. Where the file system has no modes, or the file belongs to another user, it is used as it is
 * and logged.
 */
export const restrict = (path: string, mode: number): Effect.Effect<void> =>
  Effect.try({ try: () => Fs.chmodSync(path, mode), catch: (cause) => new SandboxError({ message: `${path} is shared`, cause }) }).pipe(
    Effect.catch(() => Effect.annotateLogs(Effect.logWarning("sandbox.data_file_shared"), { file: path }))
  )

/** Restricts the files of an earlier start, or of a copy. */
const makePrivate = (file: string): Effect.Effect<void> =>
  Effect.forEach(filesOf(file), (path) =>
    Effect.suspend(() => {
      // A link to a data file is followed, since its target was checked; a link beside it may lead anywhere.
      const stat = (path === file ? Fs.statSync : Fs.lstatSync)(path, { throwIfNoEntry: false })
      if (stat === undefined || !stat.isFile() || (stat.mode & 0o077) === 0) {
        return Effect.void
      }
      return restrict(path, 0o600)
    }), { discard: true })

const creation = [
  "BEGIN",
  `PRAGMA application_id = ${applicationId}`,
  `PRAGMA user_version = ${schemaVersion}`,
  ...tables,
  "COMMIT"
].join(";")

/** Locks a data file and creates missing tables. Throws the errors of SQLite. */
const prepare = (database: NodeSqlite.DatabaseSync, file: string): SandboxError | undefined => {
  // One process per file: a second sandbox on it is refused instead of mixing its writes in.
  database.exec("PRAGMA locking_mode = EXCLUSIVE")
  // A killed process loses nothing by this; only a power cut could.
  database.exec("PRAGMA synchronous = NORMAL")
  if (database.prepare("SELECT name FROM sqlite_schema LIMIT 1").get() === undefined) {
    // Before the write-ahead log, so that no file without a header is ever left behind: see `identify`.
    database.exec(creation)
    database.exec("PRAGMA journal_mode = WAL")
  } else {
    database.exec("PRAGMA journal_mode = WAL")
    // Another program may have changed the file since `identify`.
    const { id, version } = headerOf(database)
    const found = new Set(database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all().map(({ name }) => name))
    if (id !== applicationId || version !== schemaVersion || created.some((name) => !found.has(name))) {
      return foreign(file)
    }
    // Writes once, to take the lock and to report a read-only file.
    database.exec(`BEGIN; PRAGMA user_version = ${schemaVersion}; COMMIT`)
  }
  return undefined
}

const openFile = (file: string): Effect.Effect<NodeSqlite.DatabaseSync, SandboxError> =>
  Effect.suspend(() => {
    const found = identify(file)
    if (found instanceof SandboxError) {
      return Effect.fail(found)
    }
    if (found && !Fs.existsSync(file)) {
      createPrivate(file)
    }
    const database = new DatabaseSync(file)
    const prepared = Effect.suspend(() => {
      const problem = prepare(database, file)
      // After the check, so that a foreign file stays unchanged. The log of a killed start may be beside it.
      return problem === undefined ? Effect.as(makePrivate(file), database) : Effect.fail(problem)
    })
    return Effect.onError(prepared, () => Effect.sync(() => database.close()))
  }).pipe(Effect.catchDefect((cause) => Effect.fail(unusable(file, cause))))

/** Removes the write-ahead log and closes the file, which releases the lock. */
const releaseFile = (database: NodeSqlite.DatabaseSync) =>
  Effect.sync(() => {
    database.exec("PRAGMA journal_mode = DELETE")
  }).pipe(
    Effect.catchCause((cause) => Effect.logDebug("sandbox.data_file_not_released", cause)),
    Effect.andThen(Effect.sync(() => database.close()))
  )

const openMemory = Effect.sync(() => {
  const database = new DatabaseSync(inMemory)
  database.exec(creation)
  return database
})

/** SQLite's own `lower` knows ASCII only. */
const addFunctions = (database: NodeSqlite.DatabaseSync): void =>
  database.function("folded", { deterministic: true }, (text) => String(text).toLowerCase())

/** Opens a data file, or `:memory:`, until the scope closes. Fails when the file can't be written, is no data file or is in use. */
export const open = (file: string): Effect.Effect<NodeSqlite.DatabaseSync, SandboxError, Scope.Scope> =>
  Effect.tap(
    file === inMemory
      ? Effect.acquireRelease(openMemory, (database) => Effect.sync(() => database.close()))
      : Effect.acquireRelease(openFile(file), releaseFile),
    (database) => Effect.sync(() => addFunctions(database))
  )
