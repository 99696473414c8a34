/** The commands that messages about a ledger name. Those of a fleet name its account too. */
import * as Context from "effect/Context"

export interface Commands {
  readonly status: string
  /** Lists everything. */
  readonly statusJson: string
  /** Releases quarantined products. */
  readonly retry: string
  /** Sends a quarantined or uncertain product again. */
  readonly retryProduct: (productId: string) => string
  /** Confirms a held snapshot by its number. */
  readonly confirm: (snapshot: number) => string
  /** Restores the stock of a snapshot; lists the snapshots if none is given. */
  readonly revert: (snapshot?: number) => string
  /** What to do if the key has changed and the account may be the same. */
  readonly adopt: string
  /** What to do if it is another account. */
  readonly separate: string
}

const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** An argument as a shell reads it. Characters that would change how the command looks are escaped. */
const argument = (text: string): string =>
  /^[\w.@:/-]+$/.test(text)
    ? text
    : text.search(hidden) < 0
    ? `'${text.replaceAll("'", "'\\''")}'`
    : `$'${text.replace(/[\\']/g, "\\$&").replace(hidden, (character) => `\\U${character.codePointAt(0)?.toString(16).padStart(8, "0")}`)}'`

/** An id as the first argument that is no option. One that begins with a dash ends the options. */
const idOf = (id: string): string => `${id.startsWith("-") ? "-- " : ""}${argument(id)}`

// The address of a database may contain a password.
const selecting = /^--(?:config|ledger)(?:=|$)/
const isSecret = (value: string): boolean => /postgres(?:ql)?:/i.test(value)

/** For the ledger of one store, with the options of a command line that select the ledger. */
export const ofStore = (argv: ReadonlyArray<string> = []): Commands => {
  const words = argv.flatMap((word, index) => {
    if (!selecting.test(word)) return []
    const given = word.includes("=") ? [word] : [word, ...argv.slice(index + 1, index + 2)]
    return given.some(isSecret) ? [] : given
  })
  const options = words.map((word) => ` ${argument(word)}`).join("")
  return {
    status: `plaza-stock-sync status${options}`,
    statusJson: `plaza-stock-sync status --json${options}`,
    retry: `plaza-stock-sync retry${options}`,
    retryProduct: (productId) => `plaza-stock-sync retry${options} ${idOf(productId)}`,
    confirm: (snapshot) => `plaza-stock-sync confirm ${snapshot}${options}`,
    revert: (snapshot) => `plaza-stock-sync revert${snapshot === undefined ? "" : ` ${snapshot}`}${options}`,
    adopt: `run \`plaza-stock-sync adopt${options}\``,
    separate: "name another ledger with --ledger or STOCK_SYNC_LEDGER"
  }
}

export const LedgerCommands = Context.Reference<Commands>("@plaza/stock-sync/ledger/LedgerCommands", { defaultValue: () => ofStore() })

/** Sets the key of an account of a fleet to a reference, or to the key on standard input (`-`). */
export const updateKey = (account: string, reference: string): string =>
  `plaza-stock-sync fleet accounts update --key ${argument(reference)} ${idOf(account)}`

/** Resumes an account of a fleet that an operator paused. */
export const resume = (account: string): string => `plaza-stock-sync fleet accounts resume ${idOf(account)}`

/** For an account of a fleet. Options stand before the id, because an id that begins with a dash ends them. */
export const ofFleet = (account: string): Commands => {
  const id = idOf(account)
  return {
    status: `plaza-stock-sync fleet status ${id}`,
    statusJson: `plaza-stock-sync fleet status --json ${id}`,
    retry: `plaza-stock-sync fleet accounts retry ${id}`,
    retryProduct: (productId) =>
      `plaza-stock-sync fleet accounts retry ${id} ${account.startsWith("-") ? argument(productId) : idOf(productId)}`,
    confirm: (snapshot) => `plaza-stock-sync fleet accounts confirm ${id} ${snapshot}`,
    revert: (snapshot) => `plaza-stock-sync fleet accounts revert ${id}${snapshot === undefined ? "" : ` ${snapshot}`}`,
    adopt: `set its key again with \`${updateKey(account, "REFERENCE")}\``,
    separate: "add the other store as an account of its own"
  }
}
