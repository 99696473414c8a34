/**
 * The area of profiles: reading them, following them. Knows nothing of keys or limits.
 *
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import { ProfileId, Username } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Account } from "../../access/Accounts.js"
import { Accounts } from "../../access/Accounts.js"
import * as Envelope from "../../http/Envelope.js"
import { Sql } from "../../storage/Sql.js"
import { CurrentCaller, toItsEnd } from "../../http/RequiresAdmission.js"
import { ServedApi } from "../../http/ServedApi.js"

const toProfile = ({ cover, id, name, photo, username }: Account) => ({
  id: ProfileId.make(id),
  username: Username.make(username),
  name,
  hasPhoto: photo,
  hasCover: cover
})

/** @since 0.1.0 @category layers */
export const layer = HttpApiBuilder.group(ServedApi, "profiles", (handlers) =>
  Effect.gen(function*() {
    const sql = yield* Sql
    const accounts = yield* Accounts
    const known = (account: Option.Option<Account>, resource: string, id: string) =>
      Option.match(account, {
        onNone: () => Effect.fail(Envelope.notFound(resource, id)),
        onSome: Effect.succeed
      })
    return handlers
      .handle("getMe", () => Effect.flatMap(CurrentCaller, (caller) =>
          Effect.succeed(toProfile(caller.account))), toItsEnd)
      .handle("getUser", ({ path }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          const account = yield* known(yield* accounts.find(path.id), "user", path.id)
          yield* accounts.reach(caller.accountId, account)
          return toProfile(account)
        }), toItsEnd)
      .handle("getUserByUsername", ({ path }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          const account = yield* known(yield* accounts.findByUsername(path.username), "username", path.username)
          yield* accounts.reach(caller.accountId, account)
          return toProfile(account)
        }), toItsEnd)
      .handle("followUser", ({ path }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          if (path.id === caller.accountId) {
            return yield* Envelope.invalidField("id", "is this account itself, which can't follow itself")
          }
          const account = yield* known(yield* accounts.find(path.id), "user", path.id)
          yield* accounts.reach(caller.accountId, account)
          yield* sql`INSERT INTO relations (from_id, to_id, follows) VALUES (${caller.accountId}, ${path.id}, 1)
            ON CONFLICT (from_id, to_id) DO UPDATE SET follows = 1`
        }).pipe(sql.withTransaction), toItsEnd)
  }))
