/**
 * The tables of a ledger, the same in SQLite and Postgres. Each row belongs to an account; a single store is account 1. Ids are text: "007"
 * stays "007".
 */
import { mismatchTag, states } from "./Entry.ts"
import * as StockPriority from "./StockPriority.ts"

/** What the databases name differently. */
export interface Dialect {
  readonly integer: string
  /** Compared byte by byte, so that pages and indexes do not depend on the database's locale. */
  readonly text: string
  /** The kind of generated column that can be indexed. */
  readonly generated: string
  /** In front of the name of an index of a temporary table. */
  readonly temporarySchema: string
  /** The key of a temporary table. Postgres joins these by hashing, and an index would take longer than all else. */
  readonly stagingKey: string
  /** Options of a table that is found by its primary key, and of any other table. */
  readonly keyed: string
  readonly plain: string
}

export const sqlite: Dialect = {
  integer: "INTEGER",
  text: "TEXT",
  generated: "VIRTUAL",
  temporarySchema: "temp.",
  stagingKey: " PRIMARY KEY",
  keyed: " STRICT, WITHOUT ROWID",
  plain: " STRICT"
}
export const postgres: Dialect = {
  integer: "BIGINT",
  text: "TEXT COLLATE \"C\"",
  generated: "STORED",
  temporarySchema: "",
  stagingKey: "",
  keyed: "",
  plain: ""
}

/** Sent only by reassertion, or after another stock is wanted. */
export const resting = "(state = 'settled' OR (state = 'uncertain' AND due_at IS NULL))"

// The rule of `StockPriority.of`; a property test compares the two. Null: not sent.
const priority = `CASE
    WHEN state = 'sending' OR listing = 'excluded' THEN NULL
    WHEN ${resting} THEN CASE WHEN listing IN ('named', 'zeroed') THEN ${StockPriority.indexOf("assertion")} END
    WHEN wanted = 0 AND (confirmed IS NULL OR confirmed <> 0 OR doubt_high > 0) THEN ${StockPriority.indexOf("soldOut")}
    WHEN doubt_low = wanted AND doubt_high = wanted THEN ${StockPriority.indexOf("doubtful")}
    WHEN confirmed > wanted OR doubt_high > wanted THEN ${StockPriority.indexOf("falling")}
    WHEN wanted > 0 AND (confirmed = 0 OR doubt_low = 0) THEN ${StockPriority.indexOf("backInStock")}
    ELSE ${StockPriority.indexOf("rest")}
  END`

// `epoch` counts the owners: only the newest may write. `owner` is the process that took the account over at `owned_since`.
const account = ({ integer, plain, text }: Dialect) =>
  `account (account ${integer} PRIMARY KEY, epoch ${integer} NOT NULL DEFAULT 0, owner ${text}, owned_since ${integer},
  base_url ${text}, profile_id ${text}, key_fingerprint ${text})${plain}`

// `listing`: the last snapshot names the product (`named`), does not name it and its wanted stock is kept (`missing`) or set to 0
// (`zeroed`), or a rule excludes it (`excluded`).
// `missing_since`: when a snapshot first did not name the product; `beforeEveryWindow` once that is confirmed, or
// `excusedByRevert`.
// `baseline`: the wanted stock before the first change within the guard's window; that change was at `baseline_at`.
// `queued_at`: when it started to wait; for a settled product, when it was last confirmed.
// `due_at`: not sent before this time; null: due now, or an uncertain product that is not sent.
// `doubt_low`, `doubt_high`: without `doubt_until`, no request can take effect any more.
// `refused_stock`: what was sent when the refusal came.
// `mismatches`: accepted requests for the wanted stock whose responses showed another one.
const product = ({ generated, integer, keyed, text }: Dialect) =>
  `product (account ${integer} NOT NULL, id ${text} NOT NULL, wanted ${integer} NOT NULL, confirmed ${integer}, confirmed_at ${integer},
  sent ${integer}, sent_at ${integer}, doubt_low ${integer}, doubt_high ${integer}, doubt_until ${integer}, attempts ${integer} NOT NULL,
  state ${text} NOT NULL CHECK (state IN (${states.map((state) => `'${state}'`).join(", ")})),
  listing ${text} NOT NULL CHECK (listing IN ('named', 'missing', 'zeroed', 'excluded')), missing_since ${integer}, baseline ${integer},
  baseline_at ${integer}, queued_at ${integer} NOT NULL, due_at ${integer}, refusal_tag ${text}, refusal_code ${text}, refusal_message ${text},
  refused_stock ${integer}, mismatches ${integer} NOT NULL DEFAULT 0, line ${integer} NOT NULL, updated_at ${integer} NOT NULL,
  priority ${integer} GENERATED ALWAYS AS (${priority}) ${generated}, PRIMARY KEY (account, id))${keyed}`

