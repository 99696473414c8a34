/**
 * Handlers of the profiles area: reading and following profiles.
 *
 * Source: interface v1, "Endpoints".
 */
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { AccountPolicy } from "../../access/AccountPolicy.ts"
import type { Account } from "../../access/AccountsRepo.ts"
import { AccountsRepo } from "../../access/AccountsRepo.ts"
import { CurrentCaller, InterfaceApi } from "../../InterfaceApi.ts"
import { Db } from "../../storage/Db.ts"
import { invalidField, notFound } from "../../Validation.ts"

const toProfile = ({ cover, id, name, photo, username }: Account) => ({ id, username, name, hasPhoto: photo, hasCover: cover })

export const layer = HttpApiBuilder.group(InterfaceApi, "profiles", (handlers) =>
  Effect.gen(function*() {
    const { transaction } = yield* Db
    const accounts = yield* AccountsRepo
    const { requireAvailable } = yield* AccountPolicy

    /** Returns an account that is available to the caller. */
    const available = Effect.fnUntraced(function*(account: Account | undefined, resource: "user" | "username", id: string) {
      const { accountId } = yield* CurrentCaller
      if (account === undefined) {
        return yield* notFound(resource, id)
      }
      yield* requireAvailable(accountId, account)
      return account
    })

    return handlers.handleAll({
      getMe: () => Effect.map(CurrentCaller, ({ account }) => toProfile(account)),
      getUser: ({ params: { id } }) => Effect.map(available(accounts.find(id), "user", id), toProfile),
      getUserByUsername: ({ params: { username } }) =>
        Effect.map(available(accounts.findByUsername(username), "username", username), toProfile),
      followUser: Effect.fnUntraced(function*({ params: { id } }) {
        const { accountId } = yield* CurrentCaller
        if (id === accountId) {
          return yield* invalidField("id", "must not be the account's own id")
        }
        yield* available(accounts.find(id), "user", id)
        accounts.follow(accountId, id)
      }, transaction)
    })
  }))
