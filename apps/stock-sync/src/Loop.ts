/**
 * The loop: until it is stopped, the source becomes what is wanted, and what differs is sent, most urgent first. A ledger that fails is
 * opened anew; whatever else fails is tried again by the part that it happened in. Knows nothing of command lines and screens.
 *
 * @since 0.1.0
 */
import type { Operations } from "@plaza/client/Operations"
import type { Profiles } from "@plaza/client/Profiles"
import type { RateLimit } from "@plaza/client/RateLimit"
import type { Store } from "@plaza/client/Store"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { accountOf } from "./AccountOf.js"
import { Ledger, type LedgerFault, type LedgerInUse, type OtherAccount, type Terms } from "./Ledger.js"
import * as Assertions from "./Loop/Assertions.js"
import * as Failing from "./Loop/Failing.js"
import * as Feeding from "./Loop/Feeding.js"
import * as Gate from "./Loop/Gate.js"
import * as Moment from "./Loop/Moment.js"
import * as Reconciling from "./Loop/Reconciling.js"
import * as Resting from "./Loop/Resting.js"
import * as Sending from "./Loop/Sending.js"
import type { Source } from "./Source.js"
import { Standing } from "./Standing.js"

/** @since 0.1.0 @category models */
export interface Options<R> {
  /** Without a slash at its end; the ledger is bound to it. */
  readonly baseUrl: string
  /** Opens the ledger to work with, alone. */
  readonly ledger: Layer.Layer<Ledger, LedgerFault | LedgerInUse, R>
  /** A confirmation holds for the first snapshot that is taken. */
  readonly terms: Terms
  /** How many products are sent at a time. */
  readonly concurrency: number
  readonly assertions: Assertions.Options
  /** Where and how often the store's products are read; nothing is asserted then but what was seen to differ. */
  readonly reconcile?: { readonly path: string; readonly every: Duration.Duration } | undefined
  /** How long a stop waits for what has been sent already. */
  readonly stopWithin: Duration.Duration
}

const reopening: Moment.Growth = { first: 1_000, most: 60_000 }
// A ledger that worked for so long has not failed again, it has failed anew.
const settled = 300_000

/**
 * Runs until it is interrupted; then what is in flight gets some time to finish, and the ledger tells the truth. Fails at once where
 * the ledger can't be opened at all or is another account's, and never later.
 *
 * @since 0.1.0
 * @category loops
 */
export const run = <R>(
  options: Options<R>
): Effect.Effect<never, LedgerFault | LedgerInUse | OtherAccount, R | Operations | Profiles | RateLimit | Source | Standing | Store> =>
  Effect.gen(function*() {
    const standing = yield* Standing
    const wakes = yield* Queue.sliding<void>(1)
    const gate = yield* Gate.make
    const feeding = yield* Feeding.make({ terms: options.terms, wakes })
    const { reconcile } = options
    const pace = Assertions.make(options.assertions)
    const assertions = reconcile === undefined ? pace : Assertions.make({ ...options.assertions, share: 0 })
    const parts = { ...options, gate, wakes, resting: Resting.make(), assertions }
    let openedAt: number | undefined
    let failures = 0

    const session = Effect.scoped(Effect.gen(function*() {
      const ledger = Context.get(yield* Layer.build(options.ledger), Ledger)
      openedAt = yield* Moment.now
      yield* standing.tell({ _tag: "LedgerIs", ledger: { _tag: "Open", since: yield* Clock.currentTimeMillis, ledger } })
      const owner = { baseUrl: options.baseUrl, id: accountOf(yield* gate.owner) }
      yield* ledger.bind(owner)
      yield* standing.tell({ _tag: "Bound", owner })
      yield* Effect.all([
        feeding.run(ledger),
        Sending.run({ ...parts, ledger }),
        reconcile === undefined ? Effect.never : Reconciling.run({ ...reconcile, ledger, pace, wakes })
      ], { concurrency: "unbounded", discard: true })
    }))

    const failing = (fault: LedgerFault | LedgerInUse) =>
      Effect.gen(function*() {
        // Whoever starts it is there to read why it can't.
        if (openedAt === undefined) return yield* fault
        const { ledger } = yield* standing.state
        failures = (yield* Moment.now) - openedAt > settled && ledger._tag === "Open" ? 1 : failures + 1
        const now = yield* Clock.currentTimeMillis
        const pause = yield* Moment.pause(reopening, failures)
        const failure = yield* Failing.told("ledger", fault)
        const since = ledger._tag === "Failing" ? ledger.since : now
        yield* standing.tell({ _tag: "LedgerIs", ledger: { _tag: "Failing", since, failure, nextTry: now + pause } })
        yield* Moment.sleep(pause)
      })

    const loop = Effect.forever(Effect.catchTags(session, { LedgerFault: failing, LedgerInUse: failing }))

    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.fork(Effect.interruptible(loop)), (fiber) =>
        Effect.onInterrupt(restore(Fiber.join(fiber)), () => Effect.zipRight(standing.tell({ _tag: "Stopping" }), Fiber.interrupt(fiber)))))
  })
