/**
 * Statements on the one connection to SQLite. Each is prepared once, by the place where it is written, and runs in one
 * step on the calling fiber, as SQLite itself does: there is nothing to queue for. A failure of SQLite under a running
 * sandbox (a full disk, say) is nobody's to handle, so it is a defect: the caller sees 500, as with a real service. Knows
 * nothing of what the rows mean.
 *
 * @since 0.1.0
 */
import type Sqlite from "better-sqlite3"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"

/** @since 0.1.0 @category models */
export type Value = string | number | null

/** @since 0.1.0 @category models */
export type Row = Readonly<Record<string, Value>>

/**
 * A part of a statement, with values of its own.
 *
 * @since 0.1.0
 * @category models
 */
export class Fragment {
  readonly text: string
  readonly values: ReadonlyArray<Value>
  constructor(text: string, values: ReadonlyArray<Value> = []) {
    this.text = text
    this.values = values
  }
}

/** @since 0.1.0 @category models */
export type Part = Value | Fragment

/** @since 0.1.0 @category models */
export interface Client {
  /** Runs a statement and gives its rows. */
  <A extends object>(text: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Effect.Effect<ReadonlyArray<A>>
  /** Runs a statement and gives its first row, which costs less than a list of one. */
  readonly first: <A extends object>(text: TemplateStringsArray, ...parts: ReadonlyArray<Part>) => Effect.Effect<A | undefined>
  /** The rows of a query that gives many, handed over as one text: the driver takes its time for each value else. */
  readonly list: <A extends object>(text: TemplateStringsArray, ...parts: ReadonlyArray<Part>) => Effect.Effect<ReadonlyArray<A>>
  /** What follows the table in an INSERT: the columns of the first row, and the values of all rows. */
  readonly insert: (rows: Row | ReadonlyArray<Row>) => Fragment
  /** Text that becomes a part of the statement as it is. */
  readonly literal: (text: string) => Fragment
  /**
   * Runs an effect that waits for nothing as one transaction; inside of another it is a part of that which can fail by
   * itself. Nobody else gets a turn before its end.
   */
  readonly withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** How many statements have written to some tables, undone ones too: as long as that stays the same, their rows do. */
  readonly writes: (...tables: ReadonlyArray<string>) => number
}

/** @since 0.1.0 @category services */
export class Sql extends Context.Tag("@plaza/sandbox/Sql")<Sql, Client>() {}

interface Prepared {
  readonly text: string
  readonly statement: Sqlite.Statement<[ReadonlyArray<Value>]>
  /** Whether it gives rows. */
  readonly gives: boolean
  /** The table that it writes to. */
  readonly target: string | undefined
}

const targetOf = (text: string): string | undefined =>
  /^\s*(?:INSERT(?:\s+OR\s+\w+)?\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)/i.exec(text)?.[1]

const insert = (rows: Row | ReadonlyArray<Row>): Fragment => {
  const all = [rows].flat()
  const columns = Object.keys(all[0] ?? {})
  const places = `(${columns.map(() => "?").join(", ")})`
  return new Fragment(
    `(${columns.join(", ")}) VALUES ${all.map(() => places).join(", ")}`,
    all.flatMap((row) => columns.map((column) => row[column] ?? null))
  )
}

/** The text with a place for each value, and the values. */
const compile = (text: TemplateStringsArray, parts: ReadonlyArray<Part>): Fragment =>
  new Fragment(
    text.map((piece, index) => {
      const part = parts[index]
      return index === parts.length ? piece : piece + (part instanceof Fragment ? part.text : "?")
    }).join(""),
    parts.flatMap((part) => part instanceof Fragment ? part.values : [part])
  )

const isValues = (parts: ReadonlyArray<Part>): parts is ReadonlyArray<Value> => !parts.some((part) => part instanceof Fragment)

/** The same query, whose only row has all rows in it. Of a query that sorts and is limited, SQLite keeps the order. */
const inOneText = (database: Sqlite.Database, { statement, text }: Prepared) => {
  const names = statement.columns().map(({ name }) => name)
  const whole = database.prepare<[ReadonlyArray<Value>]>(`SELECT json_group_array(json_array(${names.join(", ")})) AS rows FROM (${text})`)
  return (values: ReadonlyArray<Value>): ReadonlyArray<Row> => {
    // What the statement above gives.
    const { rows } = whole.get(values) as { readonly rows: string }
    const lists = JSON.parse(rows) as ReadonlyArray<ReadonlyArray<Value>>
    return lists.map((list) => {
      const row: Record<string, Value> = {}
      for (const [index, name] of names.entries()) {
        row[name] = list[index] ?? null
      }
      return row
    })
  }
}

/**
 * The client of an open database, which nobody else uses.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (database: Sqlite.Database): Client => {
  const byText = new Map<string, Prepared>()
  // A template without fragments always has the same text.
  const byTemplate = new WeakMap<TemplateStringsArray, Prepared>()
  const written = new Map<string, number>()
  let depth = 0

  const prepare = (text: string): Prepared => {
    const found = byText.get(text)
    if (found !== undefined) {
      return found
    }
    const statement = database.prepare<[ReadonlyArray<Value>]>(text)
    const prepared = { text, statement, gives: statement.reader, target: targetOf(text) }
    byText.set(text, prepared)
    return prepared
  }

  const toStatement = (text: TemplateStringsArray, parts: ReadonlyArray<Part>): readonly [Prepared, ReadonlyArray<Value>] => {
    if (!isValues(parts)) {
      const { text: compiled, values } = compile(text, parts)
      return [prepare(compiled), values]
    }
    const known = byTemplate.get(text)
    if (known !== undefined) {
      return [known, parts]
    }
    const prepared = prepare(text.join("?"))
    byTemplate.set(text, prepared)
    return [prepared, parts]
  }

  const run = <A>(
    text: TemplateStringsArray,
    parts: ReadonlyArray<Part>,
    use: (prepared: Prepared, values: ReadonlyArray<Value>) => A
  ): A => {
    const [prepared, values] = toStatement(text, parts)
    if (prepared.target !== undefined) {
      written.set(prepared.target, (written.get(prepared.target) ?? 0) + 1)
    }
    try {
      return use(prepared, values)
    } catch (cause) {
      // The driver leaves it open, and as long as it is, nothing can be committed.
      byText.delete(prepared.text)
      byTemplate.delete(text)
      throw cause
    }
  }

  const all = ({ gives, statement }: Prepared, values: ReadonlyArray<Value>): ReadonlyArray<unknown> => {
    if (gives) {
      return statement.all(values)
    }
    statement.run(values)
    return []
  }

  const lists = new WeakMap<Prepared, (values: ReadonlyArray<Value>) => ReadonlyArray<Row>>()
  const list = (prepared: Prepared, values: ReadonlyArray<Value>): ReadonlyArray<unknown> => {
    const read = lists.get(prepared) ?? inOneText(database, prepared)
    lists.set(prepared, read)
    return read(values)
  }

  const first = ({ statement }: Prepared, values: ReadonlyArray<Value>): unknown => statement.get(values)

  const withTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Effect.runtime<R>(), (runtime) => {
      const [begin, commit, rollback] = depth === 0
        ? ["BEGIN", "COMMIT", "ROLLBACK"]
        : [`SAVEPOINT s${depth}`, `RELEASE s${depth}`, `ROLLBACK TO s${depth}; RELEASE s${depth}`]
      // A failure may have undone it all already, as a full disk does.
      const undo = () => database.inTransaction ? database.exec(rollback) : undefined
      database.exec(begin)
      depth++
      try {
        const exit = Runtime.runSyncExit(runtime, effect)
        if (Exit.isSuccess(exit)) {
          database.exec(commit)
        } else {
          undo()
        }
        return exit
      } catch (cause) {
        undo()
        throw cause
      } finally {
        depth--
      }
    })

  // The rows of a statement are what whoever wrote it says.
  const client = ((text: TemplateStringsArray, ...parts: ReadonlyArray<Part>) => Effect.sync(() => run(text, parts, all))) as Client
  return Object.assign(client, {
    first: ((text: TemplateStringsArray, ...parts: ReadonlyArray<Part>) =>
      Effect.sync(() => run(text, parts, first))) as Client["first"],
    list: ((text: TemplateStringsArray, ...parts: ReadonlyArray<Part>) => Effect.sync(() => run(text, parts, list))) as Client["list"],
    insert,
    literal: (text: string) => new Fragment(text),
    withTransaction,
    writes: (...tables: ReadonlyArray<string>) => tables.reduce((sum, table) => sum + (written.get(table) ?? 0), 0)
  })
}