/** The columns of `product` that are not generated. */
const productColumns =
  "account, id, wanted, confirmed, confirmed_at, sent, sent_at, doubt_low, doubt_high, doubt_until, attempts, state, " +
  "listing, missing_since, baseline, baseline_at, queued_at, due_at, refusal_tag, refusal_code, refusal_message, refused_stock, mismatches, " +
  "line, updated_at"

// The last applied snapshot, with a digest of its rows and what it changed, and the held one. `last_number` counts those that changed
// something, those that were held, and reverts. A held snapshot has that number.
// `reverted_to`: the snapshot whose stock a person restored at `reverted_at`; null once `reverted_stock` is empty.
const snapshot = ({ integer, plain, text }: Dialect) =>
  `snapshot (account ${integer} PRIMARY KEY, taken_at ${integer}, row_count ${integer}, unit ${text}, digest ${text}, result ${text},
  last_number ${integer} NOT NULL DEFAULT 0, held_since ${integer}, held_at ${integer}, confirmed_number ${integer}, held_figures ${text},
  reverted_to ${integer}, reverted_at ${integer})${plain}`

// The applied snapshots whose stock can be restored, and reverts, by their numbers. `kept`: their rows in `past_stock`.
const pastSnapshot = ({ integer, keyed }: Dialect) =>
  `past_snapshot (account ${integer} NOT NULL, number ${integer} NOT NULL, taken_at ${integer} NOT NULL, row_count ${integer},
  changed ${integer} NOT NULL, kept ${integer} NOT NULL, reverted_to ${integer}, PRIMARY KEY (account, number))${keyed}`

// The wanted stock and the listing before the snapshot with this number changed one of them; null for a product that was new. A snapshot
// that names products again and changes no stock has the number of the next one.
const pastStock = ({ integer, keyed, text }: Dialect) =>
  `past_stock (account ${integer} NOT NULL, number ${integer} NOT NULL, id ${text} NOT NULL, stock ${integer}, listing ${text},
  PRIMARY KEY (account, number, id))${keyed}`

/** What a revert undid: a snapshot with one of these is held. */
const revertedStock = ({ integer, keyed, text }: Dialect) =>
  `reverted_stock (account ${integer} NOT NULL, id ${text} NOT NULL, stock ${integer} NOT NULL, PRIMARY KEY (account, id, stock))${keyed}`

/** The implausible changes of the held snapshot. */
const heldChange = ({ integer, keyed, text }: Dialect) =>
  `held_change (account ${integer} NOT NULL, id ${text} NOT NULL, kind ${text} NOT NULL, was ${integer} NOT NULL, wanted ${integer} NOT NULL,
  PRIMARY KEY (account, id))${keyed}`

const rowIssue = ({ integer, keyed, text }: Dialect) =>
  `row_issue (account ${integer} NOT NULL, place ${integer} NOT NULL, line ${integer} NOT NULL, product_id ${text}, kind ${text} NOT NULL,
  reason ${text} NOT NULL, PRIMARY KEY (account, place))${keyed}`

