/**
 * The engine of the worker: the source becomes what is wanted, and what differs is sent, most urgent first. `run` goes on
 * until it is stopped and opens a ledger that failed anew; `once` ends when nothing is due.
 */
import { CircuitBreaker, RateLimit } from "@plaza/client"
import type { Operations, Profiles, Store } from "@plaza/client"
import type { ProductId } from "@plaza/domain/Ids"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import {
  type Account,
  Ledger,
  type LedgerFault,
  type LedgerInUse,
  type OtherAccount,
  type SnapshotHeld,
  type SnapshotPolicy
} from "../ledger/Ledger.js"
import type { Source, SourceFailure } from "../source/Source.js"
import * as AccountIdentity from "./AccountIdentity.js"
import * as Backoff from "./Backoff.js"
import * as Dispatcher from "./Dispatcher.js"
import * as FailureEvent from "./FailureEvent.js"
import * as MonotonicClock from "./MonotonicClock.js"
import * as Reassertion from "./Reassertion.js"
import * as Reconciliation from "./Reconciliation.js"
import * as SnapshotIngest from "./SnapshotIngest.js"
import { type AccountState, SyncStatus } from "./SyncStatus.js"

export interface Options<R> {
  /** Whose store it is, but for the id, which the service may show. */
  readonly account: Omit<Account, "id">
  /** Opens the ledger and holds its lock. */
  readonly ledger: Layer.Layer<Ledger, LedgerFault | LedgerInUse, R>
  readonly policy: SnapshotPolicy
  /** Products in flight at a time. */
  readonly concurrency: number
  readonly reassert: Reassertion.Options
  /** Where and how often the store's products are listed; undefined where no place is known. */
  readonly reconcile?: { readonly path: string; readonly every: Duration.Duration } | undefined
  /** Confirmed stock may be sent again: the source contains what the store itself sold. */
  readonly sourceIncludesSales: boolean
  /** How long after a refusal a quarantined product is sent again for the first time; then twice as long each time. */
  readonly retryRefusedAfter: Duration.Duration
  /** How long a stop waits for requests in flight. */
  readonly stopWithin: Duration.Duration
}

type Requirements = Operations | Profiles | RateLimit.RateLimit | Source | SyncStatus | Store

const reopening: Backoff.Backoff = { first: Duration.seconds(1), longest: Duration.minutes(1) }
// A ledger that worked for so long has not failed again, it has failed anew.
const steadyAfter = Duration.toMillis("5 minutes")

const accountState = (state: CircuitBreaker.State): Effect.Effect<AccountState> =>
  Effect.gen(function*() {
    if (state._tag === "Closed") return { _tag: "Running", since: DateTime.toEpochMillis(state.since) }
    const { reason } = state
    const since = DateTime.toEpochMillis(state.since)
    const retryAt = DateTime.toEpochMillis(state.retryAt)
    const failure = yield* FailureEvent.make(reason === "ServiceFault" ? "service" : "account", state.failure)
    switch (reason) {
      case "Refused":
        return { _tag: "Paused", since, failure, nextProbe: retryAt }
      case "RateLimited":
        return { _tag: "Quota", since, failure, until: retryAt }
      case "ServiceFault":
        return { _tag: "Trouble", since, failure, nextTry: retryAt }
    }
  })

interface Parts {
  readonly wakes: Queue.Queue<void>
  readonly breaker: CircuitBreaker.CircuitBreaker<ProductId>
  readonly reader: SnapshotIngest.SourceReader
  readonly reassertion: Reassertion.Reassertion
  readonly reconciliation: Reassertion.Reassertion
  /** Makes the ledger that of the account, and the rate limit count what earlier processes sent. */
  readonly begin: (
    ledger: Ledger["Type"],
    goOn: Effect.Effect<boolean>
  ) => Effect.Effect<void, LedgerFault | OtherAccount | AccountIdentity.WrongAddress, Profiles>
}

const parts = (options: Omit<Options<never>, "ledger">): Effect.Effect<Parts, never, Requirements> =>
  Effect.gen(function*() {
    const status = yield* SyncStatus
    const rateLimit = yield* RateLimit.RateLimit
    const wakes = yield* Queue.sliding<void>(1)
    const breaker = yield* CircuitBreaker.make<ProductId, Profiles>({
      probe: AccountIdentity.probe,
      onState: (state) => Effect.flatMap(accountState(state), (account) => status.publish({ _tag: "AccountIs", account }))
    })
    const off = Reassertion.make({ ...options.reassert, share: 0 })
    const pace = Reassertion.make(options.reassert)
    let account: Account | undefined
    let isFirst = true

    return {
      wakes,
      breaker,
      reader: yield* SnapshotIngest.make({ policy: options.policy, wakes }),
      reassertion: options.sourceIncludesSales && options.reconcile === undefined ? pace : off,
      reconciliation: pace,
      begin: (ledger, goOn) =>
        Effect.gen(function*() {
          if (isFirst) {
            yield* rateLimit.occupy(yield* ledger.requests)
            // Whoever starts a worker wants what an earlier one gave up to be tried again.
            yield* ledger.retryNow
          }
          isFirst = false
          const before = Option.getOrUndefined(yield* ledger.account)
          if (account === undefined) {
            const { baseUrl, keyFingerprint } = options.account
            const isKnown = before?.baseUrl === baseUrl && before.keyFingerprint === keyFingerprint
            const id = yield* AccountIdentity.find(breaker, isKnown, goOn)
            yield* ledger.noteRequest
            if (!(yield* goOn)) return
            account = { baseUrl, keyFingerprint, id: id ?? (isKnown ? before.id : undefined) }
            yield* status.publish({ _tag: "AccountIs", account: { _tag: "Running", since: yield* Clock.currentTimeMillis } })
          }
          yield* ledger.bind(account)
          yield* status.publish({ _tag: "Bound", owner: account })
        })
    }
  })

