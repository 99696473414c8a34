/** Decides whether one account is available to another. */
import { UserUnavailable } from "@plaza/domain/Errors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CurrentAssumptions } from "../Assumptions.ts"
import type { Account } from "./AccountsRepo.ts"
import { AccountsRepo } from "./AccountsRepo.ts"

export class AccountPolicy extends Context.Service<AccountPolicy>()("@plaza/sandbox/AccountPolicy", {
  make: Effect.gen(function*() {
    const accounts = yield* AccountsRepo
    const { privateVisibleToFollowers } = yield* CurrentAssumptions
    const reasonOf = (callerId: string, { availability, id }: Account): string | undefined => {
      if (callerId === id) {
        return undefined
      }
      const outward = accounts.relation(callerId, id)
      return availability === "suspended"
        ? "is suspended"
        : outward.blocks || accounts.relation(id, callerId).blocks
        ? "is blocked, or has blocked this account"
        : availability === "private" && !(privateVisibleToFollowers && outward.follows)
        ? "is private"
        : undefined
    }
    return {
      /** Fails when the account is suspended or private, or when one of the two has blocked the other. */
      requireAvailable: (callerId: string, account: Account): Effect.Effect<void, UserUnavailable> => {
        const reason = reasonOf(callerId, account)
        return reason === undefined ? Effect.void : Effect.fail(new UserUnavailable({ message: `the user "${account.id}" ${reason}` }))
      }
    }
  })
}) {
  static readonly layer = Layer.effect(AccountPolicy, AccountPolicy.make)
}
