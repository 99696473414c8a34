/**
 * API keys: making, finding and revoking them. Only their SHA-256 is kept. Knows nothing of what a key may do.
 *
 * Source: interface v1, "Authentication" and "States and transitions".
 *
 * @since 0.1.0
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as ApiKey from "@plaza/domain/ApiKey"
import type { AccessState } from "@plaza/domain/DeveloperAccess"
import { Conflict, type NotFound } from "@plaza/domain/Errors"
import { keySecretLength, maxActiveKeys } from "@plaza/domain/Limits"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createHash, timingSafeEqual } from "node:crypto"
import { allScopes } from "./Assumptions.js"
import * as Database from "./Database.js"
import * as Envelope from "./Envelope.js"

/** The prefix that the document writes as an example is the sandbox's own. */
const prefix = "key_"
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/** @since 0.1.0 @category models */
export interface CreatedKey {
  readonly id: string
  /** The value, shown this once. */
  readonly apiKey: Redacted.Redacted
}

/**
 * A key that was found, with what the gate has to know of its account.
 *
 * @since 0.1.0
 * @category models
 */
export interface Caller {
  readonly keyId: string
  readonly scopes: ReadonlyArray<string>
  readonly accountId: string
  readonly access: AccessState
  readonly photo: boolean
  readonly cover: boolean
}

/** @since 0.1.0 @category services */
export class Keys extends Context.Tag("@plaza/sandbox/Keys")<Keys, {
  /** The active key with this value. */
  readonly find: (value: string) => Effect.Effect<Option.Option<Caller>>
  /** Makes a key with all scopes unless told. At most 5 of an account are active. */
  readonly create: (accountId: string, options?: {
    readonly name?: string
    readonly scopes?: ReadonlyArray<string>
  }) => Effect.Effect<CreatedKey, NotFound | Conflict>
  /** Revokes a key, which is possible at any time. */
  readonly revoke: (keyId: string) => Effect.Effect<void, NotFound>
}>() {}

const hashOf = (value: string): string => createHash("sha256").update(value).digest("hex")

/**
 * The key that a sandbox of this seed has ready. The same seed gives the same key, on any machine and after a restart:
 * the key of a sandbox opens nothing else and is no secret.
 *
 * @since 0.1.0
 * @category keys
 */
export const ready = (seed: number): Redacted.Redacted => {
  const bytes = createHash("sha512").update(`ready key of sandbox ${seed}`).digest().subarray(0, keySecretLength)
  return Redacted.make(prefix + Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join(""))
}

/**
 * The row of a key.
 *
 * @since 0.1.0
 * @category keys
 */
export const row = (options: {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly value: Redacted.Redacted
  readonly scopes: ReadonlyArray<string>
}) => ({
  id: options.id,
  account_id: options.accountId,
  name: options.name,
  hash: hashOf(Redacted.value(options.value)),
  scopes: JSON.stringify(options.scopes),
  state: "active"
})

const random = Effect.map(
  Effect.replicateEffect(Random.nextIntBetween(0, alphabet.length), keySecretLength),
  (drawn) => Redacted.make(prefix + drawn.map((index) => alphabet[index]).join(""))
)

const ScopesColumn = Schema.parseJson(Schema.Array(Schema.String))
/** Reads the column that {@link row} writes. */
export const readScopes = Schema.decodeSync(ScopesColumn)

interface CallerRow {
  readonly id: string
  readonly hash: string
  readonly scopes: string
  readonly account_id: string
  readonly access: AccessState
  readonly photo: number
  readonly cover: number
}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Keys, never, SqlClient.SqlClient> = Layer.effect(
  Keys,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return {
      find: (value) =>
        Effect.gen(function*() {
          if (Either.isLeft(ApiKey.parse(value))) {
            return Option.none()
          }
          // Found by its hash, so how long the search takes tells nothing of the keys there are.
          const hash = hashOf(value)
          const [found] = yield* sql<CallerRow>`
            SELECT keys.id, hash, scopes, account_id, access, photo, cover
            FROM keys JOIN accounts ON accounts.id = keys.account_id
            WHERE hash = ${hash} AND state = 'active'`
          if (found === undefined || !timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) {
            return Option.none()
          }
          return Option.some({
            keyId: found.id,
            scopes: readScopes(found.scopes),
            accountId: found.account_id,
            access: found.access,
            photo: found.photo === 1,
            cover: found.cover === 1
          })
        }).pipe(Database.orDefect),

      create: (accountId, options = {}) =>
        Effect.gen(function*() {
          const [account] = yield* sql<{ readonly access: AccessState }>`SELECT access FROM accounts WHERE id = ${accountId}`
          if (account === undefined) {
            return yield* Envelope.notFound("account", accountId)
          }
          if (account.access !== "granted") {
            return yield* new Conflict({ message: "keys can be created only while developer access is granted" })
          }
          const held = yield* sql<{ readonly state: ApiKey.KeyState }>`SELECT state FROM keys WHERE account_id = ${accountId}`
          if (!ApiKey.mayCreate(held.map(({ state }) => state))) {
            return yield* new Conflict({ message: `an account holds at most ${maxActiveKeys} active keys: revoke one first` })
          }
          const apiKey = yield* random
          const [{ next } = { next: 1 }] = yield* sql<{ readonly next: number }>`SELECT coalesce(max(seq), 0) + 1 AS next FROM keys`
          const id = `k${next}`
          yield* sql`INSERT INTO keys ${
            sql.insert(row({
              id,
              accountId,
              name: options.name ?? id,
              value: apiKey,
              scopes: options.scopes ?? allScopes
            }))
          }`
          return { id, apiKey }
        }).pipe(sql.withTransaction, Database.orDefect),

      revoke: (keyId) =>
        Effect.gen(function*() {
          const [found] = yield* sql<{ readonly state: ApiKey.KeyState }>`SELECT state FROM keys WHERE id = ${keyId}`
          if (found === undefined) {
            return yield* Envelope.notFound("key", keyId)
          }
          yield* sql`UPDATE keys SET state = ${ApiKey.revoke(found.state)} WHERE id = ${keyId}`
        }).pipe(sql.withTransaction, Database.orDefect)
    }
  })
)
