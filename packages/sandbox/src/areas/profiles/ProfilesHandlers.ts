/**
 * The area of profiles: reading them, following them. Knows nothing of keys or limits.
 *
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 */
import { ProfileId, Username } from "@plaza/domain/Ids"
import type { ProfilesGroup } from "@plaza/domain/PlazaApi"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Account } from "../../access/Accounts.js"
import { Accounts } from "../../access/Accounts.js"
import * as Envelope from "../../http/Envelope.js"
import type { Handlers } from "../../http/Admission.js"
import { Sql } from "../../storage/Sql.js"

const toProfile = ({ cover, id, name, photo, username }: Account) => ({
  id: ProfileId.make(id),
  username: Username.make(username),
  name,
  hasPhoto: photo,
  hasCover: cover
})

/** @since 0.1.0 @category handlers */
export const handlers: Effect.Effect<Handlers<typeof ProfilesGroup>, never, Sql | Accounts> = Effect.gen(
  function*() {
    const sql = yield* Sql
    const accounts = yield* Accounts
    const known = (account: Option.Option<Account>, resource: string, id: string) =>
      Option.match(account, {
        onNone: () => Effect.fail(Envelope.notFound(resource, id)),
        onSome: Effect.succeed
      })
    return {
      getMe: (_, { caller }) => Effect.succeed(toProfile(caller.account)),

      getUser: ({ path }, { caller }) =>
        Effect.gen(function*() {
          const account = yield* known(yield* accounts.find(path.id), "user", path.id)
          yield* accounts.reach(caller.accountId, account)
          return toProfile(account)
        }),

      getUserByUsername: ({ path }, { caller }) =>
        Effect.gen(function*() {
          const account = yield* known(yield* accounts.findByUsername(path.username), "username", path.username)
          yield* accounts.reach(caller.accountId, account)
          return toProfile(account)
        }),

      followUser: ({ path }, { caller }) =>
        Effect.gen(function*() {
          if (path.id === caller.accountId) {
            return yield* Envelope.invalidField("id", "is this account itself, which can't follow itself")
          }
          const account = yield* known(yield* accounts.find(path.id), "user", path.id)
          yield* accounts.reach(caller.accountId, account)
          yield* sql`INSERT INTO relations (from_id, to_id, follows) VALUES (${caller.accountId}, ${path.id}, 1)
            ON CONFLICT (from_id, to_id) DO UPDATE SET follows = 1`
        }).pipe(sql.withTransaction)
    }
  }
)
