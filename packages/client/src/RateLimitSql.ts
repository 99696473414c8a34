/**
 * A key's allowance that several processes share through a database. Needs `@effect/sql`, so it has an entry of its own.
 *
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Layer from "effect/Layer"
import type { InvalidSettings } from "./ClientError.js"
import type { SharedAllowance } from "./internal/rate-limit/SharedAllowance.js"
import * as SqlRateLimit from "./internal/rate-limit/SqlRateLimit.js"
import { RateLimit } from "./RateLimit.js"

/** @since 0.1.0 @category models */
export type { SharedAllowance } from "./internal/rate-limit/SharedAllowance.js"

/**
 * Shares one key's allowance between all processes that use the same database: a SQLite file on one machine, Postgres
 * across machines. Callers of the key that do not use it are not counted. Fails when the tables can't be made. Later on no
 * request is sent while the database does not answer: a call fails with `RateLimitWaitExceeded` when its maximum wait
 * ends, and the failure says why.
 *
 * The bookkeeping runs outside of the caller's transactions. A call inside a transaction that has written to the same
 * SQLite file would wait for itself: give the allowance a file of its own.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  allowance: SharedAllowance
): Layer.Layer<RateLimit, SqlError | InvalidSettings, SqlClient> => Layer.scoped(RateLimit, SqlRateLimit.make(allowance))
