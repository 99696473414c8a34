/** The exit codes of the worker's own errors. `ExitCode` of cli-kit has the others. */
import type { ExitCode } from "@plaza/cli-kit/ExitCode"
import * as Predicate from "effect/Predicate"

const byTag: Readonly<Record<string, ExitCode>> = {
  AccountExists: 5,
  AccountNotFound: 3,
  FleetDatabaseError: 2,
  InvalidAccount: 2,
  LedgerFault: 2,
  LedgerInUse: 2,
  OtherAccount: 2,
  RevertHeld: 2,
  SnapshotHeld: 2,
  UnknownProduct: 3,
  WrongAddress: 2,
  ServiceUnavailable: 7,
  SourceUnreachable: 7
}

/** Undefined for errors that are not the worker's own. */
export const exitCodes = (error: unknown): ExitCode | undefined => {
  if (!Predicate.hasProperty(error, "_tag") || !Predicate.isString(error._tag)) return undefined
  if (error._tag === "Incomplete") return Predicate.hasProperty(error, "retryable") && error.retryable === true ? 7 : 1
  return byTag[error._tag]
}
