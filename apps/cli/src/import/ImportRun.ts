/**
 * Sends the rows of an import that are not in place, by priority and as fast as the rate limit allows. Writes a journal
 * line before and after each row.
 */
import type { PlatformError } from "@effect/platform/Error"
import { CircuitBreaker, FailureScope, Plaza, Profiles, RateLimit, Store } from "@plaza-legacy/client"
import type { ClientError as Failures } from "@plaza-legacy/client"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Random from "effect/Random"
import type { Failure, ImportRow } from "./ImportRow.ts"
import { isInPlace, type Journal } from "./Journal.ts"
import * as RowOutcome from "./RowOutcome.ts"

export interface FailedRow {
  readonly row: ImportRow
  readonly failure: Failure
}

/** The counts of a run. `run` updates them, so that they are correct however it ends. */
export interface ImportCounts {
  /** Rows that the service confirmed in this run. */
  sent: number
  /** Orders that were already shipped, not by this import. */
  readonly already: Array<string>
  /** Orders that are shipped, by an attempt with an unknown outcome or by others. */
  readonly unverified: Array<string>
  /** Rows that failed or have an unknown outcome. */
  failed: Array<FailedRow>
  /** The failure that stopped the run early. */
  stop: Failures.Failure | undefined
}

export const makeCounts = (): ImportCounts => ({ sent: 0, already: [], unverified: [], failed: [], stop: undefined })

export interface Options {
  readonly rows: ReadonlyArray<ImportRow>
  readonly journal: Journal
  /** Rows in flight at the same time. */
  readonly concurrency: number
  readonly counts: ImportCounts
  /** Runs after each row. */
  readonly onRow: Effect.Effect<void>
}

/** A row that is not in place. */
interface PendingRow {
  readonly row: ImportRow
  /** An earlier attempt may have happened. */
  readonly doubtful: boolean
  /** The failure of its last attempt of this run that may have happened. */
  readonly unknown?: Failure | undefined
}

/** Makes an effect interruptible again. */
type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

// Longer than any wait for the rate limit, shorter than that for a daily quota.
const maxWait = Duration.minutes(15)

// Half-open failures that stop the import, in addition to the rows that opened the breaker.
const maxHalfOpenFailures = 3

/** Whether to wait again for a slot: the wait ended because of several pauses in a row. */
const canWaitAgain = (failure: Failures.RateLimitWaitExceeded | Failures.ClientClosed): Effect.Effect<boolean> =>
  Effect.map(DateTime.now, (now) =>
    failure._tag === "RateLimitWaitExceeded" && Duration.lessThanOrEqualTo(DateTime.distanceDuration(now, failure.retryAt), maxWait))

/**
 * The failure that stops the import in this state of the breaker. The client has already retried each row after a fault. If rows were
 * accepted before, refusals stop the import only when the breaker waits before its next half-open row.
 */
const stopFor = (state: CircuitBreaker.State, anyAccepted: boolean, now: DateTime.Utc): Failures.Failure | undefined => {
  if (state._tag === "Closed") return undefined
  const { failure, halfOpenFailures, reason, retryAt } = state
  const stops = {
    RateLimited: DateTime.distance(now, retryAt) > Duration.toMillis(maxWait),
    Refused: DateTime.greaterThan(retryAt, now) || (!anyAccepted && halfOpenFailures >= maxHalfOpenFailures),
    ServiceFault: halfOpenFailures >= maxHalfOpenFailures
  }
  return stops[reason] ? failure : undefined
}

/** Whether a row failed with the refusal that stopped the import. The next run sends such rows again. */
const isStopReason = (stop: Failures.Failure, failure: Failure): boolean => {
  const [all, one] = [FailureScope.of(stop), FailureScope.of(failure)]
  return all._tag === "Refusal" && one._tag === "Refusal" && all.code === one.code && !FailureScope.mayHaveHappened(failure)
}

/**
 * Sends the rows that are not in place, until every row was attempted or the circuit breaker shows that no other row would be accepted.
 * Waits up to 15 minutes for the rate limit.
 */
