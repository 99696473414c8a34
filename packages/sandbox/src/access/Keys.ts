/**
 * API keys: creates, finds, lists and revokes them. A stored key is its SHA-256 and its last four characters.
 *
 * Source: interface v1, "Authentication" and "States and transitions".
 */
import * as ApiKey from "@plaza/domain/ApiKey"
import { Conflict } from "@plaza/domain/Errors"
import type { ProfileId } from "@plaza/domain/Ids"
import { keySecretLength, maxActiveKeys } from "@plaza/domain/Limits"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { hash, randomInt } from "node:crypto"
import { CurrentAssumptions } from "../Assumptions.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { Db } from "../storage/Db.ts"
import { checkText, invalidField, unknown } from "../Validation.ts"
import type { Account } from "./AccountsRepo.ts"
import { AccountsRepo } from "./AccountsRepo.ts"
import type { Key } from "./KeysRepo.ts"
import { KeysRepo } from "./KeysRepo.ts"

/** An active key with its account. */
export interface Caller {
  readonly keyId: string
  readonly scopes: ReadonlyArray<string>
  readonly accountId: ProfileId
  readonly account: Account
}

export interface CreatedKey {
  readonly id: string
  /** The value, which is shown once. */
  readonly apiKey: Redacted.Redacted
}

/** A key in a list. */
export interface ListedKey {
  readonly id: string
  readonly name: string
  /** The prefix and the last four characters of the value. */
  readonly masked: string
  readonly scopes: ReadonlyArray<string>
  readonly state: ApiKey.KeyState
  readonly createdAt: DateTime.Utc
}

/** The prefix of every key by default: the document's own example. */
export const prefix = "key_"

/** The characters of a key after its prefix. */
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/** A new key by the cryptographic random generator of the operating system. */
const random = (): Redacted.Redacted =>
  Redacted.make(prefix + Array.from({ length: keySecretLength }, () => alphabet[randomInt(alphabet.length)]).join(""))

/** The key of a name. The same name always gives the same key, so it is no secret. */
const derived = (name: string): Redacted.Redacted => {
  const bytes = hash("sha512", name, "buffer").subarray(0, keySecretLength)
  return Redacted.make(prefix + Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join(""))
}

/** The same key with another prefix. */
export const withPrefix = (apiKey: Redacted.Redacted, keyPrefix: string): Redacted.Redacted =>
  keyPrefix === prefix ? apiKey : Redacted.make(keyPrefix + Redacted.value(apiKey).slice(-keySecretLength))

const hashOf = (value: string): string => hash("sha256", value)

/** The key that a sandbox is seeded with. The same seed always gives the same key, so it is no secret. */
export const seeded = (seed: number): Redacted.Redacted => derived(`ready key of sandbox ${seed}`)

/** The row of a new, active key. */
export const row = ({ value, ...key }: Omit<Key, "lastFour" | "state"> & { readonly value: Redacted.Redacted }) => ({
  ...key,
  hash: hashOf(Redacted.value(value)),
  lastFour: Redacted.value(value).slice(-4),
  state: "active" as const
})

/** With a seed, the same calls create the same keys. */
const make = (seed: number | undefined) =>
  Effect.gen(function*() {
    const db = yield* Db
    const repo = yield* KeysRepo
    const accounts = yield* AccountsRepo
    const assumed = yield* CurrentAssumptions
    const latitude = yield* CurrentLatitude
    const scopeNames = [...new Set(Object.values(assumed.scopes).filter((scope) => scope !== undefined))]

    // Every request finds its caller. The cache has only valid keys, so the duration of a search reveals nothing of other keys.
    const cache = new Map<string, Caller>()
    let cachedWrites = 0

    const read = (value: string): Caller | undefined => {
      // Keys are stored with the default prefix; any prefix in use is valid.
      const secret = value.slice(-keySecretLength)
      const found = latitude.keyPrefixes.has(value.slice(0, -keySecretLength)) ? repo.findActive(hashOf(prefix + secret)) : undefined
      if (found === undefined) {
        return undefined
      }
      const { keyId, scopes, ...account } = found
      const caller = { keyId, scopes, accountId: account.id, account }
      cache.set(value, caller)
      return caller
    }

    const check = Effect.fnUntraced(function*(name: string, scopes: ReadonlyArray<string>) {
      yield* checkText("name", name, assumed.maxKeyNameLength)
      const index = scopes.findIndex((scope) => !scopeNames.includes(scope))
      if (index !== -1) {
        return yield* invalidField(`scopes.${index}`, `is not a scope: "${scopes[index] ?? ""}"`)
      }
    })

    return {
      /** The caller whose active key has this value. */
      find: (value: string): Caller | undefined => {
        const writes = db.writes("keys", "accounts")
        if (writes !== cachedWrites) {
          cache.clear()
          cachedWrites = writes
        }
        return cache.get(value) ?? read(value)
      },

      /** Creates a key (default: with all scopes). At most 5 keys of an account are active. */
      create: Effect.fnUntraced(function*(accountId: string, options: {
        readonly name?: string
        readonly scopes?: ReadonlyArray<string>
      } = {}) {
        const account = accounts.find(accountId)
        if (account === undefined) {
          return yield* unknown("account", accountId)
        }
        if (account.access !== "granted") {
          return yield* new Conflict({ message: "keys can be created only while developer access is granted" })
        }
        if (!ApiKey.canCreateKey(repo.ofAccount(accountId).map(({ state }) => state))) {
          return yield* new Conflict({ message: `an account holds at most ${maxActiveKeys} active keys: revoke one first` })
        }
        const id = `k${repo.nextSeq()}`
        const { name = id, scopes = scopeNames } = options
        yield* check(name, scopes)
        const value = seed === undefined ? random() : derived(`key ${id} of sandbox ${seed}`)
        repo.insert(row({ id, accountId: account.id, name, value, scopes, createdAt: yield* DateTime.now }))
        return { id, apiKey: withPrefix(value, latitude.value.keyPrefix) }
      }, db.transaction),

      /** The keys of an account, newest first. */
      list: (accountId: string): ReadonlyArray<ListedKey> =>
        repo.ofAccount(accountId).map(({ createdAt, id, lastFour, name, scopes, state }) => ({
          id,
          name,
          masked: `${latitude.value.keyPrefix}…${lastFour}`,
          scopes,
          state,
          createdAt
        })),

      /** Revokes a key. */
      revoke: Effect.fnUntraced(function*(keyId: string) {
        const key = repo.find(keyId)
        if (key === undefined) {
          return yield* unknown("key", keyId)
        }
        repo.setState(keyId, ApiKey.revoke(key.state))
      }, db.transaction)
    }
  })

export class Keys extends Context.Service<Keys, Effect.Success<ReturnType<typeof make>>>()("@plaza/sandbox/Keys") {
  /** Creates keys by the generator of the operating system, or from a seed. */
  static readonly layer = (seed?: number) => Layer.effect(Keys, make(seed))
}
