/** The tables of a ledger, in the dialect of its database. Ids are text: "007" stays "007". */
import { StockPriority } from "@plaza-legacy/client"
import { accountSetting, type Dialect, shared } from "./Dialect.ts"
import { mismatchTag, states } from "./Entry.ts"

/** The column `priority` holds the position in the order of priorities. */
export const priorityIndex = (priority: StockPriority.Priority): number => StockPriority.priorities.indexOf(priority)

/** Sent only by reassertion, or after another stock is wanted. */
export const resting = "(state = 'settled' OR (state = 'uncertain' AND due_at IS NULL))"

// The rule of `StockPriority.of`; a property test compares the two. Null: not sent.
const priorityColumn = `CASE
    WHEN state = 'sending' OR part = 'excluded' THEN NULL
    WHEN ${resting} THEN CASE WHEN part IN ('named', 'zeroed') THEN ${priorityIndex("assertion")} END
    WHEN wanted = 0 AND (confirmed IS NULL OR confirmed <> 0 OR doubt_high > 0) THEN ${priorityIndex("soldOut")}
    WHEN doubt_low = wanted AND doubt_high = wanted THEN ${priorityIndex("doubtful")}
    WHEN confirmed > wanted OR doubt_high > wanted THEN ${priorityIndex("falling")}
    WHEN wanted > 0 AND (confirmed = 0 OR doubt_low = 0) THEN ${priorityIndex("backInStock")}
    ELSE ${priorityIndex("rest")}
  END`

// `part`: the last snapshot names the product (`named`), does not name it and its wanted stock is set to 0 (`zeroed`) or kept (`left`),
// or a rule excludes it (`excluded`).
// `base`: the wanted stock before the first change within the guard's window; that change was at `base_at`.
// `left_at`: when a snapshot first did not name the product; `beforeEveryWindow` once that is confirmed.
// `due_at`: not sent before this time; null: due now, or an uncertain product that is not sent.
// `doubt_low` and `doubt_high`: without `doubt_until`, no request can take effect any more.
// `mismatches`: accepted requests for the wanted stock whose responses showed another one.
const product = ({ accountColumn, accountKey, generated, integer, keyedTable, tablePrefix, text }: Dialect) =>
  `${tablePrefix}product (
  ${accountColumn}id ${text} NOT NULL,
  wanted ${integer} NOT NULL,
  confirmed ${integer},
  confirmed_at ${integer},
  sent ${integer},
  sent_at ${integer},
  doubt_low ${integer},
  doubt_high ${integer},
  doubt_until ${integer},
  attempts ${integer} NOT NULL,
  state ${text} NOT NULL CHECK (state IN (${states.map((state) => `'${state}'`).join(", ")})),
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
  mismatches ${integer} NOT NULL DEFAULT 0,
  line ${integer} NOT NULL,
  updated_at ${integer} NOT NULL,
  priority ${integer} GENERATED ALWAYS AS (${priorityColumn}) ${generated},
  PRIMARY KEY (${accountKey}id)
)${keyedTable}`

/** The columns of `product` that are not generated. */
const productColumns = "id, wanted, confirmed, confirmed_at, sent, sent_at, doubt_low, doubt_high, doubt_until, attempts, state, part, " +
  "left_at, base, base_at, since, due_at, refusal_tag, refusal_code, refusal_message, refused, mismatches, line, updated_at"

const account = ({ accountColumn, accountKey, integer, plainTable, tablePrefix, text }: Dialect) =>
  `${tablePrefix}account (${accountColumn}one ${integer} NOT NULL CHECK (one = 1), base_url ${text} NOT NULL, account_id ${text}, key_fingerprint ${text} NOT NULL,
  PRIMARY KEY (${accountKey}one))${plainTable}`

const rowIssue = ({ accountColumn, accountKey, integer, plainTable, tablePrefix, text }: Dialect) =>
  `${tablePrefix}row_issue (${accountColumn}place ${integer} NOT NULL, line ${integer} NOT NULL, product_id ${text}, kind ${text} NOT NULL,
  reason ${text} NOT NULL, PRIMARY KEY (${accountKey}place))${plainTable}`

// The last applied snapshot and the held one. `held_number` counts all snapshots that were ever held.
const snapshot = ({ accountColumn, accountKey, integer, plainTable, tablePrefix, text }: Dialect) =>
  `${tablePrefix}snapshot (${accountColumn}one ${integer} NOT NULL CHECK (one = 1), taken_at ${integer}, row_count ${integer}, unit ${text},
  held_number ${integer} NOT NULL DEFAULT 0, held_since ${integer}, held_at ${integer}, confirmed_number ${integer}, catalogue ${integer},
  sold_out ${integer}, fell ${integer}, rose ${integer}, missing ${integer}, zeroed ${integer}, PRIMARY KEY (${accountKey}one))${plainTable}`

const heldChange = ({ accountColumn, accountKey, integer, keyedTable, tablePrefix, text }: Dialect) =>
  `${tablePrefix}held_change (${accountColumn}id ${text} NOT NULL, kind ${text} NOT NULL, was ${integer} NOT NULL, wanted ${integer} NOT NULL,
  PRIMARY KEY (${accountKey}id))${keyedTable}`

const history = ({ accountColumn, accountKey, integer, plainTable, serial, tablePrefix, text }: Dialect) =>
  `${tablePrefix}history (${accountColumn}n ${serial}, product_id ${text} NOT NULL, value ${integer} NOT NULL, priority ${integer} NOT NULL,
  sent_at ${integer} NOT NULL, ended_at ${integer} NOT NULL, outcome ${text} NOT NULL, code ${text}, message ${text},
  PRIMARY KEY (${accountKey}n))${plainTable}`

