/**
 * Sends the rows of an import that are not in place, by priority and as fast as the rate limit allows. Writes a journal
 * line before and after each row.
 */
import { CircuitBreaker, FailureScope, Plaza, Profiles, RateLimit, Store } from "@plaza/client"
import type { ClientError } from "@plaza/client"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { FailedRow } from "./FailureReport.ts"
import { type Failure, type ImportRow, outcomeOf } from "./ImportRow.ts"
import type { Journal } from "./Journal.ts"

/** Why a run stops early: the failure of every further row, or `NoneWorked` after many failures without any success. */
export type Stop = ClientError.Failure | "NoneWorked"

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
  stop: Stop | undefined
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
  readonly isDoubtful: boolean
  /** The failure of its last attempt of this run that may have happened. */
  readonly unknown?: Failure | undefined
}

// Longer than any wait for the rate limit, shorter than that for a daily quota.
const maxWait = Duration.minutes(15)

// As many as the refusals that open the breaker, which came before them.
const maxHalfOpenFailures = 3

// A sixth of the rows of a minute: soon enough to notice a file of another shop, too many for some discontinued products.
const maxFirstFailures = 20

/** Rows that keep their order until one works. The other half is random: a file may begin with discontinued products. */
const firstInOrder = maxFirstFailures / 2

/** Whether to wait again for a slot: the wait ended because of several pauses in a row. */
const canWaitAgain = (failure: ClientError.RateLimitWaitExceeded | ClientError.ClientClosed): Effect.Effect<boolean> =>
  Effect.map(DateTime.now, (now) =>
    failure._tag === "RateLimitWaitExceeded" && Duration.isLessThanOrEqualTo(DateTime.distance(now, failure.retryAt), maxWait))

/**
 * The failure that stops the import in this state of the breaker. The client has already retried each row after a fault. If rows were
 * accepted before, refusals stop the import only when the breaker waits before its next half-open row.
 */
const stopFor = (state: CircuitBreaker.State, anyAccepted: boolean, now: DateTime.Utc): ClientError.Failure | undefined => {
  if (state._tag === "Closed") return undefined
  const { failure, halfOpenFailures, reason, retryAt } = state
  const stops = {
    RateLimited: Duration.isGreaterThan(DateTime.distance(now, retryAt), maxWait),
    Refused: DateTime.isGreaterThan(retryAt, now) || (!anyAccepted && halfOpenFailures >= maxHalfOpenFailures),
    ServiceFault: halfOpenFailures >= maxHalfOpenFailures
  }
  return stops[reason] ? failure : undefined
}

/** Whether a row failed with the refusal that stopped the import. The next run sends such rows again. */
const isStopReason = (stop: ClientError.Failure, failure: Failure): boolean => {
  const [all, one] = [FailureScope.of(stop), FailureScope.of(failure)]
  return all._tag === "Refusal" && one._tag === "Refusal" && all.code === one.code && !FailureScope.mayHaveHappened(failure)
}

/**
 * Sends the rows that are not in place, until every row was attempted or it is clear that no other row would be accepted. Waits up to
 * 15 minutes for the rate limit.
 */
