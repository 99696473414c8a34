/**
 * Days of a store in simulated time, with outages, quotas and products that the service refuses: how long changes
 * wait, how much of the rate limit they use, whether a 429 occurs, and whether the store equals the inventory at the
 * end. Deterministic by seed.
 */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import type { PlatformError } from "@effect/platform/Error"
import { Plaza, StockPriority } from "@plaza/client"
import { Limits } from "@plaza/domain"
import { type Fault, Sandbox } from "@plaza/sandbox"
import { Ledger, type LedgerFault, type LedgerInUse } from "@plaza/stock-sync/ledger/Ledger"
import * as LedgerSqlite from "@plaza/stock-sync/ledger/Sqlite"
import { Source } from "@plaza/stock-sync/source/Source"
import * as Engine from "@plaza/stock-sync/sync/Engine"
import { layer as layerState, Standing } from "@plaza/stock-sync/sync/WorkerState"
import * as SimulatedTime from "@plaza/testing/SimulatedTime"
import { Clock, Context, Duration, Effect, Layer, Logger, LogLevel, Queue, Random } from "effect"
import { type Report, round } from "./Harness.js"
import * as Calendar from "./soak/Calendar.js"
import * as Inventory from "./soak/Inventory.js"
import * as Shelf from "./soak/Shelf.js"

const limit = Limits.requestsPerWindow
/** The longest time until a quarantined product is retried. */
const longestRetry = Duration.hours(6)
// Minutes between two exports of the source.
const exported = 5
/** What a lost response or a short fault adds to a wait, in milliseconds. */
const slack = 15_000
const windowMillis = Duration.toMillis(Limits.rateWindow)

export interface Size {
  readonly days: number
  readonly products: number
  /** Products that a new list gives another stock. */
  readonly listed: number
  /** Requests of a day, which some days need more than. */
  readonly quota: number
  /** Share of the allowance with which what was confirmed may be asserted again. */
  readonly reassert: number
  readonly seed: number
}

export interface Outcome {
  readonly waits: ReadonlyArray<Shelf.Wait>
  readonly requests: number
  /** Share of what the allowance would have let through. */
  readonly used: number
  /** Requests that confirmed again what had been confirmed. */
  readonly assertions: number
  /** 429s for the rate, which would be of our own making; and for the quota. */
  readonly overRate: number
  readonly overQuota: number
  /** Changes that waited longer than the allowance explains, without an outage or a quota. */
  readonly unexplained: number
  /** Products that are not poisoned and of which the store shows another stock at the end. */
  readonly different: number
  /** Requests for each poisoned product. */
  readonly poisoned: Readonly<Record<string, number>>
  /** Poisoned products of which the store shows another stock some time after the service has relented. */
  readonly unhealed: number
}

const options = (ledger: Ledger["Type"], baseUrl: string, share: number): Engine.Options<never> => ({
  account: { baseUrl, keyFingerprint: "" },
  ledger: Layer.succeed(Ledger, ledger),
  // Half a store may sell out in a day without a new list.
  policy: { gone: "leave", duplicates: "reject", guard: { share: 1, count: 10, window: Duration.days(1) }, maxBadRows: undefined },
  concurrency: 8,
  stopWithin: Duration.seconds(10),
  retryRefusedAfter: Duration.minutes(1),
  sourceIncludesSales: true,
  reassert: { share, after: Duration.hours(1), rateLimit: limit, rateWindow: Limits.rateWindow }
})

/** One product of each kind that the service refuses or fails for, as long as it lasts. */
const poisons = [
  { status: 404 },
  { status: 400 },
  { status: 403, code: "SOMETHING_NEW" },
  { status: 409 },
  { status: 500 },
  { status: 403, code: "STORE_BLOCKED" },
  // The service accepts every stock and shows another one.
  { status: 200, body: JSON.stringify({ id: "a product", stock: 99_999 }), contentType: "application/json" }
] as const

const poisonedId = (index: number) => `P${index}`
const poisonFaults: ReadonlyArray<Fault> = poisons.map((poison, index) => ({
  kind: "status",
  when: poison.status === 200 ? "after" : "before",
  path: `/store/products/${poisonedId(index)}/stock`,
  rate: 1,
  ...poison
}))
const isPoisoned = (id: string) => poisons.some((_, index) => poisonedId(index) === id)

/** Counts what was asked of the shop, in pieces that its log holds. */
const makeCount = (sandbox: Sandbox.Sandbox["Type"]) => {
  let last = 0
  const total = { requests: 0, overRate: 0, overQuota: 0 }
  const poisoned: Record<string, number> = {}
  const look = Effect.map(sandbox.requests, (records) => {
    for (const { id, params, rule } of records) {
      const number = Number(id.slice("req_".length))
      if (number <= last) continue
      if (number > last + 1) throw new Error("the log of the sandbox is shorter than an hour")
      last = number
      total.requests++
      const product = params["id"] ?? ""
      if (isPoisoned(product)) poisoned[product] = (poisoned[product] ?? 0) + 1
      if (rule === "admission.rate") total.overRate++
      if (rule === "admission.quota") total.overQuota++
    }
  })
  return { look, total, poisoned }
}

