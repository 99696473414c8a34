import { CliError, ExitCode } from "@plaza-legacy/cli-kit"
import { SourceError } from "@plaza-legacy/tabular/SourceError"
import { describe, expect, it } from "vitest"
import { Incomplete, ServiceUnavailable } from "../src/commands/OnceReport.ts"
import { NotQuarantined } from "../src/commands/Retry.ts"
import { exitCodes } from "../src/ExitCodes.ts"
import { accountExists, accountNotFound, FleetDatabaseError, InvalidAccount } from "../src/fleet/FleetError.ts"
import { LedgerFault, LedgerInUse, NotHeld, OtherAccount } from "../src/ledger/LedgerError.ts"
import { SourceUnreachable } from "../src/source/Source.ts"
import { WrongAddress } from "../src/sync/AccountBinding.ts"

const message = "a sentence"

describe("the exit code", () => {
  it.each([
    [new CliError.UsageError({ message }), 2],
    [new SourceError({ source: "a.csv", line: 1, message }), 2],
    [new SourceUnreachable({ source: "a.csv", message }), 7],
    [new LedgerFault({ path: "a.sqlite", message }), 2],
    [new LedgerInUse({ path: "a.sqlite", message }), 2],
    [new OtherAccount({ path: "a.sqlite", message }), 2],
    [new WrongAddress({ message }), 2],
    [new FleetDatabaseError({ database: "postgres://db/fleet", message }), 2],
    [new InvalidAccount({ id: "a", message }), 2],
    [accountNotFound("a"), 3],
    [accountExists("a"), 5],
    [new NotHeld({ message }), 1],
    [new NotQuarantined({ products: ["A"], message }), 1],
    [new ServiceUnavailable({ message }), 7],
    [new Incomplete({ message, retryable: true }), 7],
    [new Incomplete({ message, retryable: false }), 1]
  ] as const)("of %s is %i", (error, code) => {
    expect(ExitCode.of(error, exitCodes)).toBe(code)
  })
})
