/**
 * `pnpm start`: runs the demonstration. Its data stays in `.demo`, or in the folder of the first argument, for a second run. `--keep` leaves
 * the shop and the worker open until Ctrl-C.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Console, Effect, Exit, Layer, Runtime } from "effect"
import { FetchHttpClient } from "effect/http"
import { demonstrate } from "./demonstration.ts"

// pnpm passes the `--` of npm's form.
const args = process.argv.slice(2).filter((arg) => arg !== "--")
const keep = args.includes("--keep")
const [kept = ".demo", ...others] = args.filter((arg) => arg !== "--keep")

const program = others.length > 0 || kept.startsWith("-")
  ? Effect.andThen(
    Console.error("usage: npx -y pnpm@12.21.0 start [--keep] [FOLDER]"),
    Effect.sync(() => {
      process.exitCode = 2
    })
  )
  : demonstrate({ keep, kept }).pipe(
    Effect.provide(Layer.merge(NodeServices.layer, FetchHttpClient.layer)),
    Effect.catch(Effect.fnUntraced(function*({ message }) {
      yield* Console.error(`\nThe demonstration failed: ${message}. Remove the folder ${kept} and start again.`)
      process.exitCode = 1
    }))
  )

NodeRuntime.runMain(program, {
  // A signal is how a person ends it.
  teardown: (exit, onExit) =>
    keep && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)
})
