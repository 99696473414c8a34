/**
 * The metrics of a runner, in addition to those of `observability/Metrics`, which sum up its accounts. A fleet has thousands of accounts, so
 * the account is no label of them, {@link accountBacklog} excepted.
 */
import * as Metric from "effect/Metric"

const gauge = (name: string, description: string) => Metric.gauge(`plaza_stock_sync_fleet_${name}`, { description })

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

/** By `account`. Only set in the registry of one response, so that no other exporter has its labels. */
export const accountBacklog = gauge("account_backlog", "Products of an account that wait to be sent")
