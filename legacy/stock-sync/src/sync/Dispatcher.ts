/**
 * The dispatch loop: waits for a permit of the circuit breaker and for a slot of the rate limit, and then takes the most urgent
 * product with the stock that is wanted at that time. One attempt per slot; a failed product is taken again when it is due. Beside it, one
 * request in flight is reserved for sold-out products, so that requests without a response do not delay them.
 */
import { Plaza, RateLimit, StockPriority, Store } from "@plaza-legacy/client"
import type { CircuitBreaker } from "@plaza-legacy/client"
import type { ProductId } from "@plaza-legacy/domain/Ids"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { Ledger, type Send } from "../ledger/Ledger.ts"
import type { LedgerFault } from "../ledger/LedgerError.ts"
import { AccountBreaker } from "./AccountBreaker.ts"
import * as ClockShift from "./ClockShift.ts"
import { DispatchSignal } from "./DispatchSignal.ts"
import * as MonotonicClock from "./MonotonicClock.ts"
import * as OnceLimits from "./OnceLimits.ts"
import { Reassertion } from "./Reassertion.ts"
import * as SendRecorder from "./SendRecorder.ts"
import type { SyncStatus } from "./SyncStatus.ts"

export interface Options extends SendRecorder.Options {
  /** Products in flight at a time. If it is 2 or more, one of them is reserved for sold-out products. */
  readonly concurrency: number
  /** How long a shutdown waits for requests in flight. */
  readonly stopWithin: Duration.Duration
}

/** When a dispatcher ends by itself. */
export interface Until<A> {
  /** Delayed products with this many attempts or more are not waited for. */
  readonly maxAttempts: Option.Option<number>
  /** The end if nothing is due and nothing in flight. `nextDue`: the time of the next delayed product. */
  readonly whenNothingDue: (
    nextDue: Effect.Effect<Option.Option<DateTime.Utc>, LedgerFault>
  ) => Effect.Effect<Option.Option<A>, LedgerFault, DispatchSignal | Ledger | Reassertion>
  /** Ends a wait for the circuit breaker; none: it lasts as long as it takes. */
  readonly whenBlocked: Option.Option<Effect.Effect<A, never, AccountBreaker>>
}

/** Runs until it is interrupted. */
export const untilStopped: Until<never> = {
  maxAttempts: Option.none(),
  whenNothingDue: () => Effect.succeedNone,
  whenBlocked: Option.none()
}

/** Ends when nothing is due or can be sent, after a limited number of attempts. */
export const untilIdle: Until<OnceLimits.Ended> = {
  maxAttempts: Option.some(OnceLimits.maxAttempts),
  whenNothingDue: Effect.map(Option.match({ onNone: () => Option.some({ _tag: "Idle" }), onSome: () => Option.none() })),
  whenBlocked: Option.some(OnceLimits.awaitBreakerLimit)
}

/** A product that is due sooner is waited for. */
const quietFor = Duration.seconds(5)

/**
 * Ends when no product is due within seconds and none is expected, with the time when the next one is due: a delayed or quarantined
 * one, or one whose stock is sent again. Waits for the service as long as it takes.
 */
export const untilQuiet: Until<Option.Option<DateTime.Utc>> = {
  ...untilStopped,
  whenNothingDue: () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const reassertion = yield* Reassertion
      const signal = yield* DispatchSignal
      const times = [...Option.toArray(yield* ledger.nextDelayed), ...Option.toArray(yield* reassertion.nextAt)]
      const next = times.reduce<DateTime.Utc | undefined>((first, at) => first === undefined ? at : DateTime.min(first, at), undefined)
      const isSoon = next !== undefined && DateTime.distance(yield* DateTime.now, next) <= Duration.toMillis(quietFor)
      // Last: a snapshot may have been applied during the statements above.
      return isSoon || (yield* signal.isExpected) ? Option.none() : Option.some(Option.fromNullable(next))
    })
}

