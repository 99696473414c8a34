/**
 * API keys: creates, finds, lists and revokes them. A stored key is its SHA-256 and its last four characters.
 *
 * Source: interface v1, "Authentication" and "States and transitions".
 *
 * @since 0.1.0
 */
import * as ApiKey from "@plaza-legacy/domain/ApiKey"
import { Conflict, type NotFound, type ValidationError } from "@plaza-legacy/domain/Errors"
import { keySecretLength, maxActiveKeys } from "@plaza-legacy/domain/Limits"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { hash } from "node:crypto"
import { checkText } from "../areas/Validation.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import * as Envelope from "../http/Envelope.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { Sql } from "../storage/Sql.ts"
import { AccountsRepo } from "./AccountsRepo.ts"
import type { Caller } from "./Callers.ts"
import * as Callers from "./Callers.ts"
import { derived, next, prefix } from "./KeySecrets.ts"
import type { Key } from "./KeysRepo.ts"
import { KeysRepo } from "./KeysRepo.ts"

/** @since 0.1.0 @category models */
export interface CreatedKey {
  readonly id: string
  /** The value, which is shown once. */
  readonly apiKey: Redacted.Redacted
}

/**
 * A key in a list.
 *
 * @since 0.1.0
 * @category models
 */
export interface ListedKey {
  readonly id: string
  readonly name: string
  /** The prefix and the last four characters of the value. */
  readonly masked: string
  readonly scopes: ReadonlyArray<string>
  readonly state: ApiKey.KeyState
  readonly createdAt: DateTime.Utc
}

/** @since 0.1.0 @category services */
export class Keys extends Context.Tag("@plaza-legacy/sandbox/Keys")<Keys, {
  /** The caller whose active key has this value. */
  readonly find: (value: string) => Effect.Effect<Caller | undefined>
  /** Creates a key (default: with all scopes). At most 5 keys of an account are active. */
  readonly create: (accountId: string, options?: {
    readonly name?: string
    readonly scopes?: ReadonlyArray<string>
  }) => Effect.Effect<CreatedKey, NotFound | Conflict | ValidationError>
  /** The keys of an account, newest first. */
  readonly list: (accountId: string) => Effect.Effect<ReadonlyArray<ListedKey>>
  /** Revokes a key. */
  readonly revoke: (keyId: string) => Effect.Effect<void, NotFound>
}>() {}

/**
 * The same key with another prefix.
 *
 * @since 0.1.0
 * @category keys
 */
export const withPrefix = (apiKey: Redacted.Redacted, keyPrefix: string): Redacted.Redacted =>
  keyPrefix === prefix ? apiKey : Redacted.make(keyPrefix + Redacted.value(apiKey).slice(-keySecretLength))

const hashOf = (value: string): string => hash("sha256", value)

/**
 * The key that a sandbox is seeded with. The same seed always gives the same key, so it is no secret.
 *
 * @since 0.1.0
 * @category keys
 */
export const seeded = (seed: number): Redacted.Redacted => derived(`ready key of sandbox ${seed}`)

/**
 * The row of a new, active key.
 *
 * @since 0.1.0
 * @category keys
 */
export const row = ({ value, ...key }: Omit<Key, "lastFour" | "state"> & { readonly value: Redacted.Redacted }) => ({
  ...key,
  hash: hashOf(Redacted.value(value)),
  lastFour: Redacted.value(value).slice(-4),
  state: "active" as const
})

/**
 * Creates keys by the generator of the operating system, or from a seed: then the same calls create the same keys.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  seed?: number
): Effect.Effect<Keys["Type"], never, Sql | AccountsRepo | KeysRepo | CurrentAssumptions | CurrentLatitude> =>
  Effect.gen(
    function*() {
      const { withTransaction } = yield* Sql
      const repo = yield* KeysRepo
      const accounts = yield* AccountsRepo
      const assumed = yield* CurrentAssumptions
      const latitude = yield* CurrentLatitude
      /** Keys are stored with the default prefix; any prefix in use is valid. */
      const hashOfAnyPrefix = (value: string): string | undefined => {
        const secret = value.slice(-keySecretLength)
        return latitude.keyPrefixes.has(value.slice(0, -keySecretLength)) ? hashOf(prefix + secret) : undefined
      }

      const callers = yield* Callers.make(hashOfAnyPrefix)
      const scopeNames = [...new Set(Object.values(assumed.scopes).filter(Predicate.isNotUndefined))]

      const check = (name: string, scopes: ReadonlyArray<string>) =>
        Effect.zipRight(
          checkText("name", name, assumed.maxKeyNameLength),
          Effect.forEach(scopes, (scope, index) =>
            scopeNames.includes(scope)
              ? Effect.void
              : Effect.fail(Envelope.invalidField(`scopes.${index}`, `is not a scope: "${scope}"`)), { discard: true })
        )

      return {
        find: callers.find,

        create: (accountId, options = {}) =>
          Effect.gen(function*() {
            const account = yield* accounts.find(accountId)
            if (Option.isNone(account)) {
              return yield* Envelope.notFound("account", accountId)
            }
            if (account.value.access !== "granted") {
              return yield* new Conflict({ message: "keys can be created only while developer access is granted" })
            }
            if (!ApiKey.canCreateKey((yield* repo.ofAccount(accountId)).map(({ state }) => state))) {
              return yield* new Conflict({ message: `an account holds at most ${maxActiveKeys} active keys: revoke one first` })
            }
            const id = `k${yield* repo.nextSeq()}`
            const { name = id, scopes = scopeNames } = options
            yield* check(name, scopes)
            const value = seed === undefined ? yield* next : derived(`key ${id} of sandbox ${seed}`)
            yield* repo.insert(row({ id, accountId: account.value.id, name, value, scopes, createdAt: yield* DateTime.now }))
            return { id, apiKey: withPrefix(value, latitude.value.keyPrefix) }
          }).pipe(withTransaction),

        list: (accountId) =>
          Effect.map(repo.ofAccount(accountId), (keys) =>
            keys.map(({ createdAt, id, lastFour, name, scopes, state }) => ({
              id,
              name,
              masked: `${latitude.value.keyPrefix}…${lastFour}`,
              scopes,
              state,
              createdAt
            }))),

        revoke: (keyId) =>
          Effect.gen(function*() {
            const key = yield* repo.find(keyId)
            if (Option.isNone(key)) {
              return yield* Envelope.notFound("key", keyId)
            }
            yield* repo.setState(keyId, ApiKey.revoke(key.value.state))
          }).pipe(withTransaction)
      }
    }
  )
