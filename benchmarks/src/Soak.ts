/**
 * Days of a shop in simulated time: how long its changes take to the shelf, how much of the allowance that costs, whether the service
 * ever had to refuse for the rate, and whether the shop equals the inventory in the end. A seed says it all.
 *
 * @since 0.1.0
 */
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { NodeContext } from "@effect/platform-node"
import { Plaza } from "@plaza/client"
import { Limits } from "@plaza/domain"
import { Sandbox } from "@plaza/sandbox"
import * as Brake from "@plaza/stock-sync/Brake"
import { urgencies, type Urgency } from "@plaza/stock-sync/Entry"
import { Ledger, type LedgerFault, type LedgerInUse } from "@plaza/stock-sync/Ledger"
import * as LedgerSqlite from "@plaza/stock-sync/Ledger/Sqlite"
import * as Loop from "@plaza/stock-sync/Loop"
import { Source } from "@plaza/stock-sync/Source"
import { layer as layerStanding, Standing } from "@plaza/stock-sync/Standing"
import * as SimulatedTime from "@plaza/testing/SimulatedTime"
import { Clock, Context, Duration, Effect, Layer, Queue, Random } from "effect"
import { type Report, round } from "./Harness.js"
import * as Calendar from "./soak/Calendar.js"
import * as Inventory from "./soak/Inventory.js"
import * as Shelf from "./soak/Shelf.js"

const limit = Limits.requestsPerWindow
// Minutes between two words of the source.
const exported = 5
const windowMillis = Duration.toMillis(Limits.rateWindow)

/** @since 0.1.0 @category models */
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

/** @since 0.1.0 @category models */
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
  /** Products of which the shop shows something else at the end. */
  readonly different: number
}

const options = (ledger: Ledger["Type"], baseUrl: string, share: number): Loop.Options<never> => ({
  baseUrl,
  ledger: Layer.succeed(Ledger, ledger),
  // Half a shop may sell out in a day without a new list.
  terms: { gone: "leave", brake: { ...Brake.usual, share: 1 }, confirmed: false },
  concurrency: 8,
  stopWithin: Duration.seconds(10),
  assertions: { share, after: Duration.hours(1), allowance: { limit, windowMillis } }
})

/** Counts what was asked of the shop, in pieces that its log holds. */
const makeCount = (sandbox: Sandbox.Sandbox["Type"]) => {
  let last = 0
  const total = { requests: 0, overRate: 0, overQuota: 0 }
  const look = Effect.map(sandbox.requests, (records) => {
    for (const { id, rule } of records) {
      const number = Number(id.slice("req_".length))
      if (number <= last) continue
      if (number > last + 1) throw new Error("the log of the sandbox is shorter than an hour")
      last = number
      total.requests++
      if (rule === "gate.rate") total.overRate++
      if (rule === "gate.quota") total.overQuota++
    }
  })
  return { look, total }
}

/**
 * Lets so many days pass, and then the time that is needed until nothing waits.
 *
 * @since 0.1.0
 * @category running
 */
export const measure = ({ days, listed, products, quota, reassert, seed }: Size): Effect.Effect<Outcome, PlatformError | LedgerFault | LedgerInUse, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    // In memory where there is such a disk: a day has some fifty thousand writes that are waited for.
    const disk = (yield* files.exists("/dev/shm")) ? { directory: "/dev/shm" } : {}
    const folder = yield* files.makeTempDirectoryScoped(disk)
    // Opened before, since the simulated clock overtakes whoever isn't waited for by everybody.
    const opened = yield* Layer.build(Layer.provide(LedgerSqlite.layer(`${folder}/ledger.sqlite`), NodeContext.layer))
    const ledger = Context.get(opened, Ledger)

    const soak = Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const standing = yield* Standing
      const inventory = yield* Inventory.make(products)
      const shelf = Shelf.make(inventory.stock)
      const count = makeCount(sandbox)
      let assertions = 0
      const told = yield* standing.subscribe
      yield* Effect.forkScoped(Effect.forever(Effect.map(Queue.take(told), (told) => {
        if (told._tag === "Sent" && told.urgency === "assertion") assertions++
        shelf.heard(told)
      })))
      yield* Effect.forkScoped(Effect.provideService(Loop.run(options(ledger, sandbox.baseUrl, reassert)), Source, inventory.source))

      const minutes = days * Calendar.minutesADay
      for (let minute = 0; minute < minutes; minute++) {
        if (minute % 60 === 0) {
          yield* count.look
          yield* sandbox.clearFaults
          yield* Effect.forEach(Calendar.faults(minute / 60), sandbox.addFault, { discard: true })
        }
        // On the first night the shop is filled for the first time.
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
      yield* inventory.publish
      yield* Effect.repeat(Effect.zipRight(Effect.delay(count.look, "1 minute"), ledger.counts), { until: ({ settled }) => settled === products })

      const { products: shown } = yield* sandbox.state
      const passed = yield* Clock.currentTimeMillis
      return {
        waits: shelf.waits,
        ...count.total,
        used: count.total.requests / (passed / windowMillis * limit),
        assertions,
        different: shown.filter(({ id, stock }) => inventory.stock.has(id) && inventory.stock.get(id) !== stock).length
      }
    })

    const client = Layer.unwrapEffect(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl })))
    const shop = Sandbox.layerHttpClient({
      assumptions: { dailyQuota: quota },
      fixtures: { products: Array.from({ length: products }, (_, index) => ({ id: `P${index}` })) }
    })
    return yield* soak.pipe(
      Effect.scoped,
      Effect.provide(Layer.merge(layerStanding, Layer.provideMerge(client, shop))),
      Effect.orDie,
      Effect.withRandom(Random.make(seed)),
      SimulatedTime.run
    )
  }).pipe(Effect.scoped)

const secondsAt = (sorted: ReadonlyArray<number>, share: number) => round((sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN) / 1_000, 1)

const row = (urgency: Urgency, when: string, waits: ReadonlyArray<Shelf.Wait>) => {
  const sorted = waits.map(({ millis }) => millis).toSorted((a, b) => a - b)
  return [urgency, when, sorted.length, ...[0.5, 0.95, 0.99, 1].map((share) => secondsAt(sorted, share))]
}

/** @since 0.1.0 @category reports */
export const report = (size: Size): Effect.Effect<Report, PlatformError | LedgerFault | LedgerInUse, FileSystem.FileSystem> =>
  Effect.map(measure(size), ({ assertions, different, overQuota, overRate, requests, used, waits }) => ({
    name: "soak",
    about: `${size.days} simulated days of a shop of ${size.products} products, a quota of ${size.quota} a day, seed ${size.seed}, seconds from the source's word to the service's: ` +
      `${requests} requests (${assertions} of them assertions), ${round(100 * used, 1)}% of the allowance, ${overRate} 429s for the rate, ` +
      `${overQuota} for the quota, ${different} products differ at the end`,
    columns: ["urgency", "when", "changes", "median", "p95", "p99", "most"],
    rows: urgencies.flatMap((urgency) => {
      const of = waits.filter((wait) => wait.urgency === urgency)
      if (of.length === 0) return []
      return [row(urgency, "calm", of.filter(({ calm }) => calm)), row(urgency, "all", of)]
    })
  }))
