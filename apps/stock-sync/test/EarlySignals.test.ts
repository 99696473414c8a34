/**
 * Signals that arrive while the built program loads its modules. Without a listener, the system ends the process at once, or ignores the
 * signal if the process is the first one of its container.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { account, parsed, run } from "./support/program.ts"
import { csv, inFolder, wanted, write } from "./support/shop.ts"

/** Sends a signal to the process when it begins to load the program. */
const signalling = (signal: NodeJS.Signals) => `
const { Module } = require("node:module")
const load = Module._load
Module._load = function (name, ...others) {
  if (name === "./program.cjs") process.kill(process.pid, "${signal}")
  return load.call(this, name, ...others)
}
`

describe("a signal before the program has started", () => {
  for (const [signal, status] of [["SIGTERM", 143], ["SIGINT", 130], ["SIGHUP", 129]] as const) {
    it.live(`${signal} ends run with 0, and once with ${status}`, () =>
      inFolder((cwd) =>
        Effect.gen(function*() {
          yield* write(`${cwd}/stock.csv`, csv(wanted))
          yield* write(`${cwd}/sync.json`, "{ \"source\": \"stock.csv\" }")
          yield* write(`${cwd}/signal.cjs`, signalling(signal))
          const env = { ...yield* account, NODE_OPTIONS: `--require=${cwd}/signal.cjs` }
          expect(yield* run(["run", "--config", "sync.json"], { cwd, env })).toMatchObject({ status: 0, stdout: "" })
          const once = yield* run(["once", "--config", "sync.json", "--json"], { cwd, env })
          expect(once).toMatchObject({ status, stdout: "" })
          expect(parsed(once.stderr)).toMatchObject({ error: { tag: "Interrupted" } })
        })
      ))
  }
})
