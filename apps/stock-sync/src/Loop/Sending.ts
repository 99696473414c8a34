/**
 * Sends what is due, as long as the ledger can be written: a slot of the allowance is awaited first, and the most urgent product is
 * chosen when it is there, with the value that is wanted then. One attempt a slot; whatever fails comes again in its turn. Knows
 * nothing of sources.
 *
 * @since 0.1.0
 */
import { withMaxWait, withRetry } from "@plaza/client/CallOptions"
import { inSlot, RateLimit, type Slot } from "@plaza/client/RateLimit"
import { Store } from "@plaza/client/Store"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type { Ledger, LedgerFault, Taken } from "../Ledger.js"
import { type Failure, type Outcome, Standing } from "../Standing.js"
import * as Verdict from "../Verdict.js"
import type { Assertions } from "./Assertions.js"
import * as Failing from "./Failing.js"
import type { Gate, Passage } from "./Gate.js"
import * as Moment from "./Moment.js"
import type { Resting } from "./Resting.js"

/** @since 0.1.0 @category models */
export interface Options {
  readonly ledger: Ledger["Type"]
  readonly gate: Gate
  readonly resting: Resting
  readonly assertions: Assertions
  /** Something may be due. */
  readonly wakes: Queue.Queue<void>
  /** How many products are sent at a time. */
  readonly concurrency: number
  /** How long a stop waits for what has been sent already. */
  readonly stopWithin: Duration.Duration
}

// A wait that is longer is a quota's.
const patience = Duration.minutes(5)
// Another process may have released a product in the ledger, of which nothing tells.
const lookAgain = 5_000
// Less than this, and the clock was set by one who keeps it right.
const jump = 1_000

const cutOff = { _tag: "Interrupted", message: "stopped before the answer came" }

/** Has the ledger know of a wall clock that was set back: from the last time this was run, or from the last process. */
const timeKeeper = (ledger: Ledger["Type"]) =>
  Effect.gen(function*() {
    const lead = Effect.zipWith(Clock.currentTimeMillis, Moment.now, (wall, moment) => wall - moment)
    yield* ledger.forgetFuture
    let before = yield* lead
    return Effect.gen(function*() {
      const now = yield* lead
      if (now < before - jump) yield* ledger.forgetFuture
      before = now
    })
  })

type Begun = "sending" | "nothing" | "closed"

/**
 * Sends until the ledger fails or the fiber is interrupted. Either way nothing new is begun then, and what is in flight gets some time
 * to finish; what doesn't is doubtful.
 *
 * @since 0.1.0
 * @category loops
 */
