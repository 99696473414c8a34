/**
 * Ten thousand rows in virtual time, over a network and a service that fail in every way, and cut off again and again: every row ends up
 * sent, a confirmed one never again, and the allowance is never overdrawn.
 */
import { describe, expect, it } from "@effect/vitest"
import { TestTime } from "@plaza/client"
import { type Fault, Sandbox } from "@plaza/sandbox"
import { Clock, Deferred, Effect, Fiber, FileSystem, Stream } from "effect"
import { HttpClient, type HttpClientRequest } from "effect/http"
import { appendFileSync, readFileSync, writeFileSync } from "node:fs"
import { confirmedIn, home, inProcess, ordersOf, run, stockOf, write } from "./support/Importing.ts"

const faults = (path: string): ReadonlyArray<Fault> => [
  { kind: "drop", when: "before", path, rate: 0.02 },
  { kind: "drop", when: "after", path, rate: 0.02 },
  { kind: "status", when: "before", status: 503, path, rate: 0.02 },
  { kind: "status", when: "after", status: 500, path, rate: 0.02 },
  { kind: "cut", when: "after", path, rate: 0.01 },
  // Later than anybody waits for it.
  { kind: "delay", when: "after", millis: 45_000, path, rate: 0.005 },
  { kind: "delay", when: "before", millis: 900, path, rate: 0.2 }
]

/**
 * What goes over the network: how much, and how much of it for nothing. Cuts the import off by requests and not by time, for the clock
 * goes on while a disk is waited for.
 */
const makeWitness = (requestsALife: number) => {
  const seen = { requests: 0, again: 0, limitedInFirstLife: 0 }
  let cut = Effect.runSync(Deferred.make<void>())
  let confirmed: ReadonlySet<string> = new Set()
  const through = (client: HttpClient.HttpClient) =>
    HttpClient.transform(client, (answer, request: HttpClientRequest.HttpClientRequest) => {
      if (request.method === "GET") return answer
      seen.requests++
      if (confirmed.has(request.url.split("/").at(-2) ?? "")) seen.again++
      const cutOff = seen.requests % requestsALife === 0 ? Deferred.succeed(cut, undefined) : Effect.void
      const isFirstLife = seen.requests <= requestsALife
      return Effect.andThen(cutOff, Effect.map(answer, (response) => {
        if (response.status === 429 && isFirstLife) seen.limitedInFirstLife++
        return response
      }))
    })
  /** A life of the import, which knows that some rows are confirmed. */
  const begin = (rows: ReadonlyArray<string>) => {
    confirmed = new Set(rows)
    cut = Effect.runSync(Deferred.make<void>())
    return Deferred.await(cut)
  }
  return { seen, through, begin }
}

/** Files that are read and written at once, for the clock would not wait for a disk. */
const atOnce = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.updateService(effect, FileSystem.FileSystem, (fs) => ({
    ...fs,
    readFileString: (path) => Effect.sync(() => readFileSync(path, "utf8")),
    stream: (path) => Stream.sync(() => readFileSync(path)),
    writeFileString: (path, text) => Effect.sync(() => writeFileSync(path, text)),
    open: (path, options) =>
      Effect.map(fs.open(path, options), (file) => ({
        ...file,
        sync: Effect.void,
        writeAll: (bytes) => Effect.sync(() => appendFileSync(path, bytes))
      }))
  }))

const importAll = (kind: "stock" | "orders", content: string, path: string, requestsALife: number) =>
  Effect.gen(function*() {
    const state = yield* home
    const sandbox = yield* Sandbox.Sandbox
    const file = yield* write(state, `${kind}.csv`, content)
    const witness = makeWitness(requestsALife)
    const { through } = witness
    yield* Effect.forEach(faults(path), sandbox.addFault)
    const summaries: Array<unknown> = []
    let cutOff = 0
    for (;;) {
      const untilCutOff = witness.begin(yield* confirmedIn(state))
      const running = yield* Effect.forkChild(run(state, kind, file, { through }))
      const ended = yield* Effect.raceFirst(Effect.asSome(Fiber.await(running)), Effect.andThen(untilCutOff, Effect.succeedNone))
      if (ended._tag === "None") {
        cutOff++
        yield* Fiber.interrupt(running)
        continue
      }
      const { stdout } = yield* ended.value
      summaries.push(JSON.parse(stdout))
      if (summaries.length > 1) break
      yield* sandbox.clearFaults
    }
    return { seen: witness.seen, summaries, cutOff, state: yield* sandbox.state, minutes: (yield* Clock.currentTimeMillis) / 60_000 }
  })

// Virtual hours are real minutes on a machine that has other things to do.
const testTimeout = 900_000

const idsOf = (count: number) => Array.from({ length: count }, (_, number) => `P-${number}`)

describe("an import that is cut off again and again", () => {
  const tenThousand = idsOf(10_000)
  const aThousand = idsOf(1_000)

  it.effect("sends ten thousand stocks, none of which it knows to be there a second time", () =>
    Effect.gen(function*() {
      const rows = tenThousand.map((id, number) => [id, number] as const)
      const { cutOff, minutes, seen, state, summaries } = yield* importAll("stock", stockOf(rows), "/store/products/*", 1_700)
      expect(summaries.at(-1)).toMatchObject({ rows: 10_000, failed: 0, left: 0 })
      expect(cutOff).toBeGreaterThan(3)
      expect(seen).toMatchObject({ again: 0, limitedInFirstLife: 0 })
      expect(state.products.filter(({ id, stock }) => id.startsWith("P-") && `P-${stock}` === id).length).toBe(10_000)
      // As many windows as the requests need, and one for each client that began anew.
      expect(minutes).toBeLessThan(seen.requests / 120 * 1.05 + 2 * (cutOff + 2))
    }).pipe(atOnce, Effect.scoped,
      Effect.provide(inProcess({ fixtures: { products: tenThousand.map((id) => ({ id, stock: 1_000_000 })) } })), TestTime.advancing),
    testTimeout)

  it.effect("ships a thousand orders, each with its own number", () =>
    Effect.gen(function*() {
      const { cutOff, seen, state, summaries } = yield* importAll("orders", ordersOf(aThousand), "/store/orders/*", 170)
      expect(summaries.at(-1)).toMatchObject({ rows: 1_000, failed: 0, left: 0, alreadyShipped: [] })
      expect(cutOff).toBeGreaterThan(3)
      expect(seen).toMatchObject({ again: 0, limitedInFirstLife: 0 })
      expect(state.orders.filter(({ id, shipment }) => shipment?.trackingNumber === `T-${id}`).length).toBe(1_000)
    }).pipe(atOnce, Effect.scoped, Effect.provide(inProcess({ fixtures: { orders: aThousand.map((id) => ({ id })) } })),
      TestTime.advancing), testTimeout)
})
