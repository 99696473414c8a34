/**
 * The client of `plaza mcp`. Agents run one server each, so the processes of a key share its rate limit through a SQLite file. Loading
 * this module loads the native database.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import { Plaza } from "@plaza/client"
import * as Node from "@plaza/client/node"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Path from "node:path"
import * as Connection from "../profiles/Connection.js"
import type { ConnectionFlags } from "../profiles/ConnectionSettings.js"
import * as StateFolder from "../StateFolder.js"
import { name, version } from "../version.js"

// Callers give up after a minute by default. The failure reports when to call again.
const maxWait = Duration.seconds(30)

/** The file of the rate limit, in an existing folder. */
const file = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* StateFolder.location
  yield* Effect.mapError(
    fs.makeDirectory(folder, { recursive: true, mode: 0o700 }),
    (cause) => new Explained({ cause, explanation: "The shared rate limit requires a folder: set XDG_STATE_HOME to another folder." })
  )
  return Path.join(folder, "rate-limit.sqlite")
})

/** The services by flags, environment and profile. */
export const layer = (flags: ConnectionFlags) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const { apiKey, baseUrl, rateLimit, rateWindow, timeout } = yield* Connection.settings(flags)
    const filename = yield* file
    const unusable = new UsageError({ message: `${filename} can't be opened: allow this user to read and write it, or delete it` })
    // Processes that open a new file at the same time fail: SQLite does not wait for the lock that the write-ahead log requires.
    const database = Layer.catchAllCause(SqliteClient.layer({ filename }), () => Layer.fail(unusable)).pipe(
      Layer.retry(Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(10)))
    )
    const lease = Duration.sum(rateWindow, timeout)
    return Plaza.layerWithoutRateLimit({
      apiKey,
      baseUrl,
      timeout,
      maxWait,
      application: `${name}/${version}`,
      // `settings` has checked the base URL.
      allowInsecureHttp: true
    }).pipe(
      Layer.provideMerge(RateLimitSql.layer({ apiKey, limit: rateLimit, window: rateWindow, lease })),
      Layer.provide(database),
      Layer.provide(Node.layer),
      Layer.mapError((error) => error._tag === "SqlError" ? unusable : error)
    )
  }))
