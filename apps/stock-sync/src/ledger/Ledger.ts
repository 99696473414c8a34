/**
 * What is wanted, what was sent and what the service last confirmed, product by product. Written before and after each
 * request, so that a crash never makes an unconfirmed value look confirmed. `Sqlite` keeps it in a file, `Postgres` in a
 * database.
 */
import type { StockPriority } from "@plaza/client"
import type { ProductId } from "@plaza/domain/Ids"
import type { SourceError } from "@plaza/tabular/SourceError"
import type { Row } from "@plaza/tabular/Stock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { Unit } from "../source/Source.js"
import type * as DropGuard from "../sync/DropGuard.js"
import type { Entry, EntryState, Refusal, Waiting } from "./Entry.js"

/** The ledger can't be opened, read or written. To go on, open it anew: its session may be lost, and with it the lock. */
export class LedgerFault extends Data.TaggedError("LedgerFault")<{
  readonly path: string
  readonly message: string
}> {}

/** Another process holds the ledger's lock. */
export class LedgerInUse extends Data.TaggedError("LedgerInUse")<{
  readonly path: string
  readonly message: string
}> {}

/** A snapshot is implausible. Nothing of it was taken; it waits for `confirm`, or for the next plausible one. */
export class SnapshotHeld extends Data.TaggedError("SnapshotHeld")<{
  readonly held: Held
  readonly message: string
}> {}

/** The ledger belongs to another account's store, or may do so. */
export class OtherAccount extends Data.TaggedError("OtherAccount")<{
  readonly path: string
  readonly message: string
}> {}

/** No snapshot with this number is held. */
export class NotHeld extends Data.TaggedError("NotHeld")<{
  readonly message: string
}> {}

/** What is known of the account that a ledger belongs to. */
export interface Account {
  /** Without a slash at its end. */
  readonly baseUrl: string
  /** Undefined where `GET /me` shows none. */
  readonly id: string | undefined
  /** Tells keys apart without holding one. */
  readonly keyFingerprint: string
}

/** A row of the last snapshot that was rejected, or taken otherwise than it was written. */
export interface RowIssue {
  readonly line: number
  readonly productId: string | undefined
  readonly kind: "rejected" | "negative"
  readonly reason: string
}

/** Products by state, and issues of the last snapshot. */
export interface Counts extends Readonly<Record<EntryState, number>> {
  /** Products that the last snapshot did not name. */
  readonly missing: number
  readonly rejectedRows: number
  readonly negativeRows: number
}

/** The rows of a source, with what messages about them need. */
export interface Intake<E, R> {
  /** The source's name. */
  readonly source: string
  readonly unit: Unit
  /** Products that are no part of the snapshot, whether the source names them or not. */
  readonly excluded: ReadonlySet<string>
  readonly rows: Stream.Stream<Row, E, R>
}

/** On which conditions a snapshot becomes what is wanted. */
export interface SnapshotPolicy {
  /** Products that it does not name keep their wanted stock, or are wanted 0. */
  readonly gone: "leave" | "zero"
  /** Rows of one product are added up, or all of them are rejected. */
  readonly duplicates: "sum" | "reject"
  readonly guard: DropGuard.Limits
  /** The largest share of rejected rows, 0 to 1; undefined: the default of `RejectedRowLimit`. */
  readonly maxBadRows: number | undefined
}

/** What a snapshot changed, or would change. */
export interface Received {
  readonly rows: number
  /** Products whose wanted stock changed, or that are new. */
  readonly changed: number
  readonly rejected: number
  /** Rows with a negative stock that counts as 0. */
  readonly negative: number
  /** Within the guard's window. */
  readonly figures: DropGuard.Figures
  /** Missing products were not zeroed, because a rejected row names no known product and may be one of them. */
  readonly goneSpared: boolean
}

/** What a snapshot would change, as a preview tells it. */
export interface Preview extends Received {
  readonly held: Option.Option<Held>
}

/** A snapshot that waits to be confirmed, or for the next one to be plausible. */
export interface Held {
  /** Names what was looked at: a snapshot with other implausible changes has another number. */
  readonly number: number
  readonly figures: DropGuard.Figures
  /** Milliseconds since the epoch: when the first snapshot with these changes came, and the last. */
  readonly since: number
  readonly at: number
  readonly confirmed: boolean
}

