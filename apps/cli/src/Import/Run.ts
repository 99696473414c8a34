/**
 * Sends the rows of an import that are not confirmed yet, the most urgent first and as fast as the rate limit allows.
 * Writes a journal line before and after each.
 */
import type { PlatformError } from "@effect/platform/Error"
import { CircuitBreaker, FailureScope, Plaza, RateLimit } from "@plaza/client"
import type { ClientError as Failures } from "@plaza/client"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Random from "effect/Random"
import type { Client } from "../Connection.js"
import type { Failure, Item } from "./Item.js"
import { isSettled, type Journal } from "./Journal.js"
import * as Verdict from "./Verdict.js"

export interface Failed {
  readonly item: Item
  readonly failure: Failure
}

export interface Tally {
  /** Rows that the service confirmed in this run. */
  sent: number
  /** Orders that were shipped before, and not by this import. */
  readonly already: Array<string>
  /** Orders that are shipped, perhaps with another carrier or number: by an attempt of unknown outcome or by somebody else. */
  readonly unverified: Array<string>
  /** Rows that were tried and are not known to be in place. */
  failed: Array<Failed>
  /** What ended the run before every row was tried. */
  stop: Failures.Failure | undefined
}

export const nothing = (): Tally => ({ sent: 0, already: [], unverified: [], failed: [], stop: undefined })

export interface Options {
  readonly items: ReadonlyArray<Item>
  readonly client: Pick<Client, "profiles" | "rateLimit" | "store">
  readonly journal: Journal
  /** How many rows are on their way at a time. */
  readonly concurrency: number
  /** Counted in, so that it is right however the run ends. */
  readonly tally: Tally
  /** Runs after each row that is done with. */
  readonly onRow: Effect.Effect<void>
}

/** A row that is not in place. */
interface Row {
  readonly item: Item
  /** An earlier attempt may have happened. */
  readonly doubtful: boolean
}

/** Makes interruptible what the import may be cut off in. */
type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

// Longer than any wait for the rate, shorter than one for the next day.
const maxWait = Duration.minutes(15)

// Beside the rows that opened the breaker.
const enoughTrials = 3

/** Whether a wait for a slot ended only because the service asked for one pause after another. */
const goesOn = (failure: Failures.RateLimitWaitExceeded | Failures.ClientClosed): Effect.Effect<boolean> =>
  Effect.map(DateTime.now, (now) =>
    failure._tag === "RateLimitWaitExceeded" && Duration.lessThanOrEqualTo(DateTime.distanceDuration(now, failure.retryAt), maxWait))

/**
 * The failure that ends the import in this state. Each row that met a fault was tried again by the client already. Where rows were
 * accepted before, refusals end the import only when the breaker has run out of trials that follow at once.
 */
const endOf = (state: CircuitBreaker.State, anyAccepted: boolean, now: DateTime.Utc): Failures.Failure | undefined => {
  if (state._tag === "Closed") return undefined
  const { failure, halfOpenFailures, reason, retryAt } = state
  const ends = {
    RateLimited: DateTime.distance(now, retryAt) > Duration.toMillis(maxWait),
    Refused: DateTime.greaterThan(retryAt, now) || (!anyAccepted && halfOpenFailures >= enoughTrials),
    ServiceFault: halfOpenFailures >= enoughTrials
  }
  return ends[reason] ? failure : undefined
}

/** Whether a row failed by what ended the import, and by nothing of its own: then it is left for the next run. */
const isEndOfAll = (stop: Failures.Failure, failure: Failure): boolean => {
  const [all, one] = [FailureScope.of(stop), FailureScope.of(failure)]
  return all._tag === "Refusal" && one._tag === "Refusal" && all.code === one.code && !FailureScope.mayHaveHappened(failure)
}

/**
 * Sends what isn't in place, until every row was tried or the circuit breaker shows that no other row would be accepted. A rate limit
 * is waited for, up to a quarter of an hour.
 */
