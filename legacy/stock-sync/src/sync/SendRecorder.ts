/** Records the outcome of each request in the ledger, the circuit breaker and the status. */
import { FailureScope } from "@plaza-legacy/client"
import type { CircuitBreaker } from "@plaza-legacy/client"
import type { ProductId } from "@plaza-legacy/domain/Ids"
import type { Product } from "@plaza-legacy/domain/Resources"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { Refusal } from "../ledger/Entry.ts"
import { type FailedSend, Ledger, type Send } from "../ledger/Ledger.ts"
import type { LedgerFault } from "../ledger/LedgerError.ts"
import { AccountBreaker } from "./AccountBreaker.ts"
import * as FailureEvent from "./FailureEvent.ts"
import * as FailurePolicy from "./FailurePolicy.ts"
import * as MonotonicClock from "./MonotonicClock.ts"
import { type Outcome, SyncStatus } from "./SyncStatus.ts"

type SendExit = Exit.Exit<Product | undefined, FailurePolicy.SendFailure>

export interface SendRecorder {
  /** `sentAt`: when the request was sent. */
  readonly record: (
    send: Send,
    exit: SendExit,
    permit: CircuitBreaker.Permit<ProductId>,
    sentAt: MonotonicClock.MonotonicMillis
  ) => Effect.Effect<void, LedgerFault>
}

/** What this process knows of a product whose wanted stock the service has not accepted. */
interface Unaccepted {
  /** When the wanted stock failed for the first time. */
  readonly since: MonotonicClock.MonotonicMillis
  readonly refusals: number
}

export interface Options {
  /** The delay after the first refusal of a quarantined product. */
  readonly retryRefusedAfter: Duration.Duration
  /** Whether a response that shows another stock than the one sent leaves the product unconfirmed. */
  readonly shownStock: "check" | "ignore"
}

const isSameFailure = (before: Refusal | undefined, after: Refusal): boolean =>
  before !== undefined && before.tag === after.tag && before.code === after.code

