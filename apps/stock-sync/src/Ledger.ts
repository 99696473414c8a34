/**
 * The memory of what is wanted and what the service holds, product by product. Written before and after each send, so that a crash
 * at any moment leaves it telling the truth. Knows nothing of HTTP nor of the order of sending; `Ledger/Sqlite` keeps it in a file.
 *
 * @since 0.1.0
 */
import type { ProductId } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { Entry, EntryState, Refusal } from "./Entry.js"
import type { Row } from "./Source.js"

/**
 * The ledger can't be opened, read or written.
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

/** @since 0.1.0 @category services */
export class Ledger extends Context.Tag("@plaza/stock-sync/Ledger")<Ledger, {
  /** Where it is kept, for messages. */
  readonly path: string
  /** Whose it is; none before the first pass. */
  readonly account: Effect.Effect<Option.Option<Account>, LedgerFault>
  /** Makes it the ledger of an account, for good. Fails if it is another's. */
  readonly bind: (account: Account) => Effect.Effect<void, LedgerFault | OtherAccount>
  /**
   * Takes a whole snapshot for what is wanted, or, if the rows fail, nothing of it. Products that it doesn't name, names twice or
   * names in a bad row keep what was wanted of them and are no part of the snapshot.
   */
  readonly receive: <E, R>(rows: Stream.Stream<Row, E, R>) => Effect.Effect<void, E | LedgerFault, R>
  readonly counts: Effect.Effect<Counts, LedgerFault>
  /** The products of the last snapshot that aren't settled, by id. Never more than a page in memory. */
  readonly unsettled: Stream.Stream<Entry, LedgerFault>
  /** Every product that isn't settled, whether the last snapshot named it or not, by id. */
  readonly open: Stream.Stream<Entry, LedgerFault>
  /** What was set aside of the last snapshot, by line. */
  readonly setAside: Stream.Stream<SetAside, LedgerFault>
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
