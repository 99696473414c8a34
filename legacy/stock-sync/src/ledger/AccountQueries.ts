/** The account of a ledger, and whether the ledger may be used with another one. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Account, Ledger } from "./Ledger.ts"
import { LedgerCommands } from "./LedgerCommands.ts"
import { keyColumns, type LedgerConnection } from "./LedgerConnection.ts"
import { OtherAccount } from "./LedgerError.ts"
import * as LedgerRows from "./LedgerRows.ts"

const accountRow = LedgerRows.first(Schema.Struct({
  base_url: Schema.String,
  account_id: Schema.NullOr(Schema.String),
  key_fingerprint: Schema.String
}))

const nameOf = ({ baseUrl, id }: Account) => `account ${id ?? "without a known id"} at ${baseUrl}`

const haveDifferentIds = (found: Account, wanted: Account) => found.id !== undefined && wanted.id !== undefined && found.id !== wanted.id

/** Whether writing the wanted account would change nothing. */
const isSame = (found: Account, wanted: Account) =>
  found.baseUrl === wanted.baseUrl && found.keyFingerprint === wanted.keyFingerprint && (wanted.id === undefined || found.id === wanted.id)

const differentIds = (found: Account, wanted: Account, { separate }: LedgerCommands["Type"]) =>
  `belongs to ${nameOf(found)}, but the key to ${nameOf(wanted)}: ${separate}; nothing was sent`

const whenSame = ({ adopt, separate }: LedgerCommands["Type"]) =>
  `If it is the same account, ${adopt}; otherwise ${separate}. Nothing was sent`

/** Why a ledger can't be bound to an account; undefined if it can. */
const mismatch = (found: Account, wanted: Account, commands: LedgerCommands["Type"]): string | undefined => {
  if (haveDifferentIds(found, wanted)) return differentIds(found, wanted, commands)
  if (found.baseUrl !== wanted.baseUrl) return `belongs to ${nameOf(found)}, but the base URL is ${wanted.baseUrl}. ${whenSame(commands)}`
  const sameId = found.id !== undefined && found.id === wanted.id
  const sameKey = found.keyFingerprint === "" || found.keyFingerprint === wanted.keyFingerprint
  return sameId || sameKey
    ? undefined
    : `was used with another key, and GET /me does not show whether it belongs to the same account. ${whenSame(commands)}`
}

export const make = ({ isShared, path, run, sql }: LedgerConnection): Pick<Ledger["Type"], "account" | "adopt" | "bind"> => {
  const account = Effect.map(
    run(accountRow(sql`SELECT base_url, account_id, key_fingerprint FROM account`)),
    Option.map((row): Account => ({ baseUrl: row.base_url, id: row.account_id ?? undefined, keyFingerprint: row.key_fingerprint }))
  )

  const write = ({ baseUrl, id, keyFingerprint }: Account) =>
    Effect.asVoid(
      run(sql`INSERT INTO account (one, base_url, account_id, key_fingerprint) VALUES (1, ${baseUrl}, ${id ?? null}, ${keyFingerprint})
      ON CONFLICT (${
        sql.literal(keyColumns(isShared, "one"))
      }) DO UPDATE SET base_url = excluded.base_url, account_id = coalesce(excluded.account_id, account.account_id),
        key_fingerprint = excluded.key_fingerprint`)
    )

  const writeUnless = (problemOf: typeof mismatch) => (wanted: Account) =>
    Effect.gen(function*() {
      const commands = yield* LedgerCommands
      const known = yield* account
      const problem = Option.flatMapNullable(known, (found) => problemOf(found, wanted, commands))
      if (Option.isSome(problem)) return yield* new OtherAccount({ path, message: `the ledger ${path} ${problem.value}` })
      if (!Option.exists(known, (found) => isSame(found, wanted))) yield* write(wanted)
    })

  return {
    account,
    bind: writeUnless(mismatch),
    adopt: writeUnless((found, wanted, commands) => haveDifferentIds(found, wanted) ? differentIds(found, wanted, commands) : undefined)
  }
}
