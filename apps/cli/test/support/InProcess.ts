/** Runs commands in this process, for tests that run many. */
import { has } from "@plaza/cli-kit/CommandLine"
import * as Program from "@plaza/cli-kit/Program"
import * as Streams from "@plaza/cli-kit/Streams"
import { ConfigProvider, Effect } from "effect"
import { run } from "../../src/Cli.ts"
import { noProfiles } from "./Plaza.ts"

/** Runs a command to its end, with only these variables. */
export const plaza = (argv: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const stdout: Array<string> = []
    const stderr: Array<string> = []
    const options = { name: "plaza", json: has(argv, "json", "j"), signal: () => "SIGINT" as const }
    const code = yield* Program.exitCodeOf(run(argv), options).pipe(
      Effect.provide(Streams.layerTest({ stdout, stderr })),
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnv({ env: { XDG_CONFIG_HOME: noProfiles, ...env } })
      )
    )
    return { code, stdout: stdout.join(""), stderr: stderr.join("") }
  })
