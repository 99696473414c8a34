/**
 * Handlers of the profiles area: reading and following profiles.
 *
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 */
import { ProfilesGroup } from "@plaza-legacy/domain/PlazaApi"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { AccountPolicy } from "../../access/AccountPolicy.ts"
import type { Account } from "../../access/AccountsRepo.ts"
import { AccountsRepo } from "../../access/AccountsRepo.ts"
import * as Endpoints from "../../http/Endpoints.ts"
import * as Envelope from "../../http/Envelope.ts"
import { CurrentCaller } from "../../http/RequiresAdmission.ts"
import { servedInterface } from "../../http/ServedApi.ts"
import { Sql } from "../../storage/Sql.ts"

const toProfile = ({ cover, id, name, photo, username }: Account) => ({
  id,
  username,
  name,
  hasPhoto: photo,
  hasCover: cover
})

/** @since 0.1.0 @category handlers */
export const group = Endpoints.group(servedInterface, ProfilesGroup, (handlers) =>
  Effect.gen(function*() {
    const { withTransaction } = yield* Sql
    const accounts = yield* AccountsRepo
    const { requireAvailable } = yield* AccountPolicy

    /** Finds an account that is available to the caller. */
    const available = (found: Effect.Effect<Option.Option<Account>>, callerId: string, resource: "user" | "username", id: string) =>
      Effect.gen(function*() {
        const account = yield* found
        if (Option.isNone(account)) {
          return yield* Envelope.notFound(resource, id)
        }
        yield* requireAvailable(callerId, account.value)
        return account.value
      })

    return handlers
      .handle("getMe", () => Effect.map(CurrentCaller, ({ account }) => toProfile(account)))
      .handle("getUser", ({ path: { id } }) =>
        Effect.flatMap(CurrentCaller, (caller) => Effect.map(available(accounts.find(id), caller.accountId, "user", id), toProfile)))
      .handle("getUserByUsername", ({ path: { username } }) =>
        Effect.flatMap(CurrentCaller, (caller) =>
          Effect.map(available(accounts.findByUsername(username), caller.accountId, "username", username), toProfile)))
      .handle("followUser", ({ path: { id } }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          if (id === caller.accountId) {
            return yield* Envelope.invalidField("id", "must not be the account's own id")
          }
          yield* available(accounts.find(id), caller.accountId, "user", id)
          yield* accounts.follow(caller.accountId, id)
        }).pipe(withTransaction))
  }))
