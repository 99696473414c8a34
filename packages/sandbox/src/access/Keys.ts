/**
 * API keys: making, finding, listing and revoking them. Only their SHA-256 and their last four characters are kept. Knows
 * nothing of what a key may do.
 *
 * Source: interface v1, "Authentication" and "States and transitions".
 *
 * @since 0.1.0
 */
import * as ApiKey from "@plaza/domain/ApiKey"
import type { AccessState } from "@plaza/domain/DeveloperAccess"
import { Conflict, type NotFound, type ValidationError } from "@plaza/domain/Errors"
import { keySecretLength, maxActiveKeys } from "@plaza/domain/Limits"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { createHash, hash } from "node:crypto"
import { Assumed } from "../Assumptions.js"
import type { Caller } from "./Callers.js"
import * as Callers from "./Callers.js"
import * as Envelope from "../http/Envelope.js"
import { checkText } from "../areas/Validation.js"
import { alphabet, KeySecrets, prefix } from "./KeySecrets.js"
import { CurrentLatitude } from "../latitude/CurrentLatitude.js"
import { Sql } from "../storage/Sql.js"

/** @since 0.1.0 @category models */
export interface CreatedKey {
  readonly id: string
  /** The value, shown this once. */
  readonly apiKey: Redacted.Redacted
}

/**
 * A key as a list shows it.
 *
 * @since 0.1.0
 * @category models
 */
export interface ListedKey {
  readonly id: string
  readonly name: string
  /** The value with all but its prefix and its last four characters left out. */
  readonly masked: string
  readonly scopes: ReadonlyArray<string>
  readonly state: ApiKey.KeyState
  readonly createdAt: DateTime.Utc
}

/** @since 0.1.0 @category services */
export class Keys extends Context.Tag("@plaza/sandbox/Keys")<Keys, {
  /** The active key with this value, if there is one. */
  readonly find: (value: string) => Effect.Effect<Caller | undefined>
  /** Makes a key (default: with all scopes). At most 5 of an account are active. */
  readonly create: (accountId: string, options?: {
    readonly name?: string
    readonly scopes?: ReadonlyArray<string>
  }) => Effect.Effect<CreatedKey, NotFound | Conflict | ValidationError>
  /** The keys of an account, the newest first. */
  readonly list: (accountId: string) => Effect.Effect<ReadonlyArray<ListedKey>>
  /** Revokes a key, which is possible at any time. */
  readonly revoke: (keyId: string) => Effect.Effect<void, NotFound>
}>() {}

/**
 * A key with another prefix, which opens the same.
 *
 * @since 0.1.0
 * @category keys
 */
export const withPrefix = (apiKey: Redacted.Redacted, keyPrefix: string): Redacted.Redacted =>
  keyPrefix === prefix ? apiKey : Redacted.make(keyPrefix + Redacted.value(apiKey).slice(-keySecretLength))

const hashOf = (value: string): string => hash("sha256", value)

/**
 * The key that a sandbox of this seed has ready. The same seed gives the same key, on any machine and after a restart, so
 * it is public.
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
  /** In milliseconds since 1970. */
  readonly createdAt: number
}) => ({
  id: options.id,
  account_id: options.accountId,
  name: options.name,
  hash: hashOf(Redacted.value(options.value)),
  last_four: Redacted.value(options.value).slice(-4),
  scopes: JSON.stringify(options.scopes),
  state: "active",
  created_at: options.createdAt
})

interface ListedRow {
  readonly id: string
  readonly name: string
  readonly last_four: string
  readonly scopes: string
  readonly state: ApiKey.KeyState
  readonly created_at: number
}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Keys, never, Sql | Assumed | CurrentLatitude | KeySecrets> = Layer.effect(
  Keys,
  Effect.gen(function*() {
    const sql = yield* Sql
    const assumed = yield* Assumed
    const secrets = yield* KeySecrets
    const scopeNames = [...new Set(Object.values(assumed.scopes).filter(Predicate.isNotUndefined))]

    const check = (name: string, scopes: ReadonlyArray<string>) =>
      Effect.zipRight(
        checkText("name", name, assumed.maxKeyNameLength),
        Effect.forEach(scopes, (scope, index) =>
          scopeNames.includes(scope)
            ? Effect.void
            : Effect.fail(Envelope.invalidField(`scopes.${index}`, `is not a scope: "${scope}"`)), { discard: true })
      )

    const callers = Callers.make(sql)
    const latitude = yield* CurrentLatitude
    const hashOfAny = (value: string): string | undefined => {
      const secret = value.slice(-keySecretLength)
      return latitude.keyPrefixes.has(value.slice(0, -keySecretLength)) ? hashOf(prefix + secret) : undefined
    }

    return {
      // By its hash, so how long the search takes tells nothing of the keys there are.
      find: (value) => {
        const hash = hashOfAny(value)
        return hash === undefined ? Effect.succeed(undefined) : callers(hash)
      },

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
          if (!ApiKey.canCreateKey(held.map(({ state }) => state))) {
            return yield* new Conflict({ message: `an account holds at most ${maxActiveKeys} active keys: revoke one first` })
          }
          const [{ next } = { next: 1 }] = yield* sql<{ readonly next: number }>`SELECT coalesce(max(seq), 0) + 1 AS next FROM keys`
          const id = `k${next}`
          const { name = id, scopes = scopeNames } = options
          yield* check(name, scopes)
          const apiKey = yield* secrets.next
          yield* sql`INSERT INTO keys ${
            sql.insert(row({
              id,
              accountId,
              name,
              value: apiKey,
              scopes,
              createdAt: yield* Clock.currentTimeMillis
            }))
          }`
          return { id, apiKey: withPrefix(apiKey, latitude.value.keyPrefix) }
        }).pipe(sql.withTransaction),

      list: (accountId) =>
        Effect.map(
          sql<ListedRow>`
            SELECT id, name, last_four, scopes, state, created_at FROM keys WHERE account_id = ${accountId} ORDER BY seq DESC`,
          (rows) =>
            rows.map((found) => ({
              id: found.id,
              name: found.name,
              masked: `${latitude.value.keyPrefix}…${found.last_four}`,
              scopes: Callers.readScopes(found.scopes),
              state: found.state,
              createdAt: DateTime.unsafeMake(found.created_at)
            }))
        ),

      revoke: (keyId) =>
        Effect.gen(function*() {
          const [found] = yield* sql<{ readonly state: ApiKey.KeyState }>`SELECT state FROM keys WHERE id = ${keyId}`
          if (found === undefined) {
            return yield* Envelope.notFound("key", keyId)
          }
          yield* sql`UPDATE keys SET state = ${ApiKey.revoke(found.state)} WHERE id = ${keyId}`
        }).pipe(sql.withTransaction)
    }
  })
)
