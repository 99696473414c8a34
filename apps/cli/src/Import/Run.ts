/**
 * Sends the rows of an import that aren't in place, as fast as the key's allowance lets them go, each with a word in the journal before
 * and after it. Knows nothing of files and screens.
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as Plaza from "@plaza/client/CallOptions"
import type * as Failures from "@plaza/client/Failures"
import * as RateLimit from "@plaza/client/RateLimit"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Client } from "../Connection.js"
import type { Failure, Item } from "./Item.js"
import { isSettled, type Journal } from "./Journal.js"
import * as Verdict from "./Verdict.js"

/** @since 0.1.0 @category models */
export interface Failed {
  readonly item: Item
  readonly failure: Failure
}

/** @since 0.1.0 @category models */
export interface Tally {
  /** Rows that the service confirmed in this run. */
  sent: number
  /** Orders that were shipped before, and not by this import. */
  readonly already: Array<string>
  /** Orders that are shipped, perhaps with another carrier or number: by an attempt of unknown outcome or by somebody else. */
  readonly unverified: Array<string>
  /** Rows that were tried and are not known to be in place. */
  readonly failed: Array<Failed>
  /** What ended the run before every row was tried. */
  stop: Failure | undefined
}

/** @since 0.1.0 @category constructors */
export const nothing = (): Tally => ({ sent: 0, already: [], unverified: [], failed: [], stop: undefined })

/** @since 0.1.0 @category models */
export interface Options {
  readonly items: ReadonlyArray<Item>
  readonly client: Pick<Client, "store" | "rateLimit">
  readonly journal: Journal
  /** How many rows are on their way at a time. */
  readonly concurrency: number
  /** Counted in, so that it is right however the run ends. */
  readonly tally: Tally
  /** Told of each row that is done with. */
  readonly onRow: Effect.Effect<void>
}

/** Makes interruptible what the import may be cut off in. */
type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

// Failures in a row that may concern every row. Each has been tried again by the client already.
const enough = 5

/** Whether a wait for a slot ended only because the service asked for one pause after another. */
const goesOn = (failure: Failures.RateLimitWaitExceeded | Failures.ClientClosed): Effect.Effect<boolean> =>
  Effect.map(DateTime.now, (now) =>
    failure._tag === "RateLimitWaitExceeded" && Duration.lessThanOrEqualTo(DateTime.distanceDuration(now, failure.retryAt), Verdict.maxWait))

/**
 * Sends what isn't in place, until every row was tried or something concerns all of them. A 429 is waited for.
 *
 * @since 0.1.0
 * @category running
 */
export const run = ({ client: { rateLimit, store }, concurrency, items, journal, onRow, tally }: Options): Effect.Effect<void, PlatformError> =>
  Effect.gen(function*() {
    // One waits for the allowance at a time, so that its wait is for the allowance and never for those before it.
    const turn = yield* Effect.makeSemaphore(1)
    let troubles = 0

    /** Sends a row once it has a slot: what is only waiting for one when the program is killed was surely not sent. */
    const sent = (item: Item, restore: Restore) =>
      Effect.scoped(Effect.gen(function*() {
        const slot = yield* restore(turn.withPermits(1)(Effect.retry(rateLimit.reserve(Verdict.maxWait), { while: goesOn })))
        if (tally.stop !== undefined) return undefined
        yield* journal.note(item.id, "sending")
        return yield* restore(Effect.either(item.send(store).pipe(RateLimit.inSlot(slot), Plaza.withMaxWait(Verdict.maxWait))))
      }))

    // What has an outcome has it in the journal as well, whatever interrupts the import.
    const settle = (item: Item, doubtful: boolean) => Effect.uninterruptibleMask((restore) => settleIn(item, doubtful, restore))

    const settleIn = (item: Item, doubtful: boolean, restore: Restore): Effect.Effect<void, PlatformError> =>
      Effect.gen(function*() {
        const end = yield* Effect.catchAll(sent(item, restore), (failure) =>
          failure._tag === "RateLimitWaitExceeded" || failure._tag === "ClientClosed" ? Effect.succeed(Either.left(failure)) : Effect.fail(failure))
        if (end === undefined) return
        const verdict = Either.isRight(end) ? { is: "sent" as const } : Verdict.of(end.left, doubtful)
        if (verdict.is === "wait") {
          yield* journal.note(item.id, verdict.unknown ? "unknown" : "failed")
          yield* restore(Effect.sleep(verdict.time))
          return yield* settleIn(item, doubtful || verdict.unknown, restore)
        }
        yield* journal.note(item.id, verdict.is)
        if ("failure" in verdict) {
          const { failure, reach } = verdict
          troubles = reach === "trouble" ? troubles + 1 : 0
          if (reach === "account" || troubles >= enough) tally.stop ??= failure
          if (reach !== "account") tally.failed.push({ item, failure })
        } else {
          troubles = 0
          if (verdict.is === "sent") tally.sent++
          else tally[verdict.is].push(item.id)
        }
        yield* onRow
      })

    yield* Effect.forEach(
      items.filter(({ id }) => !isSettled(journal.past.of(id))),
      // Looked at when the row's turn comes: what is on its way is let finish, nothing new is begun.
      (item) => Effect.suspend(() => tally.stop === undefined ? settle(item, journal.past.of(item.id) === "doubtful") : Effect.void),
      { concurrency, discard: true }
    )
  })
