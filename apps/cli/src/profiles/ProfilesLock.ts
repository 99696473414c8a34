/** A lock file for the profiles. It is held for milliseconds, so an old one belongs to a killed process. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"

const staleAfterMillis = 5_000

const isLocked = (error: PlatformError): boolean => error.reason._tag === "AlreadyExists"

/** Removes a stale lock. */
const removeStale = (path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { mtime } = yield* fs.stat(path)
    const now = yield* Clock.currentTimeMillis
    if (Option.exists(mtime, (since) => now - since.getTime() > staleAfterMillis)) yield* fs.remove(path, { force: true })
  })

const acquire = (path: string, token: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    fs.writeFileString(path, token, { flag: "wx", mode: 0o600 }).pipe(
      Effect.tapError((error) => isLocked(error) ? Effect.ignore(removeStale(path)) : Effect.void),
      // Longer than the age of a stale lock.
      Effect.retry({ while: isLocked, times: 750, schedule: Schedule.spaced("20 millis") })
    ))

/**
 * Runs an uninterruptible effect with the lock; the wait for the lock is interruptible. The effect receives a check that fails after
 * another process took over the lock as stale. Run the check before the last step.
 */
export const held = <A, E, R>(
  path: string,
  work: (stillOwned: Effect.Effect<void, UsageError | PlatformError>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | UsageError | PlatformError, R | FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const token = `${process.pid} ${yield* Random.nextInt}`
    const isOurs = Effect.map(fs.readFileString(path), (text) => text === token)
    const stillOwned = Effect.filterOrFail(isOurs, (ours) => ours,
      () => new UsageError({ message: "another process changed the profiles at the same time: run the command again" }))
    return yield* Effect.acquireUseRelease(
      Effect.catchIf(Effect.interruptible(acquire(path, token)), isLocked,
        () => Effect.fail(new UsageError({ message: `another process holds the lock ${path}: wait for it, or remove that file` }))),
      () => Effect.uninterruptible(work(Effect.asVoid(stillOwned))),
      () => Effect.ignore(Effect.flatMap(isOurs, (ours) => ours ? fs.remove(path) : Effect.void))
    )
  })
