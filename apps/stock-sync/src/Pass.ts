/**
 * One pass: the source becomes what is wanted, and what differs is sent, most urgent first, until everything is tried or something
 * concerns every product. Knows nothing of command lines and screens.
 *
 * @since 0.1.0
 */
import { Profiles } from "@plaza/client/Profiles"
import { Store } from "@plaza/client/Store"
import type { FailureOf } from "@plaza/client/Contract"
import type { ProductId } from "@plaza/domain/Ids"
import type { Row } from "@plaza/rows/Stock"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import {
  type Account,
  type Counts,
  Ledger,
  type LedgerFault,
  type OtherAccount,
  type Received,
  type SnapshotHeld,
  type Terms
} from "./Ledger.js"
import { accountOf } from "./AccountOf.js"
import * as Plan from "./Plan.js"
import * as Verdict from "./Verdict.js"

/** @since 0.1.0 @category models */
export interface Options<E, R> {
  /** Without a slash at its end; the ledger is bound to it. */
  readonly baseUrl: string
  readonly rows: Stream.Stream<Row, E, R>
  readonly terms: Terms
  /** How many products are sent at a time. */
  readonly concurrency: number
  /** Told how many products a round is about to send, and of each that is done with. */
  readonly watcher: Watcher
}

/** @since 0.1.0 @category models */
export interface Watcher {
  readonly round: (products: number) => Effect.Effect<void>
  readonly done: Effect.Effect<void>
}

/**
 * Why a pass ended before everything was tried.
 *
 * @since 0.1.0
 * @category models
 */
export interface Stop {
  readonly failure: Verdict.SendFailure
  readonly reach: Exclude<Verdict.Reach, "product">
}

/** @since 0.1.0 @category models */
export interface Result {
  readonly account: Account
  readonly received: Received
  /** Products that the service confirmed in this pass. */
  readonly confirmed: number
  /** Products that already stood as they are wanted. */
  readonly unchanged: number
  /** How the products of the snapshot stand at the end. */
  readonly counts: Counts
  readonly stop: Option.Option<Stop>
}

// Failures in a row that may concern every product. One more than a single bad moment at the usual concurrency would need, and few
// enough that a service in trouble isn't hammered: each has been tried again by the client already.
const patience = 5

/**
 * How long a stop waits for what has been sent already.
 *
 * @since 0.1.0
 * @category constants
 */
export const grace: Duration.Duration = Duration.seconds(10)

/**
 * Runs a pass. A refused source, the brake, another account or a refused key end it before anything is sent or taken over.
 * Interrupted, it waits for what is in flight, up to {@link grace}, and leaves the ledger telling the truth.
 *
 * @since 0.1.0
 * @category passes
 */
export const run = <E, R>(
  options: Options<E, R>
): Effect.Effect<Result, E | LedgerFault | OtherAccount | SnapshotHeld | FailureOf<"getMe">, R | Ledger | Profiles | Store> =>
  Effect.gen(function*() {
    const ledger = yield* Ledger
    const profiles = yield* Profiles
    const store = yield* Store
    const me = yield* profiles.me
    const account = { baseUrl: options.baseUrl, id: accountOf(me) }
    yield* ledger.bind(account)
    const received = yield* ledger.receive(options.rows, options.terms)
    const before = yield* ledger.counts

    let confirmed = 0
    let troubles = 0
    let stop: Stop | undefined
    const again = new Set<ProductId>()

    const settle = (productId: ProductId) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const value = yield* ledger.begin(productId)
          const exit = yield* finish(store.setStock(productId, value), restore)
          again.delete(productId)
          if (Exit.isSuccess(exit)) {
            troubles = 0
            confirmed++
            yield* ledger.confirm(productId, value)
          } else {
            const failure = Cause.failureOption(exit.cause)
            if (Option.isNone(failure)) {
              yield* ledger.fail(productId, "doubtful", { ...cutOff, value }, false)
              return Cause.isInterruptedOnly(exit.cause) ? undefined : yield* Effect.die(Cause.squash(exit.cause))
            }
            const verdict = Verdict.of(failure.value)
            yield* ledger.fail(productId, verdict.state, Verdict.refusalOf(failure.value, value), verdict.absent)
            troubles = verdict.reach === "trouble" ? troubles + 1 : 0
            if (verdict.again) again.add(productId)
            if (verdict.reach === "account" || troubles >= patience) {
              stop ??= { failure: failure.value, reach: verdict.reach === "account" ? "account" : "trouble" }
            }
          }
          yield* options.watcher.done
        }))

    const round = (steps: ReadonlyArray<Plan.Step>) =>
      Effect.zipRight(
        options.watcher.round(steps.length),
        Effect.forEach(
          steps,
          // Looked at when the product's turn comes: what is already in flight is let finish, nothing new is begun.
          ({ productId }) => Effect.suspend(() => stop === undefined ? settle(productId) : Effect.void),
          { concurrency: options.concurrency, discard: true }
        )
      )

    yield* round(yield* Plan.collect(ledger.unsettled))
    if (stop === undefined && again.size > 0) {
      yield* round(yield* Plan.collect(Stream.filter(ledger.unsettled, (entry) => again.has(entry.productId))))
    }
    return {
      account,
      received,
      confirmed,
      unchanged: before.settled,
      counts: yield* ledger.counts,
      stop: Option.fromNullable(stop)
    }
  })

const cutOff = { tag: "Interrupted", code: undefined, message: "stopped before the answer came" }

/**
 * Awaits an effect that a stop doesn't cut off at once: it gets {@link grace} to finish from then on.
 */
const finish = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  restore: <B, F, S>(effect: Effect.Effect<B, F, S>) => Effect.Effect<B, F, S>
): Effect.Effect<Exit.Exit<A, E>, never, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkDaemon(Effect.interruptible(effect))
    const awaited = yield* Effect.exit(restore(Fiber.await(fiber)))
    if (Exit.isSuccess(awaited)) return awaited.value
    const late = yield* Effect.raceFirst(
      Effect.interruptible(Effect.asSome(Fiber.await(fiber))),
      Effect.interruptible(Effect.as(Effect.sleep(grace), Option.none()))
    )
    return Option.isSome(late) ? late.value : yield* Fiber.interrupt(fiber)
  })
