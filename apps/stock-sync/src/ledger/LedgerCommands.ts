/** The commands that messages about a ledger name. Those of a fleet name its account too. */
import * as Context from "effect/Context"

export class LedgerCommands extends Context.Reference<LedgerCommands>()("@plaza/stock-sync/ledger/LedgerCommands", {
  defaultValue: (): {
    readonly status: string
    readonly retry: string
    readonly confirm: (snapshot: number) => string
    /** What to do if the key has changed and the account may be the same. */
    readonly adopt: string
    /** What to do if it is another account. */
    readonly separate: string
  } => ({
    status: "plaza-stock-sync status",
    retry: "plaza-stock-sync retry",
    confirm: (snapshot) => `plaza-stock-sync confirm ${snapshot}`,
    adopt: "run `plaza-stock-sync adopt`",
    separate: "name another ledger with --ledger or STOCK_SYNC_LEDGER"
  })
}) {}

const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** An argument as a shell reads it. Characters that would change how the command looks are escaped. */
const argument = (text: string): string =>
  /^[\w.@:/-]+$/.test(text)
    ? text
    : text.search(hidden) < 0
    ? `'${text.replaceAll("'", "'\\''")}'`
    : `$'${text.replace(/[\\']/g, "\\$&").replace(hidden, (character) => `\\U${character.codePointAt(0)?.toString(16).padStart(8, "0")}`)}'`

/** What to do with a new key of an account of a fleet. */
export const setKey = (account: string): string =>
  `and set it with "plaza-stock-sync fleet accounts update ${argument(account)} --key -", or in the variable or file of the account's key`

/** For an account of a fleet. */
export const ofFleet = (account: string): LedgerCommands["Type"] => ({
  status: `plaza-stock-sync fleet status ${argument(account)}`,
  retry: `plaza-stock-sync fleet accounts retry ${argument(account)}`,
  confirm: (snapshot) => `plaza-stock-sync fleet accounts confirm ${argument(account)} ${snapshot}`,
  adopt: `set its key again with \`plaza-stock-sync fleet accounts update ${argument(account)} --key\``,
  separate: "add the other store as an account of its own"
})
