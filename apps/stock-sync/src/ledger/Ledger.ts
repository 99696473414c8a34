/**
 * The wanted, sent and confirmed stock of each product. The ledger is written before and after each request, so a crash never
 * makes an unconfirmed value look confirmed. One schema serves a file of SQLite and a database of Postgres, one
 * store and a fleet.
 */
import type { ProductId } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { SourceFailure } from "../source/Source.ts"
import type { Entry, EntryState, Refusal } from "./Entry.ts"
import type { Kind } from "./Events.ts"
import type { CannotRevert, LedgerFault, NotHeld, OtherAccount, SnapshotHeld } from "./LedgerError.ts"
import type {
  HeldChange,
  HeldSnapshot,
  PastSnapshot,
  Reverted,
  RevertOptions,
  RowIssue,
  SnapshotInput,
  SnapshotPolicy,
  SnapshotPreview,
  SnapshotResult,
  SnapshotStatus
} from "./Snapshot.ts"
import type { Priority, Waiting } from "./StockPriority.ts"

/** The account that a ledger belongs to. */
export interface Account {
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** Undefined if `GET /me` does not show it. */
  readonly id: string | undefined
  /** Distinguishes keys without containing one. */
  readonly keyFingerprint: string
}

/**
 * Products by state, and rows of the last snapshot with an issue. A product that a rule excludes counts only while it is settled or in flight:
 * otherwise it would seem to wait for ever.
 */
export interface Counts extends Readonly<Record<EntryState, number>> {
  /** Products that the last snapshot did not name. */
  readonly missing: number
  /** With kits that can't be computed. */
  readonly rejectedRows: number
  readonly negativeRows: number
  /** Rules that match no row, and components of kits that count as sold out because the source does not name them. */
  readonly ruleIssues: number
}

/** How many issues the last snapshot has. */
export const issuesOf = (
  { negativeRows, rejectedRows, ruleIssues }: Pick<Counts, "negativeRows" | "rejectedRows" | "ruleIssues">
): number => negativeRows + rejectedRows + ruleIssues

/** What is in sync, waits to be sent, and waits for a person. A rejected row stands for its product, so that a product counts once. */
export interface Attention {
  readonly counts: Counts
  /** Products that are sent without help, due or not, and those in flight. Counted at the same moment as `counts`. */
  readonly waiting: number
  /** Products that the service or a proxy refuses, and uncertain ones that are not sent again by themselves. */
  readonly products: number
  /** Products with a rejected row in the last snapshot, by what the ledger knows of them. Each row without an id is one more product. */
  readonly rejected: {
    readonly settled: number
    /** Waiting to be sent with an earlier stock, or in flight. */
    readonly waiting: number
    /** Part of `products`. */
    readonly needing: number
    readonly unknown: number
  }
}

/** A product that waits for a person. */
export interface NeedingEntry extends Entry {
  /** When the store began to differ: the wanted stock changed, or the last response left the product uncertain. */
  readonly since: DateTime.Utc
}

/** A product that is marked as `sending`, with the value to send. */
export interface Send {
  readonly productId: ProductId
  readonly value: number
  readonly priority: Priority
  /** When it started to wait; for an assertion, when it was last confirmed. */
  readonly since: DateTime.Utc
  /** Requests for this value since the last confirmation, including this one. */
  readonly attempts: number
  readonly wasQuarantined: boolean
  /** Accepted requests for this value whose responses showed another one. */
  readonly mismatches: number
  /** The last failure, if it concerned the same value. */
  readonly refusal: Refusal | undefined
}

