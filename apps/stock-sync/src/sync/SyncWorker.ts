/**
 * The sync engine: the source determines the wanted stock, and products whose confirmed stock differs are sent, the most urgent first.
 * `run` continues until it is stopped and opens a failed ledger again; `once` ends when nothing is due.
 */
import type { Operations, Profiles, RateLimit, Store } from "@plaza/client"
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { CurrentLedger } from "../ledger/CurrentLedger.js"
import { type Account, Ledger } from "../ledger/Ledger.js"
import type { LedgerFault, LedgerInUse, OtherAccount, SnapshotHeld } from "../ledger/LedgerError.js"
import type { SnapshotPolicy } from "../ledger/Snapshot.js"
import type { Source, SourceFailure } from "../source/Source.js"
import * as AccountBinding from "./AccountBinding.js"
import * as AccountBreaker from "./AccountBreaker.js"
import * as BackgroundPace from "./BackgroundPace.js"
import * as Dispatcher from "./Dispatcher.js"
import * as DispatchSignal from "./DispatchSignal.js"
import * as LedgerSession from "./LedgerSession.js"
import * as OnceLimits from "./OnceLimits.js"
import * as Reassertion from "./Reassertion.js"
import * as Reconciliation from "./Reconciliation.js"
import * as SnapshotIngest from "./SnapshotIngest.js"
import { SyncStatus } from "./SyncStatus.js"

interface OnceOptions extends Omit<Dispatcher.Options, "until"> {
  /** The account of the key, without the id, which the service may show. */
  readonly account: Omit<Account, "id">
  readonly policy: SnapshotPolicy
}

export interface Options<R> extends OnceOptions {
  /** Opens the ledger and holds its lock. */
  readonly ledger: Layer.Layer<Ledger, LedgerFault | LedgerInUse, R>
  readonly reassert: BackgroundPace.Options & {
    /** Only stock whose confirmation is older is sent again. */
    readonly after: Duration.Duration
  }
  /** The path and interval of the list of the store's products; undefined: no list is known. */
  readonly reconcile?: Omit<Reconciliation.Options, "resend"> | undefined
  /** The source includes the store's own sales, so confirmed stock may be sent again. */
  readonly sourceIncludesSales: boolean
}

type Requirements = Operations | Profiles | RateLimit.RateLimit | Source | SyncStatus | Store

const services = ({ account, policy }: OnceOptions) =>
  Layer.mergeAll(AccountBinding.layer(account), SnapshotIngest.layer(policy)).pipe(
    Layer.provideMerge(Layer.mergeAll(AccountBreaker.layer, DispatchSignal.layer))
  )

const background = ({ reassert, reconcile, sourceIncludesSales }: Omit<Options<never>, "ledger">) => {
  // Reconciliation finds the differences that reassertion would overwrite blindly, so only one of them uses the background requests.
  const reassertion = sourceIncludesSales && reconcile === undefined ? Reassertion.layer(reassert.after) : Reassertion.layerDisabled
  return Layer.provideMerge(reassertion, BackgroundPace.layer(reassert))
}

/**
 * Runs until it is interrupted; then requests in flight get some time to finish. Fails only at the start: if the ledger can't be opened
 * or belongs to another account, or the base URL is wrong.
 */
export const run = <R>(
  options: Options<R>
): Effect.Effect<
  never,
  AccountBinding.WrongAddress | LedgerFault | LedgerInUse | OtherAccount,
  CurrentLedger | R | Requirements
> =>
  Effect.gen(function*() {
    const { reconcile, sourceIncludesSales } = options
    const status = yield* SyncStatus
    const binding = yield* AccountBinding.AccountBinding
    const ingest = yield* SnapshotIngest.SnapshotIngest
    const work = Effect.gen(function*() {
      yield* binding.bind(Effect.succeed(true))
      yield* Effect.all([
        ingest.run,
        Dispatcher.run({ ...options, until: "stopped" }),
        reconcile === undefined ? Effect.never : Reconciliation.run({ ...reconcile, resend: sourceIncludesSales })
      ], { concurrency: "unbounded", discard: true })
    })
    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.fork(Effect.interruptible(LedgerSession.forever(options.ledger, work))), (fiber) =>
        Effect.onInterrupt(restore(Fiber.join(fiber)), () => Effect.zipRight(status.publish({ _tag: "Stopping" }), Fiber.interrupt(fiber))))
    )
  }).pipe(Effect.provide(Layer.merge(services(options), background(options))))

/** The result of `once`. */
export interface Result {
  readonly ended: OnceLimits.Ended
  /**
   * Why the snapshot was not applied; earlier wanted stock was sent nevertheless. Undefined: the source was not read and nothing was
   * sent.
   */
  readonly source: Either.Either<void, SourceFailure | SnapshotHeld> | undefined
  /** Products that were settled before anything was sent. */
  readonly unchanged: number
}

/**
 * Reads the source once and sends until nothing is due, or until the service, the key or the account accept no request for longer than
 * such a run waits. Fails if the ledger does.
 */
export const once = (
  options: OnceOptions
): Effect.Effect<Result, AccountBinding.WrongAddress | LedgerFault | OtherAccount, Ledger | Requirements> =>
  Effect.gen(function*() {
    const status = yield* SyncStatus
    const ledger = yield* Ledger
    const binding = yield* AccountBinding.AccountBinding
    const breaker = yield* AccountBreaker.AccountBreaker
    const { ingest } = yield* SnapshotIngest.SnapshotIngest
    yield* status.publish({ _tag: "LedgerChanged", ledger: { _tag: "Open", since: yield* DateTime.now, path: ledger.path } })
    const breakerLimit = Effect.provideService(OnceLimits.breakerLimit, AccountBreaker.AccountBreaker, breaker)
    yield* binding.bind(Effect.map(breakerLimit, Option.isNone))
    const refused = yield* breakerLimit
    if (Option.isSome(refused)) return { ended: refused.value, source: undefined, unchanged: (yield* ledger.counts).settled }
    const failed = (failure: SourceFailure | SnapshotHeld) => Effect.succeed(Either.left(failure))
    const source = yield* ingest.pipe(
      Effect.as(Either.void),
      Effect.catchTags({ SnapshotHeld: failed, SourceError: failed, SourceUnreachable: failed })
    )
    const { settled: unchanged } = yield* ledger.counts
    // The products that an earlier run gave up are sent at once, whatever their delay.
    yield* ledger.retryNow
    const ended = yield* Dispatcher.run({ ...options, until: "idle" })
    return { ended, source, unchanged }
  }).pipe(Effect.provide(Layer.merge(services(options), Reassertion.layerDisabled)))