/** An implausible change of a held snapshot. */
export interface HeldChange {
  readonly productId: string
  readonly kind: DropGuard.Kind
  readonly from: number
  readonly to: number
}

/** The last snapshot. */
export interface SnapshotStatus {
  /** Milliseconds since the epoch; undefined: none was taken. */
  readonly takenAt: number | undefined
  readonly rows: number | undefined
  readonly unit: Unit
  readonly held: Option.Option<Held>
}

/** A product that is about to be sent. */
export interface Taken {
  readonly productId: ProductId
  readonly value: number
  readonly priority: StockPriority.Priority
  /** Milliseconds since the epoch: since when it waits; of an assertion, when it was confirmed. */
  readonly since: number
  /** Requests for this value since the last confirmation, this one included. */
  readonly attempts: number
  readonly wasQuarantined: boolean
  /** The last failure, where it was about the same value. */
  readonly refusal: Refusal | undefined
}

/** Which product is taken next. */
export type Choice =
  | {
    readonly _tag: "Due"
    /** Where nothing is due: a product that was confirmed before this moment (milliseconds since the epoch). */
    readonly assertBefore: Option.Option<number>
  }
  /**
   * For a half-open circuit breaker: any product that waits and is not quarantined, due or not, except these. One whose wanted stock has not
   * failed goes before one whose has. The first in the order of sending (default), or the last.
   */
  | { readonly _tag: "Trial"; readonly except: Iterable<ProductId>; readonly from?: "first" | "last" }

/** What became of a request that was not confirmed. */
export interface Failed {
  /**
   * - `doubtful`: it may have taken effect, or may still.
   * - `pending`: it has not.
   * - `quarantined`: it has not, and will not until something changes.
   */
  readonly state: "doubtful" | "pending" | "quarantined"
  readonly refusal: Refusal
  /** When the product is due again. */
  readonly retryIn: Duration.Duration
  /** What the response shows of the product: nothing, that there is none, or the stock that it has. */
  readonly seen?: "absent" | number | undefined
}

/** What waits to be sent. */
export interface Backlog {
  readonly waiting: Readonly<Record<Waiting, number>>
  /** Since when the product waits that waits longest, by priority (milliseconds since the epoch). */
  readonly longest: Readonly<Record<Waiting, number | undefined>>
  readonly sending: number
  readonly oldest: Option.Option<{ readonly productId: ProductId; readonly since: number }>
  /** When the oldest confirmation came (milliseconds since the epoch). */
  readonly oldestConfirmation: Option.Option<number>
}

/** A product as a list of the store shows it. */
export interface Seen {
  readonly productId: ProductId
  readonly stock: number
}

/** One request, and what was responded. */
export interface HistoryEntry {
  readonly productId: string
  readonly value: number
  readonly reason: StockPriority.Priority
  /** Milliseconds since the epoch. */
  readonly sentAt: number
  readonly endedAt: number
  readonly outcome: "confirmed" | "doubtful" | "pending" | "quarantined"
  /** The service's code or the failure's tag; undefined if it was confirmed. */
  readonly code: string | undefined
  readonly message: string | undefined
}

