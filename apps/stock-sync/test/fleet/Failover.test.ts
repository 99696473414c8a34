/**
 * Three runners of the built program that are killed, frozen, restarted and cut off from their database, while sources change, the service
 * fails, one source never ends and one is large. Prints one line for each seed. Variables, with their defaults:
 *
 * - `PLAZA_FLEET_SEED` (1), and `PLAZA_FLEET_SEEDS` (1), the number of runs.
 * - `PLAZA_FLEET_ACCOUNTS` (20), `PLAZA_FLEET_CHANGES` (200), `PLAZA_FLEET_ENDLESS` (1), the accounts whose source never ends, and
 *   `PLAZA_FLEET_ROWS` (20000) of the large source.
 * - `PLAZA_FLEET_FAULTS` (`kill`; with `PLAZA_NIGHTLY` all but `killWithoutDatabase`): how many are chosen by the seed, or a list of `kill`,
 *   `freeze`, `restartAll`, `cutDatabase`, `forgetConnections`, `stopWithoutDatabase`, `slowStart`, `stallResponses` and
 *   `killWithoutDatabase`.
 * - `PLAZA_FLEET_OUTAGE` (8), the seconds without a database.
 * - `PLAZA_FLEET_WITHIN` (30), the seconds until the accounts of a lost runner are taken over and small changes are sent. 10 are enough for 20
 *   accounts on a machine with nothing else to do.
 * - `PLAZA_FLEET_LOGS` (none), a folder for the logs of the runners, the requests and the takeovers.
 */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Config, Duration, Effect, Option, Random } from "effect"
import { type AddressInfo, createConnection, createServer } from "node:net"
import { stdout } from "node:process"
import * as DatabaseProxy from "../support/databaseProxy.ts"
import { eventually } from "../support/eventually.ts"
import * as Failover from "../support/failover/Failover.ts"
import * as HostileSources from "../support/failover/HostileSources.ts"
import * as Judge from "../support/failover/Judge.ts"
import * as StrictService from "../support/failover/StrictService.ts"

const everyNight = Failover.everyFault.filter((fault) => fault !== "killWithoutDatabase").join(" ")
const settings = Effect.runSync(Effect.gen(function*() {
  const isNightly = Option.isSome(yield* Config.option(Config.String("PLAZA_NIGHTLY")))
  return yield* Config.all({
    accounts: Config.withDefault(Config.Int("PLAZA_FLEET_ACCOUNTS"), 20),
    changes: Config.withDefault(Config.Int("PLAZA_FLEET_CHANGES"), 200),
    rows: Config.withDefault(Config.Int("PLAZA_FLEET_ROWS"), 20_000),
    endless: Config.withDefault(Config.Int("PLAZA_FLEET_ENDLESS"), 1),
    faults: Config.withDefault(Config.String("PLAZA_FLEET_FAULTS"), isNightly ? everyNight : "kill"),
    outage: Config.withDefault(Config.Finite("PLAZA_FLEET_OUTAGE"), 8),
    within: Config.withDefault(Config.Finite("PLAZA_FLEET_WITHIN"), 30),
    seed: Config.withDefault(Config.Int("PLAZA_FLEET_SEED"), 1),
    seeds: Config.withDefault(Config.Int("PLAZA_FLEET_SEEDS"), 1),
    logs: Config.option(Config.String("PLAZA_FLEET_LOGS"))
  })
}))
const seeds = Array.from({ length: settings.seeds }, (_, index) => settings.seed + index)

const faultsOf = (seed: number): ReadonlyArray<Failover.Fault> => {
  const words = settings.faults.trim().split(/\s+/)
  const [first = ""] = words
  if (/^\d+$/.test(first)) {
    const shuffled = Effect.runSync(Random.withSeed(Random.shuffle(Failover.everyFault), `faults ${seed}`))
    return Array.from({ length: Number(first) }, (_, index) => shuffled[index % shuffled.length] ?? "kill")
  }
  const unknown = words.find((word) => !Failover.isFault(word))
  if (unknown !== undefined) throw new Error(`PLAZA_FLEET_FAULTS: there is no fault ${unknown}`)
  return words.filter(Failover.isFault)
}
// Ten minutes for the shortest run on a busy machine, and each fault has a limit of its own.
const atMost = Math.max(600_000, 240_000 + 120_000 * faultsOf(settings.seed).length)

const sent = (runner: string, at: number, set?: StrictService.Arrival["set"]): StrictService.Arrival => ({
  account: "a",
  runner,
  at,
  set,
  counted: true,
  exceeded: false
})
const taken = (pid: number, at: number, account = "a"): Judge.Takeover => ({ account, pid, at })