/** Lets so many days pass, and then the time that is needed until nothing waits. */
export const measure = (
  { days, listed, products, quota, reassert, seed }: Size
): Effect.Effect<Outcome, PlatformError | LedgerFault | LedgerInUse, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    // In memory where there is such a disk: a day has some fifty thousand writes that are waited for.
    const disk = (yield* files.exists("/dev/shm")) ? { directory: "/dev/shm" } : {}
    const folder = yield* files.makeTempDirectoryScoped(disk)
    // Opened before, since the simulated clock overtakes whoever isn't waited for by everybody.
    const settings = { rateWindow: Limits.rateWindow, lateWrites: Duration.minutes(1), historyLimit: 100_000 }
    const opened = yield* Layer.build(Layer.provide(LedgerSqlite.layer(`${folder}/ledger.sqlite`, settings), NodeContext.layer))
    // The clock would go on while the engine looks for the file.
    const ledger: Ledger["Type"] = { ...Context.get(opened, Ledger), check: Effect.void }

    const soak = Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const standing = yield* Standing
      const inventory = yield* Inventory.make(products)
      const shelf = Shelf.make(inventory.stock, { limit, windowMillis })
      const count = makeCount(sandbox)
      let assertions = 0
      const events = yield* standing.subscribe
      yield* Effect.forkScoped(Effect.forever(Effect.map(Queue.take(events), (event) => {
        if (event._tag === "Sent" && event.priority === "assertion") assertions++
        shelf.heard(event)
      })))
      yield* Effect.forkScoped(Effect.provideService(Engine.run(options(ledger, sandbox.baseUrl, reassert)), Source, inventory.source))

      const minutes = days * Calendar.minutesADay
      for (let minute = 0; minute < minutes; minute++) {
        if (minute % 60 === 0) {
          yield* count.look
          yield* sandbox.clearFaults
          // The first that matches a request wins.
          yield* Effect.forEach([...poisonFaults, ...Calendar.faults(minute / 60)], sandbox.addFault, { discard: true })
        }
        // On the first night the store is filled for the first time.
        if (minute >= 120) {
          yield* Calendar.happens(inventory, minute, { listed, products })
          if (minute % exported === 0) {
            yield* inventory.publish
            shelf.told(yield* Clock.currentTimeMillis)
          }
        }
        yield* Effect.sleep("1 minute")
      }
      yield* sandbox.clearFaults
      yield* Effect.forEach(poisonFaults, sandbox.addFault, { discard: true })
      yield* inventory.publish
      yield* Effect.repeat(Effect.zipRight(Effect.delay(count.look, "1 minute"), ledger.counts), {
        until: ({ settled }) => settled === products - poisons.length
      })

      const differing = Effect.map(sandbox.state, ({ products: shown }) =>
        shown.filter(({ id, stock }) => inventory.stock.has(id) && inventory.stock.get(id) !== stock).map(({ id }) => id))
      const different = yield* differing
      const passed = yield* Clock.currentTimeMillis
      const total = { ...count.total, poisoned: { ...count.poisoned } }
      yield* sandbox.clearFaults
      yield* Effect.sleep(longestRetry)
      // What a poisoned product waits for is the end of the poison.
      const waits = shelf.waits.filter(({ productId }) => !isPoisoned(productId))
      return {
        waits,
        ...total,
        used: total.requests / (passed / windowMillis * limit),
        assertions,
        unexplained: waits.filter(({ calm, explained, millis }) => calm && millis > explained + slack).length,
        different: different.filter((id) => !isPoisoned(id)).length,
        unhealed: (yield* differing).length
      }
    })

    const client = Layer.unwrapEffect(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl })))
    const shop = Sandbox.layerHttpClient({
      assumptions: { dailyQuota: quota },
      fixtures: { products: Array.from({ length: products }, (_, index) => ({ id: `P${index}` })) }
    })
    return yield* soak.pipe(
      Effect.scoped,
      Effect.provide(Layer.merge(layerState, Layer.provideMerge(client, shop))),
      Effect.orDie,
      Logger.withMinimumLogLevel(LogLevel.None),
      Effect.withRandom(Random.make(seed)),
      SimulatedTime.run
    )
  }).pipe(Effect.scoped)

const secondsAt = (sorted: ReadonlyArray<number>, share: number) =>
  round((sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN) / 1_000, 1)

const row = (priority: StockPriority.Priority, when: string, waits: ReadonlyArray<Shelf.Wait>) => {
  const sorted = waits.map(({ millis }) => millis).toSorted((a, b) => a - b)
  return [priority, when, sorted.length, ...[0.5, 0.95, 0.99, 1].map((share) => secondsAt(sorted, share))]
}

export const report = (size: Size): Effect.Effect<Report, PlatformError | LedgerFault | LedgerInUse, FileSystem.FileSystem> =>
  Effect.map(measure(size), ({ assertions, different, overQuota, overRate, poisoned, requests, unexplained, unhealed, used, waits }) => ({
    name: "soak",
    about:
      `${size.days} simulated days of a store of ${size.products} products, ${poisons.length} of them poisoned, a quota of ${size.quota} a day, seed ${size.seed}, seconds from the source to the confirmation: ` +
      `${requests} requests (${assertions} of them reassertions, ${
        Object.values(poisoned).join(", ")
      } of them for the poisoned products), ${round(100 * used, 1)}% of the allowance, ${overRate} 429s for the rate, ` +
      `${overQuota} for the quota, ${unexplained} changes waited longer than the allowance explains, ${different} other products differ at the end, ` +
      `${unhealed} poisoned ones six hours after the service relents`,
    columns: ["priority", "when", "changes", "median", "p95", "p99", "most"],
    rows: StockPriority.priorities.flatMap((priority) => {
      const of = waits.filter((wait) => wait.priority === priority)
      if (of.length === 0) return []
      return [row(priority, "calm", of.filter(({ calm }) => calm)), row(priority, "all", of)]
    })
  }))
