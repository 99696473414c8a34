/**
 * The state of a fleet in its database: accounts, runners and what waits to be sent. Each query reads an index of waiting or otherwise few
 * rows, or the tables of accounts and runners, and never a whole catalogue.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Backlog } from "../../ledger/Ledger.ts"
import * as Rows from "../../ledger/Rows.ts"
import { exceptional, isExcluded, needsPerson } from "../../ledger/Schema.ts"
import * as StockPriority from "../../ledger/StockPriority.ts"
import { FleetDatabase } from "../FleetDatabase.ts"
import type { FleetDatabaseError } from "../FleetError.ts"
import * as SourceReference from "../SourceReference.ts"
import { Reason } from "./FleetReadiness.ts"
import * as RunnerHeartbeat from "./RunnerHeartbeat.ts"
import * as StatusTables from "./StatusTables.ts"

/** Accounts in each list of an overview. */
export const maxListed = 20

/** `paused` by an operator, `pending` without a live runner, else `running`. A running account may have a problem. */
export const states = ["running", "paused", "pending"] as const

type Read<A> = Effect.Effect<A, FleetDatabaseError, FleetDatabase>

const reading = <A>(statements: (sql: SqlClient) => Effect.Effect<A, Schema.SchemaError | SqlError>): Read<A> =>
  Effect.flatMap(FleetDatabase, ({ report, sql }) => report(statements(sql)))

// The names of the live runners and of the accounts' states in the statements below.
const live = `(SELECT name FROM fleet_runner WHERE seen_at > ${StatusTables.now} - ${Duration.toMillis(RunnerHeartbeat.aliveFor)}) AS live`
const stateOf = "CASE WHEN fleet_account.paused THEN 'paused' WHEN live.name IS NULL THEN 'pending' ELSE 'running' END"
const accountsWithState = `fleet_account JOIN account USING (account) LEFT JOIN ${live} ON live.name = account.owner`

const Runner = Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  /** Whether it has written its row within the expiry of its locks. */
  alive: Schema.Boolean,
  startedAt: Rows.Instant,
  lastSeen: Rows.Instant,
  shards: Schema.Int,
  /** Accounts that it has taken over last. */
  accounts: Schema.Int,
  active: Schema.Int,
  reading: Schema.Int,
  waitingToRead: Schema.Int,
  failing: Schema.Int,
  /** Why it is not ready. */
  reasons: Schema.Array(Reason)
})
export type Runner = typeof Runner.Type

const runnerRows = Rows.all(Runner)

/** The runners of the last hour, by name. */
export const runners: Read<ReadonlyArray<Runner>> = reading((sql) =>
  runnerRows(sql`
    SELECT fleet_runner.name, version, live.name IS NOT NULL AS alive, started_at AS "startedAt", seen_at AS "lastSeen", shards,
      coalesce(owned.accounts, 0) AS accounts, active, reading, waiting_to_read AS "waitingToRead", failing, reasons
    FROM fleet_runner LEFT JOIN ${sql.literal(live)} ON live.name = fleet_runner.name
    LEFT JOIN (SELECT owner, count(*) AS accounts FROM account GROUP BY owner) AS owned ON owned.owner = fleet_runner.name
    ORDER BY fleet_runner.name`)
)

const AccountCounts = Schema.Struct({
  total: Schema.Int,
  running: Schema.Int,
  paused: Schema.Int,
  pending: Schema.Int,
  /** Accounts with a problem, in any state. */
  failing: Schema.Int,
  /** Accounts with a held snapshot, in any state. */
  held: Schema.Int
})

const accountCountsRow = Rows.only(AccountCounts)

const countOf = (name: string, condition: string) => `count(*) FILTER (WHERE ${condition}) AS ${name}`

export const accountCounts: Read<typeof AccountCounts.Type> = reading((sql) => {
  const inState = (state: (typeof states)[number]) => sql.literal(countOf(state, `${stateOf} = '${state}'`))
  return accountCountsRow(sql`
    SELECT count(*) AS total, ${inState("running")}, ${inState("paused")}, ${inState("pending")}, count(problem) AS failing,
      (SELECT count(*) FROM snapshot WHERE held_since IS NOT NULL) AS held
    FROM ${sql.literal(accountsWithState)}`)
})