export const run = (options: Options): Effect.Effect<void, PlatformError> =>
  Effect.gen(function*() {
    const { client: { profiles, rateLimit, store }, concurrency, items, journal, onRow, tally } = options
    const stopped = yield* Deferred.make<undefined>()
    const stop = (failure: Failures.Failure) => {
      tally.stop ??= failure
      return Deferred.succeed(stopped, undefined)
    }
    const breaker = yield* CircuitBreaker.make<string>({
      probe: Plaza.withMaxWait(maxWait)(profiles.me),
      onState: (state) =>
        Effect.flatMap(DateTime.now, (now) => {
          const end = endOf(state, tally.sent + tally.already.length + tally.unverified.length > 0, now)
          return end === undefined ? Effect.void : stop(end)
        })
    })
    // One waits for the breaker and the allowance at a time, so that its wait is never for those before it.
    const turn = yield* Effect.makeSemaphore(1)
    const flights = yield* Effect.makeSemaphore(concurrency)
    const take = (count: number) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.zipRight(restore(flights.take(count)), Effect.addFinalizer(() => flights.release(count)))
      )

    /** Leave to send one row and a slot for it, until the scope closes; none once the import has ended. */
    const entrance = Effect.gen(function*() {
      yield* take(1)
      let permit = yield* breaker.acquire
      if (permit.halfOpen) {
        // Until nothing else is in flight, which may have changed the state.
        yield* take(concurrency - 1)
        permit = yield* breaker.acquire
      }
      const slot = yield* Effect.retry(rateLimit.reserve(maxWait), { while: goesOn })
      return { permit, slot }
    })
    const entered = turn.withPermits(1)(
      Effect.suspend(() => tally.stop === undefined ? Effect.raceFirst(entrance, Deferred.await(stopped)) : Effect.succeed(undefined))
    ).pipe(
      // Nothing was sent, and the row stays as it is in the journal.
      Effect.catchAll((failure) => Effect.as(stop(failure), undefined))
    )

    const rows = items.flatMap((item): ReadonlyArray<Row> => {
      const standing = journal.past.of(item.id)
      return isSettled(standing) ? [] : [{ item, doubtful: standing === "doubtful" }]
    })
    const waiting = rows.toSorted((one, other) => one.item.urgency(one.doubtful) - other.item.urgency(other.doubtful))
    /** The next row. A trial takes any: those beside a refused one may be refused for the same reason. */
    const choose = ({ halfOpen }: CircuitBreaker.Permit<string>) =>
      Effect.map(halfOpen ? Random.nextIntBetween(0, waiting.length) : Effect.succeed(0), (index) => waiting.splice(index, 1)[0])

    /**
     * Sends a row once there is a slot: what only waits for one when the program is killed was surely not sent. Returns whether it ended
     * without one that is done with, although the import goes on.
     */
    const send = (restore: Restore) =>
      Effect.gen(function*() {
        const entry = yield* restore(entered)
        if (entry === undefined || tally.stop !== undefined) return false
        const { permit, slot } = entry
        // It opened while the slot was awaited.
        if (!permit.halfOpen && (yield* breaker.state)._tag === "Open") return true
        const row = yield* choose(permit)
        if (row === undefined) return false
        const { doubtful, item } = row
        yield* journal.note(item.id, "sending")
        const end = yield* restore(Effect.either(item.send(store).pipe(RateLimit.inSlot(slot), Plaza.withMaxWait(maxWait))))
        const verdict = Either.isRight(end) ? { is: "sent" as const } : Verdict.of(end.left, doubtful)
        yield* journal.note(item.id, verdict.is)
        const failure = "failure" in verdict ? verdict.failure : undefined
        const again = failure !== undefined && FailureScope.of(failure)._tag === "RateLimit"
        if (again) waiting.unshift({ item, doubtful: doubtful || verdict.is === "unknown" })
        else {
          if (verdict.is === "sent") tally.sent++
          else if ("failure" in verdict) tally.failed.push({ item, failure: verdict.failure })
          else tally[verdict.is].push(item.id)
          yield* onRow
        }
        yield* restore(breaker.record(permit, item.id, failure))
        return again
      }).pipe(Effect.scoped)

    // What has an outcome has it in the journal as well, whatever interrupts the import.
    const sendOne: Effect.Effect<void, PlatformError> = Effect.flatMap(Effect.uninterruptibleMask(send),
      (again) => again ? sendOne : Effect.void)

    // What is on its way when the import ends is let finish, nothing new is begun.
    yield* Effect.forEach(rows, () => Effect.suspend(() => tally.stop === undefined ? sendOne : Effect.void), {
      concurrency,
      discard: true
    })
    const { stop: end } = tally
    if (end !== undefined) tally.failed = tally.failed.filter(({ failure }) => !isEndOfAll(end, failure))
  })
