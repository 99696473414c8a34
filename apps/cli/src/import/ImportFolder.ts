/**
 * The files of the imports of one kind for an account: one folder with a journal for each import, named by a hash of its rows. The same
 * rows continue an import, also from another file, format, order or key of the account. One process at a time uses the folder.
 */
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import * as Folder from "@plaza/cli-kit/Folder"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import { hostname } from "node:os"
import * as Path from "node:path"
import * as SqliteFile from "../SqliteFile.ts"
import type { ImportKind, ImportRow } from "./ImportRow.ts"

/** A hash of 128 bits. */
export const digest = (parts: ReadonlyArray<string>): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)

export interface ImportFolder {
  readonly folder: string
  readonly journal: string
  /** The file for failed rows, if no other place is named. */
  readonly report: string
}

/** The folder of an import in Plaza's state folder. Creates nothing. */
export const of = (state: string, baseUrl: string, account: string, kind: ImportKind, rows: ReadonlyArray<ImportRow>): ImportFolder => {
  const folder = Path.join(state, "imports", `${kind.name}-${digest([baseUrl, account])}`)
  const hash = digest(rows.map(({ cells }) => JSON.stringify(cells)).toSorted())
  return { folder, journal: Path.join(folder, `${hash}.ndjson`), report: Path.join(folder, `${hash}.failed.csv`) }
}

const lockIn = (folder: string): string => Path.join(folder, "lock")
const ownerIn = (folder: string): string => Path.join(folder, "owner")

const readOwner = ({ folder }: ImportFolder) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(ownerIn(folder))).pipe(
    Effect.match({ onFailure: () => "another process", onSuccess: (owner) => owner.trim() })
  )

/** The process whose import of the kind is running for the account. */
export const owner = (folder: ImportFolder): Effect.Effect<Option.Option<string>, never, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.access(lockIn(folder.folder))).pipe(
    Effect.andThen(Effect.scoped(SqliteFile.lock(lockIn(folder.folder)))),
    Effect.as(Option.none<string>()),
    Effect.catch((error) => error._tag === "Locked" ? Effect.asSome(readOwner(folder)) : Effect.succeedNone)
  )

/** Creates the folder and locks it until the scope closes, because two imports could overwrite each other. */
export const lock = Effect.fnUntraced(function*(importFolder: ImportFolder) {
  const { folder } = importFolder
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(
    Folder.make(folder, { mode: 0o700 }),
    (cause) => new Explained({ cause, explanation: "An import requires a folder for its journal: set XDG_STATE_HOME to another folder." })
  )
  // A dry run holds the lock for a moment.
  yield* Effect.catchTag(SqliteFile.lock(lockIn(folder), "100 millis"), "Locked",
    () =>
      Effect.flatMap(readOwner(importFolder), (owner) =>
        Effect.fail(
          new UsageError({ message: `another import of this kind is running for this account (${owner}): wait for it, or stop it` })
        )))
  const since = DateTime.formatIso(yield* DateTime.now)
  yield* fs.writeFileString(ownerIn(folder), `process ${process.pid} on ${hostname()}, since ${since}\n`)
})

// Long enough for a quota of several days.
const retention = Duration.days(30)

/** Removes journals and failure reports of all accounts and kinds that are 30 days old. */
export const prune = Effect.fnUntraced(function*({ folder }: ImportFolder) {
  const fs = yield* FileSystem.FileSystem
  const before = (yield* Clock.currentTimeMillis) - Duration.toMillis(retention)
  const all = Path.dirname(folder)
  for (const name of yield* fs.readDirectory(all, { recursive: true })) {
    if (!/\.(ndjson|csv|digest)$/.test(name)) continue
    const path = Path.join(all, name)
    const { mtime } = yield* fs.stat(path)
    if (Option.exists(mtime, (time) => time.getTime() < before)) yield* fs.remove(path, { force: true })
  }
})

/** The other journals of the folder. */
export const otherJournals = Effect.fnUntraced(function*({ folder, journal }: ImportFolder) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* fs.readDirectory(folder)
  return names.filter((name) => name.endsWith(".ndjson")).map((name) => Path.join(folder, name)).filter((path) => path !== journal)
})
