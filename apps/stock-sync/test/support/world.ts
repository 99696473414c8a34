/**
 * A shop in process, a ledger in a file of its own and a client between them, all under the test's clock.
 */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Plaza } from "@plaza/client"
import { ProductId } from "@plaza/domain"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Fiber, Layer, Option, Stream, TestClock } from "effect"
import * as Brake from "../../src/Brake.js"
import type { Ledger, Terms } from "../../src/Ledger.js"
import * as LedgerSqlite from "../../src/Ledger/Sqlite.js"
import * as Pass from "../../src/Pass.js"
import type { Row } from "@plaza/rows/Stock"

// The document's number is the client's business; these tests are about what a pass makes of answers.
const allowance = 100_000

const client = Layer.unwrapEffect(
  Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl, rateLimit: allowance }))
)

/** The shop and a client with its key. */
export const world = Layer.provideMerge(client, Sandbox.layerHttpClient({ assumptions: { requestsPerWindow: allowance } }))

export const row = (productId: string, stock: number, line = 2): Row => ({ _tag: "Good", line, productId: ProductId.make(productId), stock })

/** What a pass needs of a source: the products and their stock, in the order of a file. */
export const rows = (wanted: Readonly<Record<string, number>>) =>
  Stream.fromIterable(Object.entries(wanted).map(([productId, stock], index) => row(productId, stock, index + 2)))

/** How a snapshot is taken unless told. */
export const terms: Terms = { gone: "leave", brake: Brake.usual, confirmed: false }

const unwatched: Pass.Watcher = { round: () => Effect.void, done: Effect.void }

/** One pass of a process of its own: opens the ledger, runs, closes it. */
export const pass = (path: string, wanted: Readonly<Record<string, number>>, options?: { readonly concurrency?: number }) =>
  Effect.flatMap(Sandbox.Sandbox, ({ baseUrl }) =>
    Pass.run({ baseUrl, rows: rows(wanted), terms, concurrency: options?.concurrency ?? 4, watcher: unwatched })).pipe(
      Effect.provide(Layer.provide(LedgerSqlite.layer(path), NodeContext.layer))
    )

/** Uses the ledger between passes. */
export const withLedger = <A, E, R>(path: string, use: Effect.Effect<A, E, R | Ledger>) =>
  Effect.provide(use, Layer.provide(LedgerSqlite.layer(path), NodeContext.layer))

/** A path for a ledger, in a folder that is gone with the test. */
export const ledgerPath = Effect.map(
  Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()),
  (folder) => `${folder}/ledger.sqlite`
).pipe(Effect.orDie, Effect.provide(NodeContext.layer))

/** Lets the clock run on, a second at a time, until the effect is done. */
export const hurried = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    while (Option.isNone(yield* Fiber.poll(fiber))) yield* TestClock.adjust("1 second")
    return yield* Fiber.join(fiber)
  })

/** The stock that the shop holds of some products. */
export const held = (...ids: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { products } = yield* (yield* Sandbox.Sandbox).state
    return Object.fromEntries(ids.map((id) => [id, products.find((product) => product.id === id)?.stock]))
  })

/** The products that were sent, in the order in which they arrived. */
export const arrived = Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests), (records) =>
  records.filter((record) => record.method === "PATCH").map((record) => record.params["id"] ?? ""))
