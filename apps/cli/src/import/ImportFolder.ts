/**
 * The files of the imports of one kind for an account: one folder with a journal for each import, named by a hash of its rows. The same
 * rows continue an import, also from another file, format, order or key of the account. One process at a time uses the folder.
 */
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import * as Folder from "@plaza/cli-kit/Folder"
import * as SqliteClient from "@plaza/client/sqlite"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Reactivity from "effect/reactivity/Reactivity"
import { createHash } from "node:crypto"
import { hostname } from "node:os"
import * as Path from "node:path"
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

export interface Import {
  readonly kind: ImportKind
  readonly rows: ReadonlyArray<ImportRow>
  readonly baseUrl: string
  /** The account's id. */
  readonly account: string
}

/** The folder of an import in Plaza's state folder. Creates nothing. */
export const of = (state: string, { account, baseUrl, kind, rows }: Import): ImportFolder => {
  const folder = Path.join(state, "imports", `${kind.name}-${digest([baseUrl, account])}`)
  const hash = digest(rows.map(({ cells }) => JSON.stringify(cells)).toSorted())
  return { folder, journal: Path.join(folder, `${hash}.ndjson`), report: Path.join(folder, `${hash}.failed.csv`) }
}

const fail = (message: string) => Effect.fail(new UsageError({ message }))

/**
 * Creates the folder and locks it until the scope closes, because two imports could overwrite each other. The lock is an exclusive
 * transaction on a SQLite file, which the system releases when the process exits.
 */
export const lock = Effect.fnUntraced(function*({ folder }: ImportFolder) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(
    Folder.make(folder, { mode: 0o700 }),
    (cause) => new Explained({ cause, explanation: "An import requires a folder for its journal: set XDG_STATE_HOME to another folder." })
  )
  const path = Path.join(folder, "lock")
  // For the message of other processes.
  const owner = Path.join(folder, "owner")
  yield* SqliteClient.make({ filename: path, disableWAL: true }).pipe(
    Effect.provide(Reactivity.layer),
    Effect.tap((sql) => Effect.andThen(sql`PRAGMA busy_timeout = 0`, sql`BEGIN EXCLUSIVE`)),
    Effect.catchTag("SqlError", ({ reason }) =>
      reason._tag === "LockTimeoutError"
        ? Effect.flatMap(
          Effect.orElseSucceed(fs.readFileString(owner), () => "another process"),
          (by) => fail(`another import of this kind is running for this account (${by.trim()}): wait for it, or stop it`)
        )
        : fail(`${path} can't be locked: allow this user to read and write it`))
  )
  const since = DateTime.formatIso(yield* DateTime.now)
  yield* fs.writeFileString(owner, `process ${process.pid} on ${hostname()}, since ${since}\n`)
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
