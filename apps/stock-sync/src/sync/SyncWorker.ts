/**
 * The sync engine: the source determines the wanted stock, and products whose confirmed stock differs are sent, the most urgent first.
 * `run` continues until it is stopped and opens a failed ledger again; `once` ends when nothing is due; `poll` and `untilIdle` are the
 * steps of a program that keeps many accounts and runs each of them only when it has work.
 */
import type { Operations, Profiles, RateLimit, Store } from "@plaza/client"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { CurrentLedger } from "../ledger/CurrentLedger.ts"
import { type Account, Ledger } from "../ledger/Ledger.ts"
import type { LedgerFault, LedgerInUse, OtherAccount, SnapshotHeld } from "../ledger/LedgerError.ts"
import type { SnapshotPolicy } from "../ledger/Snapshot.ts"
import { isSettling, Source, type SourceFailure } from "../source/Source.ts"
import * as AccountBinding from "./AccountBinding.ts"
import * as AccountBreaker from "./AccountBreaker.ts"
import * as BackgroundPace from "./BackgroundPace.ts"
import * as Dispatcher from "./Dispatcher.ts"
import * as DispatchSignal from "./DispatchSignal.ts"
import * as LedgerSession from "./LedgerSession.ts"
import * as MonotonicClock from "./MonotonicClock.ts"
import * as OnceLimits from "./OnceLimits.ts"
import * as Reassertion from "./Reassertion.ts"
import * as Reconciliation from "./Reconciliation.ts"
import * as SnapshotIngest from "./SnapshotIngest.ts"
import * as SyncStatus from "./SyncStatus.ts"

interface OnceOptions extends Dispatcher.Options {
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

/** What a worker of `untilIdle` knows when it ends, for the next one of the account. */
export interface Checkpoint {
  /** None before the service has identified the account. */
  readonly identity: Option.Option<Account>
  readonly source: SnapshotIngest.Progress
  readonly status: SyncStatus.State
  /** When the list of the store's products is read next. */
  readonly reconcileAt: MonotonicClock.MonotonicMillis
  /** When the next background request may follow. */
  readonly backgroundAt: MonotonicClock.MonotonicMillis
}

const unknown = { identity: Option.none<Account>(), source: SnapshotIngest.unread }

/** For the first worker of an account. */
export const firstCheckpoint: Effect.Effect<Checkpoint> = Effect.map(Effect.all([DateTime.now, MonotonicClock.now]), ([wall, now]) => ({
  ...unknown,
  status: SyncStatus.initial(wall),
  reconcileAt: now,
  backgroundAt: now
}))

type Requirements = Operations | Profiles | RateLimit.RateLimit | Source | SyncStatus.SyncStatus | Store

// Services instead of layers: a fleet makes them each time an account has work.
const services = Effect.fnUntraced(
  function*({ account, policy }: OnceOptions, { identity, source }: Pick<Checkpoint, "identity" | "source"> = unknown) {
    const shared = Context.make(AccountBreaker.AccountBreaker, yield* AccountBreaker.make).pipe(
      Context.add(DispatchSignal.DispatchSignal, yield* DispatchSignal.make)
    )
    return shared.pipe(
      Context.add(AccountBinding.AccountBinding, yield* Effect.provide(AccountBinding.make(account, identity), shared)),
      Context.add(SnapshotIngest.SnapshotIngest, yield* Effect.provide(SnapshotIngest.make(policy, source), shared))
    )
  }
)

const background = (
  { reassert, reconcile, sourceIncludesSales }: Pick<Options<never>, "reassert" | "reconcile" | "sourceIncludesSales">
) =>
  Effect.map(BackgroundPace.make(reassert), (pace) => {
    // Reconciliation finds the differences that reassertion would overwrite blindly, so only one of them uses the background requests.
    const reassertion = sourceIncludesSales && reconcile === undefined ? Reassertion.make(reassert.after, pace) : Reassertion.disabled
    return Context.make(BackgroundPace.BackgroundPace, pace).pipe(Context.add(Reassertion.Reassertion, reassertion))
  })

const withServices = <A, EA, RA>(made: Effect.Effect<Context.Context<A>, EA, RA>) => <B, E, R>(work: Effect.Effect<B, E, R>) =>
  Effect.flatMap(made, (context) => Effect.provide(work, context))

/** For what follows the requests in flight at a stop: the outcome of each in the ledger, and its end. */
const recordingTime = Duration.seconds(1)

/**
 * Limits how long an interruption of the work takes: to the requests in flight and the recording of their outcomes. A statement of a ledger
 * that does not respond can't be interrupted. What the ledger did not record is doubtful when it is opened again.
 */
const withStopLimit = <A, E, R>(
  { stopWithin }: Pick<Dispatcher.Options, "stopWithin">,
  work: Effect.Effect<A, E, R>,
  onStop: Effect.Effect<void> = Effect.void
): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(work), (fiber) =>
      Effect.onInterrupt(restore(Fiber.join(fiber)), () =>
        onStop.pipe(
          Effect.andThen(Effect.forkDetach(Fiber.interrupt(fiber), { startImmediately: true })),
          Effect.andThen(Effect.timeoutOption(Fiber.await(fiber), Duration.sum(stopWithin, recordingTime)))
        )))
  )

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
    const status = yield* SyncStatus.SyncStatus
    const binding = yield* AccountBinding.AccountBinding
    const ingest = yield* SnapshotIngest.SnapshotIngest
    const reconcileAt = yield* Ref.make<MonotonicClock.MonotonicMillis>(yield* MonotonicClock.now)
    const work = Effect.gen(function*() {
      yield* binding.bind(Effect.succeed(true))
      yield* Effect.all([
        ingest.run("now"),
        Dispatcher.run(options, Dispatcher.untilStopped),
        reconcile === undefined ? Effect.never : Reconciliation.run({ ...reconcile, resend: sourceIncludesSales }, reconcileAt)
      ], { concurrency: "unbounded", discard: true })
    })
    // Also the work on a ledger that is lost, before the ledger is opened again.
    return yield* withStopLimit(options, LedgerSession.forever(options.ledger, withStopLimit(options, work)),
      status.publish({ _tag: "Stopping" }))
  }).pipe(withServices(Effect.zipWith(services(options), background(options), (one, other) => Context.merge(one, other))))