// What waits for a person. A confirmed snapshot is accepted at the next read.
const heldUnconfirmed = "held_since IS NOT NULL AND confirmed_number IS DISTINCT FROM last_number"
const needing = `${exceptional} AND ${needsPerson}`
const rejectedRow = "kind = 'rejected'"
const troubled = `NOT fleet_account.paused AND (fleet_account.problem IS NOT NULL
  OR account IN (SELECT account FROM snapshot WHERE ${heldUnconfirmed})
  OR account IN (SELECT account FROM product WHERE ${needing})
  OR EXISTS (SELECT FROM row_issue WHERE row_issue.account = fleet_account.account AND ${rejectedRow}))`

const Standing = Schema.Struct({
  total: Schema.Int,
  /** With a live runner, and nothing needs a person. */
  running: Schema.Int,
  /** With a problem, a held snapshot, a product that needs a person or a rejected row, and not paused. */
  troubled: Schema.Int,
  /** Paused by an operator. */
  paused: Schema.Int,
  /** Without a live runner, and nothing needs a person. */
  pending: Schema.Int
})
/** The accounts by what a person has to do. The four parts add up to `total`. */
export type Standing = typeof Standing.Type

const standingRow = Rows.only(Standing)

export const standing: Read<Standing> = reading((sql) =>
  standingRow(sql`
    SELECT count(*) AS total, ${sql.literal(countOf("troubled", "troubled"))}, ${sql.literal(countOf("paused", "state = 'paused'"))},
      ${sql.literal(countOf("running", "state = 'running' AND NOT troubled"))},
      ${sql.literal(countOf("pending", "state = 'pending' AND NOT troubled"))}
    FROM (SELECT ${sql.literal(stateOf)} AS state, ${sql.literal(troubled)} AS troubled FROM ${sql.literal(accountsWithState)}) AS each`)
)

const TroubledAccount = Schema.Struct({
  id: Schema.String,
  problem: Schema.NullOr(Schema.String),
  problemAt: Schema.NullOr(Rows.Instant),
  /** The number of the held snapshot; null without one. */
  held: Schema.NullOr(Schema.Int),
  heldSince: Schema.NullOr(Rows.Instant),
  /** Products that need a person, and rejected rows. */
  products: Schema.Int,
  productsSince: Schema.NullOr(Rows.Instant),
  rejectedRows: Schema.Int
})
export type TroubledAccount = typeof TroubledAccount.Type

const troubledRows = Rows.all(TroubledAccount)

/** The first accounts that need a person, by id. */
const troubledAccounts: Read<ReadonlyArray<TroubledAccount>> = reading((sql) =>
  troubledRows(sql`
    SELECT listed.id, problem, problem_at AS "problemAt",
      CASE WHEN ${sql.literal(heldUnconfirmed)} THEN last_number END AS held, held_since AS "heldSince",
      products.n AS products, products.since AS "productsSince",
      (SELECT count(*) FROM row_issue WHERE row_issue.account = listed.account AND ${sql.literal(rejectedRow)}) AS "rejectedRows"
    FROM (
      SELECT fleet_account.id, account, fleet_account.problem, fleet_account.problem_at FROM fleet_account WHERE ${sql.literal(troubled)}
      ORDER BY fleet_account.id LIMIT ${maxListed}
    ) AS listed
    LEFT JOIN snapshot USING (account)
    CROSS JOIN LATERAL (
      SELECT count(*) AS n, min(queued_at) AS since FROM product WHERE account = listed.account AND ${sql.literal(needing)}
    ) AS products
    ORDER BY listed.id`)
)

const NeedyAccount = Schema.Struct({
  id: Schema.String,
  problem: Schema.NullOr(Schema.String),
  /** The number of the held snapshot; null without one. */
  held: Schema.NullOr(Schema.Int),
  /** Products that need a person. */
  products: Schema.Int,
  /** Rows of the last snapshot, those without an id, and the first ids of the others. */
  rejectedRows: Schema.Int,
  rejectedWithoutId: Schema.Int,
  rejectedIds: Schema.Array(Schema.String)
})
export type NeedyAccount = typeof NeedyAccount.Type

const needyRows = Rows.all(NeedyAccount)

/** Ids of rejected rows that are compared for each account. */
const mostRejected = 100

