/** Rehearses the images and prints the figures: `pnpm --filter @plaza/deploy rehearse [NODE]`, as root on Linux. NODE is the Node of the build. */
import { Sandbox } from "@plaza/sandbox"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { missing, rehearse } from "./Rehearsal.ts"

const [, , node] = process.argv

const printed = (name: string, report: object) => {
  const readable = Object.entries(report).map(([name, value]: readonly [string, unknown]) => [
    name,
    Duration.isDuration(value) ? `${Duration.toSeconds(value).toFixed(2)} s` : value
  ])
  process.stdout.write(`${name}: ${JSON.stringify(Object.fromEntries(readable), undefined, 2)}\n`)
}

const program = Effect.gen(function*() {
  if (missing !== undefined) return yield* Effect.die(new Error(missing))
  const { plaza, worker, ...images } = yield* rehearse(node === undefined ? {} : { node })
  for (const [name, { log, ...report }] of Object.entries({ plaza, "plaza-stock-sync": worker })) {
    process.stdout.write(`${log}\n`)
    printed(name, report)
  }
  printed("images", images)
})

await Effect.runPromise(Effect.provide(Effect.scoped(program), Sandbox.layerServer()))