interface IdleOptions extends Omit<Options<never>, "ledger"> {
  readonly checkpoint: Ref.Ref<Checkpoint>
}

/** Saves what the worker knows by now, whatever its end. */
const saving = (checkpoint: Ref.Ref<Checkpoint>, changes: Effect.Effect<Partial<Checkpoint>>) =>
  Effect.ensuring(Effect.gen(function*() {
    const { state } = yield* SyncStatus.SyncStatus
    const changed = { ...yield* changes, status: yield* state }
    yield* Ref.update(checkpoint, (before) => ({ ...before, ...changed }))
  }))

/**
 * Opens the source of an identified account. Returns none if it is unchanged or its file has not settled. Otherwise a source for `poll`, whose next `open` returns
 * what was opened. Uses neither the ledger nor layers: most polls of a fleet find nothing, and these would be most of their cost.
 */
export const openChanged = (
  checkpoint: Ref.Ref<Checkpoint>
): Effect.Effect<Option.Option<Source["Service"]>, never, Scope.Scope | Source | SyncStatus.SyncStatus> =>
  Effect.gen(function*() {
    const source = yield* Source
    const status = yield* SyncStatus.SyncStatus
    const { source: progress, status: { source: { held } } } = yield* Ref.get(checkpoint)
    // Only the ledger knows whether a held snapshot was confirmed, and is to be read again.
    if (held !== undefined) return Option.some(source)
    const opened = yield* Effect.exit(source.open(progress.version))
    const settling = Option.filter(Exit.findErrorOption(opened), isSettling)
    const triedAt = yield* MonotonicClock.now
    if (Option.isSome(settling)) {
      const retryAt = yield* SnapshotIngest.retryAtOf(settling.value)
      yield* Ref.update(checkpoint, (before) => ({ ...before, source: { ...progress, retryAt, triedAt } }))
      return Option.none()
    }
    if (!Exit.isSuccess(opened) || Option.isSome(opened.value)) return Option.some({ ...source, open: () => opened })
    yield* status.publish({ _tag: "SourceUnchanged" })
    const read: SnapshotIngest.Progress = { ...progress, failures: 0, retryAt: undefined, notBefore: undefined, triedAt }
    const state = yield* status.state
    yield* Ref.update(checkpoint, (before) => ({ ...before, source: read, status: state }))
    return Option.none()
  })

/**
 * Reads the source once and applies its snapshot if it has changed. Sends nothing, and uses the ledger only for a changed source. Only
 * for an identified account. Returns whether a snapshot with other rows was applied: then products may be due.
 */
export const poll = (
  { checkpoint, policy }: Pick<IdleOptions, "checkpoint" | "policy">
): Effect.Effect<boolean, LedgerFault, Ledger | Source | SyncStatus.SyncStatus> =>
  Effect.gen(function*() {
    const { source } = yield* Ref.get(checkpoint)
    const ingest = SnapshotIngest.make(policy, source)
    const { poll, progress } = yield* Effect.provideService(ingest, DispatchSignal.DispatchSignal, DispatchSignal.none)
    return yield* saving(checkpoint, Effect.map(progress, (source) => ({ source })))(poll)
  })

