/** The differences between the databases in the text of the ledger's tables. */

export interface Dialect {
  readonly integer: string
  /** Compared byte by byte, so that pages and indexes do not depend on the database's locale. */
  readonly text: string
  /** The kind of generated column that can be indexed. */
  readonly generated: "VIRTUAL" | "STORED"
  /** The type of the primary key of a table that numbers its rows. */
  readonly serial: string
  /** Whether the indexes that contain every new product are created after the first products were inserted. */
  readonly indexesLater: boolean
  /** Options of a table whose primary key is an id, and of any other table. */
  readonly keyedTable: string
  readonly plainTable: string
  /** For tables that several ledgers share: the beginning of their names, and the column in front of the other columns and of each key. */
  readonly tablePrefix: string
  readonly accountColumn: string
  readonly accountKey: string
}

/** The setting of a transaction that selects the account in shared tables. */
export const accountSetting = "plaza.account"

export const sqlite: Dialect = {
  integer: "INTEGER",
  text: "TEXT",
  generated: "VIRTUAL",
  serial: "INTEGER",
  indexesLater: false,
  keyedTable: " STRICT, WITHOUT ROWID",
  plainTable: " STRICT",
  tablePrefix: "",
  accountColumn: "",
  accountKey: ""
}

export const postgres: Dialect = {
  integer: "BIGINT",
  text: "TEXT COLLATE \"C\"",
  generated: "STORED",
  serial: "BIGINT GENERATED ALWAYS AS IDENTITY",
  indexesLater: true,
  keyedTable: "",
  plainTable: "",
  tablePrefix: "",
  accountColumn: "",
  accountKey: ""
}

/** Tables of Postgres that several ledgers share. Each ledger reads and writes its rows through views with the names of its own tables. */
export const shared: Dialect = {
  ...postgres,
  serial: "BIGINT NOT NULL",
  tablePrefix: "ledger_",
  accountColumn: `account BIGINT NOT NULL DEFAULT current_setting('${accountSetting}')::bigint, `,
  accountKey: "account, "
}
