import * as CliError from "@plaza/cli-kit/CliError"
import * as ExitCode from "@plaza/cli-kit/ExitCode"
import { SourceError } from "@plaza/tabular/SourceError"
import { describe, expect, it } from "vitest"
import { Incomplete, ServiceUnavailable } from "../src/commands/OnceReport.ts"
import { NotQuarantined } from "../src/commands/Retry.ts"
import { UnknownProduct } from "../src/commands/UnknownProduct.ts"
import { exitCodes } from "../src/ExitCodes.ts"
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
    [new UnknownProduct({ products: ["A"], message }), 3],
    [new NotHeld({ message }), 1],
    [new NotQuarantined({ products: ["A"], message }), 1],
    [new ServiceUnavailable({ message }), 7],
    [new Incomplete({ message, retryable: true }), 7],
    [new Incomplete({ message, retryable: false }), 1]
  ] as const)("of %s is %i", (error, code) => {
    expect(ExitCode.of(error, exitCodes)).toBe(code)
  })
})