describe("the checks of a fleet's requests", () => {
  it("count the requests in the fullest window", () => {
    expect(Judge.mostWithin(Duration.millis(10), [0, 1, 9, 10, 11, 30])).toBe(3)
    expect(Judge.mostWithin(Duration.millis(10), [0, 10, 20])).toBe(1)
  })

  it("recognise a request of a runner whose account another runner has taken over", () => {
    const pids = new Map([["one", 1], ["two", 2]])
    const stale = (...arrivals: ReadonlyArray<StrictService.Arrival>) =>
      Judge.staleOf(arrivals, [taken(1, 0), taken(2, 10_000), taken(1, 30_000)], pids).map(({ at }) => at)
    expect(stale(sent("one", 1), sent("one", 10_005), sent("two", 10_010), sent("one", 30_010))).toEqual([])
    expect(stale(sent("two", 10_010), sent("one", 10_020), sent("one", 29_000))).toEqual([10_020, 29_000])
    expect(stale(sent("two", 1), sent("one", 12_000), sent("two", 32_000))).toEqual([1, 12_000, 32_000])
    // The first one was frozen as it sent a request.
    const ofFrozen = (...arrivals: ReadonlyArray<StrictService.Arrival>) =>
      Judge.staleOf(arrivals, [taken(1, 0), taken(2, 10_000)], pids, [{ pid: 1, at: 4_000, until: 12_000 }]).map(({ at }) => at)
    expect(ofFrozen(sent("one", 12_100), sent("one", 12_200))).toEqual([12_200])
    expect(ofFrozen(sent("one", 13_100))).toEqual([13_100])
    expect(ofFrozen(sent("two", 12_050), sent("one", 12_100))).toEqual([12_100])
  })

  it("recognise an older value of the large source", () => {
    const decreasing = (...stock: ReadonlyArray<number>) =>
      Judge.decreasing(stock.map((stock, at) => sent("one", at, { product: "L1", stock }))).map(({ at }) => at)
    expect(decreasing(1, 1, 4, 9)).toEqual([])
    expect(decreasing(1, 4, 3, 4, 1)).toEqual([2, 4])
    expect(Judge.decreasing([sent("one", 0, { product: "L1", stock: 4 }), sent("one", 1, { product: "L2", stock: 3 })])).toEqual([])
  })

  it("measure how long the accounts of a lost runner have no other one", () => {
    const takeovers = [taken(1, 0), taken(1, 0, "b"), taken(2, 0, "c"), taken(2, 9_000)]
    expect(Judge.takeoverWaits({ pid: 1, at: 4_000 }, takeovers)).toEqual([
      { account: "a", at: 4_000, millis: 5_000 },
      { account: "b", at: 4_000, millis: Infinity }
    ])
    // It was frozen, and works for the second account again.
    expect(Judge.takeoverWaits({ pid: 1, at: 4_000, until: 12_000 }, takeovers).map(({ millis }) => millis)).toEqual([5_000, 8_000])
  })

  it("measure how long a change waits for its request, from the takeover of its account and the end of a disturbance on", () => {
    const change = (at: number, stock: number): Judge.Change => ({ product: "P", stock, at })
    const request = (at: number, stock: number) => sent("one", at, { product: "P", stock })
    const waits = (
      changes: ReadonlyArray<Judge.Change>,
      arrivals: ReadonlyArray<StrictService.Arrival>,
      takeovers: ReadonlyArray<Judge.Takeover> = [taken(1, 0)],
      disturbances: ReadonlyArray<Judge.Disturbance> = []
    ) => Judge.changeWaits("a", changes, arrivals, takeovers, disturbances).map(({ millis }) => millis)
    expect(waits([change(100, 1), change(200, 2)], [request(150, 1), request(900, 2)])).toEqual([50, 700])
    // Sent with the next change, sent only before it, and never sent.
    expect(waits([change(100, 1), change(200, 2)], [request(90, 1), request(900, 2)])).toEqual([800, 700])
    expect(waits([change(100, 1)], [request(90, 1), request(300, 7)])).toEqual([Infinity])
    expect(waits([change(100, 1)], [request(900, 1)], [taken(1, 0), taken(2, 700)])).toEqual([200])
    expect(waits([change(100, 1)], [request(900, 1)], [taken(1, 0)], [{ pid: 1, from: 50, until: 600 }])).toEqual([300])
    // Of another runner, and one that was over.
    expect(waits([change(100, 1)], [request(900, 1)], [taken(1, 0)], [
      { pid: 2, from: 50, until: 600 },
      { pid: 1, from: 50, until: 90 }
    ])).toEqual([800])
  })
})

