/**
 * Seeding of accounts and of the relations between them.
 *
 * @since 0.1.0
 */
import { Conflict } from "@plaza-legacy/domain/Errors"
import { ProfileId, Username } from "@plaza-legacy/domain/Ids"
import * as Effect from "effect/Effect"
import { AccountsRepo } from "../../access/AccountsRepo.ts"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.ts"
import * as Stored from "../../latitude/Stored.ts"
import * as SeedData from "../../seeding/SeedData.ts"
import type { SeedingOperations } from "../../seeding/Seeding.ts"
import * as SeedingQueries from "../../seeding/SeedingQueries.ts"
import { Sql } from "../../storage/Sql.ts"
import { checkText } from "../Validation.ts"

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Pick<SeedingOperations, "createAccount" | "setProfile" | "setRelation">,
  never,
  Sql | AccountsRepo | CurrentLatitude
> = Effect.gen(function*() {
  const { withTransaction } = yield* Sql
  const accounts = yield* AccountsRepo
  const latitude = yield* CurrentLatitude
  const { getAccount } = yield* SeedingQueries.make

  const usernameOf = (id: string) => `user-${id}`
  /** The next number that is free both as an id and in a username. */
  const freeId = (number: number): Effect.Effect<string> =>
    Effect.flatMap(accounts.isTaken(String(number), usernameOf(String(number))), (taken) =>
      taken ? freeId(number + 1) : Effect.succeed(String(number)))

  return {
    createAccount: (account = {}) =>
      Effect.gen(function*() {
        const seq = yield* accounts.nextSeq()
        const id = account.id ?? Stored.id(latitude.value, "user", seq, yield* freeId(SeedData.firstAccountNumber + seq - 1))
        const username = account.username ?? usernameOf(id)
        const name = account.name ?? username
        yield* checkText("id", id, SeedingQueries.maxIdLength)
        yield* checkText("username", username, SeedingQueries.maxIdLength)
        yield* checkText("name", name, SeedingQueries.maxIdLength)
        if (yield* accounts.isTaken(id, username)) {
          return yield* new Conflict({ message: `there is an account with the id "${id}" or the username "${username}"` })
        }
        const { access = "granted", availability = "available", cover = true, photo = true } = account
        const created = { id: ProfileId.make(id), username: Username.make(username) }
        yield* accounts.insert({ seq, ...created, name, photo, cover, access, availability })
        return created
      }).pipe(withTransaction),

    setProfile: (accountId, change) =>
      Effect.gen(function*() {
        yield* accounts.setProfile(accountId, { ...(yield* getAccount(accountId)), ...change })
      }).pipe(withTransaction),

    setRelation: (from, to, change) =>
      Effect.gen(function*() {
        yield* getAccount(from)
        yield* getAccount(to)
        yield* accounts.setRelation(from, to, { ...(yield* accounts.relation(from, to)), ...change })
      }).pipe(withTransaction)
  }
})
