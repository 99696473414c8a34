/** The entry point of the `plaza` program. */
import { has } from "@plaza/cli-kit/CommandLine"
import * as Program from "@plaza/cli-kit/Program"
import { run } from "./Cli.ts"
import { name } from "./version.ts"

const argv = process.argv.slice(2)

Program.run(run(argv), {
  name,
  json: has(argv, "json", "j"),
  remediation: {
    key: "Run plaza auth status to see which key is used, and plaza auth login to change it.",
    outcomeUnknown: { createPost: "Check the newest posts with plaza posts list before you run the command again." }
  }
})