// When the requests of the key ended, within the rate window; a time that never comes for a request in flight.
const request = ({ accountColumn, integer, plainTable, tablePrefix }: Dialect) =>
  `${tablePrefix}request (${accountColumn}at ${integer} NOT NULL)${plainTable}`

// The process that holds the lock. The lock itself belongs to the database, so a row that remains does no harm.
const lockOwner = ({ integer, plainTable, text }: Dialect) =>
  `lock_owner (one ${integer} PRIMARY KEY CHECK (one = 1), host ${text} NOT NULL, pid ${integer} NOT NULL, since ${integer} NOT NULL,
  token ${text} NOT NULL)${plainTable}`

// A temporary copy of the ledger has these tables, because a preview writes to them.
const copiedTables = { account, product, snapshot, held_change: heldChange, row_issue: rowIssue }
const sharedTables = { ...copiedTables, history, request }
const ownTables = { ...sharedTables, lock_owner: lockOwner }

/** The words of the partial index for the states that few products have. A query repeats them, so that the index is used. */
export const exceptional = "state IN ('sending', 'doubtful', 'uncertain', 'quarantined')"

export const due = "priority IS NOT NULL AND due_at IS NULL"

/** The service or a proxy refuses the product, so a retry has time and nothing waits for it. */
export const refused = `(state = 'quarantined' OR (state = 'uncertain' AND refusal_tag <> '${mismatchTag}'))`

/** Not due before a time. Refused products, which have one too, are released apart. */
export const delayed = `due_at IS NOT NULL AND NOT ${refused}`

const dueIndex = (name: string, { accountKey, tablePrefix }: Pick<Dialect, "accountKey" | "tablePrefix">) =>
  `CREATE INDEX ${name} ON ${tablePrefix}product (${accountKey}priority, since, id) WHERE ${due}`
const productIndex = ({ accountKey, tablePrefix }: Dialect, name: string, columns: string, condition: string) =>
  `CREATE INDEX ${tablePrefix}product_${name} ON ${tablePrefix}product (${accountKey}${columns}) WHERE ${condition}`

/** The indexes that contain every new product. */
export const indexesOfNew = (dialect: Dialect): ReadonlyArray<string> => [
  productIndex(dialect, "unsettled", "id", "state <> 'settled'"),
  dueIndex(`${dialect.tablePrefix}product_due`, dialect)
]

const otherIndexes = (dialect: Dialect): ReadonlyArray<string> => [
  productIndex(dialect, "special", "state, id", exceptional),
  productIndex(dialect, "parked", "due_at, id", "due_at IS NOT NULL"),
  productIndex(dialect, "doubt", "doubt_until", "doubt_until IS NOT NULL"),
  productIndex(dialect, "left", "left_at", "left_at IS NOT NULL"),
  productIndex(dialect, "base", "base_at", "base_at IS NOT NULL"),
  `CREATE INDEX ${dialect.tablePrefix}request_at ON ${dialect.tablePrefix}request (${dialect.accountKey}at)`
]

const indexes = (dialect: Dialect) => [...indexesOfNew(dialect), ...otherIndexes(dialect)]

const snapshotRow = "INSERT INTO snapshot (one) VALUES (1)"

/** A time before every window of the drop guard. */
export const beforeEveryWindow = Number.MIN_SAFE_INTEGER

/** Statements that create the tables in an empty database. */
export const create = (dialect: Dialect): ReadonlyArray<string> => [
  ...Object.values(ownTables).map((table) => `CREATE TABLE ${table(dialect)}`),
  ...(dialect.indexesLater ? otherIndexes(dialect) : indexes(dialect)),
  snapshotRow
]

/** The names of the tables that several ledgers share, and of the views of one ledger. */
export const sharedNames: ReadonlyArray<{ readonly table: string; readonly view: string }> = Object.keys(sharedTables).map((view) => ({
  table: `${shared.tablePrefix}${view}`,
  view
}))

/** Creates the view of a shared table, or adds the table's new columns to it. */
export const createView = ({ table, view }: typeof sharedNames[number]): string =>
  `CREATE OR REPLACE VIEW ${view} AS SELECT * FROM ${table} WHERE account = current_setting('${accountSetting}')::bigint WITH CHECK OPTION`

/**
 * Statements that create shared tables, and views with the names of a ledger's own tables. A view shows the account of the setting. The
 * check option keeps a statement from writing to another one.
 */
export const createShared: ReadonlyArray<string> = [
  ...Object.values(sharedTables).map((table) => `CREATE TABLE ${table(shared)}`),
  ...indexes(shared),
  ...sharedNames.map(createView)
]

/**
 * Statements that create temporary tables, which hide those of the same names from this session: it reads and writes the copies, and
 * the ledger stays unchanged. They are filled from a schema with current tables, if it is given.
 */
export const createTemporaryCopy = (dialect: Dialect, schema: string | undefined): ReadonlyArray<string> => [
  ...Object.values(copiedTables).map((table) => `CREATE TEMP TABLE ${table(dialect)}`),
  ...(schema === undefined
    ? [snapshotRow]
    : Object.keys(copiedTables).map((name) => {
      // A generated column can't be written.
      const columns = name === "product" ? productColumns : "*"
      return `INSERT INTO ${name}${columns === "*" ? "" : ` (${columns})`} SELECT ${columns} FROM ${schema}.${name}`
    })),
  "CREATE INDEX temp_left ON product (left_at) WHERE left_at IS NOT NULL",
  dueIndex("temp_due", dialect)
]
