/**
 * The worker of one account from its activation until it has no work: polls its source, sends what is due, and leaves what the next
 * activation needs. Several hundred may run at once, so nothing of them outlives the activation but the record.
 */
import { Plaza, RateLimit } from "@plaza/client"
import type { ClientError } from "@plaza/client"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { Ledger, type LedgerEvent, type LedgerOptions } from "../ledger/Ledger.ts"
import * as LedgerCommands from "../ledger/LedgerCommands.ts"
import type { LedgerFault, OtherAccount } from "../ledger/LedgerError.ts"
import type { SnapshotPolicy } from "../ledger/Snapshot.ts"
import * as EventLogger from "../observability/EventLogger.ts"
import * as EventRecorder from "../observability/EventRecorder.ts"
import * as Status from "../observability/Status.ts"
import { Source, type SourceFailure } from "../source/Source.ts"
import type { WrongAddress } from "../sync/AccountBinding.ts"
import * as AccountIdentity from "../sync/AccountIdentity.ts"
import * as CountedClient from "../sync/CountedClient.ts"
import * as MonotonicClock from "../sync/MonotonicClock.ts"
import * as SnapshotIngest from "../sync/SnapshotIngest.ts"
import * as SyncStatus from "../sync/SyncStatus.ts"
import * as SyncWorker from "../sync/SyncWorker.ts"
import { AccountOptions, worded } from "./AccountOptions.ts"
import { AccountSources } from "./AccountSources.ts"
import type { CountedSemaphore } from "./CountedSemaphore.ts"
import type { AccountSettings } from "./FleetAccounts.ts"
import type { InvalidAccount } from "./FleetError.ts"
import { FleetLedger, type OwnedAccount } from "./FleetLedger.ts"
import * as PollPhase from "./PollPhase.ts"

/** What a runner keeps of an account between two activations. */
export interface AccountRecord {
  settings: AccountSettings
  /** When it is polled: its place in every interval, from 0 to 1. */
  readonly phase: number
  /** How its ledger is opened the next time. */
  opening: "afterTakeover" | "again"
  /** Undefined before the first activation, and after a change of its settings. */
  checkpoint: SyncWorker.Checkpoint | undefined
  /** The settings of a poll; undefined before the first activation. */
  polling: { readonly policy: SnapshotPolicy; readonly ledger: LedgerOptions } | undefined
  /** It remembers what it has read, so it is kept. */
  source: Source["Service"] | undefined
  /** How often the source is read. */
  interval: Duration.Duration
  /** When the source is read next. */
  nextPoll: MonotonicClock.MonotonicMillis
  /** When the running worker last asked for a read of the source. */
  pollAskedAt: MonotonicClock.MonotonicMillis
  /** When the next product is due; infinite if none is. */
  nextDue: MonotonicClock.MonotonicMillis
  /** The status of the running worker. */
  status: Effect.Effect<SyncStatus.State> | undefined
  /** The rate limit of the running worker, once it may send. */
  rateLimit: Effect.Effect<RateLimit.Status> | undefined
}

export interface Activation {
  readonly record: AccountRecord
  readonly owned: OwnedAccount
  /** For the sources that the runner reads at the same time. */
  readonly reads: CountedSemaphore
  /** How long a stop waits for requests in flight. */
  readonly stopWithin: Duration.Duration
  /** Whether the lease of the account is fresh. */
  readonly mayRequest: Effect.Effect<boolean>
  /** The worker is about to send a request, which sets stock or does not. */
  readonly onRequest: (kind: "read" | "send") => Effect.Effect<void>
  /** A request was stopped because the lease is not fresh. */
  readonly onStaleLease: Effect.Effect<void>
}

export type Failure = ClientError.InvalidSettings | InvalidAccount | LedgerFault | OtherAccount | SourceFailure | WrongAddress

type Requirements = AccountOptions | AccountSources | FleetLedger | HttpClient.HttpClient

/** Regular events of single accounts are too many for a log. A source that may be readable the next time is no error of a fleet. */
const levelOf = (level: LogLevel.Severity, event: SyncStatus.StampedEvent): LogLevel.Severity =>
  level === "Info"
    ? "Debug"
    : event._tag === "SourceFailed" && event.failure.tag === "SourceUnreachable"
    ? "Warn"
    : level

/**
 * What the ledger keeps of a change. Not that an account works at its first activation, which would be a statement of each account when a
 * runner takes over thousands: a confirmed request shows it as well.
 */
const recorded = (change: Status.Change): ReadonlyArray<LedgerEvent> => {
  const event = EventRecorder.eventOf(change)
  const { account, source } = change.before
  const isFirst = event?.kind === "accountRunning"
    ? account._tag === "Starting"
    : event?.kind === "sourceRead" && source.failing === undefined
  return event === undefined || isFirst ? [] : [event]
}

/** The events for the ledger. */
interface Events {
  /** Those that came while no ledger was open. */
  readonly waiting: Array<LedgerEvent>
  /** Of the open ledger. */
  record: Ledger["Service"]["record"] | undefined
}

