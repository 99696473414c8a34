/** Failures of the fleet's database and accounts. Their messages never hold a key or a password. */
import * as Data from "effect/Data"

/** The fleet's database can't be reached, is not prepared, or refuses a statement. */
export class FleetDatabaseError extends Data.TaggedError("FleetDatabaseError")<{
  /** The database without user and password. */
  readonly database: string
  readonly message: string
}> {}

export const notPrepared = (database: string): FleetDatabaseError =>
  new FleetDatabaseError({
    database,
    message: `the fleet's database ${database} is not prepared for this version: run plaza-stock-sync fleet migrate`
  })

/** No account with this id. */
export class AccountNotFound extends Data.TaggedError("AccountNotFound")<{
  readonly id: string
  readonly message: string
}> {}

export const accountNotFound = (id: string): AccountNotFound =>
  new AccountNotFound({ id, message: `there is no account ${id}: plaza-stock-sync fleet accounts list shows the accounts` })

/** An account with this id exists already. */
export class AccountExists extends Data.TaggedError("AccountExists")<{
  readonly id: string
  readonly message: string
}> {}

export const accountExists = (id: string): AccountExists =>
  new AccountExists({ id, message: `account ${id} exists already: change it with plaza-stock-sync fleet accounts update` })

/** An account can't be used as it is: its key, its source or a setting is invalid. Other accounts are not affected. */
export class InvalidAccount extends Data.TaggedError("InvalidAccount")<{
  readonly id: string
  readonly message: string
}> {}
