/** A rate limit that the processes of a key share through a SQLite file. */
import type { RateLimit, Settings } from "@plaza-legacy/client"
import * as RateLimitSql from "@plaza-legacy/client/RateLimitSql"
import * as SqliteClient from "@plaza-legacy/client/sqlite"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"

/** The rate limit of a key in a file. The folder of the file must exist. */
export const layer = (
  filename: string,
  { apiKey, rateLimit, rateWindow, timeout }: Settings.Settings["Type"]
): Layer.Layer<RateLimit.RateLimit, UsageError> => {
  const unusable = new UsageError({ message: `${filename} can't be opened: allow this user to read and write it, or delete it` })
  // Processes that open a new file at the same time fail: SQLite does not wait for the lock that the write-ahead log requires.
  const database = Layer.catchAll(SqliteClient.layer({ filename }), () => Layer.fail(unusable)).pipe(
    Layer.retry(Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(10)))
  )
  return RateLimitSql.layer({ apiKey, limit: rateLimit, window: rateWindow, lease: Duration.sum(rateWindow, timeout) }).pipe(
    Layer.provide(database),
    Layer.mapError((error) => error._tag === "InvalidSettings" ? new UsageError({ message: error.message }) : unusable)
  )
}
