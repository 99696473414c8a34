/** The commands that messages about a ledger name. Those of a fleet name its account too. */
import * as Context from "effect/Context"

interface Commands {
  readonly status: string
  /** Lists everything. */
  readonly statusJson: string
  /** Releases quarantined products. */
  readonly retry: string
  /** Confirms a held snapshot by its number. */
  readonly confirm: (snapshot: number) => string
  /** What to do if the key has changed and the account may be the same. */
  readonly adopt: string
  /** What to do if it is another account. */
  readonly separate: string
}

/** For the ledger of one store. */
export const ofStore: Commands = {
  status: "plaza-stock-sync status",
  statusJson: "plaza-stock-sync status --json",
  retry: "plaza-stock-sync retry",
  confirm: (snapshot) => `plaza-stock-sync confirm ${snapshot}`,
  adopt: "run `plaza-stock-sync adopt`",
  separate: "name another ledger with --ledger or STOCK_SYNC_LEDGER"
}

export class LedgerCommands extends Context.Reference<LedgerCommands>()("@plaza/stock-sync/ledger/LedgerCommands", {
  defaultValue: () => ofStore
}) {}

const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** An argument as a shell reads it. Characters that would change how the command looks are escaped. */
const argument = (text: string): string =>
  /^[\w.@:/-]+$/.test(text)
    ? text
    : text.search(hidden) < 0
    ? `'${text.replaceAll("'", "'\\''")}'`
    : `$'${text.replace(/[\\']/g, "\\$&").replace(hidden, (character) => `\\U${character.codePointAt(0)?.toString(16).padStart(8, "0")}`)}'`

const idOf = (account: string): string => `${account.startsWith("-") ? "-- " : ""}${argument(account)}`

/** Sets the key of an account of a fleet to a reference, or to the key on standard input (`-`). */
export const updateKey = (account: string, reference: string): string =>
  `plaza-stock-sync fleet accounts update --key ${argument(reference)} ${idOf(account)}`

/** For an account of a fleet. Options stand before the id, because an id that begins with a dash ends them. */
export const ofFleet = (account: string): Commands => {
  const id = idOf(account)
  return {
    status: `plaza-stock-sync fleet status ${id}`,
    statusJson: `plaza-stock-sync fleet status --json ${id}`,
    retry: `plaza-stock-sync fleet accounts retry ${id}`,
    confirm: (snapshot) => `plaza-stock-sync fleet accounts confirm ${id} ${snapshot}`,
    adopt: `set its key again with \`${updateKey(account, "REFERENCE")}\``,
    separate: "add the other store as an account of its own"
  }
}
