/**
 * The metrics of a runner, in addition to those of `observability/Metrics`, which sum up its accounts. No metric has the account as a
 * label: a fleet has thousands of them.
 */
import * as Metric from "effect/Metric"
import * as MetricKey from "effect/MetricKey"
import * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"
import type { AccountBacklog } from "./FleetStatus.ts"

const named = (name: string) => `plaza_stock_sync_fleet_${name}`
const gauge = (name: string, description: string) => Metric.gauge(named(name), { description })

/** By `state`. */
export const runnerAccounts = gauge("runner_accounts", "Accounts of this runner by state; an account may be in several states")
export const shards = gauge("shards", "Shards that this runner owns")
/** The same on every runner. */
export const configuredShards = gauge("configured_shards", "Shards of the whole fleet, owned or not")
export const loopAge = gauge("loop_age_seconds", "Time since the runner's loop last ended a turn")
export const databaseAge = gauge("database_age_seconds", "Time since the runner's loop last reached the database")
/** Absent until the runner has owned a shard. */
export const leaseAge = gauge("lease_age_seconds", "Time since the runner last renewed the leases of its shards")
/** By `state`. */
export const poolConnections = gauge("pool_connections", "Connections of the runner to the database by state")
export const poolWaiting = gauge("pool_waiting", "Statements that wait for a connection to the database")
/** By `state`; the same on every runner. */
export const accounts = gauge("accounts", "Accounts of the whole fleet by state, as this runner sees them")
/** The same on every runner. */
export const runners = gauge("runners", "Runners that are alive, as this runner sees them")

/** The backlogs of single accounts. They are not registered, so that no other response has their labels. */
export const accountBacklogs = (worst: ReadonlyArray<AccountBacklog>): ReadonlyArray<MetricPair.MetricPair.Untyped> =>
  worst.map(({ account, products }) =>
    MetricPair.unsafeMake(
      MetricKey.tagged(
        MetricKey.gauge(named("account_backlog"), { description: "Products of an account that wait to be sent" }),
        "account",
        account
      ),
      MetricState.gauge(products)
    )
  )
