/** The table `keys`. Stores the SHA-256 and the last four characters of a key, never its value. */
import { KeyState } from "@plaza/domain/ApiKey"
import { ProfileId } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Db } from "../storage/Db.ts"
import { Account } from "./AccountsRepo.ts"

const Scopes = Schema.fromJsonString(Schema.Array(Schema.String))
const encodeScopes = Schema.encodeSync(Scopes)

export const Key = Schema.Struct({
  id: Schema.String,
  accountId: ProfileId,
  name: Schema.String,
  lastFour: Schema.String,
  scopes: Scopes,
  state: KeyState,
  createdAt: Schema.DateTimeUtcFromMillis
})
export type Key = typeof Key.Type

/** A key with its account. */
const KeyWithAccount = Schema.Struct({ ...Account.fields, keyId: Schema.String, scopes: Scopes })

export class KeysRepo extends Context.Service<KeysRepo>()("@plaza/sandbox/KeysRepo", {
  make: Effect.map(Db, (db) => ({
    find: (id: string) =>
      db.first(Key)`SELECT id, account_id AS accountId, name, last_four AS lastFour, scopes, state, created_at AS createdAt
          FROM keys WHERE id = ${id}`,
    /** The active key with a hash, with its account. */
    findActive: (hash: string) =>
      db.first(KeyWithAccount)`SELECT accounts.*, keys.id AS keyId, scopes FROM keys JOIN accounts ON accounts.id = keys.account_id
          WHERE hash = ${hash} AND state = 'active'`,
    /** The keys of an account, newest first. */
    ofAccount: (accountId: string) =>
      db.all(Key)`SELECT id, account_id AS accountId, name, last_four AS lastFour, scopes, state, created_at AS createdAt
          FROM keys WHERE account_id = ${accountId} ORDER BY seq DESC`,
    all: () =>
      db.all(Key)`SELECT id, account_id AS accountId, name, last_four AS lastFour, scopes, state, created_at AS createdAt
          FROM keys ORDER BY seq`,
    /** The sequence number of the next key. */
    nextSeq: () => db.seq`SELECT coalesce(max(seq), 0) + 1 AS seq FROM keys`,
    insert: ({ accountId, createdAt, hash, id, lastFour, name, scopes, state }: Key & { readonly hash: string }) =>
      db.run`INSERT INTO keys (id, account_id, name, hash, last_four, scopes, state, created_at)
        VALUES (${id}, ${accountId}, ${name}, ${hash}, ${lastFour}, ${encodeScopes(scopes)}, ${state},
          ${DateTime.toEpochMillis(createdAt)})`,
    setState: (id: string, state: KeyState) => db.run`UPDATE keys SET state = ${state} WHERE id = ${id}`
  }))
}) {
  static readonly layer = Layer.effect(KeysRepo, KeysRepo.make)
}