/** Which product `take` returns. */
export type Selection =
  /** The most urgent product that is due; of one priority, the one that waits longest. */
  | {
    readonly _tag: "Due"
    /** Also a product that was confirmed before this time. */
    readonly confirmedBefore: Option.Option<DateTime.Utc>
    /** A product of a lower priority comes before those of these priorities, if one waits. */
    readonly yielding?: ReadonlyArray<Priority>
    readonly except?: Iterable<ProductId>
  }
  /** A sold-out product that is due. `known`: only one of which no request has an unknown outcome, because the next one may get no response either. */
  | { readonly _tag: "SoldOut"; readonly outcomes: "known" | "any"; readonly except?: Iterable<ProductId> }
  /**
   * For a half-open circuit breaker: any unsettled product that is not quarantined, due or not, except these. A product whose
   * wanted stock has not failed comes before one whose has. The first in the order of sending (default), or the last.
   */
  | { readonly _tag: "HalfOpen"; readonly except: Iterable<ProductId>; readonly from?: "first" | "last" }

/** The outcome of a request that was not confirmed. */
export interface FailedSend {
  /**
   * - `doubtful`: it may have taken effect, or still may.
   * - `pending`: it did not take effect.
   * - `uncertain`: the service accepted it and shows another stock, or a proxy refused it and may have let it through.
   * - `quarantined`: it did not take effect, and a retry has the same outcome until something changes.
   */
  readonly state: "doubtful" | "pending" | "quarantined" | "uncertain"
  readonly refusal: Refusal
  /** When the product is due again; undefined: not before another stock is wanted. */
  readonly retryIn: Duration.Duration | undefined
  /**
   * What the response shows of the product: another stock than the one sent, or that the product does not exist; undefined: nothing. A
   * shown stock is not confirmed.
   */
  readonly observed?: "absent" | number | undefined
}

/** A product, and what decides when it is sent. */
export interface ProductStatus extends Entry {
  /**
   * The last snapshot names the product (`named`), does not name it and its stock is kept (`missing`) or set to 0 (`zeroed`), or a rule
   * excludes it (`excluded`).
   */
  readonly listing: "named" | "missing" | "zeroed" | "excluded"
  /** How many products are sent before it; undefined if it is not due. */
  readonly ahead: number | undefined
}

/** The products that wait for a request. */
export interface Backlog {
  readonly waiting: Readonly<Record<Waiting, number>>
  /** When the longest-waiting product of each priority started to wait. */
  readonly longest: Readonly<Record<Waiting, DateTime.Utc | undefined>>
  readonly sending: number
  readonly oldest: Option.Option<{ readonly productId: ProductId; readonly since: DateTime.Utc }>
  readonly oldestConfirmation: Option.Option<DateTime.Utc>
}

/** A product in a list of the store's products. */
export interface ObservedStock {
  readonly productId: ProductId
  readonly stock: number
}

/** A past request and its outcome. */
export interface HistoryEntry {
  readonly productId: string
  readonly value: number
  readonly reason: Priority
  /** When it started to wait; for an assertion, when it was last confirmed. */
  readonly since: DateTime.Utc
  readonly sentAt: DateTime.Utc
  readonly endedAt: DateTime.Utc
  readonly outcome: "confirmed" | FailedSend["state"]
  /** The error code or the failure's tag; undefined if the request was confirmed. */
  readonly code: string | undefined
  readonly message: string | undefined
}

/** What happened to the source or the account. */
export interface LedgerEvent {
  readonly at: DateTime.Utc
  readonly kind: Kind
  /** The error code or the failure's tag. */
  readonly code: string | undefined
  readonly detail: string | undefined
  /** The changed products of an accepted snapshot or a revert, the number of a held one, else 0. */
  readonly count: number
}

/** From when on the ledger has all past requests and all events; undefined: it has all. */
export interface Kept {
  readonly requests: DateTime.Utc | undefined
  readonly events: DateTime.Utc | undefined
}

