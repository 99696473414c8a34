/** The tables of a ledger, alike in every database. Ids are text throughout: "007" stays "007". */
import { StockPriority } from "@plaza/client"

/** The version of the tables that this program writes. */
export const version = 3

/** How a database writes what they are made of. */
export interface Dialect {
  readonly integer: string
  /** Compared byte by byte, so that pages and indexes do not depend on the database's language. */
  readonly text: string
  /** Keeps a generated column that can be indexed. */
  readonly generated: "VIRTUAL" | "STORED"
  /** A key that counts up by itself. */
  readonly serial: string
  /** What follows the columns of a table with an id for its key, and of any other. */
  readonly keyed: string
  readonly plain: string
}

export const rankOf = (priority: (typeof StockPriority.priorities)[number]): number => StockPriority.priorities.indexOf(priority)

// The rule of `StockPriority.of`, which a property test compares with this. Null: not sent.
const rank = `CASE
    WHEN state = 'sending' OR part = 'excluded' THEN NULL
    WHEN state = 'settled' THEN CASE WHEN part IN ('named', 'zeroed') THEN ${rankOf("assertion")} END
    WHEN wanted = 0 AND (confirmed IS NULL OR confirmed <> 0 OR doubt_high > 0) THEN ${rankOf("soldOut")}
    WHEN doubt_low = wanted AND doubt_high = wanted THEN ${rankOf("doubtful")}
    WHEN confirmed > wanted OR doubt_high > wanted THEN ${rankOf("falling")}
    WHEN wanted > 0 AND (confirmed = 0 OR doubt_low = 0) THEN ${rankOf("backInStock")}
    ELSE ${rankOf("rest")}
  END`

// `part`: the source names the product, does not name it and it is wanted 0 (`zeroed`) or not (`left`), or it is excluded by a rule.
// `base`: the wanted stock before the first change within the guard's window, which began at `base_at`.
// `left_at`: when the source no longer named it; `ever` if that was confirmed.
// `due_at`: not sent before; null: as soon as its turn comes.
const product = ({ generated, integer, keyed, text }: Dialect) =>
  `product (
  id ${text} PRIMARY KEY NOT NULL,
  wanted ${integer} NOT NULL,
  confirmed ${integer},
  confirmed_at ${integer},
  sent ${integer},
  sent_at ${integer},
  doubt_low ${integer},
  doubt_high ${integer},
  doubt_until ${integer},
  attempts ${integer} NOT NULL,
  state ${text} NOT NULL CHECK (state IN ('settled', 'pending', 'sending', 'doubtful', 'quarantined')),
  part ${text} NOT NULL CHECK (part IN ('named', 'zeroed', 'left', 'excluded')),
  left_at ${integer},
  base ${integer},
  base_at ${integer},
  since ${integer} NOT NULL,
  due_at ${integer},
  refusal_tag ${text},
  refusal_code ${text},
  refusal_message ${text},
  refused ${integer},
  line ${integer} NOT NULL,
  updated_at ${integer} NOT NULL,
  priority ${integer} GENERATED ALWAYS AS (${rank}) ${generated}
)${keyed}`

/** The columns of `product` that are written, in their order. */
export const productColumns =
  "id, wanted, confirmed, confirmed_at, sent, sent_at, doubt_low, doubt_high, doubt_until, attempts, state, part, " +
  "left_at, base, base_at, since, due_at, refusal_tag, refusal_code, refusal_message, refused, line, updated_at"

const account = ({ integer, plain, text }: Dialect) =>
  `account (one ${integer} PRIMARY KEY CHECK (one = 1), base_url ${text} NOT NULL, account_id ${text}, key_fingerprint ${text} NOT NULL)${plain}`

const rowIssue = ({ integer, plain, text }: Dialect) =>
  `row_issue (place ${integer} PRIMARY KEY, line ${integer} NOT NULL, product_id ${text}, kind ${text} NOT NULL, reason ${text} NOT NULL)${plain}`

// The last snapshot that was taken, and the one that is held; `held_number` counts all that were ever held.
const snapshot = ({ integer, plain, text }: Dialect) =>
  `snapshot (one ${integer} PRIMARY KEY CHECK (one = 1), taken_at ${integer}, row_count ${integer}, unit ${text}, held_number ${integer} NOT NULL DEFAULT 0,
  held_since ${integer}, held_at ${integer}, confirmed_number ${integer}, catalogue ${integer}, sold_out ${integer}, fell ${integer},
  rose ${integer}, missing ${integer}, zeroed ${integer})${plain}`

const heldChange = ({ integer, keyed, text }: Dialect) =>
  `held_change (id ${text} PRIMARY KEY NOT NULL, kind ${text} NOT NULL, was ${integer} NOT NULL, wanted ${integer} NOT NULL)${keyed}`

const history = ({ integer, plain, serial, text }: Dialect) =>
  `history (n ${serial}, product_id ${text} NOT NULL, value ${integer} NOT NULL, priority ${integer} NOT NULL, sent_at ${integer} NOT NULL,
  ended_at ${integer} NOT NULL, outcome ${text} NOT NULL, code ${text}, message ${text})${plain}`

// When requests of the key ended, as far back as a window goes.
const request = ({ integer, plain }: Dialect) => `request (at ${integer} NOT NULL)${plain}`

