/** Rehearses the image and prints the figures: `pnpm --filter @plaza/deploy rehearse [NODE]`, as root on Linux. NODE is the base image's Node. */
import { Sandbox } from "@plaza/sandbox"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { missing, rehearse } from "./Rehearsal.ts"

const [, , node] = process.argv

const program = Effect.gen(function*() {
  if (missing !== undefined) return yield* Effect.die(new Error(missing))
  const report = yield* rehearse(node === undefined ? {} : { node })
  const seconds = (duration: Duration.Duration) => `${Duration.toSeconds(duration).toFixed(2)} s`
  const { aliveAfter, buildTime, log, readyAfter, stopTime, ...rest } = report
  const times = { build: seconds(buildTime), alive: seconds(aliveAfter), ready: seconds(readyAfter), stop: seconds(stopTime) }
  process.stdout.write(`${log}\n${JSON.stringify({ ...rest, times }, undefined, 2)}\n`)
})

await Effect.runPromise(Effect.provide(Effect.scoped(program), Sandbox.layerServer()))