const history = ({ integer, keyed, text }: Dialect) =>
  `history (account ${integer} NOT NULL, n ${integer} NOT NULL, product_id ${text} NOT NULL, value ${integer} NOT NULL,
  priority ${integer} NOT NULL, waiting_since ${integer} NOT NULL, sent_at ${integer} NOT NULL, ended_at ${integer} NOT NULL,
  outcome ${text} NOT NULL, code ${text}, message ${text}, PRIMARY KEY (account, n))${keyed}`

// What happened to the source and the account. `amount`: the changed products of an accepted snapshot, or the number of a held one.
const event = ({ integer, keyed, text }: Dialect) =>
  `event (account ${integer} NOT NULL, n ${integer} NOT NULL, at ${integer} NOT NULL, kind ${text} NOT NULL, code ${text}, detail ${text},
  amount ${integer} NOT NULL, PRIMARY KEY (account, n))${keyed}`

// What was announced to a person.
const notice = ({ integer, plain, text }: Dialect) => `notice (account ${integer} PRIMARY KEY, state ${text} NOT NULL)${plain}`

// When the requests of the key ended, within the rate window; a time that never comes for a request in flight.
const request = ({ integer, plain }: Dialect) => `request (account ${integer} NOT NULL, ended_at ${integer} NOT NULL)${plain}`

// A copy of a ledger has these tables, because a preview writes to them.
const copied = { account, product, snapshot, held_change: heldChange, row_issue: rowIssue, event, reverted_stock: revertedStock }
// Empty in a copy: a snapshot that it takes is recorded there, and nothing reads it.
const past = { past_snapshot: pastSnapshot, past_stock: pastStock }
const tables = { ...copied, ...past, history, notice, request }

/** The tables of a ledger that have rows of each account. */
export const tableNames = Object.keys(tables)

/** The words of the partial index for the states that few products have. A query repeats them, so that the index is used. */
export const exceptional = "state IN ('sending', 'doubtful', 'uncertain', 'quarantined')"

export const due = "priority IS NOT NULL AND due_at IS NULL"

/** The service or a proxy refuses the product, so a retry has time and nothing waits for it. */
export const refused = `(state = 'quarantined' OR (state = 'uncertain' AND refusal_tag <> '${mismatchTag}'))`

/**
 * Waits for a person: refused, or uncertain and not sent again by itself. Not a product that a rule excludes, or that neither the source nor
 * the store has, such as one whose id was corrected.
 */
export const needsPerson = `(${refused} OR (state = 'uncertain' AND due_at IS NULL)) AND listing <> 'excluded'
  AND NOT (listing = 'missing' AND state = 'quarantined' AND refusal_tag = 'NotFound')`

/** A rule excludes the product, so it is not sent, and it neither waits nor needs a person until a rule no longer excludes it. */
export const isExcluded = "listing = 'excluded' AND state NOT IN ('settled', 'sending')"

/** Not due before a time. Refused products, which have one too, are released apart. */
export const delayed = `due_at IS NOT NULL AND NOT ${refused}`

/** The partial indexes of `product`, by the names that `Operation.by` takes. */
const productIndexes = {
  product_due: `(account, priority, queued_at, id) WHERE ${due}`,
  product_unsettled: "(account, id) WHERE state <> 'settled'",
  product_exceptional: `(account, state, id) WHERE ${exceptional}`,
  product_excluded: `(account, state, id) WHERE ${isExcluded}`,
  product_delayed: "(account, due_at, id) WHERE due_at IS NOT NULL",
  product_doubt: "(account, doubt_until) WHERE doubt_until IS NOT NULL",
  product_missing: "(account, missing_since) WHERE missing_since IS NOT NULL",
  product_baseline: "(account, baseline_at) WHERE baseline_at IS NOT NULL"
}

/** `schema`: that of the table, with a dot, where the database asks for it. */
const createProductIndexes = (schema = ""): ReadonlyArray<string> =>
  Object.entries(productIndexes).map(([name, columns]) => `CREATE INDEX ${schema}${name} ON product ${columns}`)

/** A time before every window of the drop guard. */
export const beforeEveryWindow = Number.MIN_SAFE_INTEGER

