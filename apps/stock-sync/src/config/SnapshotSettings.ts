/** On which conditions a snapshot is taken. */
import type { UsageError } from "@plaza/cli-kit/CliError"
import type { ConfigError } from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SnapshotPolicy } from "../ledger/Ledger.js"
import { checked, durationOf, type Given, given, resolve, shareOf } from "./Settings.js"

/** The options of every command that takes a snapshot, or would. */
export const options = {
  gone: given("gone", "STOCK_SYNC_GONE",
    "Products that the source no longer names: leave keeps their stock, zero sets it to 0 (default: leave)."),
  negative: given("negative", "STOCK_SYNC_NEGATIVE",
    "Rows with a negative stock: zero takes it as 0, reject rejects the row (default: zero)."),
  duplicates: given(
    "duplicates",
    "STOCK_SYNC_DUPLICATES",
    "Several rows of one product: sum adds them up, as for several warehouses, reject rejects all of them (default: reject)."
  ),
  guardShare: given(
    "guard-share",
    "STOCK_SYNC_GUARD_SHARE",
    "A snapshot is held if more than this share of the products sell out, fall, rise or go missing implausibly within the window (default: 20%)."
  ),
  guardCount: given("guard-count", "STOCK_SYNC_GUARD_COUNT",
    "A snapshot is never held for this number of products or fewer (default: 10)."),
  guardWindow: given("guard-window", "STOCK_SYNC_GUARD_WINDOW", "How far back the drop guard adds up changes (default: 1 day).")
}

const oneOf = <A extends string>(...words: ReadonlyArray<A>) => (text: string) =>
  Option.fromNullable(words.find((word) => word === text.toLowerCase()))

const countOf = (text: string) => /^\d{1,9}$/.test(text) ? Option.some(Number(text)) : Option.none()

/** How a snapshot is read and taken, but for the share of rejected rows, which is a setting of the source. */
export interface SnapshotSettings extends Omit<SnapshotPolicy, "maxBadRows"> {
  readonly negative: "zero" | "reject"
}

export const resolveSnapshot = (
  given: Readonly<Record<keyof typeof options, Given>>
): Effect.Effect<SnapshotSettings, UsageError | ConfigError> =>
  Effect.gen(function*() {
    const gone = yield* checked(resolve(given.gone, "STOCK_SYNC_GONE"), oneOf("leave", "zero"), "is neither leave nor zero", "gone")
    const negative = yield* checked(resolve(given.negative, "STOCK_SYNC_NEGATIVE"), oneOf("zero", "reject"), "is neither zero nor reject",
      "negative")
    const duplicates = yield* checked(resolve(given.duplicates, "STOCK_SYNC_DUPLICATES"), oneOf("sum", "reject"),
      "is neither sum nor reject", "duplicates")
    const share = yield* checked(resolve(given.guardShare, "STOCK_SYNC_GUARD_SHARE"), shareOf, "is no share such as 20%", "guard-share")
    const count = yield* checked(resolve(given.guardCount, "STOCK_SYNC_GUARD_COUNT"), countOf, "is no whole number", "guard-count")
    const window = yield* checked(resolve(given.guardWindow, "STOCK_SYNC_GUARD_WINDOW"), durationOf, "is not a duration such as 1d",
      "guard-window")
    return {
      gone: gone ?? "leave",
      negative: negative ?? "zero",
      duplicates: duplicates ?? "reject",
      guard: { share: share ?? 0.2, count: count ?? 10, window: window ?? Duration.days(1) }
    }
  })
