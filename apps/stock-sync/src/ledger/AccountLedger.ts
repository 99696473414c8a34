/** The ledger of one account in an open database. */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import { hostname } from "node:os"
import * as Binding from "./Binding.ts"
import * as Corrections from "./Corrections.ts"
import * as Events from "./Events.ts"
import type { Ledger, LedgerOptions } from "./Ledger.ts"
import { LedgerCommands } from "./LedgerCommands.ts"
import type { LedgerFault } from "./LedgerError.ts"
import * as NoticeRecord from "./NoticeRecord.ts"
import * as Operation from "./Operation.ts"
import type { Database, Failure } from "./Operation.ts"
import * as Outcome from "./Outcome.ts"
import * as Queries from "./Queries.ts"
import * as Requests from "./Requests.ts"
import * as Rows from "./Rows.ts"
import * as Apply from "./snapshot/Apply.ts"
import * as Judge from "./snapshot/Judge.ts"
import * as Revert from "./snapshot/Revert.ts"
import * as Take from "./Take.ts"

const epochRow = Rows.only(Schema.Struct({ epoch: Schema.Int }))

/** The account of a ledger that serves one store. */
export const single = 1

/** Makes this process the owner of an account: nobody who owned it before can write any more. Returns its epoch. */
export const takeOver = (sql: SqlClient, account: number): Effect.Effect<number, Failure> =>
  Effect.gen(function*() {
    const now = yield* Operation.now
    const { epoch } = yield* epochRow(sql`UPDATE account SET epoch = epoch + 1, owner = ${`process ${process.pid} on ${hostname()}`},
      owned_since = ${now} WHERE account = ${account} RETURNING epoch`)
    return epoch
  })

/** Makes requests of an earlier owner doubtful. */
export const recover = Outcome.markInterrupted

export const make = (
  database: Database,
  { account, epoch }: Pick<Operation.Target, "account" | "epoch">,
  options: LedgerOptions,
  { lost = Effect.never, present = Effect.void }: {
    /** Fails if what the database lies in was removed, emptied or replaced. */
    readonly present?: Effect.Effect<void, LedgerFault>
    readonly lost?: Effect.Effect<never, LedgerFault>
  } = {}
): Ledger["Service"] => {
  const { giveWay = Effect.succeed(false), inTurn = identity, path, session, sql } = database
  const target: Operation.Target = { sql, account, epoch }
  const inOrder = Operation.makeRun(database)
  const run: Operation.Run = (statements) => inOrder(inTurn(statements))
  const snapshot = run(Judge.status(target))
  const staging: Apply.Staging = {
    run: inOrder,
    session: session ?? (() => Effect.succeed(sql)),
    giveWay,
    orFault: Operation.orFault(database.faultOf)
  }
  return {
    path,
    check: Effect.andThen(present, run(Operation.checkOwner(target))),
    lost,
    ...Binding.make(target, path, run),
    // A snapshot has its turn by its session. Other operations of the account go on while its source is read, and wait with a snapshot in
    // memory until it has a session: if it waited for them instead, it would keep a session that other accounts wait for.
    ...Apply.make(target, run, staging),
    ...Revert.make(target, run, staging, path),
    snapshot,
    confirmHeld: (number) =>
      Effect.gen(function*() {
        yield* run(Judge.confirm(target, number))
        const { held } = yield* snapshot
        return Option.isSome(held) && held.value.number === number && held.value.confirmed
          ? held.value
          : yield* Judge.notHeld(number, held, path, yield* LedgerCommands)
      }),
    ...Queries.make(target, run),
    take: (selection) => run(Take.take(target, selection)),
    confirm: (send) => run(Outcome.confirm(target, options, send)),
    fail: (send, failed) => run(Outcome.fail(target, options, send, failed)),
    ...Requests.make(target, options, run),
    ...Events.make(target, run),
    ...NoticeRecord.make(target, run),
    ...Corrections.make(target, run)
  }
}
