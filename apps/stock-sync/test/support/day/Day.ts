/**
 * Days of a store in simulated time, with outages, quotas and products that the service refuses: how long changes wait, the 429s, and the
 * differences between store and inventory at the end. Deterministic by seed.
 */
import { NodeServices } from "@effect/platform-node"
import { Plaza, TestTime } from "@plaza/client"
import { Limits } from "@plaza/domain"
import { type Fault, Sandbox } from "@plaza/sandbox"
import { Clock, Context, Duration, Effect, FileSystem, Layer, PubSub, Random, References } from "effect"
import type { PlatformError } from "effect/PlatformError"
import * as CurrentLedger from "../../../src/ledger/CurrentLedger.ts"
import { Ledger } from "../../../src/ledger/Ledger.ts"
import type { LedgerFault, LedgerInUse } from "../../../src/ledger/LedgerError.ts"
import * as Open from "../../../src/ledger/Open.ts"
import { Source } from "../../../src/source/Source.ts"
import { layer as layerState, SyncStatus } from "../../../src/sync/SyncStatus.ts"
import * as SyncWorker from "../../../src/sync/SyncWorker.ts"
import * as Calendar from "./Calendar.ts"
import * as ChangeWaits from "./ChangeWaits.ts"
import * as Inventory from "./Inventory.ts"

const limit = Limits.requestsPerWindow
/** The longest time until a quarantined product is retried. */
const longestRetry = Duration.hours(6)
/** Minutes between two snapshots of the source. */
const snapshotMinutes = 5
/** Milliseconds that a lost response or a short fault may add to a wait. */
const slack = 15_000
const windowMillis = Duration.toMillis(Limits.rateWindow)

export interface Size {
  readonly days: number
  readonly products: number
  /** Products whose stock a recount changes. */
  readonly listed: number
  /** Daily quota of requests. Some days require more. */
  readonly quota: number
  /** Share of the rate limit for re-sending confirmed stock. */
  readonly reassert: number
  readonly seed: number
}

export interface Outcome {
  readonly waits: ReadonlyArray<ChangeWaits.Wait>
  readonly requests: number
  /** Requests that re-sent confirmed stock. */
  readonly reassertions: number
  /** 429s for the rate limit, which a client can avoid, and for the quota. */
  readonly overRate: number
  readonly overQuota: number
  /** Changes that waited longer than the rate limit explains, without an outage or a quota. */
  readonly unexplained: number
  /** Products, without the poisoned ones, whose stock in the store differs at the end. */
  readonly different: number
  /** Requests for each poisoned product. */
  readonly poisoned: Readonly<Record<string, number>>
  /** Poisoned products whose stock in the store still differs six hours after the faults end. */
  readonly unhealed: number
}

const options = (ledger: Ledger["Service"], baseUrl: string, share: number): SyncWorker.Options<never> => ({
  account: { baseUrl, keyFingerprint: "" },
  ledger: Layer.succeed(Ledger, ledger),
  // Half of the products may sell out in a day, so the guard must not hold a snapshot.
  policy: { missing: "leave", duplicates: "reject", guard: { share: 1, count: 10, window: Duration.days(1) }, maxBadRows: undefined },
  concurrency: 8,
  stopWithin: Duration.seconds(10),
  retryRefusedAfter: Duration.minutes(1),
  shownStock: "check",
  sourceIncludesSales: true,
  reassert: { share, after: Duration.hours(1), rateLimit: limit, rateWindow: Limits.rateWindow }
})

