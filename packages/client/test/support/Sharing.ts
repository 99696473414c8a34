/** Several processes that share an allowance, simulated in one: each has its own layer on the same database. */
import type { RateLimit } from "@plaza/client"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import { type Duration, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { makeFrom } from "./AllowanceRules.ts"
import * as Database from "./Database.ts"

export const apiKey = Redacted.make(`plaza_${"a1B2c3D4".repeat(5)}`)

/**
 * One process that shares the allowance; each call makes another one. It has a name, because the hash of a key takes real time, in which
 * virtual time goes on.
 */
export const join = (allowance: RateLimit.Allowance & { readonly lease?: Duration.Input }) =>
  makeFrom(RateLimitSql.layer({ ...allowance, name: "shared" }))

/** A process that can be stopped from the outside: without its database it does nothing more that others could see. */
export const killable = (allowance: RateLimit.Allowance) =>
  Effect.gen(function*() {
    const database = yield* Database.watched
    const limit = yield* Effect.provideService(join(allowance), SqlClient.SqlClient, database.client)
    return { database, limit }
  })

/** What the database holds of every slot. */
export const rows = Effect.flatMap(SqlClient.SqlClient,
  (sql) => sql<{ name: string; taken_by: string; free_at: number }>`SELECT name, taken_by, free_at FROM plaza_rate_slots ORDER BY slot`)
