/**
 * The table `keys`. Stores the SHA-256 and the last four characters of a key, never its value.
 *
 * @since 0.1.0
 */
import { KeyState } from "@plaza-legacy/domain/ApiKey"
import { ProfileId } from "@plaza-legacy/domain/Ids"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { onFirstUse } from "../OnFirstUse.ts"
import { Sql } from "../storage/Sql.ts"
import * as SqlSchema from "../storage/SqlSchema.ts"
import { Account } from "./AccountsRepo.ts"

const Scopes = Schema.parseJson(Schema.Array(Schema.String))
const encodeScopes = onFirstUse(() => Schema.encodeSync(Scopes))

/** @since 0.1.0 @category rows */
export const Key = Schema.Struct({
  id: Schema.String,
  accountId: ProfileId,
  name: Schema.String,
  lastFour: Schema.String,
  scopes: Scopes,
  state: KeyState,
  createdAt: Schema.DateTimeUtcFromNumber
})
/** @since 0.1.0 @category rows */
export type Key = typeof Key.Type

/** A key with its account. */
const KeyWithAccount = Schema.Struct({ ...Account.fields, keyId: Schema.String, scopes: Scopes })

/** @since 0.1.0 @category constructors */
export const make = Effect.map(Sql, (sql) => ({
  find: SqlSchema.findOne({
    Result: Key,
    execute: (id: string) =>
      sql.first`SELECT id, account_id AS accountId, name, last_four AS lastFour, scopes, state, created_at AS createdAt
        FROM keys WHERE id = ${id}`
  }),
  /** The active key with a hash, with its account. */
  findActive: SqlSchema.findOne({
    Result: KeyWithAccount,
    execute: (hash: string) =>
      sql.first`SELECT accounts.*, keys.id AS keyId, scopes FROM keys JOIN accounts ON accounts.id = keys.account_id
        WHERE hash = ${hash} AND state = 'active'`
  }),
  /** The keys of an account, newest first. */
  ofAccount: SqlSchema.findAll({
    Result: Key,
    execute: (accountId: string) =>
      sql`SELECT id, account_id AS accountId, name, last_four AS lastFour, scopes, state, created_at AS createdAt
        FROM keys WHERE account_id = ${accountId} ORDER BY seq DESC`
  }),
  all: SqlSchema.findAll({
    Result: Key,
    execute: () =>
      sql`SELECT id, account_id AS accountId, name, last_four AS lastFour, scopes, state, created_at AS createdAt
        FROM keys ORDER BY seq`
  }),
  /** The sequence number of the next key. */
  nextSeq: SqlSchema.single({
    Result: SqlSchema.Seq,
    execute: () => sql.first`SELECT coalesce(max(seq), 0) + 1 AS seq FROM keys`
  }),
  insert: ({ accountId, createdAt, hash, id, lastFour, name, scopes, state }: Key & { readonly hash: string }) =>
    Effect.asVoid(sql`INSERT INTO keys (id, account_id, name, hash, last_four, scopes, state, created_at)
      VALUES (${id}, ${accountId}, ${name}, ${hash}, ${lastFour}, ${encodeScopes(scopes)}, ${state},
        ${DateTime.toEpochMillis(createdAt)})`),
  setState: (id: string, state: KeyState) => Effect.asVoid(sql`UPDATE keys SET state = ${state} WHERE id = ${id}`)
}))

/** @since 0.1.0 @category services */
export class KeysRepo extends Context.Tag("@plaza-legacy/sandbox/KeysRepo")<KeysRepo, Effect.Effect.Success<typeof make>>() {}
