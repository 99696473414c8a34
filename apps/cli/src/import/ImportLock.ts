/**
 * Locks the imports of one kind for an account, because two imports could overwrite each other. The lock is an exclusive
 * transaction on its own SQLite file, which the system releases when the process exits.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as SqliteClient from "@plaza-legacy/client/sqlite"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { hostname } from "node:os"
import * as Path from "node:path"
import type { ImportPaths } from "./ImportPaths.ts"

const fail = (message: string) => Effect.fail(new UsageError({ message }))

// SQLite's primary result code, in the lower eight bits.
const isBusy = (cause: unknown): boolean =>
  Predicate.hasProperty(cause, "errcode") && Predicate.isNumber(cause.errcode) && (cause.errcode & 0xff) === 5

/** The file with the lock owner, for the message of other processes. */
const ownerPath = ({ folder }: ImportPaths): string => Path.join(folder, "owner")

/** Acquires the lock until the scope closes. */
export const acquire = (paths: ImportPaths): Effect.Effect<void, UsageError | PlatformError, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = Path.join(paths.folder, "lock")
    const sql = yield* SqliteClient.make({ filename: path, disableWAL: true }).pipe(
      Effect.catchAll(() => fail(`${path} can't be opened: allow this user to read and write it`)),
      Effect.provide(Reactivity.layer)
    )
    const transaction = yield* Effect.either(Effect.zipRight(sql`PRAGMA busy_timeout = 0`, sql`BEGIN EXCLUSIVE`))
    if (Either.isLeft(transaction)) {
      if (!isBusy(transaction.left.cause)) return yield* fail(`${path} can't be locked: allow this user to read and write it`)
      const owner = yield* Effect.orElseSucceed(fs.readFileString(ownerPath(paths)), () => "another process")
      return yield* fail(`another import of this kind is running for this account (${owner.trim()}): wait for it, or stop it`)
    }
    const since = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* fs.writeFileString(ownerPath(paths), `process ${process.pid} on ${hostname()}, since ${since}\n`)
  })
