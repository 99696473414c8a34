/** The program of the fleet, which runs on an earlier version of Effect until it moves. */
import * as Effect from "effect/Effect"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import * as Globals from "../../Globals.ts"

// A bundle has the program beside its chunks; from the sources, it is that of the last build.
const program = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../dist/fleet.cjs" : "../fleet.cjs", import.meta.url)
)

/** What a program listens to. */
const events = ["SIGHUP", "SIGINT", "SIGTERM", "uncaughtException"] as const

/** Options that this program reads. */
const global = /^(?:--(?:json|quiet)|-[jq]+)(?:=.*)?$/

/** The words of a command line for the fleet's program. It has the long forms of the global options, and none to quiet a runner. */
export const wordsFor = (words: ReadonlyArray<string>, { json, quiet }: { readonly json: boolean; readonly quiet: boolean }) => {
  const end = words.includes("--") ? words.indexOf("--") : words.length
  const own = words.slice(0, end).filter((word) => !global.test(word))
  return [
    ...own,
    ...(json ? ["--json"] : []),
    ...(quiet && own[1] !== "run" ? ["--quiet"] : []),
    ...words.slice(end)
  ]
}

/**
 * Runs the fleet's program in this process. It handles signals and ends the process itself, so that the process id, the terminal and the
 * exit code are those of one program.
 */
export const start: Effect.Effect<never, never, Effect.Services<typeof Globals.output>> = Effect.flatMap(Globals.output, (options) => {
  const own = events.map((event) => [event, process.rawListeners(event)] as const)
  process.argv.splice(2, Infinity, ...wordsFor(process.argv.slice(2), options))
  createRequire(import.meta.url)(program)
  // Only now: a signal that arrives between two listeners would be lost.
  for (const [event, listeners] of own) {
    // The cast is true: Node calls them with arguments that depend on the event.
    for (const listener of listeners) process.removeListener(event, listener as (...args: ReadonlyArray<unknown>) => void)
  }
  return Effect.never
})
