/**
 * Decides whether one account is available to another.
 *
 * @since 0.1.0
 */
import { UserUnavailable } from "@plaza-legacy/domain/Errors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { CurrentAssumptions } from "../Assumptions.ts"
import type { Account } from "./AccountsRepo.ts"
import { AccountsRepo } from "./AccountsRepo.ts"

/** @since 0.1.0 @category services */
export class AccountPolicy extends Context.Tag("@plaza-legacy/sandbox/AccountPolicy")<AccountPolicy, {
  /** Fails when the account is suspended or private, or when one of the two has blocked the other. */
  readonly requireAvailable: (callerId: string, account: Account) => Effect.Effect<void, UserUnavailable>
}>() {}

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<AccountPolicy["Type"], never, AccountsRepo | CurrentAssumptions> = Effect.map(
  Effect.all([AccountsRepo, CurrentAssumptions]),
  ([accounts, { privateVisibleToFollowers }]) => ({
    requireAvailable: (callerId, { availability, id }) =>
      Effect.gen(function*() {
        if (callerId === id) {
          return
        }
        const outward = yield* accounts.relation(callerId, id)
        const inward = yield* accounts.relation(id, callerId)
        const reason = availability === "suspended"
          ? "is suspended"
          : outward.blocks || inward.blocks
          ? "is blocked, or has blocked this account"
          : availability === "private" && !(privateVisibleToFollowers && outward.follows)
          ? "is private"
          : undefined
        if (reason !== undefined) {
          return yield* new UserUnavailable({ message: `the user "${id}" ${reason}` })
        }
      })
  })
)
