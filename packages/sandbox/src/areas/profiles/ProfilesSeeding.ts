/**
 * Setting up people: accounts, and how two of them stand to each other. Knows nothing of requests.
 *
 * @since 0.1.0
 */
import { Conflict } from "@plaza/domain/Errors"
import { ProfileId, Username } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import { Accounts } from "../../access/Accounts.js"
import { checkText } from "../Fields.js"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.js"
import * as Stored from "../../latitude/Stored.js"
import * as Seed from "../../seeding/SeedData.js"
import type { SetupCalls } from "../../seeding/Seeding.js"
import { Sql } from "../../storage/Sql.js"
import * as Parts from "../../seeding/SeedingParts.js"

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Pick<SetupCalls, "createAccount" | "setProfile" | "setRelation">,
  never,
  Sql | Accounts | CurrentLatitude
> = Effect.gen(function*() {
  const sql = yield* Sql
  const accounts = yield* Accounts
  const latitude = yield* CurrentLatitude
  const { known, next } = yield* Parts.make

  const isTaken = (id: string, username: string) =>
    Effect.map(
      sql`SELECT 1 FROM accounts WHERE id = ${id} OR username = ${username}`,
      (rows) => rows.length > 0
    )
  const usernameOf = (id: string) => `user-${id}`
  /** The next number that nobody has taken, for an id of their own or in a username. */
  const freeId = (number: number): Effect.Effect<string> =>
    Effect.flatMap(isTaken(String(number), usernameOf(String(number))), (taken) =>
      taken ? freeId(number + 1) : Effect.succeed(String(number)))

  return {
    createAccount: (account = {}) =>
      Effect.gen(function*() {
        const seq = yield* next("accounts")
        const id = account.id ?? Stored.id(latitude.value, "user", seq, yield* freeId(Seed.firstAccountNumber + seq - 1))
        const username = account.username ?? usernameOf(id)
        const name = account.name ?? username
        yield* checkText("id", id, Parts.maxIdLength)
        yield* checkText("username", username, Parts.maxIdLength)
        yield* checkText("name", name, Parts.maxIdLength)
        if (yield* isTaken(id, username)) {
          return yield* new Conflict({ message: `there is an account with the id "${id}" or the username "${username}"` })
        }
        yield* sql`INSERT INTO accounts ${sql.insert(Seed.accountRow({ ...account, seq, id, username, name }))}`
        return { id: ProfileId.make(id), username: Username.make(username) }
      }).pipe(sql.withTransaction),

    setProfile: (accountId, change) =>
      Effect.gen(function*() {
        const { availability, cover, photo } = { ...(yield* known(accountId)), ...change }
        yield* sql`UPDATE accounts SET photo = ${photo ? 1 : 0}, cover = ${cover ? 1 : 0}, availability = ${availability}
          WHERE id = ${accountId}`
      }).pipe(sql.withTransaction),

    setRelation: (from, to, change) =>
      Effect.gen(function*() {
        yield* known(from)
        yield* known(to)
        const relation = { ...(yield* accounts.relation(from, to)), ...change }
        yield* sql`INSERT OR REPLACE INTO relations ${sql.insert(Seed.relationRow(from, to, relation))}`
      }).pipe(sql.withTransaction)
  }
})
