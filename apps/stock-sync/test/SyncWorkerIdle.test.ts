/** Workers that end when they have no work, and continue later with what the one before them knew. */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { DateTime, Duration, Effect, Fiber, Option, Ref, Stream } from "effect"
import { Ledger } from "../src/ledger/Ledger.ts"
import { LedgerFault } from "../src/ledger/LedgerError.ts"
import { Source, SourceUnreachable } from "../src/source/Source.ts"
import * as SyncStatus from "../src/sync/SyncStatus.ts"
import * as SyncWorker from "../src/sync/SyncWorker.ts"
import {
  anyStock,
  commitsOf,
  fault,
  faultsEnd,
  forEver,
  identifications,
  type MemoryLedger,
  optionsOf,
  patches,
  products,
  requestsOf,
  type Settings,
  simulated,
  source,
  stockOf
} from "./support/simulation.ts"

interface Account {
  readonly ledger: Ledger["Service"]
  readonly from: Source["Service"]
  readonly checkpoint: Ref.Ref<SyncWorker.Checkpoint>
  readonly settings: Settings
}

const account = ({ ledger }: MemoryLedger, from: Source["Service"], settings: Settings = {}): Effect.Effect<Account> =>
  Effect.map(Effect.flatMap(SyncWorker.firstCheckpoint, Ref.make), (checkpoint) => ({ ledger, from, checkpoint, settings }))

type Options = SyncWorker.Options<never> & Pick<Account, "checkpoint">

/** Works for an account with what the worker before it knew. */
const working = <A, E, R>({ checkpoint, from, ledger, settings }: Account, work: (options: Options) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const { baseUrl } = yield* Sandbox.Sandbox
    const { status } = yield* Ref.get(checkpoint)
    return yield* work({ ...optionsOf(ledger, baseUrl, settings), checkpoint }).pipe(
      Effect.provideService(Source, from),
      Effect.provideService(Ledger, ledger),
      Effect.provideServiceEffect(SyncStatus.SyncStatus, SyncStatus.make(status, 1))
    )
  })

/** One worker, until it has no work. */
const run = (own: Account, read: "now" | "later") => working(own, (options) => SyncWorker.untilIdle({ ...options, read }))

const poll = (own: Account) => working(own, SyncWorker.poll)

/** An account of a store with products of stock 1, whose source wants 3. */
const wanting = <A, E, R>(
  count: number,
  test: (own: Account, changing: Effect.Success<ReturnType<typeof source>>) => Effect.Effect<A, E, R>,
  settings: Settings = {}
) =>
  simulated(products(count, () => 1), (memory) =>
    Effect.gen(function*() {
      const changing = yield* source(products(count, () => 3))
      return yield* test(yield* account(memory, changing.service, settings), changing)
    }))

const secondsUntil = (at: Option.Option<DateTime.Utc>) =>
  Effect.map(DateTime.now, (now) => Option.map(at, (due) => Duration.toSeconds(DateTime.distance(now, due))))

/** A ledger that can't be used. */
const away = (ledger: Ledger["Service"]): Ledger["Service"] => {
  const fails = Effect.fail(new LedgerFault({ path: "memory", message: "the ledger is away" }))
  return { ...ledger, snapshot: fails, applySnapshot: () => fails }
}

