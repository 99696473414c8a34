/** The table `arrivals`: one row for each counted request, so that the limits hold over a restart. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Db, literal } from "../storage/Db.ts"

export const Arrival = Schema.Struct({
  keyId: Schema.String,
  /** The name of the quota that counts the request; see `RateWindow`. */
  quota: Schema.String,
  /** In milliseconds since 1970. */
  at: Schema.Int,
  /** Requests of that day under the quota, this one included. */
  used: Schema.Int
})
export type Arrival = typeof Arrival.Type

const Count = Schema.Struct({ count: Schema.Int })

export class ArrivalsRepo extends Context.Service<ArrivalsRepo>()("@plaza/sandbox/ArrivalsRepo", {
  make: Effect.map(Db, (db) => {
    const newestOfQuotas = literal("SELECT max(seq) FROM arrivals GROUP BY account_id")
    return {
      insert: ({ at, keyId, quota, used }: Arrival) =>
        db.run`INSERT INTO arrivals (key_id, account_id, at, used) VALUES (${keyId}, ${quota}, ${at}, ${used})`,
      /** The arrivals of the last milliseconds before the newest one, oldest first. */
      findRecent: (millis: number) =>
        db.all(Arrival)`SELECT key_id AS keyId, account_id AS quota, at, used FROM arrivals
            WHERE at > (SELECT max(at) FROM arrivals) - ${millis} ORDER BY seq`,
      /** The newest arrival of each quota. */
      newestOfQuotas: () =>
        db.all(Arrival)`SELECT key_id AS keyId, account_id AS quota, at, used FROM arrivals WHERE seq IN (${newestOfQuotas})`,
      /** Deletes the arrivals up to a moment, except the newest of each quota. */
      deleteUntil: (at: number) => db.run`DELETE FROM arrivals WHERE at <= ${at} AND seq NOT IN (${newestOfQuotas})`,
      count: () => db.one(Count)`SELECT count(*) AS count FROM arrivals`.count
    }
  })
}) {
  static readonly layer = Layer.effect(ArrivalsRepo, ArrivalsRepo.make)
}
