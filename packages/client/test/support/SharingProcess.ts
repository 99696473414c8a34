/**
 * A program that shares an allowance with others and sends as many requests as it may until it is stopped. Tests start it as
 * `SharingProcess.ts DATABASE ADDRESS LIMIT WINDOW LEASE CONCURRENCY`, where the database is a Postgres URL or the path of a SQLite
 * file, and times are in milliseconds.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as RateLimit from "../../src/RateLimit.ts"

const [database = "", address = "", limit, window, lease, concurrency] = process.argv.slice(2)

const client = Layer.unwrap(Effect.promise(async () => {
  if (database.startsWith("postgres:")) {
    const PgClient = await import("@effect/sql-pg/PgClient")
    return Layer.orDie(PgClient.layer({ url: Redacted.make(database), maxConnections: 3 }))
  }
  const SqliteClient = await import("@plaza/client/sqlite")
  return Layer.orDie(SqliteClient.layer({ filename: database }))
}))

const request = Effect.tryPromise(async (signal) => {
  const answer = await fetch(address, { signal })
  await answer.arrayBuffer()
})

const program = Effect.gen(function*() {
  const rateLimit = yield* RateLimit.RateLimit
  const once = rateLimit.withSlot(Duration.minutes(1), request)
  yield* Effect.forEach(Array.from({ length: Number(concurrency) }), () => Effect.forever(once), {
    concurrency: "unbounded",
    discard: true
  })
})

const allowance = RateLimitSql.layer({ name: "shared", limit: Number(limit), window: Number(window), lease: Number(lease) })

NodeRuntime.runMain(Effect.provide(program, Layer.provide(allowance, client)))
