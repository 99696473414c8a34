/** Runs commands in this process, for tests that run many. */
import { Program, Streams } from "@plaza/cli-kit"
import { ConfigProvider, Effect } from "effect"
import { run } from "../../src/Cli.ts"
import { noProfiles } from "./Plaza.ts"

/** Runs a command to its end, with only these variables. */
export const plaza = (argv: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const stdout: Array<string> = []
    const stderr: Array<string> = []
    const options = { name: "plaza", json: argv.includes("--json"), signal: () => "SIGINT" as const }
    const code = yield* Program.exitCodeOf(run(argv), options).pipe(
      Effect.provide(Streams.layerTest({ stdout, stderr })),
      Effect.withConfigProvider(
        ConfigProvider.fromMap(new Map(Object.entries({ XDG_CONFIG_HOME: noProfiles, ...env })), { pathDelim: "_" })
      )
    )
    return { code, stdout: stdout.join(""), stderr: stderr.join("") }
  })
