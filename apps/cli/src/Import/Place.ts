/**
 * The folder of the journals: one folder per account and kind, one file per import, named by a hash of its rows. So
 * the same rows continue an import, whatever their file, format or order and whichever key of the account sends them.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import { homedir } from "node:os"
import * as Path from "node:path"
import type { Item, Kind } from "./Item.js"

const variable = (name: string) => Effect.map(Config.option(Config.string(name)), Option.filter((value) => value !== ""))

/** The folder of all journals: `plaza/imports` in XDG_STATE_HOME, or in `.local/state` of the home folder. */
const root: Effect.Effect<string, ConfigError.ConfigError> = Effect.gen(function*() {
  // A path that isn't absolute has to be ignored, by the rules of XDG.
  const stateHome = Option.filter(yield* variable("XDG_STATE_HOME"), (path) => Path.isAbsolute(path))
  const home = Option.getOrElse(yield* variable("HOME"), homedir)
  return Path.join(Option.getOrElse(stateHome, () => Path.join(home, ".local", "state")), "plaza", "imports")
})

/** Equal for equal texts alone; 128 bits, so that nobody meets two by chance. */
export const digest = (parts: ReadonlyArray<string>): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)

export interface Place {
  /** The folder that one program at a time may use. */
  readonly folder: string
  readonly journal: string
  /** The default file for failed rows. */
  readonly report: string
}

export interface Import {
  readonly kind: Kind
  readonly items: ReadonlyArray<Item>
  readonly baseUrl: string
  /** The account's id. */
  readonly account: string
}

/** Where the journal of an import is. Nothing is made. */
export const of = ({ account, baseUrl, items, kind }: Import): Effect.Effect<Place, ConfigError.ConfigError> =>
  Effect.map(root, (root) => {
    const folder = Path.join(root, `${kind.name}-${digest([baseUrl, account])}`)
    const rows = digest(items.map(({ cells }) => JSON.stringify(cells)).toSorted())
    return { folder, journal: Path.join(folder, `${rows}.ndjson`), report: Path.join(folder, `${rows}.failed.csv`) }
  })

// Long enough for a quota of some days and a holiday.
const kept = Duration.days(30)

/** Removes journals and reports that nobody has touched for a month, of all accounts and kinds. */
export const prune = ({ folder }: Place): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const before = (yield* Clock.currentTimeMillis) - Duration.toMillis(kept)
    const all = Path.dirname(folder)
    for (const name of yield* fs.readDirectory(all, { recursive: true })) {
      if (!/\.(ndjson|csv)$/.test(name)) continue
      const path = Path.join(all, name)
      const { mtime } = yield* fs.stat(path)
      if (Option.exists(mtime, (time) => time.getTime() < before)) yield* fs.remove(path, { force: true })
    }
  })

/** The other journals of the folder. */
export const others = ({ folder, journal }: Place): Effect.Effect<ReadonlyArray<string>, PlatformError, FileSystem.FileSystem> =>
  Effect.map(Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readDirectory(folder)), (names) =>
    names.filter((name) => name.endsWith(".ndjson")).map((name) => Path.join(folder, name)).filter((path) => path !== journal))
