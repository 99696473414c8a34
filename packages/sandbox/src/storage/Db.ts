/**
 * The one connection to SQLite. A statement is prepared once and runs synchronously, as SQLite itself does, so that a request
 * waits only for the caller's clock. A failure of SQLite (a full disk, say) is a defect: the service responds with 500.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { SandboxError } from "../SandboxError.ts"
import * as Database from "./Database.ts"

export type Value = string | number | null

export type Row = Readonly<Record<string, Value>>

/** A part of a statement, with its values. */
export class Fragment {
  readonly text: string
  readonly values: ReadonlyArray<Value>
  constructor(text: string, values: ReadonlyArray<Value> = []) {
    this.text = text
    this.values = values
  }
}

/** A statement as a tagged template. */
type Statement<A> = (text: TemplateStringsArray, ...parts: ReadonlyArray<Value | Fragment>) => A

/** Decodes rows with a schema. A row that doesn't match it is a defect, like a failure of SQLite. */
export type RowSchema<A> = Schema.ConstraintDecoder<A>

/** The only column of a statement that returns a sequence number as `seq`. */
export const Seq = Schema.Struct({ seq: Schema.Int })

/** The part of an INSERT after the table: the columns of the first row, and the values of all rows. */
export const insert = (rows: Row | ReadonlyArray<Row>): Fragment => {
  const all = [rows].flat()
  const columns = Object.keys(all[0] ?? {})
  const places = `(${columns.map(() => "?").join(", ")})`
  return new Fragment(
    `(${columns.join(", ")}) VALUES ${all.map(() => places).join(", ")}`,
    all.flatMap((row) => columns.map((column) => row[column] ?? null))
  )
}

/** Text that is inserted into a statement verbatim. */
export const literal = (text: string): Fragment => new Fragment(text)

interface Prepared {
  readonly statement: StatementSync
  /** The table that it writes to. */
  readonly target: string | undefined
}

const targetOf = (text: string): string | undefined => /^\s*(?:INSERT(?:\s+OR\s+\w+)?\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)/i.exec(text)?.[1]

/** The text with a placeholder for each value, and the values. */
const compile = (text: TemplateStringsArray, parts: ReadonlyArray<Value | Fragment>): Fragment =>
  new Fragment(
    text.map((piece, index) => {
      const part = parts[index]
      return index === parts.length ? piece : piece + (part instanceof Fragment ? part.text : "?")
    }).join(""),
    parts.flatMap((part) => part instanceof Fragment ? part.values : [part])
  )

const isValues = (parts: ReadonlyArray<Value | Fragment>): parts is ReadonlyArray<Value> => !parts.some((part) => part instanceof Fragment)

// A schema compiles when its decoder is created.
const decoders = new WeakMap<object, (row: unknown) => unknown>()

const decoderOf = <A>(schema: RowSchema<A>): (row: unknown) => A => {
  const decode = decoders.get(schema) ?? Schema.decodeUnknownSync(schema, { reportInput: true })
  decoders.set(schema, decode)
  // True because the decoder of a schema is stored under that schema.
  return decode as (row: unknown) => A
}

/** The fiber of an effect that did not end synchronously. */
const suspendedOf = (exit: Exit.Exit<unknown, unknown>): Fiber.Fiber<unknown, unknown> | undefined =>
  Exit.isSuccess(exit) ?
    undefined :
    exit.cause.reasons.flatMap((reason) =>
      Cause.isDieReason(reason) && Cause.isAsyncFiberError(reason.defect) ? [reason.defect.fiber] : []
    )[0]

