/**
 * The status of a running worker, derived once from its state, its events and its ledger. Log, metrics, readiness, status page and webhook
 * present it. Pure, except {@link observe}.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import type { Entry } from "../ledger/Entry.ts"
import type { Attention, Backlog, Counts, NeedingEntry } from "../ledger/Ledger.ts"
import type { Commands } from "../ledger/LedgerCommands.ts"
import type { HeldChange, RowIssue } from "../ledger/Snapshot.ts"
import type { Unit } from "../source/Source.ts"
import { type AccountState, type Failure, outcomes, reduce, type StampedEvent, type State, SyncStatus } from "../sync/SyncStatus.ts"
import * as Conditions from "./Conditions.ts"
import * as History from "./History.ts"

/** Data of the ledger at one moment. The lists have at most {@link maxListed} items. */
export interface LedgerSample {
  readonly at: DateTime.Utc
  readonly backlog: Backlog
  readonly counts: Counts
  readonly attention: Attention
  /** At most {@link maxNeeding}. */
  readonly needing: ReadonlyArray<NeedingEntry>
  /** At most {@link maxNeeding}, one of each product. */
  readonly rejectedRows: ReadonlyArray<RowIssue>
  /** When the last snapshot was accepted; undefined if none ever was. */
  readonly acceptedAt: DateTime.Utc | undefined
  readonly quarantined: ReadonlyArray<Entry>
  readonly uncertain: ReadonlyArray<Entry>
  readonly rowIssues: ReadonlyArray<RowIssue>
  /** The unit of the positions of `rowIssues`. */
  readonly unit: Unit
  /** At most {@link maxHeldChanges}. */
  readonly heldChanges: ReadonlyArray<HeldChange>
}

/** The number of products and of rows that the status page lists. */
export const maxListed = 50

/** The number of products and of rows that wait for a person and are listed, with what helps. */
export const maxNeeding = 20

/** The number of changes of a held snapshot that the status page lists. */
export const maxHeldChanges = 500

/** What was sampled by now. */
export interface Samples {
  /** Undefined before the ledger was first open. */
  readonly ledger: LedgerSample | undefined
  readonly history: History.History
}

export const noSamples: Samples = { ledger: undefined, history: [] }

export interface Options {
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
  /** The age at which the source counts as stale; undefined if it is read once. */
  readonly sourceStaleAfter: Duration.Duration | undefined
  /** The commands that a page names. */
  readonly commands: Commands
}

export interface Status extends Samples, Options {
  readonly now: DateTime.Utc
  readonly state: State
  readonly conditions: Readonly<Record<"account" | "source" | "ledger", Conditions.Condition>>
  /** Why the worker is not ready; empty if it is ready. */
  readonly reasons: ReadonlyArray<Conditions.Reason>
  /** Requests in the last window of the rate limit, as far as the history reaches. */
  readonly rateInUse: number
}

const stopping: Conditions.Reason = { reason: "stopping", message: "the worker is stopping" }

export const derive = (state: State, samples: Samples, now: DateTime.Utc, options: Options): Status => {
  const account = Conditions.account(state.account)
  const ledger = Conditions.ledger(state.ledger)
  const source = Conditions.source(state.source, now, options.sourceStaleAfter, options.commands)
  const window = Duration.toMillis(options.rateWindow)
  return {
    ...samples,
    ...options,
    now,
    state,
    conditions: { account, source, ledger },
    reasons: [...state.stopping ? [stopping] : [], ...account.reasons, ...ledger.reasons, ...source.reasons],
    rateInUse: History.requestsSince(samples.history, (samples.history.at(-1)?.at ?? 0) - window)
  }
}

/** Adds a sample of the ledger, or the last one again if there is no new one, and the number of requests by now. */
export const addSample = (
  samples: Samples,
  sample: LedgerSample | undefined,
  state: State,
  requests: number,
  now: DateTime.Utc
): Samples => {
  const ledger = sample ?? samples.ledger
  return ledger === undefined ? samples : {
    ledger,
    history: History.add(samples.history, {
      at: DateTime.toEpochMillis(now),
      backlog: Object.values(ledger.backlog.waiting).reduce((sum, each) => sum + each, 0),
      sends: outcomes.reduce((sum, outcome) => sum + state.sends[outcome].count, 0),
      requests
    })
  }
}