describe("a worker that runs until it has no work", () => {
  it.effect("sends what the source wants, and ends without a next time", () =>
    wanting(5, (own) =>
      Effect.gen(function*() {
        expect(yield* run(own, "now")).toEqual(Option.none())
        expect((yield* own.ledger.counts).settled).toBe(5)
      })))

  it.effect("returns when a quarantined product is due; the next worker sends it then, and not before", () =>
    wanting(2, (own) =>
      Effect.gen(function*() {
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
      }), { retryRefusedAfter: Duration.minutes(10) }))

  it.effect("waits for a product that is due within seconds", () =>
    wanting(1, (own) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 503, path: anyStock, times: 2 })
        expect(yield* run(own, "now")).toEqual(Option.none())
        expect(yield* commitsOf("P0000")).toEqual([3])
      })))

  it.effect("does not end while the source is read", () =>
    wanting(1, (own) =>
      Effect.gen(function*() {
        const slow: Source["Service"] = {
          ...own.from,
          open: (accepted) =>
            Effect.map(
              own.from.open(accepted),
              Option.map((snapshot) => ({ ...snapshot, rows: Stream.tap(snapshot.rows, () => Effect.sleep("1 minute")) }))
            )
        }
        yield* run({ ...own, from: slow }, "now")
        expect(yield* commitsOf("P0000")).toEqual([3])
      })))

  it.effect("reads a source that changes while it runs", () =>
    wanting(200, (own, changing) =>
      Effect.gen(function*() {
        const fiber = yield* Effect.forkChild(run(own, "now"))
        yield* Effect.sleep("30 seconds")
        yield* changing.set(products(200, (index) => index === 199 ? 0 : 3))
        yield* Fiber.join(fiber)
        expect((yield* commitsOf("P0199")).at(-1)).toBe(0)
      })))

  it.effect("waits through an outage of the service", () =>
    wanting(20, (own) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 503, path: anyStock, times: forEver })
        const fiber = yield* Effect.forkChild(run(own, "now"))
        yield* Effect.sleep("20 minutes")
        expect(fiber.pollUnsafe()).toBeUndefined()
        yield* faultsEnd
        yield* Fiber.join(fiber)
        expect((yield* own.ledger.counts).settled).toBe(20)
      })))

  it.effect("returns when confirmed stock is old enough to be sent again", () =>
    wanting(1, (own) =>
      Effect.gen(function*() {
        const due = Option.getOrThrow(yield* secondsUntil(yield* run(own, "now")))
        expect(due).toBeGreaterThan(3_590)
        expect(due).toBeLessThanOrEqual(3_600)
        yield* Effect.sleep(Duration.seconds(due + 1))
        yield* run(own, "later")
        expect(yield* patches).toHaveLength(2)
      }), { sourceIncludesSales: true, reassert: { after: Duration.hours(1) } }))

  it.effect("returns when the list of the store's products is to be read", () =>
    wanting(1, (own) =>
      Effect.gen(function*() {
        const due = Option.getOrThrow(yield* secondsUntil(yield* run(own, "now")))
        expect(due).toBeGreaterThan(3_500)
        const before = (yield* requestsOf("/store/products")).length
        yield* run(own, "later")
        expect(yield* requestsOf("/store/products")).toHaveLength(before)
        yield* Effect.sleep("1 hour")
        yield* run(own, "later")
        expect((yield* requestsOf("/store/products")).length).toBeGreaterThan(before)
      }), { reconcile: { path: "/store/products", every: Duration.hours(1) } }))
})

describe("a poll between two workers", () => {
  it.effect("of an unchanged source uses no ledger", () =>
    wanting(1, (own) =>
      Effect.gen(function*() {
        yield* run(own, "now")
        expect(yield* poll({ ...own, ledger: away(own.ledger) })).toBe(false)
      })))

  it.effect("of a changed source applies its snapshot, which the next worker sends", () =>
    wanting(1, (own, changing) =>
      Effect.gen(function*() {
        yield* run(own, "now")
        yield* changing.set(products(1, () => 4))
        expect(yield* poll(own)).toBe(true)
        yield* run(own, "later")
        expect(yield* commitsOf("P0000")).toEqual([3, 4])
        expect(yield* identifications).toBe(1)
      })))

  it.effect("counts the failures of the source in a row", () =>
    wanting(1, (own, changing) =>
      Effect.gen(function*() {
        yield* run(own, "now")
        yield* changing.fail(new SourceUnreachable({ source: "memory", message: "away" }))
        expect(yield* poll(own)).toBe(false)
        expect(yield* poll(own)).toBe(false)
        const { source: progress, status } = yield* Ref.get(own.checkpoint)
        expect(progress.failures).toBe(2)
        expect(status.source.failing?.failure.message).toBe("away")
      })))
})