/**
 * `missing_since` of a product that the snapshot which a revert restored did not know, until the next one is applied: the drop guard does not
 * count it as missing.
 */
export const excusedByRevert = beforeEveryWindow + 1

/** Statements that create the tables in an empty database. */
export const create = (dialect: Dialect): ReadonlyArray<string> => [
  ...Object.values(tables).map((table) => `CREATE TABLE ${table(dialect)}`),
  ...createProductIndexes(),
  "CREATE INDEX request_ended ON request (account, ended_at)"
]

/** Statements that add an account without products. */
export const addAccount = (account: number): ReadonlyArray<string> => [
  `INSERT INTO account (account) VALUES (${account})`,
  `INSERT INTO snapshot (account) VALUES (${account})`
]

/**
 * Statements that create temporary tables, which hide those of the same names from this session: it reads and writes the copies, and the
 * ledger stays unchanged. They are filled from a schema with current tables, if it is given.
 */
export const createCopy = (dialect: Dialect, account: number, schema: string | undefined): ReadonlyArray<string> => [
  ...Object.values({ ...copied, ...past }).map((table) => `CREATE TEMP TABLE ${table(dialect)}`),
  ...(schema === undefined ? addAccount(account) : Object.keys(copied).map((name) => {
    // A generated column can't be written.
    const columns = name === "product" ? productColumns : "*"
    return `INSERT INTO ${name}${
      columns === "*" ? "" : ` (${columns})`
    } SELECT ${columns} FROM ${schema}.${name} WHERE account = ${account}`
  })),
  ...createProductIndexes(dialect.temporarySchema)
]

const staging = ({ integer, keyed, plain, stagingKey, text }: Dialect) => ({
  /** The rows of a snapshot as they are read. */
  staged_row: `line ${integer} NOT NULL, id ${text}, stock ${integer}, kind ${text} NOT NULL, reason ${text})${plain}`,
  /** How the rules reduce the stock of single products. */
  adjustment:
    `id ${text} NOT NULL${stagingKey}, buffer ${integer} NOT NULL, share ${integer} NOT NULL, least ${integer} NOT NULL, most ${integer} NOT NULL)${keyed}`,
  /** The components of kits. */
  kit: `id ${text} NOT NULL, component ${text} NOT NULL, quantity ${integer} NOT NULL)${plain}`,
  /** One row a product, with the stock to send. `n`: its rows; `negative`: those with a negative stock. */
  staged:
    `id ${text} NOT NULL${stagingKey}, stock ${integer}, line ${integer} NOT NULL, n ${integer} NOT NULL, negative ${integer} NOT NULL, kind ${text} NOT NULL)${keyed}`,
  /** The products of the ledger that no row names. */
  missing:
    `id ${text} NOT NULL${stagingKey}, listing ${text} NOT NULL, wanted ${integer} NOT NULL, line ${integer} NOT NULL, baseline ${integer}, baseline_at ${integer}, missing_since ${integer})${keyed}`,
  /** The products that differ. `was`, `was_listing`: so far; `baseline`: the wanted stock at the start of the guard's window. */
  change:
    `id ${text} NOT NULL${stagingKey}, stock ${integer} NOT NULL, line ${integer} NOT NULL, listing ${text} NOT NULL, was ${integer}, was_listing ${text}, baseline ${integer})${keyed}`,
  /** The changes of this snapshot that the guard counts. */
  implausible: `id ${text} NOT NULL${stagingKey}, kind ${text} NOT NULL, was ${integer} NOT NULL, stock ${integer} NOT NULL)${keyed}`
})

/** Statements that create the tables that hold a snapshot until its last row is read. They belong to the session and vanish with it. */
export const createStaging = (dialect: Dialect): ReadonlyArray<string> =>
  Object.entries(staging(dialect)).map(([name, columns]) => `CREATE TEMP TABLE IF NOT EXISTS ${name} (${columns}`)

export const stagingNames = Object.keys(staging(sqlite))
