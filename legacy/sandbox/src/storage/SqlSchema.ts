/**
 * Decodes the rows of a statement by a Schema, as `SqlSchema` of `@effect/sql` does. The decoder is compiled once for each
 * statement. A row that doesn't match its schema is a defect, like a failure of SQLite itself.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { onFirstUse } from "../OnFirstUse.ts"

/**
 * A flag, which SQLite stores as 0 or 1.
 *
 * @since 0.1.0
 * @category schemas
 */
export const BooleanFromNumber = Schema.transform(Schema.Literal(0, 1), Schema.Boolean, {
  strict: true,
  decode: (stored) => stored === 1,
  encode: (flag) => flag ? 1 : 0
})

/**
 * The only column of a statement that returns a sequence number as `seq`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Seq = Schema.Struct({ seq: Schema.Int }).pipe(Schema.pluck("seq"))

/** A sandbox uses few of its statements. */
const decoder = <A, I>(schema: Schema.Schema<A, I>): (row: unknown) => A => {
  const decode = onFirstUse(() => Schema.decodeUnknownSync(schema))
  return (row) => decode(row)
}

/**
 * All rows of a statement.
 *
 * @since 0.1.0
 * @category constructors
 */
export const findAll = <A, I, Args extends ReadonlyArray<unknown>>(options: {
  readonly Result: Schema.Schema<A, I>
  readonly execute: (...args: Args) => Effect.Effect<ReadonlyArray<unknown>>
}): (...args: Args) => Effect.Effect<ReadonlyArray<A>> => {
  const decode = decoder(options.Result)
  return (...args) => Effect.map(options.execute(...args), (rows) => rows.map((row) => decode(row)))
}

/**
 * The first row of a statement, if it returns any; `execute` runs it with `sql.first`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const findOne = <A, I, Args extends ReadonlyArray<unknown>>(options: {
  readonly Result: Schema.Schema<A, I>
  readonly execute: (...args: Args) => Effect.Effect<unknown>
}): (...args: Args) => Effect.Effect<Option.Option<A>> => {
  const decode = decoder(options.Result)
  return (...args) => Effect.map(options.execute(...args), (row) => row === undefined ? Option.none() : Option.some(decode(row)))
}

/**
 * The first row of a statement that always returns one; `execute` runs it with `sql.first`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const single = <A, I, Args extends ReadonlyArray<unknown>>(options: {
  readonly Result: Schema.Schema<A, I>
  readonly execute: (...args: Args) => Effect.Effect<unknown>
}): (...args: Args) => Effect.Effect<A> => {
  const decode = decoder(options.Result)
  return (...args) => Effect.map(options.execute(...args), (row) => decode(row))
}
