/**
 * Compares a list of the store's products with the confirmed stock, at the background pace. The interface shows no such list, so its
 * path is a setting.
 *
 * Source: interface v1, "Endpoints", gaps, and "List behaviour".
 */
import { Plaza } from "@plaza/client"
import type { Operations } from "@plaza/client"
import { Product } from "@plaza/domain/Resources"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { Ledger } from "../ledger/Ledger.ts"
import type { LedgerFault } from "../ledger/LedgerError.ts"
import { BackgroundPace } from "./BackgroundPace.ts"
import { DispatchSignal } from "./DispatchSignal.ts"
import * as FailureEvent from "./FailureEvent.ts"
import * as MonotonicClock from "./MonotonicClock.ts"
import { SyncStatus } from "./SyncStatus.ts"

export interface Options {
  /** Relative to the base URL, with a leading slash. */
  readonly path: string
  readonly every: Duration.Duration
  /** Sends differing products again. Only correct if the source includes the store's own sales. */
  readonly resend: boolean
}

const pollInterval = Duration.seconds(5)

/** Waits until no product is due. The backlog is only known once the source was read or has failed. */
const awaitIdle: Effect.Effect<void, LedgerFault, Ledger | SyncStatus> = Effect.gen(function*() {
  const ledger = yield* Ledger
  const { source } = yield* (yield* SyncStatus).state
  // A delayed product is ignored, because one product may be delayed for ever.
  const next = yield* Stream.runHead(ledger.queue)
  const now = yield* DateTime.now
  const isDue = Option.exists(next, ({ dueAt }) => dueAt === undefined || DateTime.isLessThanOrEqualTo(dueAt, now))
  if ((source.readAt !== undefined || source.failing !== undefined) && !isDue) return
  yield* Effect.sleep(pollInterval)
  return yield* awaitIdle
})

/** Waits until a request may follow, and counts it. */
const awaitTurn = Effect.gen(function*() {
  const pace = yield* BackgroundPace
  yield* MonotonicClock.sleepUntil(yield* pace.nextAt)
  yield* awaitIdle
  yield* pace.record
})

const reconcile = Effect.fn("StockSync.reconcile")(function*({ path, resend }: Options) {
  const ledger = yield* Ledger
  const signal = yield* DispatchSignal
  const status = yield* SyncStatus
  const startedAt = yield* DateTime.now
  const total = yield* Ref.make({ products: 0, differing: 0 })
  yield* awaitTurn
  yield* Stream.runForEachArray(Plaza.paginate({ path, item: Product }), (page) =>
    Effect.gen(function*() {
      const observed = page.flatMap(({ id, stock }) => stock === undefined ? [] : [{ productId: id, stock }])
      const differing = yield* ledger.observe(observed, startedAt, resend)
      yield* Ref.update(total, (before) => ({
        products: before.products + observed.length,
        differing: before.differing + differing
      }))
      if (differing > 0) yield* signal.notify
      yield* awaitTurn
    }))
  const { differing, products } = yield* Ref.get(total)
  yield* Effect.annotateCurrentSpan({ "stock_sync.products": products, "stock_sync.products.differing": differing })
  yield* status.publish({ _tag: "Reconciled", products, differing, resent: resend })
})

/** Reconciles at an interval until the ledger fails. The reference has the next time. */
export const run = (options: Options, next: Ref.Ref<MonotonicClock.MonotonicMillis>): Effect.Effect<
  never,
  LedgerFault,
  BackgroundPace | DispatchSignal | Ledger | Operations | SyncStatus
> =>
  Effect.gen(function*() {
    const signal = yield* DispatchSignal
    const status = yield* SyncStatus
    const reported = reconcile(options).pipe(Effect.catch((failure) =>
      failure._tag === "LedgerFault" ?
        Effect.fail(failure) :
        Effect.flatMap(FailureEvent.make("service", failure), (event) => status.publish({ _tag: "ReconciliationFailed", failure: event }))
    ))
    const plan = Effect.flatMap(MonotonicClock.now, (now) => Ref.set(next, now + Duration.toMillis(options.every)))
    const awaitNext = Effect.flatMap(Ref.get(next), MonotonicClock.sleepUntil)
    return yield* Effect.forever(Effect.andThen(awaitNext, signal.during(Effect.andThen(reported, plan))))
  })
