/** A rate limit that the processes of a key share through a SQLite file. */
import { UsageError } from "@plaza/cli-kit/CliError"
import type { RateLimit, Settings } from "@plaza/client"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import * as SqliteClient from "@plaza/client/sqlite"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as SqliteFile from "../SqliteFile.ts"

/** The rate limit of a key in a file. The folder of the file must exist. */
export const layer = (
  filename: string,
  { apiKey, rateLimit, rateWindow, timeout }: Settings.Settings["Service"]
): Layer.Layer<RateLimit.RateLimit, UsageError, FileSystem.FileSystem> =>
  RateLimitSql.layer({ apiKey, limit: rateLimit, window: rateWindow, lease: Duration.sum(rateWindow, timeout) }).pipe(
    Layer.provide(SqliteClient.layer({ filename })),
    Layer.catchTag("InvalidSettings", ({ message }) => Layer.effectContext(Effect.fail(new UsageError({ message })))),
    Layer.catchTag("SqlError", (error) => Layer.effectContext(SqliteFile.fail(filename, error)))
  )
