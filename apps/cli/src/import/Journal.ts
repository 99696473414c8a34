/**
 * The journal of an import: an append-only file with one line before a row is sent and one with its outcome.
 *
 * A line is written at once, so it survives a killed process, and synced once a second. After a power cut some rows are
 * sent again, which is safe: setting a stock is idempotent, and an order is shipped once.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"

/**
 * What a line records of a row.
 *
 * - `sending`: the request is about to be sent.
 * - `sent`: the service confirmed it.
 * - `already`: the order was already shipped, not by this import.
 * - `unverified`: the order is shipped, by an attempt with an unknown outcome or by others.
 * - `failed`: the row failed.
 * - `unknown`: the outcome is unknown.
 */
export type RowEvent = "sending" | "sent" | "already" | "unverified" | "failed" | "unknown"

const Entry = Schema.parseJson(
  Schema.Struct({
    at: Schema.DateFromString,
    id: Schema.String,
    is: Schema.Literal("sending", "sent", "already", "unverified", "failed", "unknown")
  })
)
const decode = Schema.decodeUnknownEither(Entry)
const encode = Schema.encodeSync(Entry)

/**
 * The state of a row.
 *
 * - `open`: not sent, or failed.
 * - `doubtful`: sent, with an unknown outcome.
 * - `sent`, `already`, `unverified`: in place.
 */
export type RowState = "open" | "doubtful" | "sent" | "already" | "unverified"

/** Whether a row needs no further request. */
export const isInPlace = (state: RowState): boolean => state !== "open" && state !== "doubtful"

/** The state of the rows at the end of the last run. */
export interface History {
  readonly stateOf: (id: string) => RowState
  /** The time of the last line. */
  readonly last: Option.Option<Date>
}

export interface Journal {
  readonly history: History
  readonly append: (id: string, is: RowEvent) => Effect.Effect<void, PlatformError>
}

interface RowHistory {
  state: RowState
  /** The last line is `sending`, so its outcome is missing. */
  sending: boolean
}

/** Ignores invalid lines, such as the last line of a killed process. */
const historyOf = (text: string): History => {
  const rows = new Map<string, RowHistory>()
  let last: Date | undefined
  for (const line of text.split("\n")) {
    const entry = decode(line)
    if (Either.isLeft(entry)) continue
    const { at, id, is } = entry.right
    last = at
    const row = rows.get(id) ?? { state: "open", sending: false }
    rows.set(id, row)
    // Only a confirmation ends a doubt. A later failure says nothing about the earlier attempt.
    if (is === "unknown" || (is === "sending" && row.sending)) row.state = "doubtful"
    if (is === "sent" || is === "already" || is === "unverified") row.state = is
    row.sending = is === "sending"
  }
  return {
    stateOf: (id) => {
      const row = rows.get(id)
      return row === undefined ? "open" : row.sending ? "doubtful" : row.state
    },
    last: Option.fromNullable(last)
  }
}

/** The history without a journal. */
export const emptyHistory: History = historyOf("")

/** Reads the history of a journal; empty if it does not exist. */
export const read = (path: string): Effect.Effect<History, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    return historyOf((yield* fs.exists(path)) ? yield* fs.readFileString(path) : "")
  })

const syncIntervalMillis = 1_000

/** Opens a journal for appending. */
export const open = (path: string): Effect.Effect<Journal, PlatformError, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const history = yield* read(path)
    const file = yield* fs.open(path, { flag: "a", mode: 0o600 })
    yield* Effect.addFinalizer(() => Effect.ignore(file.sync))
    const write = (text: string) => file.writeAll(Buffer.from(`${text}\n`))
    // Ends a truncated line.
    yield* write("")
    const mutex = yield* Effect.makeSemaphore(1)
    let synced = yield* Clock.currentTimeMillis
    return {
      history,
      append: (id, is) =>
        mutex.withPermits(1)(Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          yield* write(encode({ at: new Date(now), id, is }))
          if (now - synced < syncIntervalMillis) return
          synced = now
          yield* file.sync
        }))
    }
  })
