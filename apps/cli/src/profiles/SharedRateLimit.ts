/** A rate limit that the processes of a key share through a SQLite file. */
import { UsageError } from "@plaza/cli-kit/CliError"
import type { RateLimit, Settings } from "@plaza/client"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import * as SqliteClient from "@plaza/client/sqlite"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"

/** The rate limit of a key in a file. The folder of the file must exist. */
export const layer = (
  filename: string,
  { apiKey, rateLimit, rateWindow, timeout }: Settings.Settings["Service"]
): Layer.Layer<RateLimit.RateLimit, UsageError> => {
  const unusable = new UsageError({ message: `${filename} can't be opened: allow this user to read and write it, or delete it` })
  // Processes that open a new file at the same time fail: SQLite does not wait for the lock that the write-ahead log requires.
  const database = Layer.effectContext(
    Effect.retry(Layer.build(SqliteClient.layer({ filename })), Schedule.upTo(Schedule.spaced("50 millis"), { times: 10 }))
  )
  return RateLimitSql.layer({ apiKey, limit: rateLimit, window: rateWindow, lease: Duration.sum(rateWindow, timeout) }).pipe(
    Layer.provide(database),
    Layer.catchTag("InvalidSettings", ({ message }) => Layer.effectContext(Effect.fail(new UsageError({ message })))),
    Layer.catchTag("SqlError", () => Layer.effectContext(Effect.fail(unusable)))
  )
}
