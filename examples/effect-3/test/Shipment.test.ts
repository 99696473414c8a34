/** The test that docs/guides/effect-3.md shows. */
import "./PlazaOnPath.ts"

import { Effect } from "effect"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"
import { shipOrder } from "../src/Orders.ts"
import { Plaza } from "../src/Plaza.ts"
import { startSandbox } from "./Sandbox.ts"

let sandbox: Awaited<ReturnType<typeof startSandbox>>
beforeAll(async () => {
  sandbox = await startSandbox()
})
beforeEach(() => sandbox.reset())
afterAll(() => sandbox.stop())

const run = <A, E>(effect: Effect.Effect<A, E, Plaza>) =>
  Effect.runPromise(Effect.provide(effect, Plaza.layer({ apiKey: sandbox.apiKey, baseUrl: sandbox.baseUrl, retry: { delay: 1 } })))

const shipment = { carrier: "DHL", trackingNumber: "JD01" }

it("an order that may be shipped is reported as such", async () => {
  const fault = { kind: "status", when: "after", status: 503, path: "/store/orders/*/ship" }
  await sandbox.addFault(fault)
  expect(await run(shipOrder("500001", shipment))).toBe("check the tracking number")
  await sandbox.addFault({ ...fault, times: 5 })
  expect(await run(shipOrder("500002", shipment))).toBe("check the order")
})
