/**
 * Sends what is due: waits for a permit of the circuit breaker and for a slot of the allowance, and takes the most urgent
 * product when both are there, with the stock that is wanted then. One attempt a slot; whatever fails comes again in its turn.
 */
import { FailureScope, Plaza, RateLimit, Store } from "@plaza/client"
import type { CircuitBreaker } from "@plaza/client"
import type { ProductId } from "@plaza/domain/Ids"
import type { Product } from "@plaza/domain/Resources"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type { Refusal } from "../ledger/Entry.js"
import type { Failed, Ledger, LedgerFault, Taken } from "../ledger/Ledger.js"
import * as FailureEvent from "./FailureEvent.js"
import * as FailurePolicy from "./FailurePolicy.js"
import * as MonotonicClock from "./MonotonicClock.js"
import type { Reassertion } from "./Reassertion.js"
import { type Outcome, SyncStatus } from "./SyncStatus.js"

export interface Options {
  readonly ledger: Ledger["Type"]
  readonly breaker: CircuitBreaker.CircuitBreaker<ProductId>
  readonly reassertion: Reassertion
  /** Something may be due. */
  readonly wakes: Queue.Queue<void>
  /** Products in flight at a time. */
  readonly concurrency: number
  /** How long a stop waits for requests in flight. */
  readonly stopWithin: Duration.Duration
  /** How long after a refusal a quarantined product is sent again for the first time; then twice as long each time. */
  readonly retryRefusedAfter: Duration.Duration
  /** Goes on for ever, or until nothing is due or nothing can be sent. */
  readonly until: "stopped" | "idle"
}

/** Why a sender that runs until it is idle has ended. */
export type Ended =
  | { readonly _tag: "Idle" }
  /** The circuit breaker stays open. */
  | { readonly _tag: "Open"; readonly state: Extract<CircuitBreaker.State, { readonly _tag: "Open" }> }

// A longer wait is a quota's.
const maxWait = Duration.minutes(5)
// Another process may have released a product in the ledger, of which nothing tells.
const lookAgain = Duration.seconds(5)
const lookForEnd = Duration.seconds(1)
// A smaller difference is that of a clock which is kept right.
const clockJump = 1_000
/** Requests for one product, without success, after which a sender that ends when it is idle gives it up. */
const maxAttempts = 5
/** Trials in a row without success, after which it gives up the service. */
const maxTrials: Readonly<Record<FailureReason, number>> = { Refused: 3, ServiceFault: 5 }
type FailureReason = "Refused" | "ServiceFault"

/** Whether it makes sense to wait for the breaker before a sender ends that ends when it is idle. */
const isLasting = (state: Extract<CircuitBreaker.State, { readonly _tag: "Open" }>): Effect.Effect<boolean> =>
  state.reason === "RateLimited"
    ? Effect.map(DateTime.now, (now) => DateTime.distance(now, state.retryAt) > Duration.toMillis(maxWait))
    : Effect.succeed(
      state.halfOpenFailures >= maxTrials[state.reason] || (state.reason === "Refused" && FailureScope.isAccountRefusal(state.failure))
    )

/** Ended, if the breaker is open for longer than a run of `once` should take. */
export const lastingly = <Item>(breaker: CircuitBreaker.CircuitBreaker<Item>): Effect.Effect<Option.Option<Ended>> =>
  Effect.flatMap(breaker.state, (state) =>
    state._tag === "Closed"
      ? Effect.succeedNone
      : Effect.map(isLasting(state), (lasting): Option.Option<Ended> => lasting ? Option.some({ _tag: "Open", state }) : Option.none()))

/** Has the ledger know when the wall clock is set. */
const timeKeeper = (ledger: Ledger["Type"]) =>
  Effect.gen(function*() {
    const lead = Effect.zipWith(Clock.currentTimeMillis, MonotonicClock.now, (wall, moment) => wall - moment)
    yield* ledger.clockChanged(0)
    let before = yield* lead
    return Effect.gen(function*() {
      const now = yield* lead
      if (Math.abs(now - before) > clockJump) yield* ledger.clockChanged(Math.round(now - before))
      before = now
    })
  })

type Begun = "sending" | "nothing" | "open"

/** A product whose stock the service has not accepted yet. */
interface Failing {
  /** When the stock that is wanted failed for the first time, by the monotonic clock. */
  readonly since: number
  readonly refusals: number
}

const isSame = (before: Refusal | undefined, after: Refusal): boolean =>
  before !== undefined && before.tag === after.tag && before.code === after.code

/**
 * Sends until the ledger fails, the fiber is interrupted, or, where it ends when it is idle, nothing is due. Nothing new is begun then,
 * and requests in flight get some time to finish; those that do not are doubtful.
 */
