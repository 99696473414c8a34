/**
 * The journal of an import: an append-only file with one line before a row is sent and one with its outcome, so that
 * the next run knows what was sent.
 *
 * A line is written at once, which survives a killed program, and synced once a second. After a power cut some rows
 * are sent again, which is harmless: a stock is idempotent, and an order is shipped once.
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
 * - `sending`: it is about to be sent.
 * - `sent`: the service confirmed it.
 * - `already`: it was shipped before, by somebody else.
 * - `unverified`: it is shipped, by an attempt of unknown outcome or by somebody else.
 * - `failed`: it has not happened.
 * - `unknown`: it may have happened.
 */
export type Word = "sending" | "sent" | "already" | "unverified" | "failed" | "unknown"

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
 * How a row stands.
 *
 * - `open`: it has not happened.
 * - `doubtful`: it may have happened.
 * - `sent`, `already`, `unverified`: it is in place.
 */
export type Standing = "open" | "doubtful" | "sent" | "already" | "unverified"

/** Whether a row needs no further request. */
export const isSettled = (standing: Standing): boolean => standing !== "open" && standing !== "doubtful"

export interface Past {
  readonly of: (id: string) => Standing
  /** When the last word was written. */
  readonly last: Option.Option<Date>
}

export interface Journal {
  readonly past: Past
  readonly note: (id: string, is: Word) => Effect.Effect<void, PlatformError>
}

interface Known {
  standing: Standing
  /** It is said to be sent, and nothing more yet. */
  sending: boolean
}

/** What lines tell. One that can't be read, as the last of a program that was killed, tells nothing. */
const pastOf = (text: string): Past => {
  const known = new Map<string, Known>()
  let last: Date | undefined
  for (const line of text.split("\n")) {
    const entry = decode(line)
    if (Either.isLeft(entry)) continue
    const { at, id, is } = entry.right
    last = at
    const row = known.get(id) ?? { standing: "open", sending: false }
    known.set(id, row)
    // A doubt goes only when it is known to be in place: that it failed later says nothing of the first time.
    if (is === "unknown" || (is === "sending" && row.sending)) row.standing = "doubtful"
    if (is === "sent" || is === "already" || is === "unverified") row.standing = is
    row.sending = is === "sending"
  }
  return {
    of: (id) => {
      const row = known.get(id)
      return row === undefined ? "open" : row.sending ? "doubtful" : row.standing
    },
    last: Option.fromNullable(last)
  }
}

/** What is known before there is a journal. */
export const nothing: Past = pastOf("")

/** What a journal tells; nothing where there is none. */
export const read = (path: string): Effect.Effect<Past, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    return pastOf((yield* fs.exists(path)) ? yield* fs.readFileString(path) : "")
  })

const syncEvery = 1_000

/** Opens a journal to go on with it. What it said at that moment is its past. */
export const open = (path: string): Effect.Effect<Journal, PlatformError, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const past = yield* read(path)
    const file = yield* fs.open(path, { flag: "a", mode: 0o600 })
    yield* Effect.addFinalizer(() => Effect.ignore(file.sync))
    const write = (text: string) => file.writeAll(Buffer.from(`${text}\n`))
    // A line that was cut off must not swallow the next one.
    yield* write("")
    const turn = yield* Effect.makeSemaphore(1)
    let synced = yield* Clock.currentTimeMillis
    return {
      past,
      note: (id, is) =>
        turn.withPermits(1)(Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          yield* write(encode({ at: new Date(now), id, is }))
          if (now - synced < syncEvery) return
          synced = now
          yield* file.sync
        }))
    }
  })