/** The accounts with a problem, a held snapshot, a product that needs a person or a rejected row, and not paused, by id. */
export const needyAccounts: Read<ReadonlyArray<NeedyAccount>> = reading((sql) =>
  needyRows(sql`
    SELECT id, problem, CASE WHEN ${sql.literal(heldUnconfirmed)} THEN last_number END AS held, coalesce(products.n, 0) AS products,
      coalesce(rejected.n, 0) AS "rejectedRows", coalesce(rejected.unnamed, 0) AS "rejectedWithoutId",
      coalesce(rejected.ids, '[]') AS "rejectedIds"
    FROM fleet_account LEFT JOIN snapshot USING (account)
    LEFT JOIN (SELECT account, count(*) AS n FROM product WHERE ${sql.literal(needing)} GROUP BY account) AS products USING (account)
    LEFT JOIN (
      SELECT account, count(*) AS n, count(*) FILTER (WHERE product_id IS NULL) AS unnamed,
        to_json((array_agg(DISTINCT product_id ORDER BY product_id) FILTER (WHERE product_id IS NOT NULL))[1:${mostRejected}]) AS ids
      FROM row_issue WHERE ${sql.literal(rejectedRow)} GROUP BY account
    ) AS rejected USING (account)
    WHERE NOT paused AND (problem IS NOT NULL OR (${sql.literal(heldUnconfirmed)}) OR products.n > 0 OR rejected.n > 0)
    ORDER BY id`)
)

const AccountBacklog = Schema.Struct({
  account: Schema.String,
  products: Schema.Int,
  soldOut: Schema.Int,
  /** When the product that waits longest started to wait. */
  since: Rows.Instant
})
export type AccountBacklog = typeof AccountBacklog.Type

const BacklogRow = Schema.Struct({
  priorities: Schema.Array(Schema.Struct({
    priority: Rows.Priority,
    products: Schema.Int,
    since: Rows.Instant,
    /** Of the accounts that nothing known keeps from being up to date; null without one. */
    healthySince: Schema.NullOr(Rows.Instant)
  })),
  /** Accounts with a waiting product. */
  accounts: Schema.Int,
  worst: Schema.Array(AccountBacklog),
  /** The number of the account with the sold-out product that waits longest. */
  oldest: Schema.NullOr(Schema.Int)
})
const backlogRow = Rows.only(BacklogRow)

const Oldest = Schema.Struct({ account: Schema.String, productId: Schema.String, since: Rows.Instant })
const oldestRow = Rows.first(Oldest)

/** What waits in a group of accounts. */
export interface FleetBacklog extends Pick<Backlog, "waiting" | "longest"> {
  /** `longest` without the accounts that are paused or have a problem. */
  readonly longestOfHealthy: Backlog["longest"]
  /** Accounts with a waiting product. */
  readonly accounts: number
  /** The longest backlogs. */
  readonly worst: ReadonlyArray<AccountBacklog>
  /** The sold-out product that waits longest. */
  readonly oldestSoldOut: Option.Option<typeof Oldest.Type>
}

const soldOut = StockPriority.indexOf("soldOut")

const ofRunner = (sql: SqlClient, runner: Option.Option<string>): Fragment =>
  Option.match(runner, {
    onNone: () => sql`1 = 1`,
    onSome: (name) => sql`account IN (SELECT account FROM account WHERE owner = ${name})`
  })

/** The backlog of the accounts of a runner, or of all accounts, with this number of the worst ones. */
export const backlog = (runner: Option.Option<string>, worst: number): Read<FleetBacklog> =>
  reading(Effect.fnUntraced(function*(sql) {
    const waiting = sql.literal(StatusTables.waiting)
    const found = yield* backlogRow(sql`
      WITH part AS MATERIALIZED (
        SELECT account, priority, count(*) AS n, min(queued_at) AS since FROM product
        WHERE ${waiting} AND ${ofRunner(sql, runner)} GROUP BY account, priority
      ), each AS MATERIALIZED (
        SELECT account, sum(n)::bigint AS products, coalesce(sum(n) FILTER (WHERE priority = ${soldOut}), 0)::bigint AS "soldOut",
          min(since) AS since
        FROM part GROUP BY account
      )
      SELECT
        (SELECT count(*) FROM each) AS accounts,
        (SELECT coalesce(json_agg(one), '[]') FROM (
          SELECT priority, sum(n)::bigint AS products, min(since) AS since, min(since) FILTER (
            WHERE account IN (SELECT account FROM fleet_account WHERE NOT paused AND problem IS NULL)) AS "healthySince"
          FROM part GROUP BY priority) AS one) AS priorities,
        (SELECT coalesce(json_agg(one), '[]') FROM (
          SELECT id AS account, products, "soldOut", since
          FROM (SELECT * FROM each ORDER BY products DESC, account LIMIT ${worst}) AS longest JOIN fleet_account USING (account)
          ORDER BY products DESC, id) AS one) AS worst,
        (SELECT account FROM part WHERE priority = ${soldOut} ORDER BY since, account LIMIT 1) AS oldest`)
    const oldestSoldOut = found.oldest === null ? Option.none() : yield* oldestRow(sql`
      SELECT fleet_account.id AS account, product.id AS "productId", queued_at AS since FROM product JOIN fleet_account USING (account)
      WHERE ${waiting} AND account = ${found.oldest} AND priority = ${soldOut} ORDER BY queued_at, product.id LIMIT 1`)
    const each = <A>(read: (row: (typeof found.priorities)[number] | undefined) => A) => {
      const of = (waiting: StockPriority.Waiting) => read(found.priorities.find(({ priority }) => priority === waiting))
      return { soldOut: of("soldOut"), falling: of("falling"), backInStock: of("backInStock"), rest: of("rest"), doubtful: of("doubtful") }
    }
    return {
      waiting: each((row) => row?.products ?? 0),
      longest: each((row) => row?.since),
      longestOfHealthy: each((row) => row?.healthySince ?? undefined),
      accounts: found.accounts,
      worst: found.worst,
      oldestSoldOut
    }
  }))