/** The time since an instant, never negative: the wall clock may be set. */
export const age = (since: DateTime.Utc, now: DateTime.Utc): Duration.Duration => Duration.max(DateTime.distance(since, now), Duration.zero)

/** The worker's state, and what its events add up to beside it. */
export interface Progress extends State {
  /** The failure of the last reconciliation; undefined if it succeeded. */
  readonly reconciliation: Failure | undefined
  /** The service refused all requests, and has accepted none since. */
  readonly isRefused: boolean
}

/** What an event of a running worker changed. */
export interface Change {
  readonly event: StampedEvent
  readonly before: Progress
  /** The event adds nothing for an operator: a failure that lasts, or regular work. */
  readonly isRepeated: boolean
}

// A message that names when a server is to be asked again names another time each time.
const withoutTimes = ({ message }: Failure): string => message.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "")

const isSame = (now: Failure, before: Failure | undefined): boolean =>
  before !== undefined && now.tag === before.tag && now.code === before.code && withoutTimes(now) === withoutTimes(before)

const isSameAccount = (now: AccountState, before: AccountState): boolean =>
  now._tag === "Starting" ||
  (now._tag === before._tag && (now._tag !== "Paused" || before._tag !== "Paused" || now.failure.code === before.failure.code))

const isRepeated = (event: StampedEvent, before: Progress): boolean => {
  switch (event._tag) {
    case "AccountBound":
      return before.owner !== undefined
    case "AccountChanged":
      return isSameAccount(event.account, before.account)
    case "LedgerChanged":
      return event.ledger._tag === "Opening" ||
        (event.ledger._tag === "Failing" && before.ledger._tag === "Failing" && isSame(event.ledger.failure, before.ledger.failure))
    case "SourceUnchanged":
      return before.source.failing === undefined
    case "SnapshotHeld":
      return before.source.held?.number === event.held.number
    case "SourceFailed":
      return isSame(event.failure, before.source.failing?.failure)
    case "Sent":
      return event.failure === undefined ||
        (event.outcome === "uncertain" ? event.wasUncertain : event.outcome !== "quarantined" || event.wasQuarantined)
    case "Reconciled":
      return event.differing === 0 && before.reconciliation === undefined
    case "ReconciliationFailed":
      return isSame(event.failure, before.reconciliation)
    case "SnapshotAccepted":
    case "Stopping":
      return false
  }
}

const isRefused = (event: StampedEvent, before: boolean): boolean =>
  event._tag !== "AccountChanged" ? before : event.account._tag === "Paused" || (before && event.account._tag !== "Running")

const reconciliation = (event: StampedEvent, before: Failure | undefined): Failure | undefined =>
  event._tag === "ReconciliationFailed" ? event.failure : event._tag === "Reconciled" ? undefined : before

/** Follows events from a state on. */
export const follow = (first: State): (event: StampedEvent) => Change => {
  let progress: Progress = { ...first, reconciliation: undefined, isRefused: first.account._tag === "Paused" }
  return (event) => {
    const before = progress
    progress = {
      ...reduce(before, event),
      reconciliation: reconciliation(event, before.reconciliation),
      isRefused: isRefused(event, before.isRefused)
    }
    return { event, before, isRepeated: isRepeated(event, before) }
  }
}

/** Presents the change of each event until the scope closes, including the events that are queued by then. */
export const observe = (present: (change: Change) => Effect.Effect<void>): Effect.Effect<void, never, SyncStatus | Scope.Scope> =>
  Effect.gen(function*() {
    const status = yield* SyncStatus
    const events = yield* status.subscribe
    const change = follow(yield* status.state)
    const receive = Effect.forEach((event: StampedEvent) => Effect.suspend(() => present(change(event))), { discard: true })
    yield* Effect.addFinalizer(() => Effect.flatMap(PubSub.takeUpTo(events, Infinity), receive))
    // Not interrupted between events, so that none is lost.
    yield* Effect.forkScoped(Effect.forever(
      Effect.uninterruptibleMask((restore) => Effect.flatMap(restore(PubSub.takeAll(events)), receive))
    ))
  })
