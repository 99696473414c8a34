/**
 * The part of better-sqlite3's interface that the programs and `@effect/sql-sqlite-node` use, on the SQLite of Node. It behaves as libsql,
 * which has the same interface: `test/sqlite` runs both. Why: docs/decisions/006-sqlite-by-libsql.md.
 */
import { nameOf } from "./ResultCodes.ts"

type Row = Record<string, unknown>
type Values = ReadonlyArray<unknown>

/** The class `Statement` of better-sqlite3, as far as the programs use it. */
interface Statement {
  /** Whether the statement returns rows. */
  readonly reader: boolean
  readonly columns: () => ReadonlyArray<{ readonly name: string }>
  readonly all: (...values: Values) => ReadonlyArray<Row>
  readonly get: (...values: Values) => Row | undefined
  readonly run: (...values: Values) => { readonly changes: number; readonly lastInsertRowid: number }
  readonly iterate: (...values: Values) => IterableIterator<Row, undefined>
  /** Rows as arrays. */
  readonly raw: (enabled?: boolean) => Statement
  /** Integers as `bigint`. */
  readonly safeIntegers: (enabled?: boolean) => Statement
}

/** The class `Database` of better-sqlite3, as far as the programs use it. */
export interface Database {
  readonly inTransaction: boolean
  readonly prepare: (text: string) => Statement
  readonly exec: (text: string) => void
  readonly pragma: (text: string) => ReadonlyArray<Row>
  readonly close: () => void
}

export interface Options {
  readonly readonly?: boolean
  /** Milliseconds to wait for a lock. */
  readonly timeout?: number
}

export type Constructor = new(path: string, options?: Options) => Database

/** A statement of `node:sqlite`, whose types those of Node 20 lack. */
interface StatementSync {
  readonly all: (...values: Values) => ReadonlyArray<Row>
  readonly get: (...values: Values) => Row | undefined
  readonly run: (...values: Values) => { readonly changes: bigint; readonly lastInsertRowid: bigint }
  readonly iterate: (...values: Values) => IterableIterator<Row, undefined>
  readonly columns: () => ReadonlyArray<{ readonly name: string }>
  readonly setReadBigInts: (enabled: boolean) => void
  readonly setReturnArrays: (enabled: boolean) => void
}

interface DatabaseSync {
  readonly isOpen: boolean
  readonly isTransaction: boolean
  readonly prepare: (text: string) => StatementSync
  readonly exec: (text: string) => void
  readonly close: () => void
}

/** The part of `node:sqlite` that this module uses. */
export interface NodeModule {
  readonly DatabaseSync: new(path: string, options: { readonly readOnly: boolean; readonly timeout: number }) => DatabaseSync
}

/** A failure of SQLite. */
class SqliteError extends Error {
  override readonly name = "SqliteError"
  readonly code: string
  readonly rawCode: number
  constructor(message: string, rawCode: number) {
    super(message)
    this.code = nameOf(rawCode)
    this.rawCode = rawCode
  }
}

const attempt = <A>(act: () => A): A => {
  try {
    return act()
  } catch (error) {
    throw error instanceof Error && "errcode" in error && typeof error.errcode === "number"
      ? new SqliteError(error.message, error.errcode)
      : error
  }
}

const makeStatement = (statement: StatementSync): Statement => {
  // As numbers, those beyond 2 to the 53rd would be an error, after the statement has run.
  statement.setReadBigInts(true)
  let isSafe = false

  /** Changes the values of a row, which is an object or an array, to those that libsql returns. */
  const convert = (row: Row): Row => {
    for (const key in row) {
      const value = row[key]
      if (typeof value === "bigint") {
        if (!isSafe) row[key] = Number(value)
      } else if (value instanceof Uint8Array) row[key] = value.buffer
    }
    return row
  }

  const made: Statement = {
    reader: statement.columns().length > 0,
    all: (...values) => attempt(() => statement.all(...values.flat())).map(convert),
    get: (...values) => {
      const row = attempt(() => statement.get(...values.flat()))
      return row === undefined ? undefined : convert(row)
    },
    run: (...values) => {
      const { changes, lastInsertRowid } = attempt(() => statement.run(...values.flat()))
      return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) }
    },
    iterate: (...values) => {
      const rows = attempt(() => statement.iterate(...values.flat()))
      const converted: IterableIterator<Row, undefined> = {
        next: () => {
          const next = attempt(() => rows.next())
          return next.done === true ? { done: true, value: undefined } : { done: false, value: convert(next.value) }
        },
        [Symbol.iterator]: () => converted
      }
      return converted
    },
    columns: () => statement.columns(),
    raw: (enabled = true) => {
      statement.setReturnArrays(enabled)
      return made
    },
    safeIntegers: (enabled = true) => {
      isSafe = enabled
      return made
    }
  }
  return made
}

/** The class `Database` of better-sqlite3 on `node:sqlite`. */
export const make = ({ DatabaseSync }: NodeModule): Constructor =>
  class implements Database {
    readonly #database: DatabaseSync

    constructor(path: string, { readonly = false, timeout = 0 }: Options = {}) {
      this.#database = attempt(() => new DatabaseSync(path, { readOnly: readonly, timeout }))
      // As libsql is compiled: no temporary files.
      this.exec("PRAGMA temp_store = MEMORY")
    }

    get inTransaction(): boolean {
      return this.#database.isTransaction
    }

    prepare(text: string): Statement {
      return attempt(() => makeStatement(this.#database.prepare(text)))
    }

    exec(text: string): void {
      attempt(() => this.#database.exec(text))
    }

    pragma(text: string): ReadonlyArray<Row> {
      return this.prepare(`PRAGMA ${text}`).all()
    }

    /** A second call does nothing. */
    close(): void {
      if (this.#database.isOpen) this.#database.close()
    }
  }
