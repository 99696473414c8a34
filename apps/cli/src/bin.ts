/** The entry of the `plaza` executable. */
import * as Arguments from "@plaza/cli-kit/Arguments"
import * as Program from "@plaza/cli-kit/Program"
import { run } from "./Cli.js"
import { name } from "./version.js"

const argv = process.argv.slice(2)

Program.run(run(argv), { name, json: Arguments.has(argv, "--json") })
