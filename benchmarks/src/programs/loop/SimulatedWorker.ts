/**
 * The worker of `plaza-stock-sync` in virtual time, with a real ledger and a service that accepts every request after a delay.
 */
import { NodeServices } from "@effect/platform-node"
import { Plaza } from "@plaza/client"
import { ProductId } from "@plaza/domain/Ids"
import * as CurrentLedger from "@plaza/stock-sync/ledger/CurrentLedger"
import { Ledger, type LedgerOptions } from "@plaza/stock-sync/ledger/Ledger"
import * as Open from "@plaza/stock-sync/ledger/Open"
import { Source } from "@plaza/stock-sync/source/Source"
import * as SyncStatus from "@plaza/stock-sync/sync/SyncStatus"
import * as SyncWorker from "@plaza/stock-sync/sync/SyncWorker"
import type { Row } from "@plaza/tabular/Stock"
import { Clock, Context, Duration, Effect, Layer, Option, Queue, Random, Redacted, Ref, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { apiKey } from "../ApiKey.ts"

const baseUrl = "https://service/open/v1"

export interface Request {
  readonly productId: string
  /** Virtual time in milliseconds. */
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
    Plaza.layer({ baseUrl, apiKey: Redacted.make(apiKey) }),
    Layer.succeed(HttpClient.HttpClient, client)
  )
  return { requests, layer }
}

export const idOf = (product: number): ProductId => ProductId.make(`SKU-${String(product).padStart(6, "0")}`)

const rowsOf = (stocks: ReadonlyArray<number>): Stream.Stream<Row> =>
  Stream.fromArray(stocks.map((stock, product): Row => ({ _tag: "Valid", line: product + 2, productId: idOf(product), stock })))

/** A source with the current stocks. It reports a change when the benchmark signals one. */
export const source = (stocks: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const version = yield* Ref.make(1)
    const changes = yield* Queue.unbounded<void>()
    const service: Source["Service"] = {
      name: "memory",
      open: (taken) =>
        Effect.map(Effect.map(Ref.get(version), String), (mark) =>
          Option.contains(taken, mark)
            ? Option.none()
            : Option.some({ version: Option.some(mark), unit: "row" as const, excluded: new Set<string>(), rows: rowsOf(stocks) })),
      changes: Stream.fromQueue(changes)
    }
    return { service, changed: Effect.andThen(Ref.update(version, (one) => one + 1), Queue.offer(changes, undefined)) }
  })

const rateWindow = Duration.minutes(1)
const ledgerOptions: LedgerOptions = { rateWindow, lateWrites: Duration.minutes(1), historyLimit: 100_000 }

/** Opens a ledger. Call it outside of the virtual time, which does not wait for a file. */
export const opened = (place: string) =>
  Effect.map(Layer.build(Layer.provide(Open.layer(place, ledgerOptions), NodeServices.layer)), (context): Ledger["Service"] => ({
    ...Context.get(context, Ledger),
    check: Effect.void
  }))

export const concurrency = 8

/** Runs the worker with the defaults of `plaza-stock-sync` and a share of the rate limit for re-sending confirmed stock. */
export const run = (ledger: Ledger["Service"], from: Source["Service"], share: number) =>
  SyncWorker.run({
    account: { baseUrl, keyFingerprint: "" },
    ledger: Layer.succeed(Ledger, ledger),
    policy: {
      missing: "leave",
      duplicates: "reject",
      guard: { share: 0.2, count: 10, window: Duration.days(1) },
      maxBadRows: undefined
    },
    concurrency,
    retryRefusedAfter: Duration.minutes(1),
    shownStock: "check",
    sourceIncludesSales: true,
    reassert: { share, after: Duration.hours(1), rateLimit: 120, rateWindow },
    stopWithin: Duration.seconds(10)
  }).pipe(Effect.provideService(Source, from), Effect.provide(Layer.merge(SyncStatus.layer, CurrentLedger.layer)))
