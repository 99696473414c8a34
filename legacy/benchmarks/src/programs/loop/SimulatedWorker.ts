/**
 * The worker of `plaza-stock-sync` in simulated time, with a real ledger and a service that accepts every request after a delay.
 */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Plaza } from "@plaza-legacy/client"
import { ProductId } from "@plaza-legacy/domain/Ids"
import * as CurrentLedger from "@plaza-legacy/stock-sync/ledger/CurrentLedger"
import { Ledger, type LedgerOptions } from "@plaza-legacy/stock-sync/ledger/Ledger"
import * as Open from "@plaza-legacy/stock-sync/ledger/Open"
import type { SnapshotPolicy } from "@plaza-legacy/stock-sync/ledger/Snapshot"
import { Source } from "@plaza-legacy/stock-sync/source/Source"
import * as WorkerState from "@plaza-legacy/stock-sync/sync/SyncStatus"
import * as SyncWorker from "@plaza-legacy/stock-sync/sync/SyncWorker"
import type { Row } from "@plaza-legacy/tabular/Stock"
import { apiKey } from "@plaza/benchmarks/programs/ApiKey"
import { Chunk, Clock, Context, Duration, Effect, Layer, Option, Queue, Random, Redacted, Ref, Stream } from "effect"

export interface Request {
  readonly productId: string
  /** Simulated time in milliseconds. */
  readonly sentAt: number
}

/** A service that responds after 20 to 400 ms and records the requests. */
export const service = () => {
  const requests: Array<Request> = []
  const client = HttpClient.make((request, url) =>
    Effect.gen(function*() {
      const [, product] = /\/products\/(.+)\/stock$/.exec(url.pathname) ?? []
      if (product !== undefined) requests.push({ productId: product, sentAt: yield* Clock.currentTimeMillis })
      yield* Effect.sleep(Duration.millis(yield* Random.nextIntBetween(20, 400)))
      return HttpClientResponse.fromWeb(request, new Response(JSON.stringify({ id: product ?? "1" })))
    })
  )
  const layer = Layer.provide(
    Plaza.layer({ baseUrl: "https://service/open/v1", apiKey: Redacted.make(apiKey) }),
    Layer.succeed(HttpClient.HttpClient, client)
  )
  return { requests, layer }
}

export const idOf = (product: number): ProductId => ProductId.make(`SKU-${String(product).padStart(6, "0")}`)

export const rowsOf = (stocks: ReadonlyArray<number>): Stream.Stream<Row> =>
  Stream.fromChunk(
    Chunk.unsafeFromArray(stocks.map((stock, product): Row => ({ _tag: "Valid", line: product + 2, productId: idOf(product), stock })))
  )

/** A source with the current stocks. It reports a change when the benchmark signals one. */
export const source = (stocks: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const version = yield* Ref.make(1)
    const changes = yield* Queue.unbounded<void>()
    const service: Source["Type"] = {
      name: "memory",
      open: (taken) =>
        Effect.map(Effect.map(Ref.get(version), String), (mark) =>
          Option.contains(taken, mark)
            ? Option.none()
            : Option.some({ version: Option.some(mark), unit: "row" as const, excluded: new Set<string>(), rows: rowsOf(stocks) })),
      changes: Stream.fromQueue(changes)
    }
    return { service, changed: Effect.zipRight(Ref.update(version, (one) => one + 1), Queue.offer(changes, undefined)) }
  })

const rateLimit = 120
const rateWindow = Duration.minutes(1)
const ledgerOptions: LedgerOptions = { rateWindow, lateWrites: Duration.minutes(1), historyLimit: 100_000 }

/** Opens a ledger. Call it outside of the simulated time, which would pass while the file is opened. */
export const opened = (place: string) =>
  Effect.map(Layer.build(Layer.provide(Open.layer(place, ledgerOptions), NodeContext.layer)), (context): Ledger["Type"] => ({
    ...Context.get(context, Ledger),
    check: Effect.void
  }))

/** The defaults of `plaza-stock-sync`. */
export const policy: SnapshotPolicy = {
  missing: "leave",
  duplicates: "reject",
  guard: { share: 0.2, count: 10, window: Duration.days(1) },
  maxBadRows: undefined
}
export const concurrency = 8

/** Runs the worker with the defaults of `plaza-stock-sync` and a share of the rate limit for re-sending confirmed stock. */
export const run = (ledger: Ledger["Type"], from: Source["Type"], share: number) =>
  SyncWorker.run({
    account: { baseUrl: "https://service/open/v1", keyFingerprint: "" },
    ledger: Layer.succeed(Ledger, ledger),
    policy,
    concurrency,
    retryRefusedAfter: Duration.minutes(1),
    shownStock: "check",
    sourceIncludesSales: true,
    reassert: { share, after: Duration.hours(1), rateLimit, rateWindow },
    stopWithin: Duration.seconds(10)
  }).pipe(Effect.provideService(Source, from), Effect.provide(Layer.merge(WorkerState.layer, CurrentLedger.layer)))
