/** A sandbox on a socket, as a process of its own until it is stopped: `SandboxProcess.ts PRODUCTS LIMIT`. Prints its address and a key. */
import { NodeRuntime } from "@effect/platform-node"
import { Sandbox } from "@plaza/sandbox"
import { Duration, Effect, Redacted } from "effect"
import { writeSync } from "node:fs"
import { argv } from "node:process"

const [, , products = "0", limit = "0"] = argv

const serve = Effect.flatMap(Sandbox.Sandbox, ({ apiKey, baseUrl, controlUrl }) => {
  writeSync(1, `${JSON.stringify({ baseUrl, origin: new URL(controlUrl).origin, apiKey: Redacted.value(apiKey) })}\n`)
  return Effect.never
})

NodeRuntime.runMain(Effect.provide(
  serve,
  Sandbox.layerServer({
    assumptions: { requestsPerWindow: Number(limit), rateWindow: Duration.seconds(1), dailyQuota: 1_000_000_000 },
    fixtures: { products: Array.from({ length: Number(products) }, (_, index) => ({ id: `P${index}`, stock: 0 })) }
  })
))
