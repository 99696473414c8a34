/**
 * The journal of an import: an append-only file with one line before a row is sent and one with its outcome.
 *
 * A line is written at once, so it survives a killed process, and synced once a second. After a power cut some rows are
 * sent again, which is safe: setting a stock is idempotent, and an order is shipped once.
 */
import * as FileProblem from "@plaza/cli-kit/FileProblem"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"

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
const RowEvent = Schema.Literals(["sending", "sent", "already", "unverified", "failed", "unknown"])
export type RowEvent = (typeof RowEvent)["Type"]

const Entry = Schema.fromJsonString(Schema.Struct({ at: Schema.DateTimeUtcFromString, id: Schema.String, is: RowEvent }))
const decode = Schema.decodeUnknownOption(Entry)
const encode = Schema.encodeSync(Entry)

/** What the journal knows of a row: nothing that counts, an attempt with an unknown outcome, or a confirmation. */
type RowState = "open" | "doubtful" | "inPlace"

/** The state of the rows at the end of the last run. */
export interface History {
  readonly stateOf: (id: string) => RowState
  /** The time of the last line. */
  readonly last: Option.Option<DateTime.Utc>
}

export interface Journal {
  readonly history: History
  readonly append: (id: string, is: RowEvent) => Effect.Effect<void, PlatformError>
}

/** Ignores invalid lines, such as the last line of a killed process. */
const historyOf = (text: string): History => {
  const states = new Map<string, RowState>()
  /** The rows whose last line is `sending`, so that its outcome is missing. */
  const sending = new Set<string>()
  let last = Option.none<DateTime.Utc>()
  for (const line of text.split("\n")) {
    const entry = decode(line)
    if (Option.isNone(entry)) continue
    const { at, id, is } = entry.value
    last = Option.some(at)
    // Only a confirmation ends a doubt. A later failure says nothing about the earlier attempt.
    if (is === "unknown" || (is === "sending" && sending.has(id))) states.set(id, "doubtful")
    if (is === "sent" || is === "already" || is === "unverified") states.set(id, "inPlace")
    if (is === "sending") sending.add(id)
    else sending.delete(id)
  }
  return { stateOf: (id) => sending.has(id) ? "doubtful" : states.get(id) ?? "open", last }
}

/** The history without a journal. */
export const emptyHistory: History = historyOf("")

/** Reads the history of a journal; empty if it does not exist. */
export const read = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  return historyOf((yield* fs.exists(path)) ? yield* fs.readFileString(path) : "")
})

/** Opens a journal for appending, until the scope closes. */
export const open = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const history = yield* read(path)
  const file = yield* fs.open(path, { flag: "a", mode: 0o600 })
  yield* Effect.addFinalizer(() => Effect.ignore(file.sync))
  const sync = yield* Effect.cachedWithTTL(file.sync, "1 second")
  const mutex = yield* Semaphore.make(1)
  const write = (text: string) =>
    Effect.mapError(mutex.withPermit(Effect.andThen(file.writeAll(Buffer.from(`${text}\n`)), sync)), FileProblem.at(path))
  // Ends a truncated line.
  yield* write("")
  const append: Journal["append"] = (id, is) => Effect.flatMap(DateTime.now, (at) => write(encode({ at, id, is })))
  return { history, append }
})
