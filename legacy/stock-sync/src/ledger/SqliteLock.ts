/**
 * The lock of a ledger file: an exclusive transaction on a database beside it. The system releases it with the process, also after
 * kill -9, which a file with a process id does not offer.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as MonotonicClock from "../sync/MonotonicClock.ts"
import type { LedgerFault } from "./LedgerError.ts"
import * as LockOwner from "./LockOwner.ts"
import { busyCode, codeOf, faultOf } from "./SqliteErrors.ts"
import * as SqliteFile from "./SqliteFile.ts"

/** Holds the lock until the scope closes. Returns the path of the lock file. */
export const acquire = (path: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    // Two names of one file have one lock.
    const real = yield* Effect.orElseSucceed(files.realPath(path), () => path)
    const lockPath = `${real}.lock`
    const sql = yield* SqliteFile.open(path, lockPath, 0)
    // Closing the connection keeps the lock until the last prepared statement is collected.
    yield* Effect.addFinalizer(() => Effect.ignore(sql`ROLLBACK`))
    const lock = yield* Effect.either(sql`BEGIN EXCLUSIVE`)
    if (Either.isRight(lock)) return lockPath
    if (codeOf(lock.left) !== busyCode) return yield* faultOf(`${path}.lock`)(lock.left)
    return yield* yield* LockOwner.inUse(path, SqliteFile.open(path, real))
  })

// The check costs less than a request, and more than nothing.
const checkInterval = Duration.toMillis("1 second")

/**
 * A check that fails once the ledger or its lock file is missing or another file, or another process is recorded as the owner:
 * writes would be lost or wrong. Looks at the files at most once a second.
 */
export const ownershipCheck = (path: string, lockPath: string, isOwner: Effect.Effect<boolean, LedgerFault>) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const identity = (file: string) =>
      Effect.option(Effect.map(files.stat(file), ({ dev, ino }) => `${dev}/${Option.getOrElse(ino, () => 0)}`))
    const identities = Effect.all([identity(path), identity(lockPath)])
    const before = yield* identities
    let nextCheck: MonotonicClock.MonotonicMillis = 0
    return Effect.gen(function*() {
      const now = yield* MonotonicClock.now
      if (now < nextCheck) return
      const after = yield* identities
      if (!after.every((file, index) => Option.isSome(file) && Equal.equals(file, before[index]))) {
        return yield* SqliteFile.fault(path,
          "or its lock file was removed or replaced while it was in use; a new ledger begins empty, and every product is sent once")
      }
      if (!(yield* isOwner)) return yield* SqliteFile.fault(path, "was taken over by another plaza-stock-sync: let only one of them run")
      nextCheck = now + checkInterval
    })
  })
