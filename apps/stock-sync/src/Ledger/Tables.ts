/**
 * The tables of a ledger, alike in every database. Ids are text throughout: "007" stays "007". Knows nothing of files, sessions and of
 * what earlier versions looked like.
 *
 * @since 0.1.0
 */
import { urgencies } from "../Entry.js"

/**
 * Which version of the tables this program writes.
 *
 * @since 0.1.0
 * @category constants
 */
export const version = 2

/**
 * How a database calls what they are made of.
 *
 * @since 0.1.0
 * @category models
 */
export interface Dialect {
  readonly integer: string
  /** Compared byte by byte, so that pages and indexes don't depend on the language of the database. */
  readonly text: string
  /** Keeps a generated column; it must be possible to index it. */
  readonly generated: "VIRTUAL" | "STORED"
  /** What follows the columns: of a table with an id for its key, and of any other. */
  readonly keyed: string
  readonly plain: string
}

const rankOf = (urgency: (typeof urgencies)[number]) => urgencies.indexOf(urgency)

// The same as `Plan.decide` says, which a test holds it to. Null is not handed out: what is on its way, what is refused, and what was
// left alone because the source no longer names it.
const urgency = `CASE
    WHEN part = 'left' OR state IN ('sending', 'quarantined') THEN NULL
    WHEN state = 'settled' THEN ${rankOf("assertion")}
    WHEN wanted = 0 AND (confirmed IS NULL OR confirmed <> 0 OR (state = 'doubtful' AND (sent IS NULL OR sent <> 0))) THEN ${rankOf("soldOut")}
    WHEN state = 'doubtful' AND sent = wanted THEN ${rankOf("doubtful")}
    WHEN confirmed > wanted OR (state = 'doubtful' AND sent > wanted) THEN ${rankOf("falling")}
    WHEN wanted > 0 AND (confirmed = 0 OR (state = 'doubtful' AND sent = 0)) THEN ${rankOf("backInStock")}
    ELSE ${rankOf("rest")}
  END`

// Which part a product has in the last snapshot: `named`; `zeroed`, because it is gone from it; or none, and then it is `left` alone.
const product = ({ generated, integer, keyed, text }: Dialect) => `product (
  id ${text} PRIMARY KEY NOT NULL,
  wanted ${integer} NOT NULL,
  confirmed ${integer},
  confirmed_at ${integer},
  sent ${integer},
  doubt ${integer},
  attempts ${integer} NOT NULL,
  state ${text} NOT NULL CHECK (state IN ('settled', 'pending', 'sending', 'doubtful', 'quarantined')),
  part ${text} NOT NULL CHECK (part IN ('named', 'zeroed', 'left')),
  since ${integer} NOT NULL,
  refusal_tag ${text},
  refusal_code ${text},
  refusal_message ${text},
  refused ${integer},
  line ${integer} NOT NULL,
  updated_at ${integer} NOT NULL,
  urgency ${integer} GENERATED ALWAYS AS (${urgency}) ${generated}
)${keyed}`

/**
 * The columns of `product` that are written, in their order.
 *
 * @since 0.1.0
 * @category constants
 */
export const productColumns = "id, wanted, confirmed, confirmed_at, sent, doubt, attempts, state, part, since, refusal_tag, " +
  "refusal_code, refusal_message, refused, line, updated_at"

const account = ({ integer, plain, text }: Dialect) =>
  `account (one ${integer} PRIMARY KEY CHECK (one = 1), base_url ${text} NOT NULL, account_id ${text} NOT NULL)${plain}`

const setAside = ({ integer, plain, text }: Dialect) =>
  `set_aside (place ${integer} PRIMARY KEY, line ${integer} NOT NULL, product_id ${text}, reason ${text} NOT NULL)${plain}`

// The last one that was taken, and the one that is held: since when, and what it would do.
const snapshot = ({ integer, plain }: Dialect) =>
  `snapshot (one ${integer} PRIMARY KEY CHECK (one = 1), taken_at ${integer}, held_since ${integer}, held_at ${integer},
  zeroed ${integer}, dropped ${integer}, catalogue ${integer})${plain}`

// Who works with the ledger, for the one who is turned away. What locks it stands elsewhere, so an entry here means nothing by itself.
const holder = ({ integer, plain, text }: Dialect) =>
  `holder (one ${integer} PRIMARY KEY CHECK (one = 1), host ${text} NOT NULL, pid ${integer} NOT NULL, since ${integer} NOT NULL)${plain}`

const copied = { account, product, snapshot, set_aside: setAside }
const columns = { account: "*", product: productColumns, snapshot: "*", set_aside: "*" }

/**
 * What is asked for before the state itself where few products are expected, because an index is kept for just these words.
 *
 * @since 0.1.0
 * @category statements
 */
export const special = "state IN ('sending', 'doubtful', 'quarantined')"

/**
 * An index for what isn't settled, by id, one for what doesn't simply wait, one for what is no part of the last snapshot, and one for what
 * is handed out next.
 *
 * @since 0.1.0
 * @category statements
 */
export const indexes: ReadonlyArray<string> = [
  "CREATE INDEX product_unsettled ON product (id) WHERE state <> 'settled'",
  `CREATE INDEX product_special ON product (state, id) WHERE ${special}`,
  "CREATE INDEX product_left ON product (state, id) WHERE part = 'left'",
  "CREATE INDEX product_due ON product (urgency, since, id) WHERE urgency IS NOT NULL"
]

const firstSnapshot = "INSERT INTO snapshot (one) VALUES (1)"

/**
 * Makes the tables where there are none.
 *
 * @since 0.1.0
 * @category statements
 */
export const create = (dialect: Dialect): ReadonlyArray<string> => [
  ...[...Object.values(copied), holder].map((table) => `CREATE TABLE ${table(dialect)}`),
  ...indexes,
  firstSnapshot
]

/**
 * Makes tables for this session alone, which hide those of the same names: from here on everything is read and written in the copies,
 * and the ledger stays as it is. They are filled from a place that has today's tables, if there is one.
 *
 * @since 0.1.0
 * @category statements
 */
export const shadow = (dialect: Dialect, from: string | undefined): ReadonlyArray<string> => [
  ...Object.values(copied).map((table) => `CREATE TEMP TABLE ${table(dialect)}`),
  ...(from === undefined
    ? [firstSnapshot]
    : Object.entries(columns).map(([name, list]) =>
      `INSERT INTO ${name}${list === "*" ? "" : ` (${list})`} SELECT ${list} FROM ${from}.${name}`
    ))
]

/** @since 0.1.0 @category statements */
export const table = { product, setAside, snapshot, holder }