const UnsettledCounts = Schema.Struct({ sending: Schema.Int, doubtful: Schema.Int, uncertain: Schema.Int, quarantined: Schema.Int })
const unsettledCountsRow = Rows.only(UnsettledCounts)

/** Products of the accounts of a runner, or of all accounts, in the states that few products have. */
export const unsettledCounts = (runner: Option.Option<string>): Read<typeof UnsettledCounts.Type> =>
  reading((sql) => {
    const inState = (state: keyof typeof UnsettledCounts.Type) => sql.literal(countOf(state, `state = '${state}'`))
    return unsettledCountsRow(sql`
      SELECT ${inState("sending")}, ${inState("doubtful")}, ${inState("uncertain")}, ${inState("quarantined")} FROM product
      WHERE ${sql.literal(`${exceptional} AND NOT (${isExcluded})`)} AND ${ofRunner(sql, runner)}`)
  })

const problemRows = Rows.all(
  Schema.Struct({ account: Schema.String, problem: Schema.String, since: Schema.NullOr(Rows.Instant) })
)
const heldRows = Rows.all(Schema.Struct({ account: Schema.String, snapshot: Schema.Int, since: Rows.Instant }))
const idRows = Rows.all(Schema.Struct({ id: Schema.String }))

const problems = reading((sql) =>
  problemRows(sql`
    SELECT id AS account, problem, problem_at AS since FROM fleet_account WHERE problem IS NOT NULL ORDER BY id LIMIT ${maxListed}`)
)
const held = reading((sql) =>
  heldRows(sql`
    SELECT id AS account, last_number AS snapshot, held_since AS since FROM snapshot JOIN fleet_account USING (account)
    WHERE held_since IS NOT NULL ORDER BY id LIMIT ${maxListed}`)
)
const paused = reading((sql) =>
  Effect.map(idRows(sql`SELECT id FROM fleet_account WHERE paused ORDER BY id LIMIT ${maxListed}`), (rows) => rows.map(({ id }) => id))
)
const keyRows = Rows.all(Schema.Struct({ accounts: Schema.Array(Schema.String) }))

/** Accounts that have last used the same key for the same service. Each of them would use the key's whole rate limit. */
const sharedKeys = reading((sql) =>
  Effect.map(
    keyRows(sql`
      SELECT to_json((array_agg(id ORDER BY id))[1:${maxListed}]) AS accounts FROM account JOIN fleet_account USING (account)
      WHERE key_fingerprint <> '' GROUP BY account.base_url, key_fingerprint HAVING count(*) > 1 ORDER BY min(id) LIMIT ${maxListed}`),
    (rows) => rows.map(({ accounts }) => accounts)
  )
)

/** The whole fleet. Its lists have the first {@link maxListed} entries. */
export const overview = Effect.all({
  runners,
  accounts: accountCounts,
  standing,
  troubled: troubledAccounts,
  backlog: backlog(Option.none(), maxListed),
  products: unsettledCounts(Option.none()),
  problems,
  held,
  sharedKeys,
  paused
})
export type Overview = Effect.Success<typeof overview>

const AccountRow = Schema.Struct({
  id: Schema.String,
  state: Schema.Literals(states),
  runner: Schema.NullOr(Schema.String),
  epoch: Schema.Int,
  problem: Schema.NullOr(Schema.String),
  problemAt: Schema.NullOr(Rows.Instant),
  baseUrl: Schema.String,
  source: SourceReference.FromText
})
export type AccountRow = typeof AccountRow.Type

