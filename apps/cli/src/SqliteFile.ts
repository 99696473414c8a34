/** SQLite files of the user: a lock, and what is wrong with a file that can't be used. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as FileProblem from "@plaza/cli-kit/FileProblem"
import * as SqliteClient from "@plaza/client/sqlite"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"

/** Another process has the lock. */
class Locked extends Schema.TaggedError<Locked>()("Locked", { path: Schema.String }) {}

/** Fails with what is wrong with a file: in the words of the system if it can't be opened, because SQLite doesn't know the reason. */
export const fail = (path: string, { message, reason: { cause } }: SqlError): Effect.Effect<never, UsageError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.scoped(fs.open(path, { flag: "a" }))).pipe(
    Effect.match({
      onFailure: (error) => FileProblem.describe(error, path),
      onSuccess: () => `${path} can't be used (${cause instanceof Error ? cause.message : message}): delete it`
    }),
    Effect.flatMap((message) => Effect.fail(new UsageError({ message })))
  )

/**
 * Locks a file until the scope closes, by an exclusive transaction. The system releases the lock when the process ends, however it ends. The
 * wait (default: none) blocks the thread.
 */
export const lock = (
  path: string,
  wait: Duration.Input = Duration.zero
): Effect.Effect<void, Locked | UsageError, FileSystem.FileSystem | Scope.Scope> =>
  SqliteClient.make({ filename: path, disableWAL: true }).pipe(
    Effect.provide(Reactivity.layer),
    Effect.flatMap((sql) => Effect.andThen(sql.unsafe(`PRAGMA busy_timeout = ${Duration.toMillis(wait)}`), sql`BEGIN EXCLUSIVE`)),
    Effect.asVoid,
    Effect.catchTag("SqlError", (error): Effect.Effect<never, Locked | UsageError, FileSystem.FileSystem> =>
      error.reason._tag === "LockTimeoutError" ? Effect.fail(new Locked({ path })) : fail(path, error))
  )
