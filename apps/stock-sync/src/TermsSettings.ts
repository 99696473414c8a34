/**
 * On which terms a snapshot is taken, by options and by the environment. Knows nothing of how it is taken.
 *
 * @since 0.1.0
 */
import * as Options from "@effect/cli/Options"
import type { UsageError } from "@plaza/terminal/Problem"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Brake from "./Brake.js"
import type { Terms } from "./Ledger.js"
import { checked, type Given, given, resolve, shareOf } from "./Settings.js"

/**
 * The options of every command that takes a snapshot, or would.
 *
 * @since 0.1.0
 * @category options
 */
export const options = {
  gone: given("gone", "STOCK_SYNC_GONE", "What becomes of products that the source no longer names: leave or zero; leave unless told."),
  brakeShare: given(
    "brake-share",
    "STOCK_SYNC_BRAKE_SHARE",
    "A source is held that would take more than this share of the products out of sale, as 10%; 20% unless told."
  ),
  brakeCount: given("brake-count", "STOCK_SYNC_BRAKE_COUNT", "It is not held for this many products or fewer; 25 unless told.")
}

/**
 * Has no variable: it is said of one source that somebody looked at.
 *
 * @since 0.1.0
 * @category options
 */
export const confirm = Options.boolean("confirm").pipe(Options.withDescription("Takes the source even if the brake would hold it."))

const fates: ReadonlyArray<Terms["gone"]> = ["leave", "zero"]
const goneOf = (text: string) => Option.fromNullable(fates.find((fate) => fate === text.toLowerCase()))

const countOf = (text: string) => /^\d{1,9}$/.test(text) ? Option.some(Number(text)) : Option.none()

/**
 * The terms, where nobody confirmed anything unless told.
 *
 * @since 0.1.0
 * @category resolving
 */
export const resolveTerms = (
  told: Readonly<Record<keyof typeof options, Given>>,
  confirmed = false
): Effect.Effect<Terms, UsageError | ConfigError> =>
  Effect.gen(function*() {
    const gone = yield* checked(resolve(told.gone, "STOCK_SYNC_GONE"), goneOf, "is neither leave nor zero", "gone")
    const share = yield* checked(resolve(told.brakeShare, "STOCK_SYNC_BRAKE_SHARE"), shareOf, "is no share such as 20%", "brake-share")
    const count = yield* checked(resolve(told.brakeCount, "STOCK_SYNC_BRAKE_COUNT"), countOf, "is no whole number", "brake-count")
    return { gone: gone ?? "leave", brake: { share: share ?? Brake.usual.share, count: count ?? Brake.usual.count }, confirmed }
  })