const accountColumns = `fleet_account.id, account, ${stateOf} AS state, account.owner AS runner, account.epoch, fleet_account.problem,
  fleet_account.problem_at AS "problemAt", fleet_account.base_url AS "baseUrl", fleet_account.source`

const accountRow = Rows.first(AccountRow)

/** One account; none if there is no such account. */
export const account = (id: string): Read<Option.Option<AccountRow>> =>
  reading((sql) =>
    accountRow(sql`
    SELECT ${sql.literal(accountColumns)} FROM ${sql.literal(accountsWithState)} WHERE fleet_account.id = ${id}`)
  )

/** Which accounts a page lists. */
export const filters = ["all", "troubled", ...states, "failing", "held", "waiting"] as const
export type Filter = (typeof filters)[number]

export interface AccountQuery {
  /** The beginning of the id. */
  readonly prefix: string
  readonly filter: Filter
  /** The page after, or before, this id; the first page if none is given. */
  readonly from: Option.Option<{ readonly direction: "after" | "before"; readonly id: string }>
}

export const pageSize = 50

/** Waiting products are counted up to this number. */
export const maxCounted = 10_000

const ListedAccount = Schema.Struct({
  id: Schema.String,
  state: Schema.Literals(states),
  runner: Schema.NullOr(Schema.String),
  problem: Schema.NullOr(Schema.String),
  /** It needs a person, and is not paused. */
  troubled: Schema.Boolean,
  heldSince: Schema.NullOr(Rows.Instant),
  /** At most {@link maxCounted}, as is `soldOut`. */
  waiting: Schema.Int,
  soldOut: Schema.Int
})
type ListedAccount = typeof ListedAccount.Type

export interface AccountPage {
  /** At most {@link pageSize}, by id. */
  readonly accounts: ReadonlyArray<ListedAccount>
  readonly hasPrevious: boolean
  readonly hasNext: boolean
}

const listedRows = Rows.all(ListedAccount)

const conditionOf = (filter: Filter): string => {
  switch (filter) {
    case "all":
      return "1 = 1"
    case "troubled":
      return troubled
    case "failing":
      return "fleet_account.problem IS NOT NULL"
    case "held":
      return "account IN (SELECT account FROM snapshot WHERE held_since IS NOT NULL)"
    case "waiting":
      return `EXISTS (SELECT FROM product WHERE account = fleet_account.account AND ${StatusTables.waiting})`
    case "running":
    case "paused":
    case "pending":
      return `${stateOf} = '${filter}'`
  }
}

// Ids have at most 200 characters and are compared byte by byte: those with a prefix are the ones up to this end.
const endOfPrefix = (prefix: string) => `${prefix}${"\u{10FFFF}".repeat(200)}`

/** A page of accounts by id, from an index, however many accounts there are. */
export const accounts = ({ filter, from, prefix }: AccountQuery): Read<AccountPage> =>
  reading((sql) => {
    const backwards = Option.exists(from, ({ direction }) => direction === "before")
    const edge = Option.match(from, {
      onNone: () => sql`1 = 1`,
      onSome: ({ direction, id }) => direction === "before" ? sql`fleet_account.id < ${id}` : sql`fleet_account.id > ${id}`
    })
    return Effect.map(
      listedRows(sql`
        SELECT listed.id, state, runner, problem, troubled, held_since AS "heldSince", backlog.waiting, backlog.sold_out AS "soldOut"
        FROM (
          SELECT ${sql.literal(accountColumns)}, ${sql.literal(troubled)} AS troubled FROM ${sql.literal(accountsWithState)}
          WHERE fleet_account.id >= ${prefix} AND fleet_account.id <= ${endOfPrefix(prefix)} AND ${edge}
            AND ${sql.literal(conditionOf(filter))}
          ORDER BY fleet_account.id ${sql.literal(backwards ? "DESC" : "ASC")} LIMIT ${pageSize + 1}
        ) AS listed
        LEFT JOIN snapshot USING (account)
        CROSS JOIN LATERAL (
          SELECT count(*) AS waiting, count(*) FILTER (WHERE priority = ${soldOut}) AS sold_out FROM (
            SELECT priority FROM product WHERE account = listed.account AND ${sql.literal(StatusTables.waiting)}
            ORDER BY priority LIMIT ${maxCounted}
          ) AS counted
        ) AS backlog
        ORDER BY listed.id`),
      (rows) => {
        const hasMore = rows.length > pageSize
        return {
          accounts: backwards ? rows.slice(-pageSize) : rows.slice(0, pageSize),
          hasPrevious: backwards ? hasMore : Option.isSome(from),
          hasNext: backwards || hasMore
        }
      }
    )
  })