export const run = (options: Options): Effect.Effect<void, LedgerFault, RateLimit | Standing | Store> =>
  Effect.scoped(Effect.gen(function*() {
    const { assertions, concurrency, gate, ledger, resting, stopWithin, wakes } = options
    const rateLimit = yield* RateLimit
    const store = yield* Store
    const standing = yield* Standing
    const inFlight = yield* FiberSet.make<void, LedgerFault>()
    const places = Effect.unsafeMakeSemaphore(concurrency)

    const choose = (passage: Passage) =>
      Effect.gen(function*() {
        const moment = yield* Moment.now
        // A trial takes whatever there is: it asks the service, not the product.
        return passage === "trial"
          ? yield* ledger.take({ resting: [], assertBefore: Option.some(yield* Clock.currentTimeMillis) })
          : yield* ledger.take({ resting: resting.at(moment), assertBefore: yield* assertions.before })
      })

    const recorded = (taken: Taken, exit: Exit.Exit<unknown, Verdict.SendFailure>, passage: Passage) =>
      Effect.gen(function*() {
        const { productId, value } = taken
        const finished = (outcome: Outcome, failure: Failure | undefined) =>
          standing.tell({ _tag: "Sent", productId, urgency: taken.urgency, since: taken.since, value, outcome, failure })
        if (Exit.isSuccess(exit)) {
          yield* ledger.confirm(productId, value)
          yield* resting.remove(productId)
          yield* finished("confirmed", undefined)
          return yield* gate.judge(passage, undefined)
        }
        const known = Cause.failureOption(exit.cause)
        if (Option.isNone(known)) {
          const { _tag: tag, message } = cutOff
          yield* ledger.fail(productId, "doubtful", { tag, code: undefined, message, value }, false)
          yield* finished("doubtful", yield* Failing.told("product", cutOff, productId))
          return Cause.isInterruptedOnly(exit.cause) ? false : yield* Effect.die(Cause.squash(exit.cause))
        }
        const failure = known.value
        const { absent, reach, state } = Verdict.of(failure)
        const told = yield* Failing.told(reach === "trouble" ? "service" : reach, failure, productId)
        yield* ledger.fail(productId, state, Verdict.refusalOf(failure, value), absent)
        yield* reach === "trouble" ? resting.add(productId) : resting.remove(productId)
        yield* finished(state, told)
        return yield* gate.judge(passage, { failure, told })
      })

    // Only the request itself can be interrupted; what became of it is written down in any case.
    const send = (taken: Taken, slot: Slot, passage: Passage) =>
      store.setStock(taken.productId, taken.value).pipe(
        // Another attempt would carry this value past a newer one, and this product past a more urgent one.
        withRetry(Schedule.stop),
        // Nor is a 429 waited for in here: the gate closes until the service wants requests again.
        withMaxWait(0),
        inSlot(slot),
        Effect.interruptible,
        Effect.exit,
        Effect.flatMap((exit) => recorded(taken, exit, passage)),
        Effect.flatMap((opened) => opened ? resting.clear : Effect.void),
        Effect.ensuring(Queue.offer(wakes, undefined))
      )

    const begin = (passage: Passage): Effect.Effect<Begun, LedgerFault> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const scope = yield* Scope.make()
          const giveBack = Effect.zipRight(Scope.close(scope, Exit.void), places.release(1))
          const slot = yield* Effect.either(
            restore(Scope.extend(rateLimit.reserve(patience), scope)).pipe(Effect.onError(() => giveBack))
          )
          if (slot._tag === "Left") {
            const told = yield* Failing.told("account", slot.left)
            return yield* Effect.as(gate.judge(passage, { failure: slot.left, told }), "closed" as const)
          }
          // It may have closed while the slot was awaited.
          if (passage === "open" && !(yield* gate.isOpen)) return yield* Effect.as(giveBack, "closed" as const)
          const taken = yield* Effect.onError(choose(passage), () => giveBack)
          if (Option.isNone(taken)) return yield* Effect.as(giveBack, "nothing" as const)
          if (taken.value.urgency === "assertion") yield* assertions.spend
          yield* FiberSet.run(inFlight, Effect.ensuring(send(taken.value, slot.right, passage), giveBack))
          return "sending" as const
        }))

    const idle = Effect.gen(function*() {
      const moment = yield* Moment.now
      const waits = [resting.next(moment), assertions.next()].map((next) => next > moment ? next - moment : lookAgain)
      yield* Effect.timeoutOption(Queue.take(wakes), Duration.millis(Math.ceil(Math.min(lookAgain, ...waits))))
    })

    const keepTime = yield* timeKeeper(ledger)
    const landed = FiberSet.awaitEmpty(inFlight)

    const turn = Effect.gen(function*() {
      yield* keepTime
      yield* places.take(1)
      const passage = yield* gate.pass
      if (passage === "trial") yield* landed
      const begun = yield* begin(passage)
      if (passage === "trial") yield* landed
      if (begun !== "nothing") return
      if (passage === "trial") yield* gate.spare
      yield* idle
    })

    const late = Effect.raceFirst(Effect.interruptible(landed), Effect.interruptible(Effect.sleep(stopWithin)))
    // Not a race: who interrupts one is let go before its runners have ended.
    yield* Effect.all([FiberSet.join(inFlight), Effect.forever(turn)], { concurrency: "unbounded", discard: true }).pipe(Effect.ensuring(late))
  }))