export const run = (
  options: Options
): Effect.Effect<void, PlatformError, Profiles | RateLimit.RateLimit | Store> =>
  Effect.gen(function*() {
    const { concurrency, counts, journal, onRow } = options
    const [profiles, rateLimit, store] = yield* Effect.all([Profiles, RateLimit.RateLimit, Store])
    const stopped = yield* Deferred.make<undefined>()
    const stop = (failure: Failures.Failure) => {
      counts.stop ??= failure
      return Deferred.succeed(stopped, undefined)
    }
    const breaker = yield* CircuitBreaker.make<string>({
      probe: Plaza.withMaxWait(maxWait)(profiles.me),
      onState: (state) =>
        Effect.flatMap(DateTime.now, (now) => {
          const failure = stopFor(state, counts.sent + counts.already.length + counts.unverified.length > 0, now)
          return failure === undefined ? Effect.void : stop(failure)
        })
    })
    // One row at a time waits for the breaker and a slot, so that its wait does not include earlier rows.
    const mutex = yield* Effect.makeSemaphore(1)
    const inFlight = yield* Effect.makeSemaphore(concurrency)
    const take = (count: number) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.zipRight(restore(inFlight.take(count)), Effect.addFinalizer(() => inFlight.release(count)))
      )

    /** A permit and a slot for one row, until the scope closes. */
    const acquire = Effect.gen(function*() {
      yield* take(1)
      let permit = yield* breaker.acquire
      if (permit.halfOpen) {
        // Wait until nothing else is in flight, because its outcome may change the state.
        yield* take(concurrency - 1)
        permit = yield* breaker.acquire
      }
      const slot = yield* Effect.retry(rateLimit.reserve(maxWait), { while: canWaitAgain })
      return { permit, slot }
    })
    /** {@link acquire}, or undefined after the import has stopped. */
    const acquireUnlessStopped = mutex.withPermits(1)(
      Effect.suspend(() => counts.stop === undefined ? Effect.raceFirst(acquire, Deferred.await(stopped)) : Effect.succeed(undefined))
    ).pipe(
      // Nothing was sent, so the journal stays unchanged.
      Effect.catchAll((failure) => Effect.as(stop(failure), undefined))
    )

    const pending = options.rows.flatMap((row): ReadonlyArray<PendingRow> => {
      const state = journal.history.stateOf(row.id)
      return isInPlace(state) ? [] : [{ row, doubtful: state === "doubtful" }]
    })
    const queue = pending.toSorted((one, other) => one.row.priority(one.doubtful) - other.row.priority(other.doubtful))
    /** The next row. Half-open: a random one, because neighbours of a refused row may be refused for the same reason. */
    const next = ({ halfOpen }: CircuitBreaker.Permit<string>) =>
      Effect.map(halfOpen ? Random.nextIntBetween(0, queue.length) : Effect.succeed(0), (index) => queue.splice(index, 1)[0])

    /** Sends a row when a slot is free, so that a killed process has not sent waiting rows. Returns whether to call it again. */
    const send = (restore: Restore) =>
      Effect.gen(function*() {
        const acquired = yield* restore(acquireUnlessStopped)
        if (acquired === undefined || counts.stop !== undefined) return false
        const { permit, slot } = acquired
        // The breaker opened during the wait for the slot.
        if (!permit.halfOpen && (yield* breaker.state)._tag === "Open") return true
        const chosen = yield* next(permit)
        if (chosen === undefined) return false
        const { doubtful, row, unknown } = chosen
        yield* journal.append(row.id, "sending")
        const result = yield* restore(Effect.either(row.send(store).pipe(RateLimit.inSlot(slot), Plaza.withMaxWait(maxWait))))
        const outcome = Either.isRight(result) ? { is: "sent" as const } : RowOutcome.ofFailure(result.left, doubtful)
        yield* journal.append(row.id, outcome.is)
        const failure = "failure" in outcome ? outcome.failure : undefined
        const again = failure !== undefined && FailureScope.of(failure)._tag === "RateLimit"
        if (again) {
          queue.unshift(outcome.is === "unknown" ? { row, doubtful: true, unknown: failure } : { row, doubtful, unknown })
        } else {
          if (outcome.is === "sent") counts.sent++
          else if ("failure" in outcome) counts.failed.push({ row, failure: outcome.failure })
          else counts[outcome.is].push(row.id)
          yield* onRow
        }
        yield* restore(breaker.record(permit, row.id, failure))
        return again
      }).pipe(Effect.scoped)

    // Uninterruptible, so that every outcome is in the journal.
    const sendOne: Effect.Effect<void, PlatformError> = Effect.flatMap(Effect.uninterruptibleMask(send),
      (again) => again ? sendOne : Effect.void)

    // A row that waits for its next attempt was attempted, so its outcome is unknown.
    const reportUnknown = Effect.sync(() => {
      counts.failed.push(...queue.splice(0).flatMap(({ row, unknown }) => unknown === undefined ? [] : [{ row, failure: unknown }]))
    })

    // When the import stops, rows in flight finish and no other row starts.
    yield* Effect.forEach(pending, () => Effect.suspend(() => counts.stop === undefined ? sendOne : Effect.void), {
      concurrency,
      discard: true
    }).pipe(Effect.ensuring(reportUnknown))
    const { stop: reason } = counts
    if (reason !== undefined) counts.failed = counts.failed.filter(({ failure }) => !isStopReason(reason, failure))
  }).pipe(Effect.withSpan("Import.send", { attributes: { rows: options.rows.length } }))
