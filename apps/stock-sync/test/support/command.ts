/**
 * Commands as the program runs them, in this process: arguments, variables, output and exit code, without the start of a process. Standard
 * input is that of the tests, so a command that reads it requires `program.ts`.
 */
import * as Program from "@plaza/cli-kit/Program"
import * as Streams from "@plaza/cli-kit/Streams"
import { ConfigProvider, Effect } from "effect"
import { chdir, cwd as currentFolder } from "node:process"
import * as Cli from "../../src/Cli.ts"
import { checkOutput, type Ended } from "./program.ts"

export const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>): Effect.Effect<Ended> =>
  Effect.suspend(() => {
    const stdout: Array<string> = []
    const stderr: Array<string> = []
    return Program.exitCodeOf(Cli.run(args), { ...Cli.reporting(args), signal: () => "SIGINT" }).pipe(
      Effect.provide(Streams.layerTest({ stdout, stderr })),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
      Effect.map((status) => {
        const ended = { status, stdout: stdout.join(""), stderr: stderr.join("") }
        checkOutput(ended, env)
        return ended
      })
    )
  })

/** In a folder, one command at a time: the folder is that of the whole process. */
export const runIn = (folder: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>): Effect.Effect<Ended> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const before = currentFolder()
      chdir(folder)
      return before
    }),
    () => run(args, { STOCK_SYNC_SETTLE: "0 seconds", ...env }),
    (before) => Effect.sync(() => chdir(before))
  )
