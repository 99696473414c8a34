/** The settings that decide which rows and snapshots are accepted. */
import * as Effect from "effect/Effect"
import type { SnapshotPolicy } from "../ledger/Snapshot.ts"
import * as Setting from "./Setting.ts"

/** The options of every command that reads a source. */
export const options = {
  gone: Setting.withDefault("gone", Setting.oneOf("leave", "zero"), "leave",
    "Products that the source no longer names: leave keeps their stock, zero sets it to 0"),
  negative: Setting.withDefault("negative", Setting.oneOf("zero", "reject"), "zero",
    "Rows with a negative stock: zero accepts it as 0, reject rejects the row"),
  duplicates: Setting.withDefault("duplicates", Setting.oneOf("sum", "reject"), "reject",
    "Several rows of one product: sum adds them up, as for several warehouses, reject rejects all of them"),
  guardShare: Setting.withDefault("guard-share", Setting.share, "20%",
    "A snapshot is held if more than this share of the products sell out, fall, rise or go missing implausibly within the window"),
  guardCount: Setting.withDefault("guard-count", Setting.integer(0, 999_999_999), "10",
    "A snapshot is never held for this number of products or fewer"),
  guardWindow: Setting.withDefault("guard-window", Setting.duration, "1 day", "How far back the drop guard adds up changes")
}

/** All but the share of rejected rows, which is a setting of the source. */
export interface SnapshotSettings extends Omit<SnapshotPolicy, "maxBadRows"> {
  readonly negative: "zero" | "reject"
}

export const resolve = (given: Setting.Parsed<typeof options>): Setting.Value<SnapshotSettings> =>
  Effect.map(Effect.all(given), ({ gone: missing, guardCount: count, guardShare: share, guardWindow: window, ...rest }) => ({
    ...rest,
    missing,
    guard: { share, count, window }
  }))
