/** The entry of the `plaza-stock-sync` executable. */
import * as CommandLine from "@plaza-legacy/cli-kit/CommandLine"
import * as Program from "@plaza-legacy/cli-kit/Program"
import * as Effect from "effect/Effect"
import * as Cli from "./Cli.ts"

const argv = process.argv.slice(2)

Program.run(Effect.provide(Cli.run(argv), CommandLine.layer), Cli.reporting(argv))