// Who holds the ledger. The lock itself is the database's, so an old row here means nothing.
const lockOwner = ({ integer, plain, text }: Dialect) =>
  `lock_owner (one ${integer} PRIMARY KEY CHECK (one = 1), host ${text} NOT NULL, pid ${integer} NOT NULL, since ${integer} NOT NULL,
  token ${text} NOT NULL)${plain}`

const copied = { account, product, snapshot, held_change: heldChange, row_issue: rowIssue }
const uncopied = { history, request, lock_owner: lockOwner }

/** Asked for before the state itself where few products are expected, because an index is kept for just these words. */
export const special = "state IN ('sending', 'doubtful', 'quarantined')"

/** Waits for nothing but its turn. */
export const due = "priority IS NOT NULL AND due_at IS NULL"

/** Waits for a moment; quarantined products do so apart. */
export const parked = "due_at IS NOT NULL AND state <> 'quarantined'"

const dueIndex = (name: string) => `CREATE INDEX ${name} ON product (priority, since, id) WHERE ${due}`
const indexes: ReadonlyArray<string> = [
  "CREATE INDEX product_unsettled ON product (id) WHERE state <> 'settled'",
  `CREATE INDEX product_special ON product (state, id) WHERE ${special}`,
  dueIndex("product_due"),
  "CREATE INDEX product_parked ON product (due_at, id) WHERE due_at IS NOT NULL",
  "CREATE INDEX product_doubt ON product (doubt_until) WHERE doubt_until IS NOT NULL",
  "CREATE INDEX product_left ON product (left_at) WHERE left_at IS NOT NULL",
  "CREATE INDEX product_base ON product (base_at) WHERE base_at IS NOT NULL",
  "CREATE INDEX request_at ON request (at)"
]

const firstSnapshot = "INSERT INTO snapshot (one) VALUES (1)"

/** A moment before every window of the guard. */
export const ever = Number.MIN_SAFE_INTEGER

/** Creates the tables where there are none. */
export const create = (dialect: Dialect): ReadonlyArray<string> => [
  ...[...Object.values(copied), ...Object.values(uncopied)].map((table) => `CREATE TABLE ${table(dialect)}`),
  ...indexes,
  firstSnapshot
]

/**
 * Creates tables for this session alone, which hide those of the same names: from here on everything is read and written in
 * the copies, and the ledger stays as it is. They are filled from a place that has today's tables, if there is one.
 */
export const shadow = (dialect: Dialect, from: string | undefined): ReadonlyArray<string> => [
  ...Object.values(copied).map((table) => `CREATE TEMP TABLE ${table(dialect)}`),
  ...(from === undefined
    ? [firstSnapshot]
    : Object.keys(copied).map((name) => {
      const list = name === "product" ? productColumns : "*"
      return `INSERT INTO ${name}${list === "*" ? "" : ` (${list})`} SELECT ${list} FROM ${from}.${name}`
    })),
  "CREATE INDEX temp_left ON product (left_at) WHERE left_at IS NOT NULL",
  dueIndex("temp_due")
]

const renamed = ["account", "product", "snapshot"]

/** From an earlier version straight to today's. */
export const upgrade = (dialect: Dialect, from: 1 | 2): ReadonlyArray<string> => {
  const first = from === 1
  const part = first ? "CASE WHEN snapshot = (SELECT number FROM old_snapshot) THEN 'named' ELSE 'left' END" : "part"
  return [
    ...renamed.map((name) => `ALTER TABLE ${name} RENAME TO old_${name}`),
    ...["product_unsettled", "product_special", "product_left", "product_due"].map((index) => `DROP INDEX IF EXISTS ${index}`),
    ...[...Object.values(copied), ...Object.values(uncopied)].map((table) => `CREATE TABLE ${table(dialect)}`),
    // No fingerprint: the first key that the account is bound with again becomes its key.
    "INSERT INTO account (one, base_url, account_id, key_fingerprint) SELECT one, base_url, account_id, '' FROM old_account",
    `INSERT INTO product (id, wanted, confirmed, confirmed_at, sent, doubt_low, doubt_high, doubt_until, attempts, state, part, left_at, since,
        refusal_tag, refusal_code, refusal_message, refused, line, updated_at)
      SELECT id, wanted, confirmed, confirmed_at, sent,
        CASE WHEN state IN ('doubtful', 'sending') THEN CASE WHEN doubt < sent THEN doubt ELSE sent END ELSE doubt END,
        CASE WHEN state IN ('doubtful', 'sending') THEN CASE WHEN doubt > sent THEN doubt ELSE sent END ELSE doubt END,
        CASE WHEN state IN ('doubtful', 'sending') OR doubt IS NOT NULL THEN updated_at END,
        attempts, state,
        ${part}, CASE WHEN ${part} <> 'named' THEN ${ever} END,
        ${first ? "CASE WHEN state = 'settled' THEN coalesce(confirmed_at, updated_at) ELSE updated_at END" : "since"},
        refusal_tag, refusal_code, refusal_message, refused, line, updated_at
      FROM old_product`,
    "INSERT INTO snapshot (one, taken_at) SELECT one, taken_at FROM old_snapshot",
    ...renamed.map((name) => `DROP TABLE old_${name}`),
    `INSERT INTO row_issue (place, line, product_id, kind, reason)
      SELECT row_number() OVER (ORDER BY line, product_id), line, product_id, 'rejected', reason FROM set_aside`,
    "DROP TABLE set_aside",
    "DROP TABLE IF EXISTS holder",
    ...indexes
  ]
}
