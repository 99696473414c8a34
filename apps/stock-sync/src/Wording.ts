/**
 * How messages name settings: as options of the command line and their variables, unless a config file or an account of a fleet sets them.
 */
import * as Context from "effect/Context"

/** The variable of a setting, by its name without dashes. */
export const variableOf = (name: string): string => `STOCK_SYNC_${name.toUpperCase().replaceAll("-", "_")}`

// Secrets have variables and no options.
const withoutOption: ReadonlyArray<string> = [
  "source-authorization",
  "source-headers",
  "source-password",
  "source-private-key",
  "source-key-passphrase",
  "s3-access-key-id",
  "s3-secret-access-key"
]

// The variables of other programs that count too.
const standardVariables: Readonly<Record<string, string>> = {
  "s3-access-key-id": "AWS_ACCESS_KEY_ID",
  "s3-secret-access-key": "AWS_SECRET_ACCESS_KEY"
}

const placeOfSecret = (name: string): string => {
  const standard = standardVariables[name]
  return standard === undefined ? variableOf(name) : `${variableOf(name)} or ${standard}`
}

export interface Words {
  /** Where to change a setting, such as `--poll or STOCK_SYNC_POLL`. The text tells where it is set. */
  readonly place: (name: string, text?: string) => string
  /** The setting, with a value if one is given, such as `--unmapped reject (STOCK_SYNC_UNMAPPED)`. */
  readonly named: (name: string, value?: string) => string
  /** The setting, without its variable. */
  readonly option: (name: string) => string
  /** The setting with the address of the service. */
  readonly baseUrl: string
}

export const Wording = Context.Reference<Words>("@plaza/stock-sync/Wording", {
  defaultValue: () => ({
    place: (name) => withoutOption.includes(name) ? placeOfSecret(name) : `--${name} or ${variableOf(name)}`,
    named: (name, value) => `--${name}${value === undefined ? "" : ` ${value}`} (${variableOf(name)})`,
    option: (name) => `--${name}`,
    baseUrl: "PLAZA_BASE_URL"
  })
})
