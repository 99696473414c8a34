/** Workers that end when they have no work, and continue later with what the one before them knew. */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { DateTime, Duration, Effect, Fiber, Option, Ref, Stream } from "effect"
import { Ledger } from "../src/ledger/Ledger.js"
import { LedgerFault } from "../src/ledger/LedgerError.js"
import { Source, SourceUnreachable } from "../src/source/Source.js"
import * as SyncStatus from "../src/sync/SyncStatus.js"
import * as SyncWorker from "../src/sync/SyncWorker.js"
import {
  anyStock,
  commitsOf,
  fault,
  faultsEnd,
  forEver,
  type MemoryLedger,
  optionsOf,
  patches,
  products,
  requestsOf,
  type Settings,
  simulated,
  source,
  stockOf
} from "./support/simulation.js"

interface Account {
  readonly memory: MemoryLedger
  readonly from: Source["Type"]
  readonly carried: Ref.Ref<SyncWorker.Carried>
  readonly settings?: Settings
}

const account = (memory: MemoryLedger, from: Source["Type"], settings: Settings = {}): Effect.Effect<Account> =>
  Effect.map(Effect.flatMap(SyncWorker.nothingCarried, Ref.make), (carried) => ({ memory, from, carried, settings }))

/** One worker, until it has no work. */
const run = ({ carried, from, memory, settings = {} }: Account, read: "now" | "later") =>
  Effect.gen(function*() {
    const { baseUrl } = yield* Sandbox.Sandbox
    const { status } = yield* Ref.get(carried)
    return yield* SyncWorker.untilQuiet({ ...optionsOf(memory.ledger, baseUrl, settings), carried, read }).pipe(
      Effect.provideService(Source, from),
      Effect.provideService(Ledger, memory.ledger),
      Effect.provideServiceEffect(SyncStatus.SyncStatus, SyncStatus.make(status, 1))
    )
  })

const poll = ({ carried, from, settings = {} }: Account, ledger: Ledger["Type"]) =>
  Effect.gen(function*() {
    const { baseUrl } = yield* Sandbox.Sandbox
    const { status } = yield* Ref.get(carried)
    return yield* SyncWorker.poll({ ...optionsOf(ledger, baseUrl, settings), carried }).pipe(
      Effect.provideService(Source, from),
      Effect.provideService(Ledger, ledger),
      Effect.provideServiceEffect(SyncStatus.SyncStatus, SyncStatus.make(status, 1))
    )
  })

const secondsUntil = (at: Option.Option<DateTime.Utc>) =>
  Effect.map(DateTime.now, (now) => Option.map(at, (due) => DateTime.distance(now, due) / 1_000))

const identifications = Effect.map(requestsOf("/me"), (requests) => requests.length)

/** A ledger that can't be used. */
const away = (ledger: Ledger["Type"]): Ledger["Type"] => {
  const fails = Effect.fail(new LedgerFault({ path: "memory", message: "the ledger is away" }))
  return { ...ledger, snapshot: fails, applySnapshot: () => fails }
}

