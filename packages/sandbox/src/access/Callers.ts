/**
 * Whose key it is: asked for by every request, and changed by few. So what was read is kept until anything is written that
 * could change it. Knows nothing of the values of keys, but their hash.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Account, AccountRow } from "./Accounts.js"
import * as Accounts from "./Accounts.js"
import type { Client } from "../storage/Sql.js"

/**
 * A key that was found, with its account.
 *
 * @since 0.1.0
 * @category models
 */
export interface Caller {
  readonly keyId: string
  readonly scopes: ReadonlyArray<string>
  readonly accountId: string
  readonly account: Account
}

interface Row extends AccountRow {
  readonly key_id: string
  readonly scopes: string
}

const ScopesColumn = Schema.parseJson(Schema.Array(Schema.String))

/**
 * Reads the column that holds the scopes of a key.
 *
 * @since 0.1.0
 * @category rows
 */
export const readScopes: (column: string) => ReadonlyArray<string> = Schema.decodeSync(ScopesColumn)

/**
 * Finds the active key with a hash, if there is one.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (sql: Client): (hash: string) => Effect.Effect<Caller | undefined> => {
  const kept = new Map<string, Caller>()
  let known = 0
  const read = (hash: string) =>
    Effect.map(
      sql.first<Row>`
        SELECT accounts.*, keys.id AS key_id, scopes FROM keys JOIN accounts ON accounts.id = keys.account_id
        WHERE hash = ${hash} AND state = 'active'`,
      (row) => {
        if (row === undefined) {
          return undefined
        }
        const account = Accounts.fromRow(row)
        const caller = { keyId: row.key_id, scopes: readScopes(row.scopes), accountId: account.id, account }
        kept.set(hash, caller)
        return caller
      }
    )
  return (hash) =>
    Effect.suspend(() => {
      const written = sql.writes("keys", "accounts")
      if (written !== known) {
        kept.clear()
        known = written
      }
      const found = kept.get(hash)
      return found === undefined ? read(hash) : Effect.succeed(found)
    })
}
