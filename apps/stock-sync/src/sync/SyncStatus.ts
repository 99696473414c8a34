/**
 * The state of a running worker, folded from its events and published to subscribers. Pending and quarantined
 * products are not part of it; they are in the ledger.
 *
 * @since 0.1.0
 */
import type { StockPriority } from "@plaza/client"
import type { ProductId } from "@plaza/domain/Ids"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import type * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import type { Account, Held, Ledger, Received } from "../ledger/Ledger.js"

/**
 * Something that went wrong. All moments here are milliseconds since the epoch.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failure {
  readonly at: number
  readonly about: "account" | "ledger" | "product" | "service" | "source"
  readonly productId: ProductId | undefined
  /** The failure's tag, as `NotFound` or `SourceError`. */
  readonly tag: string
  /** The service's code, where the service answered. */
  readonly code: string | undefined
  readonly message: string
}

/**
 * - `Starting`: whose key it is isn't known yet.
 * - `Running`: sends what waits.
 * - `Paused`: the service refuses everything for a reason that somebody has to mend; asked again at `nextProbe`.
 * - `Quota`: the service, or the allowance, lets nothing go until then.
 * - `Trouble`: several sends in a row failed; one at a time is tried, the next at `nextTry`.
 *
 * @since 0.1.0
 * @category models
 */
export type AccountState =
  | { readonly _tag: "Starting"; readonly since: number }
  | { readonly _tag: "Running"; readonly since: number }
  | { readonly _tag: "Paused"; readonly since: number; readonly failure: Failure; readonly nextProbe: number }
  | { readonly _tag: "Quota"; readonly since: number; readonly failure: Failure; readonly until: number }
  | { readonly _tag: "Trouble"; readonly since: number; readonly failure: Failure; readonly nextTry: number }

/** @since 0.1.0 @category models */
export type LedgerState =
  | { readonly _tag: "Opening" }
  /** What is read from it may fail all the same: the loop notices when it uses it next. */
  | { readonly _tag: "Open"; readonly since: number; readonly ledger: Ledger["Type"] }
  | { readonly _tag: "Failing"; readonly since: number; readonly failure: Failure; readonly nextTry: number }

/** @since 0.1.0 @category models */
export interface SourceState {
  /** When it was last found to be there and understood, whether it had changed or not. */
  readonly readAt: number | undefined
  /** When a snapshot of it was last taken by this process. */
  readonly takenAt: number | undefined
  /** Rows of the last snapshot that was read to its end, including rejected ones. */
  readonly rows: number | undefined
  /** The last reading failed; since when there has been no other. */
  readonly failing: { readonly since: number; readonly failure: Failure } | undefined
  /** The last reading is held by the brake. */
  readonly held: Held | undefined
}

/** @since 0.1.0 @category models */
export const outcomes = ["confirmed", "doubtful", "pending", "quarantined"] as const
/** @since 0.1.0 @category models */
export type Outcome = (typeof outcomes)[number]

/** @since 0.1.0 @category models */
export interface Finished {
  readonly count: number
  /** When the last one ended so. */
  readonly at: number | undefined
}

/** @since 0.1.0 @category models */
export interface State {
  readonly startedAt: number
  /** Whose store it is, once that is known. */
  readonly owner: Account | undefined
  readonly account: AccountState
  readonly source: SourceState
  readonly ledger: LedgerState
  /** Sends that ended, since the start. */
  readonly sends: Readonly<Record<Outcome, Finished>>
  /** The last failures, latest first. */
  readonly errors: ReadonlyArray<Failure>
  readonly stopping: boolean
}

/** @since 0.1.0 @category models */
export type SyncEvent =
  | { readonly _tag: "Bound"; readonly owner: Account }
  | { readonly _tag: "AccountIs"; readonly account: AccountState }
  | { readonly _tag: "LedgerIs"; readonly ledger: LedgerState }
  | { readonly _tag: "SourceUnchanged" }
  | { readonly _tag: "SourceTaken"; readonly rows: number; readonly received: Received }
  | { readonly _tag: "SourceHeld"; readonly rows: number; readonly held: Held; readonly failure: Failure }
  | { readonly _tag: "SourceFailed"; readonly failure: Failure }
  | {
    readonly _tag: "Sent"
    readonly productId: ProductId
    readonly priority: StockPriority.Priority
    /** It was quarantined before this request. */
    readonly wasQuarantined: boolean
    /** Since when it waited; of an assertion, when it was last confirmed. */
    readonly since: number
    readonly value: number
    readonly outcome: Outcome
    readonly failure: Failure | undefined
  }
  /** The store's list was read. Products that differ are sent again only if the source contains the store's own sales. */
  | { readonly _tag: "Reconciled"; readonly products: number; readonly differing: number; readonly resent: boolean }
  | { readonly _tag: "ReconcilingFailed"; readonly failure: Failure }
  | { readonly _tag: "Stopping" }

