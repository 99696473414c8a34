/** The differences between the databases in the text of the ledger's tables. */

export interface Dialect {
  readonly integer: string
  /** Compared byte by byte, so that pages and indexes do not depend on the database's locale. */
  readonly text: string
  /** The kind of generated column that can be indexed. */
  readonly generated: "VIRTUAL" | "STORED"
  /** The primary key of a table that numbers its rows. */
  readonly serial: string
  /** Options of a table whose primary key is an id, and of any other table. */
  readonly keyedTable: string
  readonly plainTable: string
}

export const sqlite: Dialect = {
  integer: "INTEGER",
  text: "TEXT",
  generated: "VIRTUAL",
  serial: "INTEGER PRIMARY KEY",
  keyedTable: " STRICT, WITHOUT ROWID",
  plainTable: " STRICT"
}

export const postgres: Dialect = {
  integer: "BIGINT",
  text: "TEXT COLLATE \"C\"",
  generated: "STORED",
  serial: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
  keyedTable: "",
  plainTable: ""
}