/**
 * Sends until no product is due within seconds, and returns when the next one is. Reads the source now or when it is due again, as long
 * as it runs. Waits for a service that accepts nothing for as long as it takes. Fails if the ledger does.
 */
export const untilIdle = (
  { read, ...options }: IdleOptions & { readonly read: "now" | "later" }
): Effect.Effect<
  Option.Option<DateTime.Utc>,
  AccountBinding.WrongAddress | LedgerFault | OtherAccount,
  Ledger | Requirements
> =>
  Effect.gen(function*() {
    const { checkpoint, reassert, reconcile, sourceIncludesSales } = options
    const earlier = yield* Ref.get(checkpoint)
    const reconcileAt = yield* Ref.make(earlier.reconcileAt)
    const work = Effect.gen(function*() {
      const binding = yield* AccountBinding.AccountBinding
      const ingest = yield* SnapshotIngest.SnapshotIngest
      const pace = yield* BackgroundPace.BackgroundPace
      const changes = Effect.all({
        identity: binding.identity,
        source: ingest.progress,
        reconcileAt: Ref.get(reconcileAt),
        backgroundAt: pace.nextAt
      })
      return yield* Effect.gen(function*() {
        yield* binding.bind(Effect.succeed(true))
        // The dispatcher last: it must not find nothing to do before the source is read.
        return yield* Effect.raceAllFirst([
          ingest.run(read),
          reconcile === undefined ? Effect.never : Reconciliation.run({ ...reconcile, resend: sourceIncludesSales }, reconcileAt),
          Dispatcher.run(options, Dispatcher.untilIdle)
        ])
      }).pipe(saving(checkpoint, changes))
    })
    const nextDue = yield* work.pipe(
      withServices(Effect.zipWith(
        services(options, earlier),
        background({ ...options, reassert: { ...reassert, notBefore: earlier.backgroundAt } }),
        (one, other) => Context.merge(one, other)
      ))
    )
    if (reconcile === undefined) return nextDue
    const wait = Math.max(0, (yield* Ref.get(reconcileAt)) - (yield* MonotonicClock.now))
    const reconciled = DateTime.add(yield* DateTime.now, { milliseconds: Math.ceil(wait) })
    return Option.some(Option.match(nextDue, { onNone: () => reconciled, onSome: (at) => DateTime.min(at, reconciled) }))
  })

/** The result of `once`. */
export interface OnceResult {
  readonly ended: OnceLimits.Ended
  /**
   * Why the snapshot was not applied; earlier wanted stock was sent nevertheless. Undefined: the source was not read and nothing was
   * sent.
   */
  readonly source: Result.Result<void, SourceFailure | SnapshotHeld> | undefined
  /** Products that were settled before anything was sent. */
  readonly unchanged: number
}

const sendOnce = Effect.fnUntraced(function*(options: OnceOptions) {
  const status = yield* SyncStatus.SyncStatus
  const ledger = yield* Ledger
  const binding = yield* AccountBinding.AccountBinding
  const breaker = yield* AccountBreaker.AccountBreaker
  const { ingest } = yield* SnapshotIngest.SnapshotIngest
  yield* status.publish({ _tag: "LedgerChanged", ledger: { _tag: "Open", since: yield* DateTime.now, path: ledger.path } })
  const breakerLimit = Effect.provideService(OnceLimits.breakerLimit, AccountBreaker.AccountBreaker, breaker)
  yield* binding.bind(Effect.map(breakerLimit, Option.isNone))
  const refused = yield* breakerLimit
  if (Option.isSome(refused)) return { ended: refused.value, source: undefined, unchanged: (yield* ledger.counts).settled }
  const failed = (failure: SourceFailure | SnapshotHeld) => Effect.succeed(Result.fail(failure))
  const source = yield* ingest.pipe(
    Effect.as(Result.void),
    Effect.catchTags({ SnapshotHeld: failed, SourceError: failed, SourceUnreachable: failed })
  )
  const { settled: unchanged } = yield* ledger.counts
  const ended = yield* Dispatcher.run(options, Dispatcher.untilNothingDue)
  return { ended, source, unchanged }
})

/**
 * Reads the source once and sends until nothing is due, or until the service, the key or the account accept no request for longer than
 * such a run waits. Fails if the ledger does.
 */
export const once = (
  options: OnceOptions
): Effect.Effect<OnceResult, AccountBinding.WrongAddress | LedgerFault | OtherAccount, Ledger | Requirements> =>
  Effect.gen(function*() {
    const ledger = yield* Ledger
    return yield* Effect.raceFirst(withStopLimit(options, sendOnce(options)), ledger.lost)
  }).pipe(withServices(Effect.map(services(options), Context.add(Reassertion.Reassertion, Reassertion.disabled))))
