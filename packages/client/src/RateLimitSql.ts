/**
 * A key's allowance that several processes share through a database. It has its own entry point, because it needs `effect/sql`.
 *
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 */
import * as Layer from "effect/Layer"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { InvalidSettings } from "./ClientError.ts"
import type { SharedAllowance } from "./internal/rate-limit/Models.ts"
import * as SqlRateLimit from "./internal/rate-limit/SqlRateLimit.ts"
import { RateLimit } from "./RateLimit.ts"

export type { SharedAllowance } from "./internal/rate-limit/Models.ts"

/**
 * Shares one key's allowance between all processes that use the same database: a SQLite file on one machine, Postgres across
 * machines. It doesn't count callers of the key that don't use the database.
 *
 * The layer fails if it can't create its tables. While the database is unavailable, the client sends no request. A call then fails
 * with `RateLimitWaitExceeded` at the end of its maximum wait, and the message gives the reason.
 *
 * The statements run outside the caller's transactions. A call inside a transaction that has written to the same SQLite file
 * would wait for its own lock: use a separate file for the allowance.
 *
 * @example
 * import { Plaza } from "@plaza/client"
 * import * as NodeClient from "@plaza/client/node"
 * import * as RateLimitSql from "@plaza/client/RateLimitSql"
 * import * as Sqlite from "@plaza/client/sqlite"
 * import { Layer, Redacted } from "effect"
 *
 * const apiKey = Redacted.make("a key")
 * const live = Plaza.layerWithoutRateLimit({ baseUrl: "https://host/open/v1", apiKey }).pipe(
 *   Layer.provideMerge(RateLimitSql.layer({ apiKey })),
 *   Layer.provide(Sqlite.layer({ filename: "allowance.sqlite" })),
 *   Layer.provide(NodeClient.layer)
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  allowance: SharedAllowance
): Layer.Layer<RateLimit, SqlError | InvalidSettings, SqlClient> => Layer.effect(RateLimit, SqlRateLimit.make(allowance))