/** @since 0.1.0 @category models */
export type StampedEvent = SyncEvent & { readonly at: number }

/** @since 0.1.0 @category services */
export class SyncStatus extends Context.Tag("@plaza/stock-sync/sync/SyncStatus")<SyncStatus, {
  readonly state: Effect.Effect<State>
  /** Updates the state with an event, then publishes the event. */
  readonly publish: (event: SyncEvent) => Effect.Effect<void>
  /** Subscribes to the events from now on. A slow subscriber loses the oldest. */
  readonly subscribe: Effect.Effect<Queue.Dequeue<StampedEvent>, never, Scope.Scope>
}>() {}

// More than a page shows, and nothing to speak of in memory.
const errorsKept = 50
const unheard = 4096

const initial = (now: number): State => ({
  startedAt: now,
  owner: undefined,
  account: { _tag: "Starting", since: now },
  source: { readAt: undefined, takenAt: undefined, rows: undefined, failing: undefined, held: undefined },
  ledger: { _tag: "Opening" },
  sends: { confirmed: never, doubtful: never, pending: never, quarantined: never },
  errors: [],
  stopping: false
})

const never: Finished = { count: 0, at: undefined }

const failureOf = (event: SyncEvent): Failure | undefined => {
  switch (event._tag) {
    case "SourceHeld":
    case "SourceFailed":
    case "ReconcilingFailed":
    case "Sent":
      return event.failure
    case "AccountIs":
      return "failure" in event.account ? event.account.failure : undefined
    case "LedgerIs":
      return "failure" in event.ledger ? event.ledger.failure : undefined
    case "Bound":
    case "SourceUnchanged":
    case "SourceTaken":
    case "Reconciled":
    case "Stopping":
      return undefined
  }
}

const noted = (errors: ReadonlyArray<Failure>, failure: Failure | undefined): ReadonlyArray<Failure> =>
  // The failure of a send may be the reason of the state that follows: it is one error.
  failure === undefined || errors.includes(failure) ? errors : [failure, ...errors.slice(0, errorsKept - 1)]

const changed = (state: State, event: StampedEvent): Partial<State> => {
  const { source } = state
  switch (event._tag) {
    case "Bound":
      return { owner: event.owner }
    case "AccountIs":
      return { account: event.account }
    case "LedgerIs":
      return { ledger: event.ledger }
    case "SourceUnchanged":
      // What is held stays held while nothing else comes.
      return { source: { ...source, readAt: event.at, failing: undefined } }
    case "SourceTaken":
      return { source: { readAt: event.at, takenAt: event.at, rows: event.rows, failing: undefined, held: undefined } }
    case "SourceHeld":
      return { source: { ...source, readAt: event.at, rows: event.rows, failing: undefined, held: event.held } }
    case "SourceFailed":
      return { source: { ...source, failing: { since: source.failing?.since ?? event.at, failure: event.failure } } }
    case "Sent":
      return { sends: { ...state.sends, [event.outcome]: { count: state.sends[event.outcome].count + 1, at: event.at } } }
    case "Stopping":
      return { stopping: true }
    case "Reconciled":
    case "ReconcilingFailed":
      return {}
  }
}

/**
 * The state after something happened. Pure.
 *
 * @since 0.1.0
 * @category folding
 */
export const after = (state: State, event: StampedEvent): State => ({
  ...state,
  ...changed(state, event),
  errors: noted(state.errors, failureOf(event))
})

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<SyncStatus> = Layer.effect(
  SyncStatus,
  Effect.gen(function*() {
    const state = yield* Ref.make(initial(yield* Clock.currentTimeMillis))
    const events = yield* PubSub.sliding<StampedEvent>(unheard)
    return {
      state: Ref.get(state),
      publish: (event) =>
        Effect.flatMap(Clock.currentTimeMillis, (at) => {
          const stamped = { ...event, at }
          return Effect.zipRight(Ref.update(state, (before) => after(before, stamped)), PubSub.publish(events, stamped))
        }),
      subscribe: PubSub.subscribe(events)
    }
  })
)