describe("a worker that runs until it has no work", () => {
  it.live("sends what the source wants, and ends without a next time", () =>
    simulated(products(5, () => 1), (memory) =>
      Effect.gen(function*() {
        const { service } = yield* source(products(5, () => 3))
        expect(yield* run(yield* account(memory, service), "now")).toEqual(Option.none())
        expect((yield* memory.ledger.counts).settled).toBe(5)
      })))

  it.live("returns when a quarantined product is due; the next worker sends it then, and not before", () =>
    simulated(products(2, () => 1), (memory) =>
      Effect.gen(function*() {
        const { service } = yield* source(products(2, () => 3))
        const own = yield* account(memory, service, { retryRefusedAfter: Duration.minutes(10) })
        yield* fault({ kind: "status", when: "before", status: 404, path: stockOf("P0000"), times: 1 })
        const due = Option.getOrThrow(yield* secondsUntil(yield* run(own, "now")))
        expect(due).toBeGreaterThan(400)
        expect(due).toBeLessThan(600)
        yield* run(own, "later")
        expect(yield* commitsOf("P0000")).toEqual([])
        yield* Effect.sleep(Duration.seconds(due))
        expect(yield* run(own, "later")).toEqual(Option.none())
        expect(yield* commitsOf("P0000")).toEqual([3])
        expect(yield* identifications).toBe(1)
      })))

  it.live("waits for a product that is due within seconds", () =>
    simulated(products(1, () => 1), (memory) =>
      Effect.gen(function*() {
        const { service } = yield* source(products(1, () => 3))
        yield* fault({ kind: "status", when: "before", status: 503, path: anyStock, times: 2 })
        expect(yield* run(yield* account(memory, service), "now")).toEqual(Option.none())
        expect(yield* commitsOf("P0000")).toEqual([3])
      })))

  it.live("does not end while the source is read", () =>
    simulated(products(1, () => 1), (memory) =>
      Effect.gen(function*() {
        const { service } = yield* source(products(1, () => 3))
        const slow: Source["Type"] = {
          ...service,
          open: (accepted) =>
            Effect.map(
              service.open(accepted),
              Option.map((snapshot) => ({ ...snapshot, rows: Stream.tap(snapshot.rows, () => Effect.sleep("1 minute")) }))
            )
        }
        yield* run(yield* account(memory, slow), "now")
        expect(yield* commitsOf("P0000")).toEqual([3])
      })))

  it.live("reads a source that changes while it runs", () =>
    simulated(products(200, () => 1), (memory) =>
      Effect.gen(function*() {
        const changing = yield* source(products(200, () => 3))
        const fiber = yield* Effect.fork(Effect.flatMap(account(memory, changing.service), (own) => run(own, "now")))
        yield* Effect.sleep("30 seconds")
        yield* changing.set(products(200, (index) => index === 199 ? 0 : 3))
        yield* Fiber.join(fiber)
        expect((yield* commitsOf("P0199")).at(-1)).toBe(0)
      })))

  it.live("waits through an outage of the service", () =>
    simulated(products(20, () => 1), (memory) =>
      Effect.gen(function*() {
        const { service } = yield* source(products(20, () => 3))
        yield* fault({ kind: "status", when: "before", status: 503, path: anyStock, times: forEver })
        const fiber = yield* Effect.fork(Effect.flatMap(account(memory, service), (own) => run(own, "now")))
        yield* Effect.sleep("20 minutes")
        expect(Option.isNone(yield* Fiber.poll(fiber))).toBe(true)
        yield* faultsEnd
        yield* Fiber.join(fiber)
        expect((yield* memory.ledger.counts).settled).toBe(20)
      })))

  it.live("returns when confirmed stock is old enough to be sent again", () =>
    simulated(products(1, () => 1), (memory) =>
      Effect.gen(function*() {
        const { service } = yield* source(products(1, () => 3))
        const own = yield* account(memory, service, { sourceIncludesSales: true, reassert: { after: Duration.hours(1) } })
        const due = Option.getOrThrow(yield* secondsUntil(yield* run(own, "now")))
        expect(due).toBeGreaterThan(3_590)
        expect(due).toBeLessThanOrEqual(3_600)
        yield* Effect.sleep(Duration.seconds(due + 1))
        yield* run(own, "later")
        expect(yield* patches).toHaveLength(2)
      })))

  it.live("returns when the list of the store's products is to be read", () =>
    simulated(products(1, () => 1), (memory) =>
      Effect.gen(function*() {
        const { service } = yield* source(products(1, () => 3))
        const own = yield* account(memory, service, { reconcile: { path: "/store/products", every: Duration.hours(1) } })
        const due = Option.getOrThrow(yield* secondsUntil(yield* run(own, "now")))
        expect(due).toBeGreaterThan(3_500)
        const before = (yield* requestsOf("/store/products")).length
        yield* run(own, "later")
        expect(yield* requestsOf("/store/products")).toHaveLength(before)
        yield* Effect.sleep("1 hour")
        yield* run(own, "later")
        expect((yield* requestsOf("/store/products")).length).toBeGreaterThan(before)
      })))
})

describe("a poll between two workers", () => {
  it.live("of an unchanged source uses no ledger", () =>
    simulated(products(1, () => 1), (memory) =>
      Effect.gen(function*() {
        const { service } = yield* source(products(1, () => 3))
        const own = yield* account(memory, service)
        yield* run(own, "now")
        expect(yield* poll(own, away(memory.ledger))).toBe(false)
      })))

  it.live("of a changed source applies its snapshot, which the next worker sends", () =>
    simulated(products(1, () => 1), (memory) =>
      Effect.gen(function*() {
        const changing = yield* source(products(1, () => 3))
        const own = yield* account(memory, changing.service)
        yield* run(own, "now")
        yield* changing.set(products(1, () => 4))
        expect(yield* poll(own, memory.ledger)).toBe(true)
        yield* run(own, "later")
        expect(yield* commitsOf("P0000")).toEqual([3, 4])
        expect(yield* identifications).toBe(1)
      })))

  it.live("counts the failures of the source in a row", () =>
    simulated(products(1, () => 1), (memory) =>
      Effect.gen(function*() {
        const changing = yield* source(products(1, () => 3))
        const own = yield* account(memory, changing.service)
        yield* run(own, "now")
        yield* changing.fail(new SourceUnreachable({ source: "memory", message: "away" }))
        expect(yield* poll(own, memory.ledger)).toBe(false)
        expect(yield* poll(own, memory.ledger)).toBe(false)
        const { source: progress, status } = yield* Ref.get(own.carried)
        expect(progress.failures).toBe(2)
        expect(status.source.failing?.failure.message).toBe("away")
      })))
})
