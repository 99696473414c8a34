/** The program on Effect 3 against a sandbox in another process, as a user tests it. */
import "./PlazaOnPath.ts"

import { Chunk, Effect, Exit, Fiber, Stream } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { posts, ship, shipOrder } from "../src/Orders.ts"
import { call, list, Plaza } from "../src/Plaza.ts"
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

it("an order is shipped once", async () => {
  expect(await run(shipOrder("500001", shipment))).toBe("shipped")
  expect(await run(shipOrder("500001", shipment))).toBe("already shipped")
  expect(await run(shipOrder("NONE", shipment))).toBe("unknown order")
})

it("a failure is an error of the Effect, with its class", async () => {
  await sandbox.addFault({ kind: "status", when: "before", status: 403, code: "STORE_BLOCKED" })
  expect(await run(Effect.flip(shipOrder("500001", shipment)))).toMatchObject({ _tag: "StoreBlocked", mayHaveHappened: false })
  expect(await run(Effect.flip(Effect.catchTag(ship("NONE", shipment), "Conflict", () => Effect.void)))).toMatchObject({ _tag: "NotFound" })
})

it("everything but an error of the SDK is a defect", async () => {
  const error = new Error("of the program")
  const exit = await Effect.runPromiseExit(call(() => Promise.reject(error)))
  expect(exit).toEqual(Exit.die(error))
})

it("a list is a stream", async () => {
  const some = await run(Stream.runCollect(Stream.take(posts, 15)))
  expect(new Set(Chunk.map(some, ({ id }) => id)).size).toBe(15)
  await sandbox.addFault({ kind: "status", when: "before", status: 401 })
  expect(await run(Effect.flip(Stream.runCollect(posts)))).toMatchObject({ _tag: "InvalidApiKey" })
})

it("an invalid option fails the layer", async () => {
  const layer = Plaza.layer({ apiKey: sandbox.apiKey, baseUrl: "shop.example" })
  expect(await Effect.runPromise(Effect.flip(Effect.provide(Plaza, layer)))).toMatchObject({ _tag: "InvalidSettings", setting: "baseUrl" })
  expect(await Effect.runPromise(Effect.flip(Effect.provide(Plaza, Plaza.layerEnv({ timeout: "soon" }))))).toMatchObject({
    _tag: "InvalidSettings"
  })
})

describe("an interrupted", () => {
  /** A client whose requests stay open, with the signals of its requests. */
  const silent = () => {
    const signals: Array<AbortSignal | null | undefined> = []
    const layer = Plaza.layer({
      apiKey: sandbox.apiKey,
      baseUrl: sandbox.baseUrl,
      fetch: (_, init) => {
        signals.push(init?.signal)
        return new Promise(() => {})
      }
    })
    return { layer, signals }
  }

  it.each([
    ["call", Effect.flatMap(Plaza, ({ profiles }) => call((signal) => profiles.me({ signal })))],
    ["list", Stream.runDrain(Stream.unwrap(Effect.map(Plaza, ({ posts }) => list(posts.list()))))]
  ])("%s ends its request", async (_, program: Effect.Effect<unknown, unknown, Plaza>) => {
    const { layer, signals } = silent()
    const fiber = Effect.runFork(Effect.provide(program, layer))
    await expect.poll(() => signals.length).toBe(1)
    await Effect.runPromise(Fiber.interrupt(fiber))
    expect(signals[0]?.aborted).toBe(true)
  })
})
