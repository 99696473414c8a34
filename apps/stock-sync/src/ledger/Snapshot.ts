/** Snapshots of the source as the ledger receives, applies and holds them. */
import type { Row } from "@plaza/tabular/Stock"
import type * as DateTime from "effect/DateTime"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { Adjustments, Kits, UnusedRule } from "../source/rules/ProductRules.ts"
import type { Unit } from "../source/Source.ts"
import type * as DropGuard from "./snapshot/DropGuard.ts"

/** The rows of a source, and what messages about them name. */
export interface SnapshotInput<E, R> {
  /** The source's name. */
  readonly source: string
  readonly unit: Unit
  /** Products that are not part of the snapshot, even if the source names them. */
  readonly excluded: ReadonlySet<string>
  /** How the sum of a product's rows is reduced (default: not at all). */
  readonly adjustments?: Adjustments | undefined
  /** Products whose stock is what that of others allows. */
  readonly kits?: Kits | undefined
  /** The rules that match no row, once the rows are read. */
  readonly unusedRules?: (() => ReadonlyArray<UnusedRule>) | undefined
  readonly rows: Stream.Stream<Row, E, R>
}

/** How a snapshot is checked and applied. */
export interface SnapshotPolicy {
  /** Products that the snapshot does not name keep their wanted stock, or get a wanted stock of 0. */
  readonly missing: "leave" | "zero"
  /** Rows of one product are added up, or all of them are rejected. */
  readonly duplicates: "sum" | "reject"
  readonly guard: DropGuard.Limits
  /** The largest share of rejected rows, 0 to 1; undefined: the default of `RejectedRowLimit`. */
  readonly maxBadRows: number | undefined
}

/** What a snapshot changed, or would change. */
export interface SnapshotResult {
  readonly rows: number
  /** Products whose wanted stock changed, and new products. */
  readonly changed: number
  readonly rejected: number
  /** Rows with a negative stock, which counts as 0. */
  readonly negative: number
  /** Within the guard's window. */
  readonly figures: DropGuard.Figures
  /** Missing products kept their stock although the policy zeroes them, because a rejected row may name one of them. */
  readonly missingKept: boolean
  /** The rows are known to be those of the last applied snapshot, so they were not compared. */
  readonly repeated?: boolean
}

/** What a snapshot would change, and whether it would be held. */
export interface SnapshotPreview extends SnapshotResult {
  readonly held: Option.Option<HeldSnapshot>
}

/** A snapshot that is not applied until it is confirmed. A plausible successor replaces it. */
export interface HeldSnapshot {
  /** Identifies the implausible changes: a snapshot with others has another number. */
  readonly number: number
  readonly figures: DropGuard.Figures
  /** When the first snapshot with these changes arrived. */
  readonly since: DateTime.Utc
  /** When the last snapshot with these changes arrived. */
  readonly at: DateTime.Utc
  readonly confirmed: boolean
}

/** An implausible change of a held snapshot. */
export interface HeldChange {
  readonly productId: string
  readonly kind: DropGuard.Kind
  readonly from: number
  readonly to: number
}

/** The last applied snapshot, and the held one. */
export interface SnapshotStatus {
  /** Undefined: no snapshot was ever applied. */
  readonly takenAt: DateTime.Utc | undefined
  readonly rows: number | undefined
  readonly unit: Unit
  /** The number of the last snapshot that changed something or was held, or of a later revert; 0: there was none. */
  readonly lastNumber: number
  /**
   * A person restored the stock of an earlier snapshot. Until the source has named each product that this changed with another stock than
   * before, or a held snapshot was confirmed.
   */
  readonly reverted: { readonly to: number; readonly at: DateTime.Utc } | undefined
  readonly held: Option.Option<HeldSnapshot>
}

/** An applied snapshot whose stock can be restored, or a revert to one. */
export interface PastSnapshot {
  /** Counts the snapshots that changed something, those that were held, and reverts. */
  readonly number: number
  readonly takenAt: DateTime.Utc
  readonly rows: number
  /** Products whose wanted stock it changed, and new products. */
  readonly changed: number
  /** The snapshot whose stock a revert restored; undefined for a snapshot of the source. */
  readonly revertedTo: number | undefined
}

export interface RevertOptions {
  readonly guard: DropGuard.Limits
  /** Reverts although the changes are implausible. */
  readonly confirmed: boolean
  /** Changes nothing. */
  readonly preview: boolean
  /** The most changes to return; undefined: all. */
  readonly limit: number | undefined
}

/** What a revert changes. Products that were new since keep their stock. */
export interface Reverted {
  readonly to: PastSnapshot
  /** Its number in the list of snapshots; undefined: nothing was changed. */
  readonly number: number | undefined
  readonly changed: number
  readonly figures: DropGuard.Figures
  /** The drop guard holds the changes, unless a person confirms them. */
  readonly isImplausible: boolean
  /** The implausible changes first, then by product. */
  readonly changes: ReadonlyArray<Omit<HeldChange, "kind"> & { readonly kind: DropGuard.Kind | undefined }>
}

/** A row of the last snapshot that was rejected, or whose stock was changed; a kit that can't be computed, or a rule without an effect. */
export interface RowIssue {
  /** 0 for a kit and for a rule. */
  readonly line: number
  readonly productId: string | undefined
  readonly kind: "rejected" | "negative" | "rule"
  readonly reason: string
}

/** Where an issue is: a row of the source, a kit or a rule. */
export const placeOf = ({ kind, line }: Pick<RowIssue, "kind" | "line">, unit: Unit): string =>
  line > 0 ? `${unit} ${line}` : kind === "rule" ? "rule" : "kit"
