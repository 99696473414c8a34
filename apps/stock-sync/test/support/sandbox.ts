/** A sandbox in process, the ledger's settings and rows as tests of the engine use them. */
import { NodeServices } from "@effect/platform-node"
import { Plaza } from "@plaza/client"
import { ProductId } from "@plaza/domain"
import { Sandbox } from "@plaza/sandbox"
import type { Row } from "@plaza/tabular/Stock"
import { Duration, Effect, FileSystem, Layer } from "effect"
import type { LedgerOptions } from "../../src/ledger/Ledger.ts"
import type { SnapshotPolicy } from "../../src/ledger/Snapshot.ts"

const manyRequests = 100_000

/** A sandbox without a rate limit worth mentioning, and a client with its key. */
export const sandboxAndClient = Layer.provideMerge(
  Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl, rateLimit: manyRequests }))),
  Sandbox.layerHttpClient({ assumptions: { requestsPerWindow: manyRequests } })
)

export const row = (productId: string, stock: number, line = 2): Row => ({
  _tag: "Valid",
  line,
  productId: ProductId.make(productId),
  stock
})

/** The defaults of the program. */
export const policy: SnapshotPolicy = {
  missing: "leave",
  duplicates: "reject",
  guard: { share: 0.2, count: 10, window: Duration.days(1) },
  maxBadRows: undefined
}

/** The defaults of the program, with a short history. */
export const ledgerOptions: LedgerOptions = { rateWindow: Duration.minutes(1), lateWrites: Duration.minutes(1), historyLimit: 10_000 }

/** A path for a ledger, in a folder that is removed after the test. */
export const ledgerPath = Effect.map(
  Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()),
  (folder) => `${folder}/ledger.sqlite`
).pipe(Effect.orDie, Effect.provide(NodeServices.layer))

/** The stock that the sandbox holds of some products. */
export const held = (...ids: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { products } = yield* (yield* Sandbox.Sandbox).state
    return Object.fromEntries(ids.map((id) => [id, products.find((product) => product.id === id)?.stock]))
  })

/** The products whose stock was sent, in the order of arrival. */
export const arrived = Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests),
  (records) => records.filter((record) => record.method === "PATCH").map((record) => record.params["id"] ?? ""))
