/**
 * Finds the account behind a key. Every request does this, so results are cached until the tables `keys` or `accounts`
 * are written to.
 *
 * @since 0.1.0
 */
import type { ProfileId } from "@plaza-legacy/domain/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Sql } from "../storage/Sql.ts"
import type { Account } from "./AccountsRepo.ts"
import { KeysRepo } from "./KeysRepo.ts"

/**
 * An active key with its account.
 *
 * @since 0.1.0
 * @category models
 */
export interface Caller {
  readonly keyId: string
  readonly scopes: ReadonlyArray<string>
  readonly accountId: ProfileId
  readonly account: Account
}

/**
 * Finds callers by their keys. `hashOf` returns the hash by which a key is stored, or undefined for a text that is no key.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (hashOf: (key: string) => string | undefined) =>
  Effect.map(Effect.all([Sql, KeysRepo]), ([sql, keys]) => {
    // Has only valid keys, and finds one by a hash with a random seed, so the duration of a search reveals nothing of other keys.
    const cache = new Map<string, Caller>()
    let cachedWrites = 0
    const read = (key: string, hash: string): Effect.Effect<Caller | undefined> =>
      Effect.map(keys.findActive(hash), (found) => {
        if (Option.isNone(found)) {
          return undefined
        }
        const { keyId, scopes, ...account } = found.value
        const caller = { keyId, scopes, accountId: account.id, account }
        cache.set(key, caller)
        return caller
      })
    return {
      /** The caller whose active key this is. */
      find: (key: string): Effect.Effect<Caller | undefined> =>
        Effect.suspend(() => {
          const writes = sql.writes("keys", "accounts")
          if (writes !== cachedWrites) {
            cache.clear()
            cachedWrites = writes
          }
          const cached = cache.get(key)
          if (cached !== undefined) {
            return Effect.succeed(cached)
          }
          const hash = hashOf(key)
          return hash === undefined ? Effect.succeed(undefined) : read(key, hash)
        })
    }
  })
