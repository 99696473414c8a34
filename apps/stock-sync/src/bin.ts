/** The entry of the `plaza-stock-sync` executable. */
import * as Arguments from "@plaza/cli-kit/Arguments"
import * as CommandLine from "@plaza/cli-kit/CommandLine"
import * as Program from "@plaza/cli-kit/Program"
import * as Effect from "effect/Effect"
import * as Cli from "./Cli.js"
import { exitCodes } from "./ExitCodes.js"
import { name } from "./version.js"

const argv = process.argv.slice(2)

Program.run(Effect.provide(Cli.run(argv), CommandLine.layer), {
  name,
  json: Arguments.has(argv, "--json"),
  exitCodes,
  remediation: { key: "Set PLAZA_API_KEY or PLAZA_API_KEY_FILE to a key of this account, and start plaza-stock-sync again." }
})
