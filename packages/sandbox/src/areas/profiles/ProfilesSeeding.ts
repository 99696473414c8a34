/**
 * Seeding of accounts and the relations between them.
 *
 * @since 0.1.0
 */
import { Conflict } from "@plaza/domain/Errors"
import { ProfileId, Username } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import { Accounts } from "../../access/Accounts.js"
import { checkText } from "../Validation.js"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.js"
import * as Stored from "../../latitude/Stored.js"
import * as SeedData from "../../seeding/SeedData.js"
import type { SeedingOperations } from "../../seeding/Seeding.js"
import { Sql } from "../../storage/Sql.js"
import * as SeedingQueries from "../../seeding/SeedingQueries.js"

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Pick<SeedingOperations, "createAccount" | "setProfile" | "setRelation">,
  never,
  Sql | Accounts | CurrentLatitude
> = Effect.gen(function*() {
  const sql = yield* Sql
  const accounts = yield* Accounts
  const latitude = yield* CurrentLatitude
  const { getAccount, nextSeq } = yield* SeedingQueries.make

  const isTaken = (id: string, username: string) =>
    Effect.map(
      sql`SELECT 1 FROM accounts WHERE id = ${id} OR username = ${username}`,
      (rows) => rows.length > 0
    )
  const usernameOf = (id: string) => `user-${id}`
  /** The next number that is free both as an id and in a username. */
  const freeId = (number: number): Effect.Effect<string> =>
    Effect.flatMap(isTaken(String(number), usernameOf(String(number))), (taken) =>
      taken ? freeId(number + 1) : Effect.succeed(String(number)))

  return {
    createAccount: (account = {}) =>
      Effect.gen(function*() {
        const seq = yield* nextSeq("accounts")
        const id = account.id ?? Stored.id(latitude.value, "user", seq, yield* freeId(SeedData.firstAccountNumber + seq - 1))
        const username = account.username ?? usernameOf(id)
        const name = account.name ?? username
        yield* checkText("id", id, SeedingQueries.maxIdLength)
        yield* checkText("username", username, SeedingQueries.maxIdLength)
        yield* checkText("name", name, SeedingQueries.maxIdLength)
        if (yield* isTaken(id, username)) {
          return yield* new Conflict({ message: `there is an account with the id "${id}" or the username "${username}"` })
        }
        yield* sql`INSERT INTO accounts ${sql.insert(SeedData.accountRow({ ...account, seq, id, username, name }))}`
        return { id: ProfileId.make(id), username: Username.make(username) }
      }).pipe(sql.withTransaction),

    setProfile: (accountId, change) =>
      Effect.gen(function*() {
        const { availability, cover, photo } = { ...(yield* getAccount(accountId)), ...change }
        yield* sql`UPDATE accounts SET photo = ${photo ? 1 : 0}, cover = ${cover ? 1 : 0}, availability = ${availability}
          WHERE id = ${accountId}`
      }).pipe(sql.withTransaction),

    setRelation: (from, to, change) =>
      Effect.gen(function*() {
        yield* getAccount(from)
        yield* getAccount(to)
        const relation = { ...(yield* accounts.relation(from, to)), ...change }
        yield* sql`INSERT OR REPLACE INTO relations ${sql.insert(SeedData.relationRow(from, to, relation))}`
      }).pipe(sql.withTransaction)
  }
})