export const run = Effect.fnUntraced(function*({ concurrency, counts, journal, onRow, rows }: Options) {
  yield* Effect.annotateCurrentSpan("rows", rows.length)
  const [profiles, rateLimit, store] = yield* Effect.all([Profiles, RateLimit.RateLimit, Store])
  const stopped = yield* Deferred.make<undefined>()
  const stop = (reason: Stop) => {
    counts.stop ??= reason
    return Deferred.succeed(stopped, undefined)
  }
  const anyAccepted = () => counts.sent + counts.already.length + counts.unverified.length > 0
  const breaker = yield* CircuitBreaker.make<string>({
    probe: Plaza.withMaxWait(maxWait)(profiles.me),
    onState: (state) =>
      Effect.flatMap(DateTime.now, (now) => {
        const failure = stopFor(state, anyAccepted(), now)
        return failure === undefined ? Effect.void : stop(failure)
      })
  })
  // One row at a time waits for the breaker and a slot, so that its wait does not include earlier rows.
  const mutex = yield* Semaphore.make(1)
  const inFlight = yield* Semaphore.make(concurrency)
  const pending = rows.flatMap((row): ReadonlyArray<PendingRow> => {
    const state = journal.history.stateOf(row.id)
    return state === "inPlace" ? [] : [{ row, isDoubtful: state === "doubtful" }]
  })
  const queue = pending.toSorted((one, other) => one.row.priority(one.isDoubtful) - other.row.priority(other.isDoubtful))
  /** Whether a row of the file worked, in this run or an earlier one. */
  const anyWorked = () => pending.length < rows.length || anyAccepted()
  // Until a row works, no more rows are in flight than may fail.
  const beforeFirst = yield* Semaphore.make(anyWorked() ? Number.POSITIVE_INFINITY : firstInOrder)
  const updateBeforeFirst = Effect.suspend(() => {
    if (anyWorked()) return Semaphore.resize(beforeFirst, Number.POSITIVE_INFINITY)
    const left = maxFirstFailures - counts.failed.filter(({ failure }) => FailureScope.of(failure)._tag === "Item").length
    return left > 0 ? Semaphore.resize(beforeFirst, Math.min(firstInOrder, left)) : stop("NoneWorked")
  })

  /** A permit and a slot for one row, until the scope closes. */
  const acquire = Effect.gen(function*() {
    yield* Semaphore.takeScoped(inFlight, 1)
    yield* Semaphore.takeScoped(beforeFirst, 1)
    let permit = yield* breaker.acquire
    if (permit.halfOpen) {
      // Wait until nothing else is in flight, because its outcome may change the state.
      yield* Semaphore.takeScoped(inFlight, concurrency - 1)
      permit = yield* breaker.acquire
    }
    const slot = yield* Effect.retry(rateLimit.reserve(maxWait), { while: canWaitAgain })
    return { permit, slot }
  })
  /** {@link acquire}, or undefined after the import has stopped. */
  const acquireUnlessStopped = mutex.withPermit(
    Effect.suspend(() => counts.stop === undefined ? Effect.raceFirst(acquire, Deferred.await(stopped)) : Effect.succeed(undefined))
  ).pipe(
    // Nothing was sent, so the journal stays unchanged.
    Effect.catch((failure) => Effect.as(stop(failure), undefined))
  )

  /** The next row. A random one after failures, because neighbours of a failed row may fail for the same reason. */
  const next = ({ halfOpen }: CircuitBreaker.Permit<string>) => {
    const isRandom = halfOpen || (!anyWorked() && pending.length - queue.length >= firstInOrder)
    return Effect.map(
      isRandom ? Random.nextIntBetween(0, queue.length, { halfOpen: true }) : Effect.succeed(0),
      (index) => queue.splice(index, 1)[0]
    )
  }

  /**
   * Sends a row when a slot is free, so that a killed process has not sent waiting rows. Uninterruptible, so that every outcome is in the
   * journal.
   */
  const sendOne = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const acquired = yield* restore(acquireUnlessStopped)
      if (acquired === undefined || counts.stop !== undefined) return false
      const { permit, slot } = acquired
      // The breaker opened during the wait for the slot.
      if (!permit.halfOpen && (yield* breaker.state)._tag === "Open") return true
      const chosen = yield* next(permit)
      if (chosen === undefined) return false
      const { isDoubtful, row, unknown } = chosen
      yield* journal.append(row.id, "sending")
      const result = yield* restore(Effect.result(row.send(store).pipe(RateLimit.inSlot(slot), Plaza.withMaxWait(maxWait))))
      const outcome = Result.isSuccess(result) ? { is: "sent" as const } : outcomeOf(result.failure, isDoubtful)
      yield* journal.append(row.id, outcome.is)
      const failure = "failure" in outcome ? outcome.failure : undefined
      const again = failure !== undefined && FailureScope.of(failure)._tag === "RateLimit"
      if (again) {
        queue.unshift(outcome.is === "unknown" ? { row, isDoubtful: true, unknown: failure } : { row, isDoubtful, unknown })
      } else {
        if (outcome.is === "sent") counts.sent++
        else if ("failure" in outcome) counts.failed.push({ row, failure: outcome.failure })
        else counts[outcome.is].push(row.id)
        yield* onRow
      }
      yield* restore(breaker.record(permit, row.id, failure))
      yield* updateBeforeFirst
      return again
    }).pipe(Effect.scoped)
  ).pipe(Effect.repeat({ while: (again) => again }), Effect.asVoid)

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
  if (reason !== undefined && reason !== "NoneWorked") {
    counts.failed = counts.failed.filter(({ failure }) => !isStopReason(reason, failure))
  }
}, Effect.withSpan("Import.send"))