export const run = (options: Options): Effect.Effect<Ended, LedgerFault, RateLimit.RateLimit | SyncStatus | Store> =>
  Effect.scoped(Effect.gen(function*() {
    const { breaker, concurrency, ledger, reassertion, stopWithin, until, wakes } = options
    const rateLimit = yield* RateLimit.RateLimit
    const store = yield* Store
    const status = yield* SyncStatus
    const inFlight = yield* FiberSet.make<void, LedgerFault>()
    const places = Effect.unsafeMakeSemaphore(concurrency)

    const keepTime = yield* timeKeeper(ledger)

    const choose = (permit: CircuitBreaker.Permit<ProductId>) =>
      permit.halfOpen
        ? Effect.flatMap(breaker.state, (state) =>
          // Products that are refused for reasons of their own may stand side by side: every second trial takes one from the other end.
          ledger.take({
            _tag: "Trial",
            except: permit.tried,
            from: state._tag === "Open" && state.reason === "Refused" && state.halfOpenFailures % 2 === 1 ? "last" : "first"
          }))
        : Effect.flatMap(reassertion.before, (assertBefore) => ledger.take({ _tag: "Due", assertBefore }))

    const finished = (taken: Taken, outcome: Outcome, failed: Failed | undefined) =>
      Effect.gen(function*() {
        const { priority, productId, since, value, wasQuarantined } = taken
        const failure = failed === undefined
          ? undefined
          : yield* FailureEvent.make("product", { _tag: failed.refusal.tag, code: failed.refusal.code, message: failed.refusal.message },
            productId)
        yield* status.publish({ _tag: "Sent", productId, priority, since, value, outcome, wasQuarantined, failure })
      })

    const failed = (taken: Taken, how: Failed) => Effect.zipRight(ledger.fail(taken, how), finished(taken, how.state, how))

    const failing = new Map<ProductId, Failing>()
    // By the monotonic clock: when the service last accepted a product.
    let acceptedAt = Number.NEGATIVE_INFINITY
    // Products in quarantine although nothing shows that the service accepts others, with what they were refused for.
    const unproven = new Map<ProductId, string>()

    /** Several products are refused alike, so it was none of theirs. */
    const releaseUnproven = (code: string) =>
      Effect.suspend(() => {
        const alike = Array.from(unproven).flatMap(([id, reason]) => reason === code ? [id] : [])
        alike.forEach((id) => unproven.delete(id))
        return alike.length === 0 ? Effect.void : ledger.release(Option.some(alike))
      })

    const recorded = (
      taken: Taken,
      exit: Exit.Exit<Product | undefined, FailurePolicy.SendFailure>,
      permit: CircuitBreaker.Permit<ProductId>
    ) =>
      Effect.gen(function*() {
        const { productId, value } = taken
        const before = yield* breaker.state
        const wasFaulty = before._tag === "Open" && before.reason === "ServiceFault"
        // It may ask the service, which a stop must not wait for. What failed by the service's fault is due at once when that is over;
        // what was refused comes in its time, or refused products would open the breaker over and over.
        const told = (failure: FailurePolicy.SendFailure | undefined) =>
          Effect.flatMap(Effect.interruptible(breaker.record(permit, productId, failure)), (closed) =>
            closed && wasFaulty ? ledger.retryNow : Effect.void)
        const now = yield* MonotonicClock.now
        if (Exit.isSuccess(exit)) {
          acceptedAt = now
          failing.delete(productId)
          unproven.clear()
          const shown = exit.value?.stock
          if (shown === undefined || shown === value) {
            yield* ledger.confirm(taken)
            yield* finished(taken, "confirmed", undefined)
          } else {
            yield* failed(taken, yield* FailurePolicy.ofMismatch(taken, shown, options.retryRefusedAfter))
          }
          return yield* told(undefined)
        }
        const failure = Cause.failureOption(exit.cause)
        if (Option.isNone(failure)) {
          yield* failed(taken, FailurePolicy.interrupted(taken))
          return Cause.isInterruptedOnly(exit.cause) ? undefined : yield* Effect.die(Cause.squash(exit.cause))
        }
        const scope = FailureScope.of(failure.value)
        const earlier = failing.get(productId)
        const since = taken.refusal === undefined ? now : earlier?.since ?? now
        // After a restart only the requests of a quarantined product are known to be refusals.
        const refusedBefore = taken.attempts === 1 ? 0 : earlier?.refusals ?? (taken.wasQuarantined ? taken.attempts - 1 : 0)
        const refusals = refusedBefore + (scope._tag === "Item" || scope._tag === "Refusal" ? 1 : 0)
        failing.set(productId, { since, refusals })
        const othersAccepted = acceptedAt >= since
        const how = yield* FailurePolicy.of(taken, failure.value, {
          breakerIsOpen: before._tag === "Open",
          refusals,
          othersAccepted,
          retryRefusedAfter: options.retryRefusedAfter
        })
        yield* failed(taken, how)
        if (how.state === "quarantined" && scope._tag === "Refusal" && !othersAccepted) unproven.set(productId, scope.code)
        // It fails while others are accepted, as it did before: that shows nothing of the others.
        if (!permit.halfOpen && othersAccepted && isSame(taken.refusal, how.refusal)) return
        yield* told(failure.value)
        const state = yield* breaker.state
        if (scope._tag === "Refusal" && state._tag === "Open" && state.reason === "Refused") yield* releaseUnproven(scope.code)
      })

    // Only the request itself can be interrupted; what became of it is recorded in any case.
    const send = (taken: Taken, slot: RateLimit.Slot, permit: CircuitBreaker.Permit<ProductId>) =>
      store.setStock(taken.productId, taken.value).pipe(
        // Another attempt would carry this stock past a newer one, and this product past a more urgent one.
        Plaza.withRetry(Schedule.stop),
        // Nor is a 429 waited for in here: the breaker opens until the service accepts requests again.
        Plaza.withMaxWait(0),
        RateLimit.inSlot(slot),
        Effect.interruptible,
        Effect.exit,
        Effect.flatMap((exit) => recorded(taken, exit, permit)),
        Effect.ensuring(Queue.offer(wakes, undefined))
      )

    const begin = (permit: CircuitBreaker.Permit<ProductId>): Effect.Effect<Begun, LedgerFault> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const scope = yield* Scope.make()
          const giveBack = Effect.zipRight(Scope.close(scope, Exit.void), places.release(1))
          const slot = yield* Effect.either(
            restore(Scope.extend(rateLimit.reserve(maxWait), scope)).pipe(Effect.onError(() => giveBack))
          )
          if (slot._tag === "Left") return yield* Effect.as(breaker.recordProbe(slot.left), "open" as const)
          // It may have opened while the slot was waited for.
          if (!permit.halfOpen && (yield* breaker.state)._tag === "Open") return yield* Effect.as(giveBack, "open" as const)
          // The clock may have been set while the slot was waited for, and the request is stamped by it.
          const taken = yield* Effect.onError(Effect.zipRight(Effect.zipRight(ledger.check, keepTime), choose(permit)), () => giveBack)
          if (Option.isNone(taken)) return yield* Effect.as(giveBack, "nothing" as const)
          if (taken.value.priority === "assertion") yield* reassertion.spend
          yield* FiberSet.run(inFlight, Effect.ensuring(send(taken.value, slot.right, permit), giveBack))
          return "sending" as const
        })
      )

    const landed = FiberSet.awaitEmpty(inFlight)

    /** Waits until something may be due, or ends. */
    const idle: Effect.Effect<Option.Option<Ended>, LedgerFault> = Effect.gen(function*() {
      const next = yield* ledger.nextDue(until === "idle" ? Option.some(maxAttempts) : Option.none())
      if (until === "idle" && Option.isNone(next) && (yield* FiberSet.size(inFlight)) === 0) return Option.some<Ended>({ _tag: "Idle" })
      const now = yield* Clock.currentTimeMillis
      const moment = yield* MonotonicClock.now
      const waits = [
        Option.match(next, { onNone: () => Number.POSITIVE_INFINITY, onSome: (at) => Math.max(1, at - now) }),
        reassertion.next() > moment ? reassertion.next() - moment : Number.POSITIVE_INFINITY
      ]
      yield* Effect.timeoutOption(Queue.take(wakes), Duration.min(lookAgain, Duration.millis(Math.ceil(Math.min(...waits)))))
      return Option.none()
    })

    /** A permit; if it is for a trial, with nothing else in flight. */
    const allowed = Effect.flatMap(breaker.acquire, (permit) =>
      permit.halfOpen ? Effect.zipRight(landed, breaker.acquire) : Effect.succeed(permit))

    /** Looks again and again, because what is in flight may open the breaker at any moment. */
    const opensLastingly: Effect.Effect<Ended> = Effect.flatMap(lastingly(breaker), Option.match({
      onNone: () => Effect.zipRight(Effect.sleep(lookForEnd), opensLastingly),
      onSome: Effect.succeed
    }))
    const allowedInTime = until === "idle"
      ? Effect.raceFirst(Effect.either(Effect.flip(opensLastingly)), Effect.map(allowed, Either.right))
      : Effect.map(allowed, Either.right)

    const turn: Effect.Effect<Option.Option<Ended>, LedgerFault> = Effect.gen(function*() {
      yield* places.take(1)
      const permission = yield* Effect.onInterrupt(allowedInTime, () => places.release(1))
      if (Either.isLeft(permission)) return yield* Effect.as(places.release(1), Option.some(permission.left))
      const permit = permission.right
      const begun = yield* begin(permit)
      if (permit.halfOpen) yield* landed
      if (begun !== "nothing") return Option.none()
      if (permit.halfOpen) {
        yield* breaker.release(permit)
        return Option.none()
      }
      return yield* idle
    })
    const turns: Effect.Effect<Ended, LedgerFault> = Effect.flatMap(turn, Option.match({ onNone: () => turns, onSome: Effect.succeed }))

    const late = Effect.raceFirst(Effect.interruptible(landed), Effect.interruptible(Effect.sleep(stopWithin)))
    // Not a race, which returns before the fibers that it interrupts have ended: the end of the turns is a failure here.
    return yield* Effect.all([FiberSet.join(inFlight), Effect.flatMap(turns, Effect.fail)], { concurrency: "unbounded", discard: true })
      .pipe(
        Effect.zipRight(Effect.never),
        Effect.catchTags({ Idle: Effect.succeed<Ended>, Open: Effect.succeed<Ended> }),
        Effect.ensuring(late)
      )
  }))