class End<A> extends Data.TaggedError("End")<{ readonly value: A }> {}

type Requirements = AccountBreaker | DispatchSignal | Ledger | RateLimit.RateLimit | Reassertion | Store | SyncStatus

/** Of so many requests in a row, one is for a product of a lower priority, if one waits. */
const lowerShare = 10

/**
 * After so long, the reserved request is no longer waited for if another product is sold out. Also the interval between two of them while the
 * circuit breaker is open, and between two of products whose last request has an unknown outcome.
 */
const slowResponse = Duration.seconds(5)

/** While the service refuses every product. Thousands of accounts of a fleet may be in this state. */
const refusedInterval = Duration.minutes(1)

const closedPollInterval = Duration.seconds(1)

/** Another process may release a product in the ledger, which gives no signal. */
const pollInterval = Duration.seconds(5)

/**
 * Runs until the ledger fails, the fiber is interrupted or the end of `until` is reached. Then it starts no further request and waits
 * for those in flight, at most for `stopWithin`; unfinished ones are doubtful.
 */
export const run = <A>({ concurrency, stopWithin, ...recording }: Options, until: Until<A>): Effect.Effect<
  A,
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
    const recorder = yield* SendRecorder.make(recording)
    const correctClock = yield* ClockShift.make
    const inFlight = yield* FiberSet.make<void, LedgerFault>()
    const ordinary = Math.max(1, concurrency - 1)
    const capacity = Effect.unsafeMakeSemaphore(ordinary)
    const allFinished = FiberSet.awaitEmpty(inFlight)
    /** Open while the loop can't take a product, because requests without a response hold its capacity or the circuit breaker is open. */
    const blocked = yield* Effect.makeLatch(false)
    // Waits may be nested.
    let waits = 0
    const addWait = (count: number) =>
      Effect.suspend(() => {
        waits += count
        return waits > 0 ? blocked.open : blocked.close
      })
    const whileBlocked = <A, E, R>(wait: Effect.Effect<A, E, R>) => Effect.acquireUseRelease(addWait(1), () => wait, () => addWait(-1))
    const isClosed = Effect.map(breaker.state, ({ _tag }) => _tag === "Closed")
    const untilClosed = Effect.repeat(Effect.delay(isClosed, closedPollInterval), { until: (closed) => closed })
    /** For a half-open circuit breaker: waits for the requests in flight, or until a sold-out product has closed it. */
    const awaitFinished = whileBlocked(Effect.raceFirst(allFinished, untilClosed))

    /** The priorities of the last requests. */
    let recent: ReadonlyArray<StockPriority.Priority> = []
    const leastUrgent = () =>
      recent.length < lowerShare - 1 ? undefined : StockPriority.priorities.findLast((priority) => recent.includes(priority))

    const take = (permit: CircuitBreaker.Permit<ProductId>) =>
      Effect.gen(function*() {
        if (!permit.halfOpen) {
          return yield* ledger.take({ _tag: "Due", confirmedBefore: yield* reassertion.confirmedBefore, lowerAfter: leastUrgent() })
        }
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
        const sentAt = yield* MonotonicClock.now
        const exit = yield* store.setStock(send.productId, send.value).pipe(
          // A retry inside the call would send an outdated stock, and would pass more urgent products.
          Plaza.withRetry(Schedule.stop),
          // After a 429 the breaker waits for the rate limit, not the call.
          Plaza.withMaxWait(0),
          RateLimit.inSlot(slot),
          Effect.interruptible,
          Effect.exit
        )
        yield* recorder.record(send, exit, permit, sentAt)
      },
      Effect.ensuring(signal.notify)
    )

    type Started = Fiber.Fiber<void, LedgerFault> | "nothing due" | "breaker open"

    /** Waits for a slot and sends the product in it that `next` takes. Releases the capacity. */
    const startNext = (
      permit: CircuitBreaker.Permit<ProductId>,
      next: Effect.Effect<Option.Option<Send>, LedgerFault>,
      releaseCapacity: Effect.Effect<unknown>
    ): Effect.Effect<Started, LedgerFault> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const scope = yield* Scope.make()
          const release = Effect.zipRight(Scope.close(scope, Exit.void), releaseCapacity)
          const end = (result: Started) => Effect.as(release, result)
          const slot = yield* Effect.either(
            restore(Scope.extend(rateLimit.reserve(OnceLimits.maxSlotWait, { operation: "setStock" }), scope)).pipe(
              Effect.onError(() => release)
            )
          )
          if (Either.isLeft(slot)) return yield* Effect.zipRight(breaker.recordProbe(slot.left), Effect.succeed<Started>("breaker open"))
          // The breaker may have opened during the wait for the slot.
          if (!permit.halfOpen && (yield* breaker.state)._tag === "Open") return yield* end("breaker open")
          // The clock may have been set during the wait, and the ledger stamps the request.
          const taken = yield* Effect.onError(Effect.zipRight(Effect.zipRight(ledger.check, correctClock), next), () => release)
          if (Option.isNone(taken)) return yield* end("nothing due")
          recent = [...recent, taken.value.priority].slice(1 - lowerShare)
          if (taken.value.priority === "assertion") yield* reassertion.record
          return yield* FiberSet.run(inFlight, Effect.ensuring(send(taken.value, slot.right, permit), release))
        })
      )

    /** Waits until a product may be due. */
    const awaitDue: Effect.Effect<Option.Option<A>, LedgerFault, DispatchSignal | Ledger | Reassertion> = Effect.gen(function*() {
      const nextDue = ledger.nextDue(until.maxAttempts)
      if ((yield* FiberSet.size(inFlight)) === 0) {
        const ended = yield* until.whenNothingDue(nextDue)
        if (Option.isSome(ended)) return ended
      }
      const now = yield* DateTime.now
      const untilDue = Option.map(yield* nextDue, (at) => Duration.millis(Math.max(1, DateTime.distance(now, at))))
      const waits = [...Option.toArray(untilDue), ...Option.toArray(yield* reassertion.delay)]
      yield* Effect.timeoutOption(signal.wait, waits.reduce((shortest, wait) => Duration.min(shortest, wait), pollInterval))
      return Option.none()
    })

    /** A half-open permit is used with nothing else in flight. */
    const acquireOpen = whileBlocked(
      Effect.flatMap(breaker.acquire,
        (permit) => permit.halfOpen ? Effect.zipRight(awaitFinished, breaker.acquire) : Effect.succeed(permit))
    )
    const acquirePermit = Effect.flatMap(isClosed, (closed) => closed ? breaker.acquire : acquireOpen)
    const acquireOrEnd: Effect.Effect<Either.Either<CircuitBreaker.Permit<ProductId>, A>, never, AccountBreaker> = Option.match(
      until.whenBlocked,
      {
        onNone: () => Effect.map(acquirePermit, Either.right),
        onSome: (blocked) => Effect.raceFirst(Effect.map(blocked, Either.left), Effect.map(acquirePermit, Either.right))
      }
    )

    const dispatchOne = Effect.gen(function*() {
      yield* (yield* FiberSet.size(inFlight)) < ordinary ? capacity.take(1) : whileBlocked(capacity.take(1))
      const acquired = yield* Effect.onInterrupt(acquireOrEnd, () => capacity.release(1))
      if (Either.isLeft(acquired)) return yield* Effect.as(capacity.release(1), Option.some(acquired.left))
      const permit = acquired.right
      const started = yield* startNext(permit, take(permit), capacity.release(1))
      if (permit.halfOpen) yield* awaitFinished
      if (started !== "nothing due") return Option.none()
      // A backlog that has ended keeps no share of the next one.
      recent = []
      if (!permit.halfOpen) return yield* awaitDue
      yield* breaker.release(permit)
      return Option.none()
    })

    const loop: Effect.Effect<A, LedgerFault, AccountBreaker | DispatchSignal | Ledger | Reassertion> = Effect.flatMap(
      dispatchOne,
      Option.match({ onNone: () => loop, onSome: Effect.succeed })
    )

    /** When the loop below last sent a product, and one without a request of unknown outcome. */
    const triedAt: Record<"any" | "known", MonotonicClock.MonotonicMillis> = {
      any: Number.NEGATIVE_INFINITY,
      known: Number.NEGATIVE_INFINITY
    }
    const isTryDue = (outcomes: "any" | "known") =>
      Effect.map(MonotonicClock.now, (now) => now >= triedAt[outcomes] + Duration.toMillis(slowResponse))

    /** A permit for a sold-out product while the loop is blocked, or how long to wait for one. */
    const soldOutPermit = Effect.gen(function*() {
      const state = yield* breaker.state
      if (state._tag === "Closed") return Either.right({ halfOpen: false, tried: new Set<ProductId>() })
      if (state.reason === "ServiceFault") {
        // Requests without a response open the breaker as well.
        return (yield* isTryDue("known")) ? Either.right({ halfOpen: true, tried: new Set<ProductId>() }) : Either.left(slowResponse)
      }
      const untilRetry = DateTime.distance(yield* DateTime.now, state.retryAt)
      if (state.reason === "RateLimited" && untilRetry <= 0) return Either.right(yield* breaker.acquire)
      // A service that refuses the account refuses every product.
      return Either.left(Duration.min(refusedInterval, Duration.millis(Math.max(1, untilRetry))))
    })

    let last: Fiber.Fiber<void, LedgerFault> = Fiber.void
    /** An earlier request of the last product had an unknown outcome. */
    let isSecond = false
    /** If the last request still has no response, it ends now, and its outcome is unknown. */
    const takeSoldOut = Effect.gen(function*() {
      const known = yield* ledger.take({ _tag: "SoldOut", outcomes: "known" })
      isSecond = Option.isNone(known)
      const taken = isSecond && (yield* isTryDue("any")) ? yield* ledger.take({ _tag: "SoldOut", outcomes: "any" }) : known
      if (Option.isSome(taken)) yield* Fiber.interrupt(last)
      return taken
    })

    /** Sends sold-out products while the loop is blocked, one at a time. */
    const soldOutLoop: Effect.Effect<never, LedgerFault, DispatchSignal> = Effect.forever(Effect.gen(function*() {
      yield* blocked.await
      const permit = yield* soldOutPermit
      const started = Either.isLeft(permit) ? "nothing due" : yield* startNext(permit.right, takeSoldOut, Effect.void)
      if (typeof started === "string") {
        yield* Effect.timeoutOption(signal.waitSoldOut, Either.isLeft(permit) ? permit.left : pollInterval)
      } else {
        last = started
        triedAt.any = yield* MonotonicClock.now
        if (!isSecond) triedAt.known = triedAt.any
        const finished = Fiber.await(started)
        // A product that may get no response again does not delay another one.
        yield* Effect.timeoutOption(isSecond ? Effect.raceFirst(finished, signal.waitSoldOut) : finished, slowResponse)
      }
    }))

    const drain = Effect.raceFirst(Effect.interruptible(allFinished), Effect.interruptible(Effect.sleep(stopWithin)))
    // The loop's end is a failure here. A race would return before the fibers that it interrupts have ended.
    return yield* Effect.all([
      FiberSet.join(inFlight),
      concurrency > 1 ? soldOutLoop : Effect.never,
      Effect.flatMap(loop, (value) => Effect.fail(new End({ value })))
    ], {
      concurrency: "unbounded",
      discard: true
    }).pipe(
      Effect.zipRight(Effect.never),
      Effect.catchTag("End", ({ value }) => Effect.succeed(value)),
      Effect.ensuring(drain)
    )
  }))
