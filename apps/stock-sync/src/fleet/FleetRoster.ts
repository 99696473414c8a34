/** What a runner reads and writes of the accounts of its shards, for all of them in one statement. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { toStorable } from "../ledger/Operation.ts"
import * as Rows from "../ledger/Rows.ts"
import * as AccountSelection from "./AccountSelection.ts"
import * as FleetAccounts from "./FleetAccounts.ts"
import { FleetDatabase } from "./FleetDatabase.ts"
import type { FleetDatabaseError } from "./FleetError.ts"

const AccountRevision = Schema.Struct({ id: Schema.String, revision: Schema.Int })

const Change = Schema.Struct({
  ...AccountRevision.fields,
  /** Null until a runner has assigned it. */
  shard: Schema.NullOr(Schema.Int)
})

/** An account of this runner has a problem, or has recovered. */
export interface Problem {
  readonly id: string
  readonly epoch: number
  readonly problem: string | null
}

export class FleetRoster extends Context.Service<FleetRoster, {
  /** Accounts that changed after a revision: those of these shards, and all that have no shard yet. */
  readonly changes: (shards: Iterable<number>, after: number) => Effect.Effect<ReadonlyArray<typeof Change.Type>, FleetDatabaseError>
  readonly read: (
    selection: AccountSelection.AccountSelection
  ) => Effect.Effect<ReadonlyArray<FleetAccounts.FleetAccount>, FleetDatabaseError>
  /** Accounts of these shards, paused ones included, with the revisions of their settings. */
  readonly revisions: (shards: Iterable<number>) => Effect.Effect<ReadonlyArray<typeof AccountRevision.Type>, FleetDatabaseError>
  /** Sets the shards of accounts that have none. Counts as a change, so that the runner of the shard sees the account. */
  readonly assign: (accounts: ReadonlyArray<{ readonly id: string; readonly shard: number }>) => Effect.Effect<void, FleetDatabaseError>
  /**
   * Records problems, except for accounts that another runner has taken over or an operator has paused. Never waits: leaves out accounts
   * that an import or a removal has locked. Returns the ids of all others.
   */
  readonly recordProblems: (problems: ReadonlyArray<Problem>) => Effect.Effect<ReadonlyArray<string>, FleetDatabaseError>
  /** After a statement that took too long: ends all connections if the server does not respond, so that nothing waits for it. */
  readonly cutIfSilent: Effect.Effect<void>
}>()("@plaza/stock-sync/fleet/FleetRoster") {}

/** Longer than it takes to find out that the server is silent. */
const silenceTimeout = Duration.seconds(5)

const changes = Rows.all(Change)
const accounts = Rows.all(FleetAccounts.Row)
const revisionRows = Rows.all(AccountRevision)
const ids = Rows.all(Schema.Struct({ id: Schema.String }))

export const layer: Layer.Layer<FleetRoster, never, FleetDatabase> = Layer.effect(
  FleetRoster,
  Effect.gen(function*() {
    const { run, silent, sql } = yield* FleetDatabase
    const isSelected = AccountSelection.condition(sql)
    const inShards = (shards: Iterable<number>) => isSelected({ _tag: "Shards", shards })

    return FleetRoster.of({
      cutIfSilent: Effect.asVoid(Effect.timeoutOption(silent, silenceTimeout)),
      changes: (shards, after) =>
        run(changes(sql`
          SELECT id, revision, shard FROM fleet_account WHERE shard IS NULL
          UNION ALL SELECT id, revision, shard FROM fleet_account WHERE ${inShards(shards)} AND revision > ${after}`)),
      read: (selection) =>
        run(accounts(sql`
          SELECT ${sql.literal(FleetAccounts.columns)} FROM fleet_account JOIN account USING (account) WHERE ${isSelected(selection)}`)),
      revisions: (shards) => run(revisionRows(sql`SELECT id, revision FROM fleet_account WHERE ${inShards(shards)}`)),
      // Rows that another runner assigns at this moment are left to it.
      assign: (assigned) =>
        Effect.asVoid(run(sql`
          UPDATE fleet_account SET shard = one.shard, revision = nextval('fleet_revision')
          FROM jsonb_to_recordset(${JSON.stringify(assigned)}::jsonb) AS one (id text, shard integer)
          WHERE fleet_account.id IN (
            SELECT id FROM fleet_account WHERE shard IS NULL AND ${isSelected({ _tag: "Ids", ids: assigned.map(({ id }) => id) })}
            FOR UPDATE SKIP LOCKED
          ) AND fleet_account.id = one.id`)),
      recordProblems: (problems) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          // A problem may contain a text of the service. One that can't be stored would fail this statement for all accounts.
          const rows = problems.map(({ problem, ...row }) => ({ ...row, problem: problem === null ? null : toStorable(problem) }))
          const recorded = run(ids(sql`
            WITH one AS MATERIALIZED (
              SELECT fleet_account.id, one.epoch, one.problem FROM fleet_account
                JOIN jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS one (id text, epoch bigint, problem text) USING (id)
              ORDER BY fleet_account.id FOR NO KEY UPDATE OF fleet_account SKIP LOCKED),
            recorded AS (
              UPDATE fleet_account SET problem = one.problem, problem_at = CASE WHEN one.problem IS NULL THEN NULL ELSE ${now}::bigint END
              FROM one WHERE fleet_account.id = one.id AND (one.problem IS NULL OR NOT fleet_account.paused)
                AND EXISTS (SELECT 1 FROM account WHERE account.account = fleet_account.account AND account.epoch = one.epoch))
            SELECT id FROM one`))
          return Effect.map(recorded, (found) => found.map(({ id }) => id))
        })
    })
  })
)