export class Ledger extends Context.Tag("@plaza/stock-sync/Ledger")<Ledger, {
  /** Where it is kept, for messages. */
  readonly path: string
  /** None before the first `bind`. */
  readonly account: Effect.Effect<Option.Option<Account>, LedgerFault>
  /** Makes it the ledger of an account. Fails where it belongs to another one, or where that can't be told. */
  readonly bind: (account: Account) => Effect.Effect<void, LedgerFault | OtherAccount>
  /** Makes it the ledger of an account at a new address or with a new key. Fails where both ids are known and differ. */
  readonly adopt: (account: Account) => Effect.Effect<void, LedgerFault | OtherAccount>
  /** Fails where the ledger was removed or replaced, or another process has taken it over, since it was opened. */
  readonly check: Effect.Effect<void, LedgerFault>
  /** Takes a whole snapshot for what is wanted, or nothing of it. */
  readonly receive: <E, R>(
    intake: Intake<E, R>,
    policy: SnapshotPolicy
  ) => Effect.Effect<Received, E | LedgerFault | SnapshotHeld | SourceError, R>
  /** Takes a snapshot even if it would be held. For a copy of the ledger. */
  readonly preview: <E, R>(
    intake: Intake<E, R>,
    policy: SnapshotPolicy
  ) => Effect.Effect<Preview, E | LedgerFault | SourceError, R>
  readonly snapshot: Effect.Effect<SnapshotStatus, LedgerFault>
  /** The implausible changes of the held snapshot, by product. */
  readonly heldChanges: Stream.Stream<HeldChange, LedgerFault>
  /** Has the held snapshot taken when the source is read next, as long as its implausible changes are the same. Works beside a running worker. */
  readonly confirmHeld: (number: number) => Effect.Effect<Held, LedgerFault | NotHeld>
  readonly counts: Effect.Effect<Counts, LedgerFault>
  /** Every product that is not settled, by id. Never more than a page in memory. */
  readonly unsettled: Stream.Stream<Entry, LedgerFault>
  /** What waits, in the order of sending: what is due, then what waits for a moment. */
  readonly queue: Stream.Stream<Entry & { readonly priority: Waiting }, LedgerFault>
  readonly quarantined: Stream.Stream<Entry, LedgerFault>
  /** Issues of the last snapshot, by line. */
  readonly rowIssues: Stream.Stream<RowIssue, LedgerFault>
  /** Every product, by id. */
  readonly all: Stream.Stream<Entry, LedgerFault>
  readonly backlog: Effect.Effect<Backlog, LedgerFault>
  /** Marks a product as being sent and returns it. It is not taken again before it is confirmed or failed. */
  readonly take: (choice: Choice) => Effect.Effect<Option.Option<Taken>, LedgerFault>
  /**
   * The service confirmed this stock. The product is settled, unless another stock is wanted by now, or an earlier request
   * may still overwrite it: then it is due again when that is no longer possible.
   */
  readonly confirm: (taken: Taken) => Effect.Effect<void, LedgerFault>
  readonly fail: (taken: Taken, failed: Failed) => Effect.Effect<void, LedgerFault>
  /**
   * Forgets failures of the service: their products are due, and their attempts count anew. Not for products that wait for an earlier
   * request, nor for quarantined ones.
   */
  readonly retryNow: Effect.Effect<void, LedgerFault>
  /**
   * When the next product is due that waits for a moment (milliseconds since the epoch). Quarantined products do not count, nor do
   * products with so many attempts.
   */
  readonly nextDue: (maxAttempts: Option.Option<number>) => Effect.Effect<Option.Option<number>, LedgerFault>
  /** Releases quarantined products: these, or all. Returns those it found. Works beside a running worker. */
  readonly release: (products: Option.Option<ReadonlyArray<string>>) => Effect.Effect<ReadonlyArray<ProductId>, LedgerFault>
  /** The wall clock was set by so many milliseconds (0: unknown): moves what waits for a moment, and what is in the future to now. */
  readonly clockChanged: (millis: number) => Effect.Effect<void, LedgerFault>
  /**
   * Compares with a list of the store that was begun at a moment. Passes over products that were sent or changed since, or
   * are not settled. Returns how many differ; these are sent again if `resend` is set.
   */
  readonly observe: (seen: ReadonlyArray<Seen>, begunAt: number, resend: boolean) => Effect.Effect<number, LedgerFault>
  /** Counts a request of the key that concerns no product. */
  readonly noteRequest: Effect.Effect<void, LedgerFault>
  /** How long ago requests of the key ended, within the rate window. */
  readonly requests: Effect.Effect<ReadonlyArray<Duration.Duration>, LedgerFault>
  /** Past requests, the latest first; of one product if it is given. */
  readonly history: (product: Option.Option<string>) => Stream.Stream<HistoryEntry, LedgerFault>
}>() {}

export interface LedgerOptions {
  /** How far back requests of the key are counted. */
  readonly rateWindow: Duration.Duration
  /** How long after the end of a request without response it may still take effect. */
  readonly lateWrites: Duration.Duration
  /** Requests in the history. */
  readonly historyLimit: number
}
