/**
 * The loop of `plaza-stock-sync` in simulated time, over a real ledger and a service that takes everything after a moment. Knows nothing
 * of what is measured.
 *
 * @since 0.1.0
 */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Plaza } from "@plaza/client"
import { ProductId } from "@plaza/domain/Ids"
import type { Row } from "@plaza/rows/Stock"
import * as Brake from "@plaza/stock-sync/Brake"
import { Ledger } from "@plaza/stock-sync/Ledger"
import * as Open from "@plaza/stock-sync/Ledger/Open"
import * as Loop from "@plaza/stock-sync/Loop"
import { Source } from "@plaza/stock-sync/Source"
import * as Standing from "@plaza/stock-sync/Standing"
import { Chunk, Clock, Context, Duration, Effect, Layer, Option, Queue, Random, Redacted, Ref, Stream } from "effect"
import { apiKey } from "../apiKey.js"

/** @since 0.1.0 @category models */
export interface Request {
  readonly productId: string
  /** In milliseconds. */
  readonly sentAt: number
}

/** A service that answers after 20 to 400 ms, and notes what was asked of it. @since 0.1.0 @category constructors */
export const service = () => {
  const requests: Array<Request> = []
  const client = HttpClient.make((request, url) =>
    Effect.gen(function*() {
      const [, product] = /\/products\/(.+)\/stock$/.exec(url.pathname) ?? []
      if (product !== undefined) requests.push({ productId: product, sentAt: yield* Clock.currentTimeMillis })
      yield* Effect.sleep(Duration.millis(yield* Random.nextIntBetween(20, 400)))
      return HttpClientResponse.fromWeb(request, new Response(JSON.stringify({ id: product ?? "1" })))
    }))
  const layer = Layer.provide(
    Plaza.layer({ baseUrl: "https://service/open/v1", apiKey: Redacted.make(apiKey) }),
    Layer.succeed(HttpClient.HttpClient, client)
  )
  return { requests, layer }
}

/** @since 0.1.0 @category constructors */
export const idOf = (product: number): ProductId => ProductId.make(`SKU-${String(product).padStart(6, "0")}`)

/** @since 0.1.0 @category streams */
export const rowsOf = (stocks: ReadonlyArray<number>): Stream.Stream<Row> =>
  Stream.fromChunk(Chunk.unsafeFromArray(stocks.map((stock, product): Row => ({ _tag: "Good", line: product + 2, productId: idOf(product), stock }))))

/** A source that tells the stocks as they are when it is looked at; it has changed when it is told so. @since 0.1.0 @category constructors */
export const source = (stocks: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const version = yield* Ref.make(1)
    const changes = yield* Queue.unbounded<void>()
    const service: Source["Type"] = {
      name: "memory",
      open: (taken) =>
        Effect.map(Effect.map(Ref.get(version), String), (mark) =>
          Option.contains(taken, mark) ? Option.none() : Option.some({ version: Option.some(mark), rows: rowsOf(stocks) })),
      changes: Stream.fromQueue(changes)
    }
    return { service, changed: Effect.zipRight(Ref.update(version, (one) => one + 1), Queue.offer(changes, undefined)) }
  })

/** @since 0.1.0 @category constructors */
export const opened = (place: string) =>
  Effect.map(Layer.build(Layer.provide(Open.layer(place), NodeContext.layer)), (context) => Context.get(context, Ledger))

/** @since 0.1.0 @category constants */
export const terms = { gone: "leave", brake: Brake.usual, confirmed: false } as const
/** @since 0.1.0 @category constants */
export const concurrency = 8

/** The loop, as the program starts it unless told. @since 0.1.0 @category running */
export const loop = (ledger: Ledger["Type"], from: Source["Type"], share: number) =>
  Loop.run({
    baseUrl: "https://service/open/v1",
    ledger: Layer.succeed(Ledger, ledger),
    terms,
    concurrency,
    assertions: { share, after: Duration.hours(1), allowance: { limit: 120, windowMillis: 60_000 } },
    stopWithin: Duration.seconds(10)
  }).pipe(Effect.provideService(Source, from), Effect.provide(Standing.layer))