describe("the service of a fleet's stores", () => {
  const allowance = { limit: 2, window: Duration.minutes(1) }
  const start = (options: Partial<StrictService.Options>) =>
    StrictService.start({ accounts: new Map([["key", "a"], ["other", "b"]]), steady: new Set(["b"]), allowance, seed: 1, ...options })
  const patch = (port: number, product: string, stock: number, key = "key") =>
    Effect.promise(async (signal) => {
      const url = `http://127.0.0.1:${port}/open/v1/store/products/${product}/stock`
      const response = await fetch(url, {
        method: "PATCH",
        body: JSON.stringify({ stock }),
        headers: { authorization: `Bearer ${key}` },
        signal
      })
        .catch(() => undefined)
      return response?.status ?? "dropped"
    })

  it.live("refuses and records the requests of a key beyond its allowance", () =>
    Effect.gen(function*() {
      const service = yield* start({})
      expect(yield* patch(service.port, "P", 4)).toBeOneOf([200, 204])
      expect(yield* patch(service.port, "P", 5)).toBeOneOf([200, 204])
      expect(yield* patch(service.port, "P", 6)).toBe(429)
      expect(yield* patch(service.port, "P", 7, "other")).toBeOneOf([200, 204])
      expect(yield* patch(service.port, "P", 8, "unknown")).toBe(401)
      expect(service.arrivals.map(({ account, exceeded, set }) => [account, set?.stock, exceeded])).toEqual([
        ["a", 4, false],
        ["a", 5, false],
        ["a", 6, true],
        ["b", 7, false]
      ])
      expect([service.stock("a", "P"), service.stock("b", "P")]).toEqual([5, 7])
    }))

  it.live("fails before and after it has set the stock, with a status and without a response, but for accounts that never fail", () =>
    Effect.gen(function*() {
      const service = yield* start({ allowance: { ...allowance, limit: 10_000 } })
      yield* service.setFailing(true)
      const ends = yield* Effect.forEach(Array.from({ length: 1_000 }, (_, index) => `P${index}`), (product) =>
        Effect.map(patch(service.port, product, 1), (end) =>
          `${typeof end === "number" && end >= 500 ? "5xx" : end} ${service.stock("a", product) === 1 ? "set" : "not set"}`), {
        concurrency: 50
      })
      expect(new Set(ends)).toEqual(new Set([
        "200 set",
        "204 set",
        "5xx set",
        "5xx not set",
        "dropped set",
        "dropped not set",
        "429 not set"
      ]))
      const hits = service.hits()
      expect(hits).toBeLessThan(200)
      const steady = yield* Effect.replicateEffect(patch(service.port, "P", 1, "other"), 200)
      expect(steady.filter((end) =>
        end !== 200 && end !== 204
      )).toEqual([])
      expect(service.hits()).toBe(hits)
    }))
})

describe("the sources that may not hurt others", () => {
  it.live("end never, and change in all versions without a stock that falls", () =>
    Effect.gen(function*() {
      const sources = yield* HostileSources.start(1_200)
      const large = yield* Effect.promise(() => fetch(sources.large))
      const lines = (yield* Effect.promise(() => large.text())).trim().split("\n")
      expect([lines.length, lines[0], lines[1200]]).toEqual([1_201, "productId,stock", "L1199,1"])
      const again = yield* Effect.promise(() => fetch(sources.large, { headers: { "if-none-match": large.headers.get("etag") ?? "" } }))
      expect(again.status).toBe(304)
      const endless = yield* Effect.promise(() => fetch(sources.endless))
      const reader = endless.body?.getReader()
      let bytes = 0
      while (bytes < 50_000) {
        const { done, value } = yield* Effect.promise(() => reader?.read() ?? Promise.reject(new Error("no body")))
        expect(done).toBe(false)
        bytes += value?.length ?? 0
      }
      yield* Effect.promise(() => reader?.cancel() ?? Promise.resolve())
      expect(sources.reads()).toEqual({ endless: 1, large: 1 })

      const versions = (row: number) => Array.from({ length: 120 }, (_, version) => HostileSources.stockOf(row, version + 1))
      for (const row of [0, 7, 49, 1_199]) {
        expect(versions(row)).toEqual(versions(row).toSorted((one, other) => one - other))
        expect(new Set(versions(row)).size).toBeGreaterThan(2)
      }
    }))
})