/**
 * Runs until it is interrupted; then requests in flight get some time to finish. Fails at once where the ledger can't be
 * opened or is another account's, and never later.
 */
export const run = <R>(
  options: Options<R>
): Effect.Effect<never, LedgerFault | LedgerInUse | OtherAccount | AccountIdentity.WrongAddress, R | Requirements> =>
  Effect.gen(function*() {
    const status = yield* SyncStatus
    const { begin, breaker, reader, reassertion, reconciliation, wakes } = yield* parts(options)
    const { reconcile, sourceIncludesSales } = options
    let openedAt: number | undefined
    let failures = 0

    const session = Effect.scoped(Effect.gen(function*() {
      const ledger = Context.get(yield* Layer.build(options.ledger), Ledger)
      openedAt = yield* MonotonicClock.now
      yield* status.publish({ _tag: "LedgerIs", ledger: { _tag: "Open", since: yield* Clock.currentTimeMillis, ledger } })
      yield* begin(ledger, Effect.succeed(true))
      yield* Effect.all([
        reader.run(ledger),
        Dispatcher.run({ ...options, ledger, breaker, reassertion, wakes, until: "stopped" }),
        reconcile === undefined
          ? Effect.never
          : Reconciliation.run({ ...reconcile, ledger, pace: reconciliation, resend: sourceIncludesSales, wakes })
      ], { concurrency: "unbounded", discard: true })
    }))

    const failing = (fault: LedgerFault | LedgerInUse) =>
      Effect.gen(function*() {
        // Whoever starts it is there to read why it can't.
        if (openedAt === undefined) return yield* fault
        const { ledger } = yield* status.state
        failures = (yield* MonotonicClock.now) - openedAt > steadyAfter && ledger._tag === "Open" ? 1 : failures + 1
        const now = yield* Clock.currentTimeMillis
        const pause = yield* Backoff.delay(reopening, failures)
        const failure = yield* FailureEvent.make("ledger", fault)
        const since = ledger._tag === "Failing" ? ledger.since : now
        yield* status.publish({
          _tag: "LedgerIs",
          ledger: { _tag: "Failing", since, failure, nextTry: Math.ceil(now + Duration.toMillis(pause)) }
        })
        yield* Effect.sleep(pause)
      })

    const sessions = Effect.forever(Effect.catchTags(session, { LedgerFault: failing, LedgerInUse: failing }))

    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.fork(Effect.interruptible(sessions)), (fiber) =>
        Effect.onInterrupt(restore(Fiber.join(fiber)), () =>
          Effect.zipRight(status.publish({ _tag: "Stopping" }), Fiber.interrupt(fiber))))
    )
  })

/** What a run of `once` came to. */
export interface Result {
  readonly ended: Dispatcher.Ended
  /** Why the source was not taken; what was wanted before was sent all the same. Undefined: it was not read, and nothing was sent. */
  readonly source: Either.Either<void, SourceFailure | SnapshotHeld> | undefined
  /** Products that were settled before anything was sent. */
  readonly unchanged: number
}

/**
 * Reads the source once, and sends until nothing is due, or until the service, the key or the account let nothing go for longer than
 * such a run should take. Fails where the ledger does.
 */
export const once = (
  options: Omit<Options<never>, "ledger" | "reconcile" | "sourceIncludesSales">
): Effect.Effect<Result, LedgerFault | OtherAccount | AccountIdentity.WrongAddress, Ledger | Requirements> =>
  Effect.gen(function*() {
    const status = yield* SyncStatus
    const { begin, breaker, reader, reassertion, wakes } = yield* parts({ ...options, sourceIncludesSales: false })
    const ledger = yield* Ledger
    yield* status.publish({ _tag: "LedgerIs", ledger: { _tag: "Open", since: yield* Clock.currentTimeMillis, ledger } })
    yield* begin(ledger, Effect.map(Dispatcher.lastingly(breaker), Option.isNone))
    const refused = yield* Dispatcher.lastingly(breaker)
    if (Option.isSome(refused)) return { ended: refused.value, source: undefined, unchanged: (yield* ledger.counts).settled }
    const failed = (failure: SourceFailure | SnapshotHeld) => Effect.succeed(Either.left(failure))
    const source = yield* reader.read(ledger).pipe(
      Effect.as(Either.void),
      Effect.catchTags({ SnapshotHeld: failed, SourceError: failed, SourceUnreachable: failed })
    )
    const { settled: unchanged } = yield* ledger.counts
    // What an earlier run gave up is tried again at once, however long its next retry is away.
    yield* ledger.retryNow
    const ended = yield* Dispatcher.run({ ...options, ledger, breaker, reassertion, wakes, until: "idle" })
    return { ended, source, unchanged }
  })
