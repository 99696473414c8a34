/**
 * Locks the imports of a kind for an account, because two imports would share the rate limit and could undo each
 * other. The lock is an exclusive transaction on a database of its own, which the system releases when the process
 * ends, however it ends. Loading this module loads the native database.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { hostname } from "node:os"
import * as Path from "node:path"
import type { Place } from "./Place.js"

const refuse = (message: string) => Effect.fail(new UsageError({ message }))

// SQLite's primary result code, in the lower eight bits.
const isBusy = (cause: unknown): boolean =>
  Predicate.hasProperty(cause, "rawCode") && Predicate.isNumber(cause.rawCode) && (cause.rawCode & 0xff) === 5

/** The file with the lock owner, for the message of those who can't acquire it. */
const holderOf = ({ folder }: Place): string => Path.join(folder, "holder")

/** Holds the folder until the scope closes. */
export const hold = (place: Place): Effect.Effect<void, UsageError | PlatformError, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = Path.join(place.folder, "lock")
    const sql = yield* SqliteClient.make({ filename: path, disableWAL: true }).pipe(
      Effect.catchAllDefect(() => refuse(`${path} can't be opened: let this user read and write it`)),
      Effect.provide(Reactivity.layer)
    )
    // Closing alone would keep the lock until the last prepared statement is collected.
    yield* Effect.addFinalizer(() => Effect.ignore(sql`ROLLBACK`))
    const begun = yield* Effect.either(Effect.zipRight(sql`PRAGMA busy_timeout = 0`, sql`BEGIN EXCLUSIVE`))
    if (Either.isLeft(begun)) {
      if (!isBusy(begun.left.cause)) return yield* refuse(`${path} can't be locked: let this user read and write it`)
      const who = yield* Effect.orElseSucceed(fs.readFileString(holderOf(place)), () => "another process")
      return yield* refuse(`another import of this kind runs for this account (${who.trim()}): wait until it has ended, or stop it`)
    }
    const since = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* fs.writeFileString(holderOf(place), `process ${process.pid} on ${hostname()}, since ${since}\n`)
  })
