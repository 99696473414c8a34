/**
 * Finds accounts by the beginning of their username, for the pages.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Account } from "../access/AccountsRepo.ts"
import { AccountsRepo } from "../access/AccountsRepo.ts"

/** @since 0.1.0 @category models */
export interface Lookup {
  /** At most {@link shown} accounts whose username has this prefix, sorted by username. */
  readonly accounts: (start: string) => Effect.Effect<ReadonlyArray<Account>>
}

/**
 * The maximum number of accounts on a page.
 *
 * @since 0.1.0
 * @category constants
 */
export const shown = 100

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Lookup, never, AccountsRepo> = Effect.map(AccountsRepo, (accounts) => ({
  accounts: (start) => accounts.findByPrefix(start, shown)
}))