/** A permanent fault for one product of each kind. */
const poisons = [
  { status: 404 },
  { status: 400 },
  { status: 403, code: "SOMETHING_NEW" },
  { status: 409 },
  { status: 500 },
  { status: 403, code: "STORE_BLOCKED" },
  // The service accepts the stock and responds with another one.
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

/** Counts the requests in the sandbox's log. Call `look` before the log drops records. */
const makeCount = (sandbox: Sandbox.Sandbox["Service"]) => {
  let last = 0
  const total = { requests: 0, overRate: 0, overQuota: 0 }
  const poisoned: Record<string, number> = {}
  const look = Effect.map(sandbox.requests, (records) => {
    for (const { id, params, rule } of records) {
      const number = Number(id.slice("req_".length))
      if (number <= last) continue
      if (number > last + 1) throw new Error("the request log of the sandbox is too short for an hour")
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

/** Simulates a number of days, and then the time until no change waits. */
export const measure = (
  { days, listed, products, quota, reassert, seed }: Size
): Effect.Effect<Outcome, PlatformError | LedgerFault | LedgerInUse, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    // On a RAM disk if there is one, because a simulated day waits for some 50,000 writes.
    const disk = (yield* files.exists("/dev/shm")) ? { directory: "/dev/shm" } : {}
    const folder = yield* files.makeTempDirectoryScoped(disk)
    // Opened outside of the simulated time, which does not wait for the disk.
    const settings = { rateWindow: Limits.rateWindow, lateWrites: Duration.minutes(1), historyLimit: 100_000 }
    const opened = yield* Layer.build(Layer.provide(Open.layer(`${folder}/ledger.sqlite`, settings), NodeServices.layer))
    // `check` reads the disk, which the simulated time does not wait for.
    const ledger: Ledger["Service"] = { ...Context.get(opened, Ledger), check: Effect.void }

    const soak = Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const status = yield* SyncStatus
      const inventory = yield* Inventory.make(products)
      const changeWaits = ChangeWaits.make(inventory.stock, { limit, windowMillis })
      const count = makeCount(sandbox)
      let reassertions = 0
      const events = yield* status.subscribe
      yield* Effect.forkScoped(Effect.forever(Effect.map(PubSub.take(events), (event) => {
        if (event._tag === "Sent" && event.priority === "assertion") reassertions++
        changeWaits.onEvent(event)
      })))
      yield* Effect.forkScoped(
        SyncWorker.run(options(ledger, sandbox.baseUrl, reassert)).pipe(
          Effect.provideService(Source, inventory.source),
          Effect.provide(CurrentLedger.layer)
        )
      )

      const minutes = days * Calendar.minutesADay
      for (let minute = 0; minute < minutes; minute++) {
        if (minute % 60 === 0) {
          yield* count.look
          yield* sandbox.clearFaults
          // The sandbox applies the first fault that matches.
          yield* Effect.forEach([...poisonFaults, ...Calendar.faults(minute / 60)], sandbox.addFault, { discard: true })
        }
        // The first two hours are for the initial filling of the store.
        if (minute >= 120) {
          yield* Calendar.applyMinute(inventory, minute, { listed, products })
          if (minute % snapshotMinutes === 0) {
            yield* inventory.publish
            changeWaits.sourceChanged(yield* Clock.currentTimeMillis)
          }
        }
        yield* Effect.sleep("1 minute")
      }
      yield* sandbox.clearFaults
      yield* Effect.forEach(poisonFaults, sandbox.addFault, { discard: true })
      yield* inventory.publish
      yield* Effect.repeat(Effect.andThen(Effect.delay(count.look, "1 minute"), ledger.counts), {
        until: ({ settled }) => settled === products - poisons.length
      })

      const differing = Effect.map(sandbox.state, ({ products: shown }) =>
        shown.filter(({ id, stock }) => inventory.stock.has(id) && inventory.stock.get(id) !== stock).map(({ id }) => id))
      const different = yield* differing
      const total = { ...count.total, poisoned: { ...count.poisoned } }
      yield* sandbox.clearFaults
      yield* Effect.sleep(longestRetry)
      // Without the poisoned products, which wait for the end of their faults.
      const waits = changeWaits.waits.filter(({ productId }) => !isPoisoned(productId))
      return {
        waits,
        ...total,
        reassertions,
        unexplained: waits.filter(({ calm, explained, millis }) => calm && millis > explained + slack).length,
        different: different.filter((id) => !isPoisoned(id)).length,
        unhealed: (yield* differing).length
      }
    })

    const client = Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl })))
    const shop = Sandbox.layerHttpClient({
      assumptions: { dailyQuota: quota },
      fixtures: { products: Array.from({ length: products }, (_, index) => ({ id: `P${index}` })) }
    })
    return yield* soak.pipe(
      Effect.scoped,
      Effect.provide(Layer.merge(layerState, Layer.provideMerge(client, shop))),
      Effect.orDie,
      Effect.provideService(References.MinimumLogLevel, "None"),
      Random.withSeed(seed),
      TestTime.advancing
    )
  }).pipe(Effect.scoped)
