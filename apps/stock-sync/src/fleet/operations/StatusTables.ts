/** What the status of a fleet adds to its database: the runners' own rows, and indexes over the few rows that a status shows. */
import { refused } from "../../ledger/Schema.ts"
import * as StockPriority from "../../ledger/StockPriority.ts"

/** A product that waits to be sent, due or delayed. A query repeats these words, so that the partial index is used. */
export const waiting = `priority < ${StockPriority.indexOf("assertion")} AND (due_at IS NULL OR NOT ${refused})`

/**
 * `seen_at` is a time of the database's clock, so that clocks of machines need not agree. `reasons` holds why a runner is not ready.
 * The index has one entry for each waiting product: a status costs as much as the backlog is long, whatever the size of the catalogues.
 */
export const create: ReadonlyArray<string> = [
  `CREATE TABLE fleet_runner (
    name TEXT COLLATE "C" PRIMARY KEY,
    version TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    shards INTEGER NOT NULL,
    active INTEGER NOT NULL,
    reading INTEGER NOT NULL,
    waiting_to_read INTEGER NOT NULL,
    failing INTEGER NOT NULL,
    reasons JSONB NOT NULL
  )`,
  `CREATE INDEX product_waiting ON product (account, priority, queued_at, id) WHERE ${waiting}`,
  "CREATE INDEX row_issue_rejected ON row_issue (account) WHERE kind = 'rejected'",
  "CREATE INDEX snapshot_held ON snapshot (account) WHERE held_since IS NOT NULL"
]

/** The time of the database in milliseconds. */
export const now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
