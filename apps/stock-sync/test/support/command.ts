/**
 * Commands as the program runs them, in this process: arguments, variables, output and exit code, without the start of a process. Standard
 * input is that of the tests, so a command that reads it requires `program.ts`.
 */
import { CommandLine, Program, Streams } from "@plaza/cli-kit"
import { ConfigProvider, Effect, Layer } from "effect"
import { expect } from "vitest"
import * as Cli from "../../src/Cli.js"
import { exitCodes } from "../../src/ExitCodes.js"
import { name } from "../../src/version.js"
import type { Ended } from "./program.js"

export const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>): Effect.Effect<Ended> =>
  Effect.suspend(() => {
    const stdout: Array<string> = []
    const stderr: Array<string> = []
    const variables = ConfigProvider.fromMap(new Map(Object.entries(env)), { pathDelim: "\0" })
    const command = Program.exitCodeOf(Cli.run(args), { name, json: args.includes("--json"), exitCodes, signal: () => "SIGINT" })
    return command.pipe(
      Effect.provide(Layer.merge(CommandLine.layer, Streams.layerTest({ stdout, stderr }))),
      Effect.withConfigProvider(variables),
      Effect.map((status) => {
        expect(stderr.join("")).not.toMatch(/\n\s+at .+:\d+:\d+/)
        return { status, stdout: stdout.join(""), stderr: stderr.join("") }
      })
    )
  })
