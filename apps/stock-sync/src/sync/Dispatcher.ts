/**
 * The dispatch loop: waits for a permit of the circuit breaker and for a slot of the rate limit, and then takes the most urgent
 * product with the stock that is wanted at that time. One attempt per slot; a failed product is taken again when it is due.
 */
import { Plaza, RateLimit, Store } from "@plaza/client"
import type { CircuitBreaker } from "@plaza/client"
import type { ProductId } from "@plaza/domain/Ids"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { Ledger, type Send } from "../ledger/Ledger.js"
import type { LedgerFault } from "../ledger/LedgerError.js"
import { AccountBreaker } from "./AccountBreaker.js"
import * as ClockShift from "./ClockShift.js"
import { DispatchSignal } from "./DispatchSignal.js"
import * as OnceLimits from "./OnceLimits.js"
import { Reassertion } from "./Reassertion.js"
import * as SendRecorder from "./SendRecorder.js"
import type { SyncStatus } from "./SyncStatus.js"

export interface Options {
  /** Products in flight at a time. */
  readonly concurrency: number
  /** How long a shutdown waits for requests in flight. */
  readonly stopWithin: Duration.Duration
  /** The delay after the first refusal of a quarantined product; it doubles with each further refusal. */
  readonly retryRefusedAfter: Duration.Duration
  /** Runs until it is interrupted, or until nothing is due or can be sent. */
  readonly until: "stopped" | "idle"
}

type Requirements = AccountBreaker | DispatchSignal | Ledger | RateLimit.RateLimit | Reassertion | Store | SyncStatus

/** Another process may release a product in the ledger, which gives no signal. */
const pollInterval = Duration.seconds(5)

/**
 * Runs until the ledger fails, the fiber is interrupted or, with `until: "idle"`, nothing is due. Then it starts no further request
 * and waits for those in flight, at most for `stopWithin`; unfinished ones are doubtful.
 */
export const run = ({ concurrency, retryRefusedAfter, stopWithin, until }: Options): Effect.Effect<
  OnceLimits.Ended,
  LedgerFault,
  Requirements