export const make = (
  { retryRefusedAfter, shownStock }: Options
): Effect.Effect<SendRecorder, never, AccountBreaker | Ledger | SyncStatus> =>
  Effect.gen(function*() {
    const breaker = yield* AccountBreaker
    const ledger = yield* Ledger
    const status = yield* SyncStatus

    const unaccepted = new Map<ProductId, Unaccepted>()
    // Products refused while no other product was accepted, with the code of the refusal: the account may be the reason.
    const unprovenRefusals = new Map<ProductId, string>()
    let lastAcceptedAt: MonotonicClock.MonotonicMillis = Number.NEGATIVE_INFINITY

    const publish = (send: Send, outcome: Outcome, failed: FailedSend | undefined) =>
      Effect.gen(function*() {
        const { priority, productId, since, value, wasQuarantined } = send
        yield* Effect.annotateCurrentSpan({
          "stock_sync.outcome": outcome,
          ...(failed === undefined ? {} : { "error.type": failed.refusal.code ?? failed.refusal.tag })
        })
        const failure = failed === undefined
          ? undefined
          : yield* FailureEvent.make("product", { _tag: failed.refusal.tag, code: failed.refusal.code, message: failed.refusal.message },
            productId)
        const wasUncertain = outcome === "uncertain" && failed !== undefined && isSameFailure(send.refusal, failed.refusal)
        yield* status.publish({ _tag: "Sent", productId, priority, since, value, outcome, wasQuarantined, wasUncertain, failure })
      })

    const fail = (send: Send, failed: FailedSend) => Effect.zipRight(ledger.fail(send, failed), publish(send, failed.state, failed))

    /** Several products are refused with one code, so the products are not the reason. */
    const releaseUnproven = (code: string) =>
      Effect.suspend(() => {
        const ids = Array.from(unprovenRefusals).flatMap(([id, reason]) => reason === code ? [id] : [])
        ids.forEach((id) => unprovenRefusals.delete(id))
        return ids.length === 0 ? Effect.void : ledger.release(Option.some(ids))
      })

    const recordSuccess = (send: Send, shown: number | undefined) =>
      Effect.gen(function*() {
        lastAcceptedAt = yield* MonotonicClock.now
        unaccepted.delete(send.productId)
        unprovenRefusals.clear()
        if (shown === undefined || shown === send.value || shownStock === "ignore") {
          yield* ledger.confirm(send)
          yield* publish(send, "confirmed", undefined)
        } else {
          yield* fail(send, yield* FailurePolicy.afterMismatch(send, shown))
        }
      })

    /** Returns whether the failure shows anything about other products. */
    const recordFailure = (
      send: Send,
      failure: FailurePolicy.SendFailure,
      { breakerIsOpen, halfOpen, sentAt }: {
        readonly breakerIsOpen: boolean
        readonly halfOpen: boolean
        readonly sentAt: MonotonicClock.MonotonicMillis
      }
    ) =>
      Effect.gen(function*() {
        const { productId } = send
        const scope = FailureScope.of(failure)
        const now = yield* MonotonicClock.now
        const earlier = unaccepted.get(productId)
        const since = send.refusal === undefined ? now : earlier?.since ?? now
        const isRefusal = scope._tag === "Item" || scope._tag === "Refusal"
        // After a restart the earlier attempts are known to be refusals if the product was quarantined, or if the last one was the same
        // refusal.
        const wasRefused = send.wasQuarantined || (isRefusal && isSameFailure(send.refusal, FailurePolicy.refusalOf(failure, send.value)))
        const earlierRefusals = send.attempts === 1 ? 0 : earlier?.refusals ?? (wasRefused ? send.attempts - 1 : 0)
        const refusals = earlierRefusals + (isRefusal ? 1 : 0)
        unaccepted.set(productId, { since, refusals })
        const othersAccepted = lastAcceptedAt >= since
        const failed = yield* FailurePolicy.of(send, failure, { breakerIsOpen, refusals, othersAccepted, retryRefusedAfter })
        yield* fail(send, failed)
        const isRefused = failed.state === "quarantined" || failed.state === "uncertain"
        if (isRefused && scope._tag === "Refusal" && !othersAccepted) unprovenRefusals.set(productId, scope.code)
        if (halfOpen) return true
        // The service worked while this request waited for a response, so the failure shows nothing about other products.
        if (scope._tag === "Service" && lastAcceptedAt >= sentAt) return false
        // Nor does a product that keeps failing while others are accepted.
        return !othersAccepted || !isSameFailure(send.refusal, failed.refusal)
      })

    return {
      record: (send, exit, permit, sentAt) =>
        Effect.gen(function*() {
          const before = yield* breaker.state
          // After a service fault its products are due when the breaker closes. Refused products keep their delay, or they would open
          // the breaker again and again. The breaker may probe the account, which a shutdown does not wait for.
          const recordInBreaker = (failure: FailurePolicy.SendFailure | undefined, used = permit) =>
            Effect.flatMap(Effect.interruptible(breaker.record(used, send.productId, failure)),
              (closed) => closed && before._tag === "Open" && before.reason === "ServiceFault" ? ledger.retryNow : Effect.void)
          if (Exit.isSuccess(exit)) {
            yield* recordSuccess(send, exit.value?.stock)
            // Also a request that was in flight when the breaker opened shows by its response that the service works.
            const works = before._tag === "Open" && before.reason === "ServiceFault"
            return yield* recordInBreaker(undefined, works ? { ...permit, halfOpen: true } : permit)
          }
          const failure = Cause.failureOption(exit.cause)
          if (Option.isNone(failure)) {
            yield* fail(send, FailurePolicy.interrupted(send))
            return Cause.isInterruptedOnly(exit.cause) ? undefined : yield* Effect.die(Cause.squash(exit.cause))
          }
          const showsOthers = yield* recordFailure(send, failure.value, {
            breakerIsOpen: before._tag === "Open",
            halfOpen: permit.halfOpen,
            sentAt
          })
          if (!showsOthers) return
          yield* recordInBreaker(failure.value)
          const scope = FailureScope.of(failure.value)
          const after = yield* breaker.state
          if (scope._tag === "Refusal" && after._tag === "Open" && after.reason === "Refused") yield* releaseUnproven(scope.code)
        })
    }
  })
