/**
 * The table `arrivals`: one row for each counted request, so that the limits hold over a restart.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Sql } from "../storage/Sql.ts"
import * as SqlSchema from "../storage/SqlSchema.ts"

/** @since 0.1.0 @category rows */
export const Arrival = Schema.Struct({
  keyId: Schema.String,
  /** The name of the quota that counts the request; see `RateWindow`. */
  quota: Schema.String,
  /** In milliseconds since 1970. */
  at: Schema.Int,
  /** Requests of that day under the quota, this one included. */
  used: Schema.Int
})
/** @since 0.1.0 @category rows */
export type Arrival = typeof Arrival.Type

const Count = Schema.Struct({ count: Schema.Int }).pipe(Schema.pluck("count"))

/** @since 0.1.0 @category constructors */
export const make = Effect.map(Sql, (sql) => {
  const newestOfQuotas = sql.literal("SELECT max(seq) FROM arrivals GROUP BY account_id")
  return {
    insert: ({ at, keyId, quota, used }: Arrival) =>
      Effect.asVoid(sql`INSERT INTO arrivals (key_id, account_id, at, used) VALUES (${keyId}, ${quota}, ${at}, ${used})`),
    /** The arrivals of the last milliseconds before the newest one, oldest first. */
    findRecent: SqlSchema.findAll({
      Result: Arrival,
      execute: (millis: number) =>
        sql`SELECT key_id AS keyId, account_id AS quota, at, used FROM arrivals
          WHERE at > (SELECT max(at) FROM arrivals) - ${millis} ORDER BY seq`
    }),
    /** The newest arrival of each quota. */
    newestOfQuotas: SqlSchema.findAll({
      Result: Arrival,
      execute: () => sql`SELECT key_id AS keyId, account_id AS quota, at, used FROM arrivals WHERE seq IN (${newestOfQuotas})`
    }),
    /** Deletes the arrivals up to a moment, except the newest of each quota. */
    deleteUntil: (at: number) => Effect.asVoid(sql`DELETE FROM arrivals WHERE at <= ${at} AND seq NOT IN (${newestOfQuotas})`),
    count: SqlSchema.single({
      Result: Count,
      execute: () => sql.first`SELECT count(*) AS count FROM arrivals`
    })
  }
})

/** @since 0.1.0 @category services */
export class ArrivalsRepo extends Context.Tag("@plaza-legacy/sandbox/ArrivalsRepo")<ArrivalsRepo, Effect.Effect.Success<typeof make>>() {}
