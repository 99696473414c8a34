/** How the ledger's statements run: one operation of an account at a time, and only while it belongs to this owner. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { LedgerFault } from "./LedgerError.ts"

/** The account has another owner, or it was removed. Nothing was written. */
export class TakenOver extends Data.TaggedError("TakenOver") {}

export type Failure = Schema.SchemaError | SqlError | TakenOver

/** The rows of an account, and the connection for statements on them. */
export interface Target {
  readonly sql: SqlClient
  readonly account: number
  /** Undefined for an operation beside the owner. */
  readonly epoch: number | undefined
}

const tags: ReadonlySet<unknown> = new Set(["SchemaError", "SqlError", "TakenOver"] satisfies ReadonlyArray<Failure["_tag"]>)
const isFailure = (error: unknown): error is Failure =>
  typeof error === "object" && error !== null && "_tag" in error && tags.has(error._tag)

/** A transaction on a lost connection fails with the defect of its rollback. That is a failure of its statements too. */
const withoutDefects = <A, E, R>(statements: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchCause(statements, (cause): Effect.Effect<never, E | SqlError> => {
    const interruptions = cause.reasons.filter(Cause.isInterruptReason)
    const defect = cause.reasons.find((reason) => Cause.isDieReason(reason) && isSqlError(reason.defect))
    if (defect === undefined || !Cause.isDieReason(defect) || !isSqlError(defect.defect)) return Effect.failCause(cause)
    return interruptions.length > 0 ? Effect.failCause(Cause.fromReasons<never>(interruptions)) : Effect.fail(defect.defect)
  })

/** Turns the failures of statements into others, such as faults of the ledger. */
export const orFault =
  <F>(faultOf: (failure: Failure) => F) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E | SqlError, Failure> | F, R> =>
    // True because it is none of them.
    Effect.mapError(withoutDefects(effect), (error) => isFailure(error) ? faultOf(error) : error as Exclude<E | SqlError, Failure>)

/** Other sources are still read, so that there is no session for another one of them. A snapshot in memory does not wait for them. */
export class SessionsInUse extends Data.TaggedError("SessionsInUse")<{
  /** How many sources are read at once. */
  readonly most: number
  /** How long this one has waited. */
  readonly waited: Duration.Duration
}> {}

/** A database that has the tables of a ledger. */
export interface Database {
  readonly sql: SqlClient
  /** The file or address, for messages. It has no password in it. */
  readonly path: string
  readonly faultOf: (failure: Failure) => LedgerFault
  /** How long an operation waits for another program that writes the database (default: it does not). */
  readonly lockWait?: Duration.Duration
  /** Runs an operation when it is its turn among those of other ledgers (default: at once). */
  readonly inTurn?: <A, E, R>(operation: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /**
   * A session for one snapshot, which has its temporary tables (default: `sql` has one session only). The wait for the other sources that
   * are read is limited.
   */
  readonly session?: (source: SnapshotSource) => Effect.Effect<SqlClient, SessionsInUse | SqlError, Scope.Scope>
  /**
   * Before further rows of a source that is read: waits a moment while operations or snapshots wait for a connection. Returns whether it did
   * (default: none waits).
   */
  readonly giveWay?: Effect.Effect<boolean>
}

/** Whether all rows of a snapshot are in memory, or are read while its session is kept, which takes as long as the source likes. */
export type SnapshotSource = "read" | "reading"

const lockInterval = Duration.millis(50)

/** Runs statements on the account without others between them. After a failure every later call fails with the same fault. */
export type Run = <A, R>(statements: Effect.Effect<A, Failure, R>) => Effect.Effect<A, LedgerFault, R>

export const makeRun = ({ faultOf, lockWait = Duration.zero }: Pick<Database, "faultOf" | "lockWait">): Run => {
  const mutex = Semaphore.makeUnsafe(1)
  let fault: LedgerFault | undefined
  // SQLite would wait in the thread, and nothing else would run meanwhile. A statement that did not get the lock did nothing.
  const whileLocked = {
    while: (failure: Failure) => failure._tag === "SqlError" && failure.reason._tag === "LockTimeoutError",
    schedule: Schedule.max([
      Schedule.spaced(lockInterval),
      Schedule.recurs(Math.ceil(Duration.toMillis(lockWait) / Duration.toMillis(lockInterval)))
    ])
  }
  // A locked file blocks each statement until its timeout. Failing at once keeps the waiting fibers from repeating that.
  return (statements) =>
    mutex.withPermit(
      Effect.suspend(() =>
        fault === undefined
          ? Effect.mapError(Effect.retry(withoutDefects(statements), whileLocked), (failure) => fault = faultOf(failure))
          : Effect.fail(fault)
      )
    )
}

/** The rows of the account, as a condition. */
export const mine = ({ account, sql }: Pick<Target, "account" | "sql">): Fragment => sql`account = ${account}`

/**
 * Names the index by which a statement finds its products in SQLite, which prefers the primary key: that begins with the account too, and
 * would read all products.
 */
export const by = ({ sql }: Pick<Target, "sql">, index: string): Fragment =>
  sql.onDialectOrElse({ pg: () => sql``, orElse: () => sql.literal(`INDEXED BY ${index}`) })

/** A whole number among results, where Postgres would take a parameter for a text. */
export const integer = (sql: SqlClient, value: number): Fragment => sql`CAST(${value} AS BIGINT)`

export const now: Effect.Effect<number> = Clock.currentTimeMillis

const owned = ({ account, epoch, sql }: Target) =>
  epoch === undefined ? sql`account = ${account}` : sql`account = ${account} AND epoch = ${epoch}`

/** Fails unless the account belongs to this owner. In a transaction it keeps the owner until the commit. */
export const checkOwner = (target: Target): Effect.Effect<void, SqlError | TakenOver> => {
  const { sql } = target
  const lock = sql.onDialectOrElse({ pg: () => sql`FOR SHARE`, orElse: () => sql`` })
  return Effect.flatMap(
    sql`SELECT 1 AS owned FROM account WHERE ${owned(target)} ${lock}`,
    (rows) => rows.length === 0 ? Effect.fail(new TakenOver()) : Effect.void
  )
}

/**
 * The lock that a transaction in Postgres begins with: that of a command beside the owner excludes all others of the account, as in SQLite.
 * What they read would be out of date when they write, and they would lock products in another order. A takeover waits for a command only.
 */
const lock = ({ account, epoch, sql }: Target): Effect.Effect<unknown, SqlError> =>
  sql.onDialectOrElse({
    pg: () => sql`SELECT 1 FROM account WHERE account = ${account} ${sql.literal(epoch === undefined ? "FOR UPDATE" : "FOR KEY SHARE")}`,
    orElse: () => Effect.void
  })

/** A transaction that writes only if the account still belongs to this owner at its end, so that a takeover never waits for a long one. */
export const transaction = <A, E, R>(
  target: Target,
  statements: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError | TakenOver, R> =>
  target.sql.withTransaction(lock(target).pipe(Effect.andThen(statements), Effect.tap(checkOwner(target))))

/** A statement with this condition, which holds while the account belongs to this owner. */
export type Step = (isOwned: Fragment) => Fragment

/** The clause for Postgres by which a statement looks whether the account is owned, and keeps the owner until it has ended. */
export const fence = (target: Target): Fragment => target.sql`fence AS (SELECT 1 AS owned FROM account WHERE ${owned(target)} FOR SHARE)`

/** Holds in a statement that begins with the fence, if the account is owned. */
export const isFenced = "EXISTS (SELECT 1 FROM fence)"

const steps = (sql: SqlClient, all: ReadonlyArray<Fragment>) =>
  sql.csv(all.map((step, index) => sql`${sql.literal(`step_${index}`)} AS (${step})`))

/**
 * Runs statements of a transaction of which none needs what another one writes, and no two write the same row. In Postgres they are one
 * statement, which is one way to the database.
 */
export const atOnce = (sql: SqlClient, all: ReadonlyArray<Fragment>): Effect.Effect<unknown, SqlError> =>
  sql.onDialectOrElse({
    pg: () => sql`WITH ${steps(sql, all)} SELECT 1`,
    orElse: () => Effect.forEach(all, (step) => sql`${step}`, { discard: true })
  })

/** As `atOnce`, if the account belongs to this owner, and as a transaction. */
export const together = (target: Target, all: ReadonlyArray<Step>): Effect.Effect<void, SqlError | TakenOver> => {
  const { sql } = target
  return sql.onDialectOrElse({
    pg: () =>
      Effect.flatMap(
        sql`WITH ${fence(target)}, ${steps(sql, all.map((step) => step(sql.literal(isFenced))))} SELECT owned FROM fence`,
        (rows) => rows.length === 0 ? Effect.fail(new TakenOver()) : Effect.void
      ),
    orElse: () => Effect.asVoid(transaction(target, atOnce(sql, all.map((step) => step(sql`1 = 1`)))))
  })
}

// No database stores these characters unchanged. A broken file or an unexpected response may contain them.
const unstorable = /\0|\p{Surrogate}/gu

/** Whether a text can be stored and found again. */
export const isStorable = (text: string): boolean => text.search(unstorable) < 0

/** A text for people to read, with a replacement for each character that can't be stored. */
export const toStorable = (text: string): string => text.replace(unstorable, "\uFFFD")

/** Ids as the rows of a subquery, without those that no ledger can hold. One parameter for any number of ids keeps the statement the same. */
export const idRows = ({ sql }: Pick<Target, "sql">, ids: Iterable<string>): Fragment => {
  const json = JSON.stringify([...ids].filter(isStorable))
  return sql.onDialectOrElse({
    pg: () => sql`SELECT value FROM json_array_elements_text(${json}::json) AS id_row (value)`,
    orElse: () => sql`SELECT value FROM json_each(${json})`
  })
}