const add = (events: Events, change: Status.Change): Effect.Effect<void> => {
  const found = recorded(change)
  const { record } = events
  if (found.length === 0) return Effect.void
  if (record === undefined) return Effect.sync(() => void events.waiting.push(...found))
  // Detached: a worker does not wait for it. An account that is paused keeps its worker for long.
  return Effect.asVoid(Effect.forkDetach(Effect.forEach(found, (event) => Effect.ignore(record(event)), { discard: true })))
}

const statusFrom = (earlier: SyncStatus.State, events: Events): SyncStatus.SyncStatus["Service"] => {
  const state = Ref.makeUnsafe(earlier)
  const change = Status.follow(earlier)
  return {
    state: Ref.get(state),
    publish: (event) =>
      Effect.flatMap(DateTime.now, (at) => {
        const stamped = { ...event, at }
        const changed = change(stamped)
        return Ref.update(state, (before) => SyncStatus.reduce(before, stamped)).pipe(
          Effect.andThen(EventLogger.write(changed, levelOf)),
          Effect.andThen(add(events, changed))
        )
      }),
    // The events of a fleet's accounts have no subscribers.
    subscribe: Effect.flatMap(PubSub.sliding<SyncStatus.StampedEvent>(1), PubSub.subscribe)
  }
}

/** A request without a fresh lease is not sent, and ends with its worker, so that a stop does not wait for it. */
const leased = (client: HttpClient.HttpClient, { mayRequest, onRequest, onStaleLease }: Activation): HttpClient.HttpClient =>
  HttpClient.transform(client, (response, { method }) =>
    Effect.flatMap(mayRequest, (fresh) => {
      if (!fresh) return Effect.andThen(onStaleLease, Effect.interrupt)
      return Effect.andThen(onRequest(method === "GET" ? "read" : "send"), response)
    }))

/** The source is to be read now, and next at the regular time. */
const askForPoll = Effect.fnUntraced(function*(record: AccountRecord) {
  record.pollAskedAt = yield* MonotonicClock.now
  record.nextPoll = yield* PollPhase.next(record.phase, record.interval)
})

/** Reads in its turn, and when the runner's timer for the account says so. */
const scheduled = (source: Source["Service"], { reads, record }: Activation): Source["Service"] => ({
  name: source.name,
  open: (accepted) => Effect.andThen(reads.acquire, source.open(accepted)),
  changes: Stream.fromEffectRepeat(Effect.gen(function*() {
    yield* MonotonicClock.sleepUntil(record.nextPoll)
    yield* askForPoll(record)
  }))
})

interface Known {
  readonly checkpoint: Ref.Ref<SyncWorker.Checkpoint>
  readonly status: SyncStatus.SyncStatus["Service"]
  readonly events: Events
}

/** Plans the next poll after a worker has ended. */
export const planPoll = Effect.fnUntraced(function*(record: AccountRecord) {
  const regular = yield* PollPhase.next(record.phase, record.interval)
  const now = yield* MonotonicClock.now
  const progress = record.checkpoint?.source ?? SnapshotIngest.unread
  // A worker that ended before it read is activated again at once.
  record.nextPoll = (progress.triedAt ?? Number.NEGATIVE_INFINITY) < record.pollAskedAt
    ? now
    : Math.max(progress.notBefore ?? Number.NEGATIVE_INFINITY, Math.min(regular, yield* SnapshotIngest.nextTry(progress)))
})

/** Settings and source as a worker uses them. */
const prepare = Effect.fnUntraced(function*({ record }: Activation) {
  const accountOptions = yield* AccountOptions
  const sources = yield* AccountSources
  const resolved = yield* accountOptions.resolve(record.settings)
  record.interval = resolved.sync.poll
  record.polling = { policy: resolved.policy, ledger: resolved.ledger }
  const source = record.source ?? (yield* sources.open(resolved.source))
  record.source = source
  return { resolved, source }
})

/**
 * Identifies an account without a request: a key never changes its account, so the ledger's account is that of the same key. Returns
 * whether its source can be polled without a worker.
 */
const identifyByLedger = Effect.fnUntraced(function*(activation: Activation, { checkpoint, status }: Known) {
  const { resolved: { client, sync } } = yield* prepare(activation)
  const { baseUrl, keyFingerprint } = AccountIdentity.accountOf(client)
  const identity = Option.filter(activation.owned.boundTo, (bound) => bound.baseUrl === baseUrl && bound.keyFingerprint === keyFingerprint)
  if (Option.isNone(identity)) return false
  yield* Ref.update(checkpoint, (before) => ({ ...before, identity }))
  yield* status.publish({ _tag: "AccountChanged", account: { _tag: "Running", since: yield* DateTime.now } })
  // Only a worker finds out when background requests are due.
  return sync.reconcile === undefined && !sync.sourceIncludesSales
})

