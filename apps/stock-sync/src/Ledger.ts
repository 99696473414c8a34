/**
 * What is wanted, what was sent and what the service last confirmed, product by product. Written before and after each send, so that
 * after a crash a value without a confirmation is not counted as confirmed. `Ledger/Sqlite` keeps it in a file, `Ledger/Postgres` in a
 * database.
 *
 * @since 0.1.0
 */
import type { ProductId } from "@plaza/domain/Ids"
import type { Row } from "@plaza/rows/Stock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { Brake, Damage } from "./Brake.js"
import type { Entry, EntryState, Refusal, Urgency } from "./Entry.js"

/**
 * The ledger can't be opened, read or written. Whoever goes on afterwards opens it anew: the session may be lost, and with it the lock.
 *
 * @since 0.1.0
 * @category errors
 */
export class LedgerFault extends Data.TaggedError("LedgerFault")<{
  readonly path: string
  readonly message: string
}> {
  readonly exitCode = 2
}

/**
 * Another process works with the ledger.
 *
 * @since 0.1.0
 * @category errors
 */
export class LedgerInUse extends Data.TaggedError("LedgerInUse")<{
  readonly path: string
  readonly message: string
}> {
  readonly exitCode = 2
}

/**
 * A snapshot would take more of the catalogue out of sale than the brake lets through. Nothing of it was taken.
 *
 * @since 0.1.0
 * @category errors
 */
export class SnapshotHeld extends Data.TaggedError("SnapshotHeld")<{
  readonly held: Held
  readonly message: string
}> {
  readonly exitCode = 2
}

/**
 * The ledger remembers another account's store; what it holds says nothing about this one.
 *
 * @since 0.1.0
 * @category errors
 */
export class OtherAccount extends Data.TaggedError("OtherAccount")<{
  readonly path: string
  readonly message: string
}> {
  readonly exitCode = 2
}

/**
 * Whose store a ledger is about.
 *
 * @since 0.1.0
 * @category models
 */
export interface Account {
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly id: string
}

/**
 * A row of the last snapshot that was set aside.
 *
 * @since 0.1.0
 * @category models
 */
export interface SetAside {
  readonly line: number
  readonly productId: string | undefined
  readonly reason: string
}

/**
 * How the products of the last snapshot stand, and how many of its rows were set aside.
 *
 * @since 0.1.0
 * @category models
 */
export interface Counts extends Readonly<Record<EntryState, number>> {
  readonly setAside: number
}

/**
 * How a snapshot is taken.
 *
 * @since 0.1.0
 * @category models
 */
export interface Terms {
  /** What becomes of products that it doesn't name: they keep what was wanted of them, or are wanted 0. */
  readonly gone: "leave" | "zero"
  readonly brake: Brake
  /** Somebody looked at it: it is taken whatever the brake says. */
  readonly confirmed: boolean
}

/**
 * What a snapshot brought.
 *
 * @since 0.1.0
 * @category models
 */
export interface Received {
  /** Products that are wanted otherwise than before, or for the first time. */
  readonly changed: number
  readonly damage: Damage
  /** The brake would have held it, had nobody confirmed it. */
  readonly braked: boolean
  /**
   * Products that it doesn't name were to be wanted 0 and are left alone all the same, because a row was set aside that names no
   * product or an unknown one: it may be theirs.
   */
  readonly goneSpared: boolean
}

/**
 * A snapshot that waits for somebody to confirm it, or for the next one to be harmless.
 *
 * @since 0.1.0
 * @category models
 */
export interface Held extends Damage {
  /** Milliseconds since the epoch: when the first of a row of such snapshots came, and the last. */
  readonly since: number
  readonly at: number
}

/**
 * A product that was handed out to be sent.
 *
 * @since 0.1.0
 * @category models
 */
export interface Taken {
  readonly productId: ProductId
  /** What is wanted now. */
  readonly value: number
  readonly urgency: Urgency
  /** Milliseconds since the epoch: since when it waits; of an assertion, when it was last confirmed. */
  readonly since: number
}

/**
 * A product as the store was seen to hold it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Seen {
  readonly productId: ProductId
  readonly stock: number
}

/**
 * Which product may be handed out.
 *
 * @since 0.1.0
 * @category models
 */
export interface Choice {
  /** Products that are passed over, as after a failure. What is being sent is passed over anyhow. */
  readonly resting: Iterable<ProductId>
  /** Where nothing waits: the product whose confirmation is oldest, if it came before this time. None: no product is asserted again. */
  readonly assertBefore: Option.Option<number>
}

/**
 * What waits to be sent.
 *
 * @since 0.1.0
 * @category models
 */