const make = (database: DatabaseSync) => {
  // A template without fragments always has the same text.
  const byTemplate = new WeakMap<TemplateStringsArray, Prepared>()
  const written = new Map<string, number>()
  let rollbacks = 0
  let depth = 0

  const prepare = (text: string): Prepared => ({ statement: database.prepare(text), target: targetOf(text) })

  /** The statements of transactions, prepared once: a compilation costs as much as the statement. */
  const controls = new Map<string, StatementSync>()
  const execute = (text: string): void => {
    const statement = controls.get(text) ?? database.prepare(text)
    controls.set(text, statement)
    statement.run()
  }

  const toStatement = (text: TemplateStringsArray, parts: ReadonlyArray<Value | Fragment>): readonly [Prepared, ReadonlyArray<Value>] => {
    if (!isValues(parts)) {
      const { text: compiled, values } = compile(text, parts)
      // Not kept, because the texts have no end: the tables of a snapshot have its number in their names.
      return [prepare(compiled), values]
    }
    const prepared = byTemplate.get(text) ?? prepare(text.join("?"))
    byTemplate.set(text, prepared)
    return [prepared, parts]
  }

  const using = <A>(use: (statement: StatementSync, values: ReadonlyArray<Value>) => A): Statement<A> => (text, ...parts) => {
    const [{ statement, target }, values] = toStatement(text, parts)
    if (target !== undefined) {
      written.set(target, (written.get(target) ?? 0) + 1)
    }
    return use(statement, values)
  }

  const run = using((statement, values) => {
    statement.run(...values)
  })
  const exists = using((statement, values) => statement.get(...values) !== undefined)

  const transaction = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.contextWith((context: Context.Context<R>) => {
      const [begin, commit, rollback] = depth === 0
        ? ["BEGIN", "COMMIT", "ROLLBACK"]
        : [`SAVEPOINT s${depth}`, `RELEASE s${depth}`, `ROLLBACK TO s${depth}; RELEASE s${depth}`]
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
        const exit = Effect.runSyncExitWith(context)(effect)
        if (Exit.isSuccess(exit)) {
          execute(commit)
        } else {
          undo()
        }
        const suspended = suspendedOf(exit)
        if (suspended === undefined) {
          return exit
        }
        suspended.interruptUnsafe()
        return Effect.die(new Error("an effect in a transaction must be synchronous; wait outside the transaction"))
      } catch (cause) {
        undo()
        throw cause
      } finally {
        depth--
      }
    })

  return {
    /** Returns the rows of a statement. */
    all: <A>(schema: RowSchema<A>): Statement<ReadonlyArray<A>> => {
      const decode = decoderOf(schema)
      return using((statement, values) => statement.all(...values).map((row) => decode(row)))
    },
    /** Returns the first row of a statement, if any. */
    first: <A>(schema: RowSchema<A>): Statement<A | undefined> => {
      const decode = decoderOf(schema)
      return using((statement, values) => {
        const row = statement.get(...values)
        return row === undefined ? undefined : decode(row)
      })
    },
    /** Returns the first row of a statement that always returns one. */
    one: <A>(schema: RowSchema<A>): Statement<A> => {
      const decode = decoderOf(schema)
      return using((statement, values) => decode(statement.get(...values)))
    },
    /** Returns the sequence number that a statement returns as `seq`. */
    seq: using((statement, values) => decoderOf(Seq)(statement.get(...values)).seq),
    /** Whether a statement returns a row. */
    exists,
    /** Runs a statement without a result. */
    run,
    /**
     * Runs a synchronous effect as one transaction; inside of another transaction as a savepoint. No other fiber runs before
     * it ends. An effect that suspends dies and is rolled back.
     */
    transaction,
    /**
     * A number that grows with each statement that writes to one of these tables, and with each rollback, whatever it undoes.
     * Cached rows are valid while it is unchanged.
     */
    writes: (...tables: ReadonlyArray<string>): number => tables.reduce((sum, table) => sum + (written.get(table) ?? 0), rollbacks)
  }
}

export class Db extends Context.Service<Db, ReturnType<typeof make>>()("@plaza/sandbox/Db") {
  /** Opens a data file, or `:memory:`. Fails when the file can't be written, is no data file or is in use. */
  static readonly layer = (file: string): Layer.Layer<Db, SandboxError> => Layer.effect(Db, Effect.map(Database.open(file), make))
}
