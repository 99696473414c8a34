/** The ledger of one account of a fleet: the statements of a ledger of its own, each operation in a transaction that checks the epoch. */
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as ApplySnapshot from "../../ledger/ApplySnapshot.ts"
import type { Ledger, LedgerOptions } from "../../ledger/Ledger.ts"
import * as LedgerConnection from "../../ledger/LedgerConnection.ts"
import { LedgerFault } from "../../ledger/LedgerError.ts"
import * as LedgerRows from "../../ledger/LedgerRows.ts"
import * as LedgerSql from "../../ledger/LedgerSql.ts"
import * as OutcomeQueries from "../../ledger/OutcomeQueries.ts"
import { codeOf, faultOf as postgresFaultOf } from "../../ledger/PostgresErrors.ts"
import * as RowsAhead from "../../ledger/RowsAhead.ts"
import type { SnapshotResult } from "../../ledger/Snapshot.ts"
import { naming, schema } from "../FleetDatabase.ts"
import { AccountTakenOver } from "../FleetError.ts"
import * as AppliedDigest from "./AppliedDigest.ts"
import * as LedgerSchema from "./LedgerSchema.ts"
import type { LedgerSessions, SnapshotSession, Target } from "./LedgerSessions.ts"

interface AccountTarget extends Target {
  readonly id: string
}

const faultOf = (path: string, { epoch, id }: AccountTarget) => (error: SqlError | ParseError): LedgerFault => {
  if (error._tag === "ParseError" || codeOf(error.cause) !== LedgerSchema.takenOver)
    return postgresFaultOf(path, naming(`the ledger ${path}`))(error)
  const message = epoch === null
    ? `the account ${id} was removed`
    : `another runner has taken over the account ${id}, or it was removed: this runner stops working on it, and wrote nothing`
  return new LedgerFault({ path, message, cause: new AccountTakenOver({ id, epoch: epoch ?? 0, message }) })
}

const estimate = LedgerRows.first(Schema.Struct({ rows: Schema.Number }))

/**
 * Updates the statistics of the shared table after a snapshot that changed a considerable part of it, so that the next statements are
 * planned well. Autovacuum does it later. A user that does not own the table may not, which the server ignores.
 */
const analyze = ({ snapshot }: LedgerSessions, { changed }: SnapshotResult) =>
  changed < 1_000 ? Effect.void : Effect.ignore(snapshot(
    ({ execute }) =>
      Effect.gen(function*() {
        const known = yield* estimate(execute(`SELECT reltuples AS rows FROM pg_class WHERE oid = '${schema}.ledger_product'::regclass`))
        if (Option.exists(known, ({ rows }) => changed * 5 > rows)) yield* execute(`ANALYZE (SKIP_LOCKED) ${schema}.ledger_product`)
      }),
    identity
  ))

const connect = (database: string, { operation, sql }: LedgerSessions, target: AccountTarget) => {
  const path = `of account ${target.id} in ${database}`
  const toFault = faultOf(path, target)
  // One operation at a time, also while a snapshot is applied.
  const inOrder = LedgerConnection.make(sql, path, toFault, true)
  const connection: LedgerConnection.LedgerConnection = { ...inOrder, run: (statements) => inOrder.run(operation(target, statements)) }
  return { connection, inOrder, toFault }
}

/** Opens the ledger. It holds no connection between operations. */
export const open = (
  database: string,
  sessions: LedgerSessions,
  target: AccountTarget,
  options: LedgerOptions
): Ledger["Type"] => {
  const { connection, inOrder, toFault } = connect(database, sessions, target)
  // A snapshot that fails or is interrupted leaves the connections of other operations usable, so they go on.
  const runOn = (session: SnapshotSession): LedgerConnection.LedgerConnection["run"] => (statements) =>
    Effect.flatMap(inOrder.run(Effect.either(session.transaction(target, statements))), (result) => Effect.mapError(result, toFault))
  const withSession = <A, E, R>(use: (connection: LedgerConnection.LedgerConnection) => Effect.Effect<A, E, R>) =>
    sessions.snapshot((session) => use({ ...inOrder, run: runOn(session) }), toFault)
  return {
    ...LedgerSql.make(connection, options, connection.run(Effect.void)),
    applySnapshot: (input, policy) =>
      Effect.scoped(Effect.gen(function*() {
        // A slow source of usual size does not keep a connection.
        const ahead = yield* RowsAhead.read(input)
        const digest = Option.map(ahead.all, (rows) => AppliedDigest.digestOf(input, rows, policy))
        const digestAssignments = AppliedDigest.record(connection.sql, Option.getOrNull(digest))
        const applied = yield* Option.match(Option.all({ digest, rows: ahead.all }), {
          onNone: () => Effect.succeedNone,
          onSome: ({ digest, rows }) =>
            connection.run(Effect.flatMap(AppliedDigest.find(connection.sql, digest), (known) =>
              Option.isSome(known)
                ? Effect.succeed(known)
                : ApplySnapshot.applySmall(connection, rows, ahead.input, policy, digestAssignments)))
        })
        const result = Option.isSome(applied)
          ? applied.value
          : yield* withSession((reserved) => ApplySnapshot.apply(reserved, digestAssignments)(ahead.input, policy))
        yield* analyze(sessions, result)
        return result
      })),
    previewSnapshot: (input, policy) =>
      Effect.scoped(
        Effect.flatMap(RowsAhead.read(input), (ahead) => withSession((reserved) => ApplySnapshot.preview(reserved)(ahead.input, policy)))
      )
  }
}

/** Makes requests of an earlier opening doubtful, and prepares the ledger of a new account. */
export const recover = (
  database: string,
  sessions: LedgerSessions,
  target: AccountTarget,
  options: LedgerOptions
): Effect.Effect<void, LedgerFault> => {
  const { connection: { run, sql } } = connect(database, sessions, target)
  return Effect.asVoid(run(Effect.zipRight(
    sql`INSERT INTO snapshot (one) VALUES (1) ON CONFLICT DO NOTHING`,
    OutcomeQueries.markInterrupted(sql, options)
  )))
}
