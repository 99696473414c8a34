/**
 * Queries that the seeding of every area needs.
 *
 * @since 0.1.0
 */
import type { NotFound } from "@plaza-legacy/domain/Errors"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Account } from "../access/AccountsRepo.ts"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import * as Envelope from "../http/Envelope.ts"

/**
 * The maximum length of an id or a name, in characters.
 *
 * @since 0.1.0
 * @category constants
 */
export const maxIdLength = 500

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  {
    /** Finds an account or fails with `NotFound`. */
    readonly getAccount: (accountId: string) => Effect.Effect<Account, NotFound>
  },
  never,
  AccountsRepo
> = Effect.gen(function*() {
  const accounts = yield* AccountsRepo
  return {
    getAccount: (accountId) =>
      Effect.flatMap(accounts.find(accountId), Option.match({
        onNone: () => Effect.fail(Envelope.notFound("account", accountId)),
        onSome: Effect.succeed
      }))
  }
})
