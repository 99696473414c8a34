/**
 * The one SQLite database behind a sandbox: opening it, its tables, its transactions. Knows nothing of what the rows
 * mean.
 *
 * @since 0.1.0
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as OneConnection from "./OneConnection.js"
import { SandboxError } from "./SandboxError.js"

/**
 * The form of the tables. A file of another form is refused, not changed.
 */
const schemaVersion = 2

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
  // A deleted post's number is never given to another. It stands a second time as `turn`, since SQLite seeks a pair of
  // columns in an index only where neither of them is the row's own number.
  `CREATE TABLE posts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL, text TEXT NOT NULL,
    media_ids TEXT NOT NULL, created_at INTEGER NOT NULL, turn INTEGER AS (seq)
  )`,
  `CREATE INDEX posts_of_account ON posts (account_id, created_at, turn)`,
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
  )`
]

/**
 * Every table that holds state, in an order in which they may be emptied; the last one is SQLite's own and holds the
 * greatest numbers that were given.
 *
 * @since 0.1.0
 * @category schema
 */
export const tableNames = [
  "meta", "accounts", "keys", "access_requests", "relations", "media", "posts", "comments", "likes", "stories", "products",
  "orders", "conversations", "messages", "arrivals", "sqlite_sequence"
] as const

const advice = (reason: string): string =>
  /not a database|malformed/i.test(reason)
    ? "it is not a SQLite file, or a damaged one"
    : /locked|busy/i.test(reason)
    ? "another program has it open"
    : /readonly|read-only/i.test(reason)
    ? "it can't be written"
    : /unable to open/i.test(reason)
    ? "it can't be opened or created there"
    : "SQLite can't use it"

const messageOf = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${messageOf(error.cause)}` : typeof error === "string" ? error : ""

const unusable = (file: string, cause: unknown): SandboxError =>
  new SandboxError({
    message: `the data file ${file} can't be used, ${advice(messageOf(cause))}: name another file, or leave it out to keep everything in memory`,
    cause
  })

const open = (file: string) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    // One process per file: a second sandbox on it is refused instead of mixing its writes in.
    yield* sql.unsafe("PRAGMA locking_mode = EXCLUSIVE")
    // A killed process loses nothing by this; only a power cut could.
    yield* sql.unsafe("PRAGMA synchronous = NORMAL")
    const [found] = yield* sql.unsafe<{ readonly user_version: number }>("PRAGMA user_version")
    const version = found?.user_version ?? 0
    if (version === 0) {
      const existing = yield* sql.unsafe<{ readonly name: string }>("SELECT name FROM sqlite_schema LIMIT 1")
      if (existing.length > 0) {
        return yield* new SandboxError({
          message: `the data file ${file} holds something else than a sandbox: name another file`
        })
      }
      yield* sql.withTransaction(
        Effect.all([
          ...tables.map((statement) => sql.unsafe(statement)),
          sql.unsafe(`PRAGMA user_version = ${schemaVersion}`)
        ], { discard: true })
      )
    } else if (version !== schemaVersion) {
      return yield* new SandboxError({
        message: `the data file ${file} was made by another version of the sandbox: name another file`
      })
    } else {
      // Takes the lock now: it is taken by the first write, and a file that can't be written is told of here.
      yield* sql.withTransaction(sql.unsafe(`PRAGMA user_version = ${schemaVersion}`))
    }
  })

/**
 * Gives the file back as one whole. Closing alone doesn't: the driver keeps the connection, and so the lock, until its
 * statements are collected.
 */
const giveBack = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.ignoreLogged(Effect.all([
    // A write-ahead log that was opened under the lock holds on to it.
    sql.unsafe("PRAGMA journal_mode = DELETE"),
    sql.unsafe("PRAGMA locking_mode = NORMAL"),
    // The mode changes with the next access.
    sql.unsafe("PRAGMA user_version")
  ])))

/**
 * Opens a file, or `:memory:`. Fails when the file can't be written, isn't ours or is in use.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (file: string): Layer.Layer<SqlClient.SqlClient, SandboxError> =>
  Layer.scopedDiscard(Effect.zipRight(Effect.addFinalizer(() => giveBack), open(file))).pipe(
    Layer.provideMerge(OneConnection.layer(file)),
    // The driver throws while it opens a file, so its failures come as defects.
    Layer.catchAllCause((cause): Layer.Layer<SqlClient.SqlClient, SandboxError> => {
      if (Cause.isInterruptedOnly(cause)) {
        return Layer.effect(SqlClient.SqlClient, Effect.interrupt)
      }
      const reason = Cause.squash(cause)
      return Layer.fail(reason instanceof SandboxError ? reason : unusable(file, reason))
    })
  )

/**
 * A failure of SQLite under a running sandbox (a full disk, say) is nobody's to handle: the caller sees 500, as with a
 * real service.
 *
 * @since 0.1.0
 * @category combinators
 */
export const orDefect = <A, E, R>(effect: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, Exclude<E, SqlError>, R> =>
  // The guard leaves what isn't an SqlError, which the compiler can't derive for a generic E.
  Effect.catchAll(effect, (error) =>
    isSqlError(error) ? Effect.die(error) : Effect.fail(error as Exclude<E, SqlError>))

const isSqlError = (error: unknown): error is SqlError =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "SqlError"
