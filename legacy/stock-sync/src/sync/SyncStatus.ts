/**
 * The status of a running worker, computed from its events, which are published to subscribers. Pending and quarantined products are
 * not part of it; they are in the ledger.
 */
import type { StockPriority } from "@plaza-legacy/client"
import type { ProductId } from "@plaza-legacy/domain/Ids"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import type * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import type { Account } from "../ledger/Ledger.ts"
import type { HeldSnapshot, SnapshotResult } from "../ledger/Snapshot.ts"

export interface Failure {
  readonly at: DateTime.Utc
  readonly about: "account" | "ledger" | "product" | "service" | "source"
  readonly productId: ProductId | undefined
  /** The failure's tag, such as `NotFound` or `SourceError`. */
  readonly tag: string
  /** The error code of the response, if there was one. */
  readonly code: string | undefined
  readonly message: string
}

/**
 * - `Starting`: the account of the key is unknown.
 * - `Running`: products are sent.
 * - `Paused`: the service refuses every request until an operator acts; it is probed again at `nextProbe`.
 * - `Quota`: the rate limit or a quota allows no request until then.
 * - `Trouble`: several requests in a row failed; single requests are tried, the next at `nextTry`.
 */
export type AccountState =
  | { readonly _tag: "Starting"; readonly since: DateTime.Utc }
  | { readonly _tag: "Running"; readonly since: DateTime.Utc }
  | { readonly _tag: "Paused"; readonly since: DateTime.Utc; readonly failure: Failure; readonly nextProbe: DateTime.Utc }
  | { readonly _tag: "Quota"; readonly since: DateTime.Utc; readonly failure: Failure; readonly until: DateTime.Utc }
  | { readonly _tag: "Trouble"; readonly since: DateTime.Utc; readonly failure: Failure; readonly nextTry: DateTime.Utc }

export type LedgerState =
  | { readonly _tag: "Opening" }
  /** Its next use may still fail. */
  | { readonly _tag: "Open"; readonly since: DateTime.Utc; readonly path: string }
  | { readonly _tag: "Failing"; readonly since: DateTime.Utc; readonly failure: Failure; readonly nextTry: DateTime.Utc }

interface SourceState {
  /** When it was last read without failure, whether it had changed or not. */
  readonly readAt: DateTime.Utc | undefined
  /** When this process last applied a snapshot. */
  readonly takenAt: DateTime.Utc | undefined
  /** Rows of the last snapshot that was read to its end, including rejected ones. */
  readonly rows: number | undefined
  /** The last failure, and since when every reading has failed; undefined if the last reading succeeded. */
  readonly failing: { readonly since: DateTime.Utc; readonly failure: Failure } | undefined
  /** The snapshot that the drop guard holds. */
  readonly held: HeldSnapshot | undefined
}

export const outcomes = ["confirmed", "doubtful", "pending", "uncertain", "quarantined"] as const
export type Outcome = (typeof outcomes)[number]

interface OutcomeCount {
  readonly count: number
  /** When the last request had this outcome. */
  readonly at: DateTime.Utc | undefined
}

export interface State {
  readonly startedAt: DateTime.Utc
  /** Undefined until the account is identified. */
  readonly owner: Account | undefined
  readonly account: AccountState
  readonly source: SourceState
  readonly ledger: LedgerState
  /** Requests since the start, by outcome. */
  readonly sends: Readonly<Record<Outcome, OutcomeCount>>
  /** The last failures, latest first. */
  readonly errors: ReadonlyArray<Failure>
  readonly stopping: boolean
}

export type SyncEvent =
  | { readonly _tag: "AccountBound"; readonly owner: Account }
  | { readonly _tag: "AccountChanged"; readonly account: AccountState }
  | { readonly _tag: "LedgerChanged"; readonly ledger: LedgerState }
  | { readonly _tag: "SourceUnchanged" }
  | { readonly _tag: "SourceFailed"; readonly failure: Failure }
  | { readonly _tag: "SnapshotAccepted"; readonly rows: number; readonly result: SnapshotResult }
  | { readonly _tag: "SnapshotHeld"; readonly rows: number; readonly held: HeldSnapshot; readonly failure: Failure }
  | {
    readonly _tag: "Sent"
    readonly productId: ProductId
    readonly priority: StockPriority.Priority
    /** It was quarantined before this request. */
    readonly wasQuarantined: boolean
    /** The request before had this value too, and the same outcome that made the product uncertain. */
    readonly wasUncertain: boolean
    /** When it started to wait; for an assertion, when it was last confirmed. */
    readonly since: DateTime.Utc
    readonly value: number
    readonly outcome: Outcome
    readonly failure: Failure | undefined
  }
  /** A list of the store's products was compared. Differing products are only sent again if the source includes the store's sales. */
  | { readonly _tag: "Reconciled"; readonly products: number; readonly differing: number; readonly resent: boolean }
  | { readonly _tag: "ReconciliationFailed"; readonly failure: Failure }
  | { readonly _tag: "Stopping" }

