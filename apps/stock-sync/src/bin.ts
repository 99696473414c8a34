/** The entry point of the `plaza-stock-sync` program. */
import * as Program from "@plaza/cli-kit/Program"
import { reporting, run } from "./Cli.ts"

const argv = process.argv.slice(2)

Program.run(run(argv), reporting(argv))
