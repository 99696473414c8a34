/** The account at the service that a ledger belongs to, and whether it may be used with another one. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Account, Ledger } from "./Ledger.ts"
import { type Commands, LedgerCommands } from "./LedgerCommands.ts"
import { OtherAccount } from "./LedgerError.ts"
import { mine, type Run, type Target, together } from "./Operation.ts"
import * as Rows from "./Rows.ts"

const accountRow = Rows.first(Schema.Struct({
  base_url: Schema.NullOr(Schema.String),
  profile_id: Schema.NullOr(Schema.String),
  key_fingerprint: Schema.NullOr(Schema.String)
}))

const nameOf = ({ baseUrl, id }: Account) => `account ${id ?? "without a known id"} at ${baseUrl}`

const haveDifferentIds = (found: Account, wanted: Account) => found.id !== undefined && wanted.id !== undefined && found.id !== wanted.id

/** Whether writing the wanted account would change nothing. */
const isSame = (found: Account, wanted: Account) =>
  found.baseUrl === wanted.baseUrl && found.keyFingerprint === wanted.keyFingerprint && (wanted.id === undefined || found.id === wanted.id)

const differentIds = (found: Account, wanted: Account, { separate }: Commands) =>
  `belongs to ${nameOf(found)}, but the key to ${nameOf(wanted)}: ${separate}; nothing was sent`

const whenSame = ({ adopt, separate }: Commands) => `If it is the same account, ${adopt}; otherwise ${separate}. Nothing was sent`

/** Why a ledger can't be bound to an account; undefined if it can. */
const mismatch = (found: Account, wanted: Account, commands: Commands): string | undefined => {
  if (haveDifferentIds(found, wanted)) return differentIds(found, wanted, commands)
  if (found.baseUrl !== wanted.baseUrl) return `belongs to ${nameOf(found)}, but the base URL is ${wanted.baseUrl}. ${whenSame(commands)}`
  const sameId = found.id !== undefined && found.id === wanted.id
  const sameKey = found.keyFingerprint === "" || found.keyFingerprint === wanted.keyFingerprint
  return sameId || sameKey
    ? undefined
    : `was used with another key, and GET /me does not show whether it belongs to the same account. ${whenSame(commands)}`
}

export const make = (target: Target, path: string, run: Run): Pick<Ledger["Service"], "account" | "adopt" | "bind"> => {
  const { sql } = target
  const account = Effect.map(
    run(accountRow(sql`SELECT base_url, profile_id, key_fingerprint FROM account WHERE ${mine(target)}`)),
    Option.flatMap((row): Option.Option<Account> =>
      row.base_url === null || row.key_fingerprint === null ? Option.none() : Option.some({
        baseUrl: row.base_url,
        id: row.profile_id ?? undefined,
        keyFingerprint: row.key_fingerprint
      })
    )
  )

  const write = ({ baseUrl, id, keyFingerprint }: Account) =>
    run(
      together(target, [(isOwned) =>
        sql`UPDATE account SET base_url = ${baseUrl}, profile_id = coalesce(${id ?? null}, profile_id), key_fingerprint = ${keyFingerprint}
        WHERE ${mine(target)} AND ${isOwned}`])
    )

  const writeUnless = (problemOf: typeof mismatch) => (wanted: Account) =>
    Effect.gen(function*() {
      const commands = yield* LedgerCommands
      const known = yield* account
      const problem = Option.flatMapNullishOr(known, (found) => problemOf(found, wanted, commands))
      if (Option.isSome(problem)) return yield* new OtherAccount({ path, message: `the ledger ${path} ${problem.value}` })
      if (!Option.exists(known, (found) => isSame(found, wanted))) yield* write(wanted)
    })

  return {
    account,
    bind: writeUnless(mismatch),
    adopt: writeUnless((found, wanted, commands) => haveDifferentIds(found, wanted) ? differentIds(found, wanted, commands) : undefined)
  }
}
