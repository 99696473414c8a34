/**
 * Reads a list of the store's products and compares it with the confirmed stock, in the place of reassertion. The interface
 * shows no such list, so its path is a setting.
 *
 * Source: interface v1, "Endpoints", gaps, and "List behaviour".
 */
import { Plaza } from "@plaza/client"
import type { Operations } from "@plaza/client"
import { Product } from "@plaza/domain/Resources"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { type Ledger, LedgerFault } from "../ledger/Ledger.js"
import * as FailureEvent from "./FailureEvent.js"
import * as MonotonicClock from "./MonotonicClock.js"
import type { Reassertion } from "./Reassertion.js"
import { SyncStatus } from "./SyncStatus.js"

export interface Options {
  readonly ledger: Ledger["Type"]
  /** Relative to the base address, with a slash at its beginning. */
  readonly path: string
  readonly every: Duration.Duration
  /** How often there may be a request. */
  readonly pace: Reassertion
  /** Sends products again that differ: only where the source contains the store's own sales. */
  readonly resend: boolean
  /** Something may be due. */
  readonly wakes: Queue.Enqueue<void>
}

const lookAgain = Duration.seconds(5)

/**
 * Reads again and again, until the ledger fails. While a product waits for its turn, nothing is read.
 */
export const run = ({ every, ledger, pace, path, resend, wakes }: Options): Effect.Effect<never, LedgerFault, Operations | SyncStatus> =>
  Effect.gen(function*() {
    const status = yield* SyncStatus

    // What is to be sent first is known when the source was looked at.
    const lookedAt = Effect.map(status.state, ({ source }) => source.readAt !== undefined || source.failing !== undefined)
    const nothingWaits: Effect.Effect<void, LedgerFault> = Effect.gen(function*() {
      const isKnown = yield* lookedAt
      // What waits for a moment is retried then, and one product may do so for ever.
      const next = yield* Stream.runHead(ledger.queue)
      const now = yield* Clock.currentTimeMillis
      if (isKnown && !Option.exists(next, ({ dueAt }) => dueAt === undefined || dueAt <= now)) return
      yield* Effect.sleep(lookAgain)
      return yield* nothingWaits
    })

    const turn = Effect.suspend(() => MonotonicClock.sleepUntil(pace.next())).pipe(Effect.zipRight(nothingWaits),
      Effect.zipRight(pace.spend))

    const reading = Effect.gen(function*() {
      const begunAt = yield* Clock.currentTimeMillis
      let products = 0
      let differing = 0
      yield* turn
      yield* Stream.runForEachChunk(Plaza.paginate({ path, item: Product }), (page) =>
        Effect.gen(function*() {
          const seen = Chunk.toReadonlyArray(page).flatMap(({ id, stock }) => stock === undefined ? [] : [{ productId: id, stock }])
          products += seen.length
          const different = yield* ledger.observe(seen, begunAt, resend)
          differing += different
          if (different > 0) yield* Queue.offer(wakes, undefined)
          yield* turn
        }))
      yield* status.publish({ _tag: "Reconciled", products, differing, resent: resend })
    })

    return yield* Effect.forever(Effect.zipRight(
      Effect.catchAll(reading, (failure) =>
        failure instanceof LedgerFault ?
          Effect.fail(failure) :
          Effect.flatMap(FailureEvent.make("service", failure), (told) => status.publish({ _tag: "ReconcilingFailed", failure: told }))),
      Effect.sleep(every)
    ))
  })