/**
 * Reads the source of an identified account for which nothing is due. Most polls find it unchanged, and need neither the settings nor the
 * ledger nor a client. Returns whether a worker has work now.
 */
const polled = (activation: Activation, known: Known) =>
  Effect.gen(function*() {
    const { owned, reads, record } = activation
    const { checkpoint, status } = known
    const now = yield* MonotonicClock.now
    if (record.opening !== "again" || record.nextDue <= now || record.nextPoll > now) return true
    if (record.checkpoint === undefined && !(yield* identifyByLedger(activation, known))) return true
    const { polling, source } = record
    if (polling === undefined || source === undefined || Option.isNone((yield* Ref.get(checkpoint)).identity)) return true
    yield* askForPoll(record)
    yield* reads.acquire
    const changed = yield* Effect.provide(SyncWorker.openChanged(checkpoint),
      Context.add(Context.make(Source, source), SyncStatus.SyncStatus, status))
    if (Option.isNone(changed)) return false
    const ledger = yield* (yield* FleetLedger).open(owned, polling.ledger, "again")
    return yield* SyncWorker.poll({ checkpoint, policy: polling.policy }).pipe(
      Effect.provideService(Source, changed.value),
      Effect.provideService(Ledger, ledger),
      Effect.provideService(SyncStatus.SyncStatus, status)
    )
  }).pipe(Effect.scoped)

const untilIdle = Effect.fnUntraced(function*(activation: Activation, { checkpoint, events, status }: Known) {
  const { owned, record } = activation
  const { resolved: { client, ledger: ledgerOptions, policy, send, sync }, source } = yield* prepare(activation)
  const ledger = yield* (yield* FleetLedger).open(owned, ledgerOptions, record.opening)
  record.opening = "again"
  events.record = ledger.record
  const http = CountedClient.make(leased(yield* HttpClient.HttpClient, activation), Effect.succeedSome(ledger))
  const read = record.nextPoll <= (yield* MonotonicClock.now)
  if (read) yield* askForPoll(record)
  const { rateLimit, rateWindow } = client
  const nextDue = yield* Effect.flatMap(RateLimit.RateLimit, ({ status }) => {
    record.rateLimit = status
    return SyncWorker.untilIdle({
      ...send,
      ...sync,
      stopWithin: activation.stopWithin,
      account: AccountIdentity.accountOf(client),
      checkpoint,
      policy,
      read: read ? "now" : "later",
      reassert: { ...sync.reassert, rateLimit, rateWindow }
    })
  }).pipe(
    Effect.provideService(Source, scheduled(source, activation)),
    // Taking a product checks the epoch itself.
    Effect.provideService(Ledger, { ...ledger, check: Effect.void }),
    Effect.provideService(SyncStatus.SyncStatus, status),
    Effect.provide(Layer.provide(Plaza.layer(client), Layer.succeed(HttpClient.HttpClient, http)))
  )
  const now = yield* DateTime.now
  const wait = Option.map(nextDue, (at) => Math.max(0, Duration.toMillis(DateTime.distance(now, at))))
  record.nextDue = (yield* MonotonicClock.now) + Option.getOrElse(wait, () => Number.POSITIVE_INFINITY)
})

const recordAll = Effect.fnUntraced(function*({ owned, record: { opening, polling } }: Activation, events: ReadonlyArray<LedgerEvent>) {
  // Without an opened ledger, another runner may own the account.
  if (opening !== "again" || polling === undefined) return
  const ledger = yield* (yield* FleetLedger).open(owned, polling.ledger, "again")
  yield* Effect.forEach(events, ledger.record, { discard: true })
})

/** Runs until the account has no work, and then plans its next activation. Fails if the account can't be worked on. */
export const run = (activation: Activation): Effect.Effect<void, Failure, Requirements> =>
  Effect.gen(function*() {
    const { record } = activation
    const checkpoint = yield* Ref.make(record.checkpoint ?? (yield* SyncWorker.firstCheckpoint))
    const events: Events = { waiting: [], record: undefined }
    const status = statusFrom((yield* Ref.get(checkpoint)).status, events)
    record.status = status.state
    const known: Known = { checkpoint, status, events }
    yield* Effect.ensuring(
      Effect.flatMap(polled(activation, known), (hasWork) => hasWork ? untilIdle(activation, known) : Effect.void),
      Effect.map(Ref.get(checkpoint), (last) => {
        // The errors are for a page of a running worker.
        record.checkpoint = { ...last, status: { ...last.status, errors: [] } }
        record.rateLimit = undefined
      })
    ).pipe(
      // Seldom, because an event is the beginning or the end of a failure.
      Effect.ensuring(
        Effect.suspend(() => events.waiting.length === 0 ? Effect.void : Effect.ignore(recordAll(activation, events.waiting)))
      )
    )
  }).pipe(
    worded,
    Effect.provideService(LedgerCommands.LedgerCommands, LedgerCommands.ofFleet(activation.record.settings.id)),
    Effect.annotateLogs("account", activation.record.settings.id)
  )
