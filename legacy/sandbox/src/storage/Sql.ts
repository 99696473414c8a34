/**
 * The one connection to SQLite. A statement is prepared once and runs synchronously on the calling fiber, as SQLite itself
 * does, so nothing waits for a connection. A failure of SQLite (a full disk, say) is a defect: the service responds with
 * 500. `SqlSchema` decodes the rows.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import type { DatabaseSync, StatementSync } from "node:sqlite"

/** @since 0.1.0 @category models */
export type Value = string | number | null

/** @since 0.1.0 @category models */
export type Row = Readonly<Record<string, Value>>

/**
 * A part of a statement, with its values.
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
  /** Runs a statement and returns its rows. */
  (text: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Effect.Effect<ReadonlyArray<unknown>>
  /** Runs a statement and returns its first row; undefined if there is none. For one row, cheaper than reading all rows. */
  readonly first: (text: TemplateStringsArray, ...parts: ReadonlyArray<Part>) => Effect.Effect<unknown>
  /** Runs a statement at once and returns its rows, for statements of one `Effect.sync` that no other fiber may come between. */
  readonly unsafeRun: (text: TemplateStringsArray, ...parts: ReadonlyArray<Part>) => ReadonlyArray<unknown>
  /** The part of an INSERT after the table: the columns of the first row, and the values of all rows. */
  readonly insert: (rows: Row | ReadonlyArray<Row>) => Fragment
  /** Text that is inserted into the statement verbatim. */
  readonly literal: (text: string) => Fragment
  /**
   * Runs a synchronous effect as one transaction; inside of another transaction as a savepoint. No other fiber runs before
   * it ends. An effect that suspends dies, is rolled back and is interrupted.
   */
  readonly withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /**
   * A number that grows with each statement that writes to one of these tables, and with each rollback, whatever it undoes.
   * Cached rows are valid while it is unchanged.
   */
  readonly writes: (...tables: ReadonlyArray<string>) => number
}

/** @since 0.1.0 @category services */
export class Sql extends Context.Tag("@plaza-legacy/sandbox/Sql")<Sql, Client>() {}

interface Prepared {
  readonly text: string
  readonly statement: StatementSync
  /** Whether it returns rows. */
  readonly isReader: boolean
  /** The table that it writes to. */
  readonly target: string | undefined
}

const targetOf = (text: string): string | undefined => /^\s*(?:INSERT(?:\s+OR\s+\w+)?\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)/i.exec(text)?.[1]

/**
 * The part of an INSERT after the table: the columns of the first row, and the values of all rows.
 *
 * @since 0.1.0
 * @category constructors
 */
export const insert = (rows: Row | ReadonlyArray<Row>): Fragment => {
  const all = [rows].flat()
  const columns = Object.keys(all[0] ?? {})
  const places = `(${columns.map(() => "?").join(", ")})`
  return new Fragment(
    `(${columns.join(", ")}) VALUES ${all.map(() => places).join(", ")}`,
    all.flatMap((row) => columns.map((column) => row[column] ?? null))
  )
}

/** The text with a placeholder for each value, and the values. */
const compile = (text: TemplateStringsArray, parts: ReadonlyArray<Part>): Fragment =>
  new Fragment(
    text.map((piece, index) => {
      const part = parts[index]
      return index === parts.length ? piece : piece + (part instanceof Fragment ? part.text : "?")
    }).join(""),
    parts.flatMap((part) => part instanceof Fragment ? part.values : [part])
  )

const isValues = (parts: ReadonlyArray<Part>): parts is ReadonlyArray<Value> => !parts.some((part) => part instanceof Fragment)

/** Runs an effect in one step. One that suspends is interrupted, so that it writes nothing after the rollback. */
const runInOneStep = <A, E, R>(runtime: Runtime.Runtime<R>, effect: Effect.Effect<A, E, R>): Exit.Exit<A, E> => {
  // The region of the caller may be uninterruptible.
  const exit = Runtime.runSyncExit(runtime, Effect.interruptible(effect))
  const suspended = Exit.isFailure(exit)
    ? Option.filter(Cause.dieOption(exit.cause), Runtime.isAsyncFiberException)
    : Option.none()
  return Option.match(suspended, {
    onNone: () => exit,
    onSome: ({ fiber }) => {
      fiber.unsafeInterruptAsFork(FiberId.none)
      return Exit.die(new Error("an effect in withTransaction must be synchronous; wait outside the transaction"))
    }
  })
}

/**
 * The client of an open database. Nothing else may use its connection.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (database: DatabaseSync): Client => {
  const byText = new Map<string, Prepared>()
  // A template without fragments always has the same text.
  const byTemplate = new WeakMap<TemplateStringsArray, Prepared>()
  const written = new Map<string, number>()
  let rollbacks = 0
  let depth = 0

  const prepare = (text: string): Prepared => {
    const found = byText.get(text)
    if (found !== undefined) {
      return found
    }
    const statement = database.prepare(text)
    const prepared = { text, statement, isReader: statement.columns().length > 0, target: targetOf(text) }
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
    return use(prepared, values)
  }

  const all = ({ isReader, statement }: Prepared, values: ReadonlyArray<Value>): ReadonlyArray<unknown> => {
    if (isReader) {
      return statement.all(...values)
    }
    statement.run(...values)
    return []
  }

  const first = ({ statement }: Prepared, values: ReadonlyArray<Value>): unknown => statement.get(...values)

  const withTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Effect.runtime<R>(), (runtime) => {
      const [begin, commit, rollback] = depth === 0
        ? ["BEGIN", "COMMIT", "ROLLBACK"]
        : [`SAVEPOINT s${depth}`, `RELEASE s${depth}`, `ROLLBACK TO s${depth}; RELEASE s${depth}`]
      // Prepared once: a compilation costs as much as the statement.
      const execute = (text: string) => prepare(text).statement.run()
      // SQLite itself rolls back after some failures, such as a full disk.
      const undo = () => {
        rollbacks++
        if (database.isTransaction) {
          database.exec(rollback)
        }
      }
      execute(begin)
      depth++
      try {
        const exit = runInOneStep(runtime, effect)
        if (Exit.isSuccess(exit)) {
          execute(commit)
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

  return Object.assign(
    (text: TemplateStringsArray, ...parts: ReadonlyArray<Part>) => Effect.sync(() => run(text, parts, all)),
    {
      first: (text: TemplateStringsArray, ...parts: ReadonlyArray<Part>) => Effect.sync(() => run(text, parts, first)),
      unsafeRun: (text: TemplateStringsArray, ...parts: ReadonlyArray<Part>) => run(text, parts, all),
      insert,
      literal: (text: string) => new Fragment(text),
      withTransaction,
      writes: (...tables: ReadonlyArray<string>) => tables.reduce((sum, table) => sum + (written.get(table) ?? 0), rollbacks)
    }
  )
}