describe("the network to a database", () => {
  /** A server that repeats what it receives, behind a network. */
  const network = Effect.gen(function*() {
    const seen = { text: "" }
    const server = createServer((socket) => {
      socket.setEncoding("utf8").on("error", () => undefined).on("data", (text: string) => {
        seen.text += text
        socket.write(text)
      })
    })
    const port = yield* Effect.acquireRelease(
      Effect.callback<number>((resume) => {
        // The address of a server on a port is no text.
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
      }),
      () => Effect.sync(() => server.close())
    )
    const proxy = yield* DatabaseProxy.start(`postgres://127.0.0.1:${port}/postgres`)
    const connect = Effect.gen(function*() {
      const { hostname, port } = new URL(proxy.url)
      const socket = yield* Effect.acquireRelease(
        Effect.sync(() => createConnection({ host: hostname, port: Number(port) })),
        (socket) => Effect.sync(() => socket.destroy())
      )
      const received = { text: "", isClosed: false }
      socket.setEncoding("utf8").on("error", () => undefined)
        .on("data", (text: string) => (received.text += text))
        .on("close", () => (received.isClosed = true))
      return { received, send: (text: string) => Effect.sync(() => void socket.write(text)) }
    })
    const client = yield* connect
    yield* client.send("a")
    const texts = Effect.sync(() => [seen.text, client.received.text])
    const become = (...expected: ReadonlyArray<string>) => eventually(texts, (texts) => texts.join() === expected.join())
    yield* become("a", "a")
    return { ...client, connect, set: proxy.set, texts, become }
  })
  const aWhile = Effect.sleep("200 millis")

  it.live("forwards nothing while it is stalled, and what was sent meanwhile afterwards", () =>
    Effect.gen(function*() {
      const { become, send, set, texts } = yield* network
      yield* set("stalled")
      yield* send("b")
      yield* aWhile
      expect(yield* texts).toEqual(["a", "a"])
      yield* set("open")
      yield* become("ab", "ab")
    }))

  it.live("forwards what the client sends and no response, in one direction", () =>
    Effect.gen(function*() {
      const { become, send, set, texts } = yield* network
      yield* set("unanswered")
      yield* send("b")
      yield* become("ab", "a")
      yield* aWhile
      expect(yield* texts).toEqual(["ab", "a"])
      yield* set("open")
      yield* become("ab", "ab")
    }))

  it.live("forgets the connections that it has, and opens others", () =>
    Effect.gen(function*() {
      const { become, connect, received, send, set } = yield* network
      yield* set("forgotten")
      yield* send("b")
      const other = yield* connect
      yield* other.send("c")
      yield* become("ac", "a")
      yield* eventually(Effect.sync(() => other.received.text), (text) => text === "c")
      expect(received).toEqual({ text: "a", isClosed: false })
    }))

  it.live("closes the connections that it has when it is cut, and accepts no others", () =>
    Effect.gen(function*() {
      const { connect, received, set } = yield* network
      yield* set("cut")
      const other = yield* connect
      yield* eventually(Effect.sync(() => received.isClosed && other.received.isClosed), (areClosed) => areClosed)
      yield* set("open")
      const later = yield* connect
      yield* later.send("d")
      yield* eventually(Effect.sync(() => later.received.text), (text) => text === "d")
    }))
})

describe("a fleet of three runners that are killed, frozen, restarted and cut off from the database", () => {
  it.live.each(seeds)("sends no older value after a newer one, exceeds no allowance and ends equal to the sources (seed %i)",
    (seed) =>
      Effect.gen(function*() {
        const { figures, ...found } = yield* Failover.run({
          ...settings,
          faults: faultsOf(seed),
          seed,
          outage: Duration.seconds(settings.outage),
          within: Duration.seconds(settings.within),
          logs: Option.getOrUndefined(settings.logs)
        })
        stdout.write(`fleet with seed ${seed}: ${JSON.stringify(figures)}\n`)
        expect(found).toEqual({
          different: [],
          left: [],
          failing: [],
          unrecorded: [],
          outOfOrder: [],
          overAllowance: [],
          stale: [],
          lateTakeovers: [],
          lateChanges: [],
          exits: [],
          unserved: [],
          leaks: []
        })
        // Otherwise nothing of the above means anything.
        expect(figures.takeovers).toBeGreaterThan(settings.accounts)
        // Changes of a product that come faster than its requests are one request.
        expect(figures.requests).toBeGreaterThan(Math.min(settings.changes, settings.accounts * Failover.products.length))
        expect(figures.failedRequests).toBeGreaterThan(0)
        expect(figures.smallChanges).toBeGreaterThan(0)
        expect(figures.hostileReads.endless).toBeGreaterThan(0)
        expect(figures.hostileReads.large).toBeGreaterThan(0)
      }).pipe(Effect.provide(NodeServices.layer)), atMost)
})
