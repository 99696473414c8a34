import * as CliError from "@plaza/cli-kit/CliError"
import * as ExitCode from "@plaza/cli-kit/ExitCode"
import { describe, expect, it } from "vitest"
import { exitCodes } from "../../src/ExitCodes.ts"
import { accountExists, accountNotFound, FleetDatabaseError, InvalidAccount } from "../../src/fleet/FleetError.ts"

const message = "a sentence"

describe("the exit code", () => {
  it.each([
    [new CliError.UsageError({ message }), 2],
    [new FleetDatabaseError({ database: "postgres://db/fleet", message }), 2],
    [new InvalidAccount({ id: "a", message }), 2],
    [accountNotFound("a"), 3],
    [accountExists("a"), 5]
  ] as const)("of %s is %i", (error, code) => {
    expect(ExitCode.of(error, exitCodes)).toBe(code)
  })
})