export type StampedEvent = SyncEvent & { readonly at: DateTime.Utc }

export class SyncStatus extends Context.Tag("@plaza/stock-sync/sync/SyncStatus")<SyncStatus, {
  readonly state: Effect.Effect<State>
  /** Updates the state with an event, then publishes the event. */
  readonly publish: (event: SyncEvent) => Effect.Effect<void>
  /** Subscribes to later events. A slow subscriber loses the oldest. */
  readonly subscribe: Effect.Effect<Queue.Dequeue<StampedEvent>, never, Scope.Scope>
}>() {}

// More than the status page shows.
const maxErrors = 50
const eventCapacity = 4096

const none: OutcomeCount = { count: 0, at: undefined }

/** The state of a worker that starts now. */
export const initial = (now: DateTime.Utc): State => ({
  startedAt: now,
  owner: undefined,
  account: { _tag: "Starting", since: now },
  source: { readAt: undefined, takenAt: undefined, rows: undefined, failing: undefined, held: undefined },
  ledger: { _tag: "Opening" },
  sends: { confirmed: none, doubtful: none, pending: none, uncertain: none, quarantined: none },
  errors: [],
  stopping: false
})

const failureOf = (event: SyncEvent): Failure | undefined => {
  switch (event._tag) {
    case "SnapshotHeld":
    case "SourceFailed":
    case "ReconciliationFailed":
    case "Sent":
      return event.failure
    case "AccountChanged":
      return "failure" in event.account ? event.account.failure : undefined
    case "LedgerChanged":
      return "failure" in event.ledger ? event.ledger.failure : undefined
    case "AccountBound":
    case "SourceUnchanged":
    case "SnapshotAccepted":
    case "Reconciled":
    case "Stopping":
      return undefined
  }
}

const addError = (errors: ReadonlyArray<Failure>, failure: Failure | undefined): ReadonlyArray<Failure> =>
  // The failure of a request may also be the reason of the account's next state: it is one error.
  failure === undefined || errors.includes(failure) ? errors : [failure, ...errors.slice(0, maxErrors - 1)]

const changesOf = (state: State, event: StampedEvent): Partial<State> => {
  const { source } = state
  switch (event._tag) {
    case "AccountBound":
      return { owner: event.owner }
    case "AccountChanged":
      return { account: event.account }
    case "LedgerChanged":
      return { ledger: event.ledger }
    case "SourceUnchanged":
      // A held snapshot stays held until another one is read.
      return { source: { ...source, readAt: event.at, failing: undefined } }
    case "SnapshotAccepted":
      return { source: { readAt: event.at, takenAt: event.at, rows: event.rows, failing: undefined, held: undefined } }
    case "SnapshotHeld":
      return { source: { ...source, readAt: event.at, rows: event.rows, failing: undefined, held: event.held } }
    case "SourceFailed":
      return { source: { ...source, failing: { since: source.failing?.since ?? event.at, failure: event.failure } } }
    case "Sent":
      return { sends: { ...state.sends, [event.outcome]: { count: state.sends[event.outcome].count + 1, at: event.at } } }
    case "Stopping":
      return { stopping: true }
    case "Reconciled":
    case "ReconciliationFailed":
      return {}
  }
}

/** The state after an event. Pure. */
export const reduce = (state: State, event: StampedEvent): State => ({
  ...state,
  ...changesOf(state, event),
  errors: addError(state.errors, failureOf(event))
})

/** The status of a worker that starts now. */
export const makeInitial: Effect.Effect<SyncStatus["Type"]> = Effect.flatMap(DateTime.now, (now) => make(initial(now), eventCapacity))

export const layer: Layer.Layer<SyncStatus> = Layer.effect(SyncStatus, makeInitial)

/** Continues an earlier state. A subscriber loses events that are older than the last so many. */
export const make = (earlier: State, capacity: number): Effect.Effect<SyncStatus["Type"]> =>
  Effect.gen(function*() {
    const state = yield* Ref.make(earlier)
    const events = yield* PubSub.sliding<StampedEvent>(capacity)
    return {
      state: Ref.get(state),
      publish: (event) =>
        Effect.flatMap(DateTime.now, (at) => {
          const stamped = { ...event, at }
          return Effect.zipRight(Ref.update(state, (before) => reduce(before, stamped)), PubSub.publish(events, stamped))
        }),
      subscribe: PubSub.subscribe(events)
    }
  })