> =>
  Effect.scoped(Effect.gen(function*() {
    const breaker = yield* AccountBreaker
    const ledger = yield* Ledger
    const rateLimit = yield* RateLimit.RateLimit
    const reassertion = yield* Reassertion
    const signal = yield* DispatchSignal
    const store = yield* Store
    const recorder = yield* SendRecorder.make({ retryRefusedAfter })
    const correctClock = yield* ClockShift.make
    const inFlight = yield* FiberSet.make<void, LedgerFault>()
    const capacity = Effect.unsafeMakeSemaphore(concurrency)
    const allFinished = FiberSet.awaitEmpty(inFlight)

    const take = (permit: CircuitBreaker.Permit<ProductId>) =>
      Effect.gen(function*() {
        if (!permit.halfOpen) return yield* ledger.take({ _tag: "Due", confirmedBefore: yield* reassertion.confirmedBefore })
        const state = yield* breaker.state
        // Products that are refused for reasons of their own may be next to each other: every second one comes from the other end.
        const fromLast = state._tag === "Open" && state.reason === "Refused" && state.halfOpenFailures % 2 === 1
        return yield* ledger.take({ _tag: "HalfOpen", except: permit.tried, from: fromLast ? "last" : "first" })
      })

    // Runs in an uninterruptible region: only the request can be interrupted, and its outcome is always recorded.
    const send = Effect.fn("StockSync.dispatch")(
      function*(send: Send, slot: RateLimit.Slot, permit: CircuitBreaker.Permit<ProductId>) {
        yield* Effect.annotateCurrentSpan({
          "stock_sync.product.id": send.productId,
          "stock_sync.stock": send.value,
          "stock_sync.priority": send.priority,
          "stock_sync.attempt": send.attempts
        })
        const exit = yield* store.setStock(send.productId, send.value).pipe(
          // A retry inside the call would send an outdated stock, and would pass more urgent products.
          Plaza.withRetry(Schedule.stop),
          // After a 429 the breaker waits for the rate limit, not the call.
          Plaza.withMaxWait(0),
          RateLimit.inSlot(slot),
          Effect.interruptible,
          Effect.exit
        )
        yield* recorder.record(send, exit, permit)
      },
      Effect.ensuring(signal.notify)
    )

    type Started = "sending" | "nothing due" | "breaker open"

    /** Waits for a slot and sends the next product in it. Releases the capacity. */
    const startNext = (permit: CircuitBreaker.Permit<ProductId>): Effect.Effect<Started, LedgerFault> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const scope = yield* Scope.make()
          const release = Effect.zipRight(Scope.close(scope, Exit.void), capacity.release(1))
          const end = (result: Started) => Effect.as(release, result)
          const slot = yield* Effect.either(
            restore(Scope.extend(rateLimit.reserve(OnceLimits.maxSlotWait), scope)).pipe(Effect.onError(() => release))
          )
          if (Either.isLeft(slot)) return yield* Effect.zipRight(breaker.recordProbe(slot.left), Effect.succeed<Started>("breaker open"))
          // The breaker may have opened during the wait for the slot.
          if (!permit.halfOpen && (yield* breaker.state)._tag === "Open") return yield* end("breaker open")
          // The clock may have been set during the wait, and the ledger stamps the request.
          const taken = yield* Effect.onError(Effect.zipRight(Effect.zipRight(ledger.check, correctClock), take(permit)), () => release)
          if (Option.isNone(taken)) return yield* end("nothing due")
          if (taken.value.priority === "assertion") yield* reassertion.record
          yield* FiberSet.run(inFlight, Effect.ensuring(send(taken.value, slot.right, permit), release))
          const started: Started = "sending"
          return started
        })
      )

    /** Waits until a product may be due. */
    const awaitDue: Effect.Effect<Option.Option<OnceLimits.Ended>, LedgerFault> = Effect.gen(function*() {
      const nextDue = yield* ledger.nextDue(until === "idle" ? Option.some(OnceLimits.maxAttempts) : Option.none())
      if (until === "idle" && Option.isNone(nextDue) && (yield* FiberSet.size(inFlight)) === 0) return Option.some({ _tag: "Idle" })
      const now = yield* DateTime.now
      const untilDue = Option.map(nextDue, (at) => Duration.millis(Math.max(1, DateTime.distance(now, at))))
      const waits = [...Option.toArray(untilDue), ...Option.toArray(yield* reassertion.delay)]
      yield* Effect.timeoutOption(signal.wait, waits.reduce((shortest, wait) => Duration.min(shortest, wait), pollInterval))
      return Option.none()
    })

    /** A half-open permit is used with nothing else in flight. */
    const acquirePermit = Effect.flatMap(breaker.acquire,
      (permit) => permit.halfOpen ? Effect.zipRight(allFinished, breaker.acquire) : Effect.succeed(permit))
    const acquireOrEnd = until === "idle"
      ? Effect.raceFirst(Effect.map(OnceLimits.awaitBreakerLimit, Either.left), Effect.map(acquirePermit, Either.right))
      : Effect.map(acquirePermit, Either.right)

    const dispatchOne = Effect.gen(function*() {
      yield* capacity.take(1)
      const acquired = yield* Effect.onInterrupt(acquireOrEnd, () => capacity.release(1))
      if (Either.isLeft(acquired)) return yield* Effect.as(capacity.release(1), Option.some(acquired.left))
      const permit = acquired.right
      const started = yield* startNext(permit)
      if (permit.halfOpen) yield* allFinished
      if (started !== "nothing due") return Option.none()
      if (!permit.halfOpen) return yield* awaitDue
      yield* breaker.release(permit)
      return Option.none()
    })

    const loop: Effect.Effect<OnceLimits.Ended, LedgerFault, AccountBreaker> = Effect.flatMap(
      dispatchOne,
      Option.match({ onNone: () => loop, onSome: Effect.succeed })
    )

    const drain = Effect.raceFirst(Effect.interruptible(allFinished), Effect.interruptible(Effect.sleep(stopWithin)))
    // The loop's end is a failure here. A race would return before the fibers that it interrupts have ended.
    return yield* Effect.all([FiberSet.join(inFlight), Effect.flatMap(loop, Effect.fail)], { concurrency: "unbounded", discard: true })
      .pipe(
        Effect.zipRight(Effect.never),
        Effect.catchTags({ Idle: Effect.succeed<OnceLimits.Ended>, Open: Effect.succeed<OnceLimits.Ended> }),
        Effect.ensuring(drain)
      )
  }))