export class Ledger extends Context.Service<Ledger, {
  /** The file or address, for messages. It has no password in it. */
  readonly path: string
  /** None before the first `bind`. */
  readonly account: Effect.Effect<Option.Option<Account>, LedgerFault>
  /** Makes it the ledger of an account. Fails if it belongs to another account, or if that is unknown. */
  readonly bind: (account: Account) => Effect.Effect<void, LedgerFault | OtherAccount>
  /** Moves the ledger to a new base URL or key of its account. Fails only if both account ids are known and differ. */
  readonly adopt: (account: Account) => Effect.Effect<void, LedgerFault | OtherAccount>
  /** Fails if the ledger was removed, replaced or taken over by another process since it was opened. */
  readonly check: Effect.Effect<void, LedgerFault>
  /** Fails when the database of the ledger is lost, also while no statement runs. Never ends before. */
  readonly lost: Effect.Effect<never, LedgerFault>
  /** Makes a snapshot the wanted stock: all of it, or nothing. */
  readonly applySnapshot: <E, R>(
    input: SnapshotInput<E, R>,
    policy: SnapshotPolicy
  ) => Effect.Effect<SnapshotResult, E | LedgerFault | SnapshotHeld | SourceFailure, R>
  /** Applies a snapshot even if it would be held. For a temporary copy of the ledger. */
  readonly previewSnapshot: <E, R>(
    input: SnapshotInput<E, R>,
    policy: SnapshotPolicy
  ) => Effect.Effect<SnapshotPreview, E | LedgerFault | SourceFailure, R>
  readonly snapshot: Effect.Effect<SnapshotStatus, LedgerFault>
  /** The implausible changes of the held snapshot, by product. */
  readonly heldChanges: Stream.Stream<HeldChange, LedgerFault>
  /** Confirms the held snapshot: the next reading of the source applies it if its implausible changes are the same. Works beside a running worker. */
  readonly confirmHeld: (number: number) => Effect.Effect<HeldSnapshot, LedgerFault | NotHeld>
  /** The snapshots whose stock can be restored, and reverts, the latest first: a bounded number. */
  readonly pastSnapshots: Effect.Effect<ReadonlyArray<PastSnapshot>, LedgerFault>
  /**
   * Makes the stock of an earlier snapshot the wanted stock, unless that is implausible. A later snapshot that sets a product to a stock
   * that this undid is held. Works beside a running worker.
   */
  readonly revert: (to: number, options: RevertOptions) => Effect.Effect<Reverted, CannotRevert | LedgerFault>
  readonly counts: Effect.Effect<Counts, LedgerFault>
  /**
   * Every product that is not settled, by id, without those that a rule excludes, as in the next two. Holds one page in memory, as do the
   * other streams.
   */
  readonly unsettled: Stream.Stream<Entry, LedgerFault>
  /** The backlog in the order of sending: due products, then delayed ones by their time. */
  readonly queue: Stream.Stream<Entry & { readonly priority: Waiting }, LedgerFault>
  readonly quarantined: Stream.Stream<Entry, LedgerFault>
  readonly uncertain: Stream.Stream<Entry, LedgerFault>
  readonly attention: Effect.Effect<Attention, LedgerFault>
  /** The products that wait for a person, by id. */
  readonly needing: Stream.Stream<NeedingEntry, LedgerFault>
  /** The rejected rows of the last snapshot, by line. */
  readonly rejectedRows: Stream.Stream<RowIssue, LedgerFault>
  /** Issues of the last snapshot, by line. */
  readonly rowIssues: Stream.Stream<RowIssue, LedgerFault>
  /** One product; none if the ledger does not have it. */
  readonly product: (productId: string) => Effect.Effect<Option.Option<ProductStatus>, LedgerFault>
  /** Every product, by id. */
  readonly all: Stream.Stream<Entry, LedgerFault>
  readonly backlog: Effect.Effect<Backlog, LedgerFault>
  /** Marks a product as `sending` and returns it. It is not taken again before it is confirmed or failed. */
  readonly take: (selection: Selection) => Effect.Effect<Option.Option<Send>, LedgerFault>
  /**
   * Records that the service confirmed a value. The product is settled, unless another stock is wanted by now, or an earlier request
   * may still overwrite it: then it is due again when that is no longer possible.
   */
  readonly confirm: (send: Send) => Effect.Effect<void, LedgerFault>
  readonly fail: (send: Send, failed: FailedSend) => Effect.Effect<void, LedgerFault>
  /**
   * Makes delayed products due and resets their attempts, except quarantined products and those that wait until an earlier request
   * can no longer take effect.
   */
  readonly retryNow: Effect.Effect<void, LedgerFault>
  /** When the next delayed product is due. Ignores refused products, and products with this many attempts or more. */
  readonly nextDue: (maxAttempts: Option.Option<number>) => Effect.Effect<Option.Option<DateTime.Utc>, LedgerFault>
  /** When the next delayed or refused product is due. */
  readonly nextDelayed: Effect.Effect<Option.Option<DateTime.Utc>, LedgerFault>
  /**
   * Makes the named quarantined and uncertain products due, or else all quarantined ones. Returns the released ones. Works beside a
   * running worker.
   */
  readonly release: (products: Option.Option<ReadonlyArray<string>>) => Effect.Effect<ReadonlyArray<ProductId>, LedgerFault>
  /**
   * Makes the named products due, also settled ones, whatever the service confirmed. Returns those that will be sent; not products that are
   * in flight or excluded. Works beside a running worker.
   */
  readonly resend: (products: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<ProductId>, LedgerFault>
  /**
   * Shifts the times of delayed products after the wall clock was set by so many milliseconds (signed, which a Duration is not), and
   * moves times in the future to now. 0: it is unknown whether the clock was set.
   */
  readonly clockChanged: (millis: number) => Effect.Effect<void, LedgerFault>
  /**
   * Compares the confirmed stock with a list of the store's products whose reading started at this time. Skips products that were
   * sent or changed since, or are not settled. Returns how many differ; with `resend` they are sent again.
   */
  readonly observe: (
    observed: ReadonlyArray<ObservedStock>,
    startedAt: DateTime.Utc,
    resend: boolean
  ) => Effect.Effect<number, LedgerFault>
  /**
   * Runs a request of the key that concerns no product, and counts it from before it is sent: the next opening counts it even if this
   * process ends before the response. A request that can't be counted is not sent.
   */
  readonly countRequest: <A, E, R>(request: Effect.Effect<A, E, R>) => Effect.Effect<A, E | LedgerFault, R>
  /**
   * The time since each request of the key has ended; zero for one in flight. Includes the requests that ended within the rate window by
   * a clock that differs by `clockTolerance`.
   */
  readonly requests: Effect.Effect<ReadonlyArray<Duration.Duration>, LedgerFault>
  /** Past requests, the latest first; of one product if it is given. */
  readonly history: (product: Option.Option<string>) => Stream.Stream<HistoryEntry, LedgerFault>
  /** Records an event, unless the last one of its subject says the same. Snapshots are recorded by `applySnapshot`. */
  readonly record: (event: LedgerEvent) => Effect.Effect<void, LedgerFault>
  /** The events, the earliest first: a bounded number. */
  readonly events: Effect.Effect<ReadonlyArray<LedgerEvent>, LedgerFault>
  readonly kept: Effect.Effect<Kept, LedgerFault>
  /** What was announced to a person, as the last process has stored it. */
  readonly notices: Effect.Effect<Option.Option<string>, LedgerFault>
  readonly setNotices: (text: string) => Effect.Effect<void, LedgerFault>
}>()("@plaza/stock-sync/ledger/Ledger") {}

/**
 * The clocks of two hosts may differ by so much, and the last requests of a process that has lost its account may arrive so much later
 * than its successor has started.
 */
export const clockTolerance = Duration.seconds(1)

export interface LedgerOptions {
  /** How far back requests of the key are counted. */
  readonly rateWindow: Duration.Duration
  /** How long a request without response may still take effect after it ended. */
  readonly lateWrites: Duration.Duration
  /** Requests in the history. */
  readonly historyLimit: number
}
