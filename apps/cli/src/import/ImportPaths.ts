/**
 * The files of an import: one folder per account and kind, one journal per import, named by a hash of its rows. The same
 * rows continue an import, also from another file, format, order or key of the account.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import * as Path from "node:path"
import * as StateFolder from "../StateFolder.ts"
import type { ImportKind, ImportRow } from "./ImportRow.ts"

/** The folder of all journals. */
const root: Effect.Effect<string, ConfigError.ConfigError> = Effect.map(StateFolder.location, (folder) => Path.join(folder, "imports"))

/** A hash of 128 bits. */
export const digest = (parts: ReadonlyArray<string>): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)

export interface ImportPaths {
  /** One process at a time uses the folder. */
  readonly folder: string
  readonly journal: string
  /** The default file for failed rows. */
  readonly report: string
}

export interface Import {
  readonly kind: ImportKind
  readonly rows: ReadonlyArray<ImportRow>
  readonly baseUrl: string
  /** The account's id. */
  readonly account: string
}

/** The paths of an import. Creates nothing. */
export const of = ({ account, baseUrl, kind, rows }: Import): Effect.Effect<ImportPaths, ConfigError.ConfigError> =>
  Effect.map(root, (root) => {
    const folder = Path.join(root, `${kind.name}-${digest([baseUrl, account])}`)
    const hash = digest(rows.map(({ cells }) => JSON.stringify(cells)).toSorted())
    return { folder, journal: Path.join(folder, `${hash}.ndjson`), report: Path.join(folder, `${hash}.failed.csv`) }
  })

// Long enough for a quota of several days.
const retention = Duration.days(30)

/** Removes journals and failure reports of all accounts and kinds that are 30 days old. */
export const prune = ({ folder }: ImportPaths): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const before = (yield* Clock.currentTimeMillis) - Duration.toMillis(retention)
    const all = Path.dirname(folder)
    for (const name of yield* fs.readDirectory(all, { recursive: true })) {
      if (!/\.(ndjson|csv)$/.test(name)) continue
      const path = Path.join(all, name)
      const { mtime } = yield* fs.stat(path)
      if (Option.exists(mtime, (time) => time.getTime() < before)) yield* fs.remove(path, { force: true })
    }
  })

/** The other journals of the folder. */
export const otherJournals = (
  { folder, journal }: ImportPaths
): Effect.Effect<ReadonlyArray<string>, PlatformError, FileSystem.FileSystem> =>
  Effect.map(Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readDirectory(folder)), (names) =>
    names.filter((name) => name.endsWith(".ndjson")).map((name) => Path.join(folder, name)).filter((path) => path !== journal))