export interface Backlog {
  readonly waiting: Readonly<Record<Exclude<Urgency, "assertion">, number>>
  /** Since when, in each class, the product waits that waits longest there (milliseconds since the epoch). */
  readonly longest: Readonly<Record<Exclude<Urgency, "assertion">, number | undefined>>
  /** Handed out and not decided yet. */
  readonly sending: number
  /** The product that waits longest, and since when (milliseconds since the epoch). */
  readonly oldest: Option.Option<{ readonly productId: ProductId; readonly since: number }>
  /** When the oldest of all confirmations came that still hold. What others change in the store is not seen. */
  readonly oldestConfirmation: Option.Option<number>
}

/** @since 0.1.0 @category services */
export class Ledger extends Context.Tag("@plaza/stock-sync/Ledger")<Ledger, {
  /** Where it is kept, for messages. */
  readonly path: string
  /** Whose it is; none before the first pass. */
  readonly account: Effect.Effect<Option.Option<Account>, LedgerFault>
  /** Makes it the ledger of an account, for good. Fails if it is another's. */
  readonly bind: (account: Account) => Effect.Effect<void, LedgerFault | OtherAccount>
  /**
   * Takes a whole snapshot for what is wanted, or, if the rows fail or the brake holds it, nothing of it. Products that it names twice
   * or names in a bad row keep what was wanted of them and are no part of the snapshot, nor are those that are gone and left alone.
   */
  readonly receive: <E, R>(
    rows: Stream.Stream<Row, E, R>,
    terms: Terms
  ) => Effect.Effect<Received, E | LedgerFault | SnapshotHeld, R>
  /** When the last snapshot was taken, in milliseconds since the epoch. */
  readonly takenAt: Effect.Effect<Option.Option<number>, LedgerFault>
  /** The snapshot that the brake holds. */
  readonly held: Effect.Effect<Option.Option<Held>, LedgerFault>
  readonly counts: Effect.Effect<Counts, LedgerFault>
  /** The products of the last snapshot that aren't settled, by id. Never more than a page in memory. */
  readonly unsettled: Stream.Stream<Entry, LedgerFault>
  /** Every product that isn't settled, whether the last snapshot named it or not, by id. */
  readonly open: Stream.Stream<Entry, LedgerFault>
  /** Every product that the service refuses, by id. */
  readonly quarantined: Stream.Stream<Entry, LedgerFault>
  /** What was set aside of the last snapshot, by line. */
  readonly setAside: Stream.Stream<SetAside, LedgerFault>
  readonly backlog: Effect.Effect<Backlog, LedgerFault>
  /**
   * Marks the most urgent product of the last snapshot as being sent and hands it out; among equals the one that waits longest. What is
   * handed out is not handed out again before it is confirmed or failed.
   */
  readonly take: (choice: Choice) => Effect.Effect<Option.Option<Taken>, LedgerFault>
  /** Lets quarantined products be sent again: these, or all. Gives the ones it found. May be used beside a process that sends. */
  readonly release: (products: Option.Option<ReadonlyArray<string>>) => Effect.Effect<ReadonlyArray<ProductId>, LedgerFault>
  /**
   * The wall clock was set back: what seems to come from the future counts as of now. Else what was confirmed then would be taken for
   * fresh until that time comes.
   */
  readonly forgetFuture: Effect.Effect<void, LedgerFault>
  /**
   * What the store was seen to hold. Where that is otherwise than it once confirmed, the product is to be sent; where it is the same, that
   * was confirmed then. Passes over what was sent or changed since the look began (milliseconds since the epoch), and what isn't
   * settled. Gives how many differ.
   */
  readonly observe: (seen: ReadonlyArray<Seen>, begunAt: number) => Effect.Effect<number, LedgerFault>
  /** Marks a product as being sent. Gives the stock that is wanted now. */
  readonly begin: (productId: ProductId) => Effect.Effect<number, LedgerFault>
  /** The service holds this value. */
  readonly confirm: (productId: ProductId, value: number) => Effect.Effect<void, LedgerFault>
  /**
   * The refused value is not confirmed: nobody knows whether it was taken (`doubtful`), it certainly was not and may be sent again
   * (`pending`; an earlier doubt about another value then stands again), or it will not be taken until it changes (`quarantined`).
   */
  readonly fail: (
    productId: ProductId,
    state: "doubtful" | "pending" | "quarantined",
    refusal: Refusal,
    /** The service says that it has no such product: what it once confirmed no longer holds. */
    absent: boolean
  ) => Effect.Effect<void, LedgerFault>
}>() {}
