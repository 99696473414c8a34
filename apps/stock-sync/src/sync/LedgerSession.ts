/** Keeps a ledger open: opens it, runs the work on it, and opens it again with backoff after a failure. */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as CurrentLedger from "../ledger/CurrentLedger.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { LedgerFault, LedgerInUse } from "../ledger/LedgerError.ts"
import * as Backoff from "./Backoff.ts"
import * as FailureEvent from "./FailureEvent.ts"
import * as MonotonicClock from "./MonotonicClock.ts"
import { SyncStatus } from "./SyncStatus.ts"

const backoff: Backoff.Backoff = { first: Duration.seconds(1), longest: Duration.minutes(1) }
/** After this time without failure the backoff starts from the beginning. */
const resetAfter = Duration.toMillis("5 minutes")

/**
 * Runs an effect with the open ledger again and again. Fails if the ledger can't be opened the first time; later faults are published
 * and retried.
 */
export const forever = <E, R, R2>(
  layer: Layer.Layer<Ledger, LedgerFault | LedgerInUse, R>,
  use: Effect.Effect<void, E | LedgerFault, Ledger | R2>
): Effect.Effect<never, E | LedgerFault | LedgerInUse, CurrentLedger.CurrentLedger | Exclude<R2, Ledger> | R | SyncStatus> =>
  Effect.gen(function*() {
    const status = yield* SyncStatus
    const openedAt = yield* Ref.make(Option.none<MonotonicClock.MonotonicMillis>())
    const isOpen = yield* Ref.make(false)
    const failures = yield* Ref.make(0)

    const publishFailing = Effect.fnUntraced(function*(fault: LedgerFault | LedgerInUse, delay: Duration.Duration) {
      const { ledger } = yield* status.state
      const now = yield* DateTime.now
      yield* status.publish({
        _tag: "LedgerChanged",
        ledger: {
          _tag: "Failing",
          since: ledger._tag === "Failing" ? ledger.since : now,
          failure: yield* FailureEvent.make("ledger", fault),
          nextTry: DateTime.addDuration(now, delay)
        }
      })
    })

    const session = Effect.scoped(Effect.gen(function*() {
      const ledger = Context.get(yield* Layer.build(layer), Ledger)
      yield* Ref.set(openedAt, Option.some(yield* MonotonicClock.now))
      yield* Ref.set(isOpen, true)
      yield* CurrentLedger.set(ledger)
      yield* status.publish({ _tag: "LedgerChanged", ledger: { _tag: "Open", since: yield* DateTime.now, path: ledger.path } })
      // Published at once: the work ends later, because it waits for its requests in flight.
      const lost = Effect.tapError(ledger.lost, (fault) => publishFailing(fault, Duration.zero))
      // It also waits for the end of the work that it interrupts.
      yield* Effect.raceFirst(Effect.provideService(use, Ledger, ledger), lost)
    }))

    const awaitRetry = Effect.fnUntraced(function*(fault: LedgerFault | LedgerInUse) {
      const opened = yield* Ref.get(openedAt)
      // At the start an operator reads the message.
      if (Option.isNone(opened)) return yield* fault
      const wasStable = (yield* Ref.getAndSet(isOpen, false)) && (yield* MonotonicClock.now) - opened.value > resetAfter
      const delay = yield* Backoff.delay(backoff, yield* Ref.updateAndGet(failures, (count) => wasStable ? 1 : count + 1))
      yield* publishFailing(fault, delay)
      yield* Effect.sleep(delay)
    })

    const isLedgerFailure = (error: E | LedgerFault | LedgerInUse): error is LedgerFault | LedgerInUse =>
      error instanceof LedgerFault || error instanceof LedgerInUse
    return yield* Effect.forever(Effect.catchIf(session, isLedgerFailure, awaitRetry))
  })
