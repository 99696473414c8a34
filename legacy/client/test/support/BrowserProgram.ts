/** A program for a web page: one service of the client, without the others, over fetch. A test bundles it and runs it without Node. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { ProductId } from "@plaza-legacy/domain/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Plaza from "../../src/Plaza.ts"
import * as Store from "../../src/Store.ts"

/** Sets a stock and tells what the service holds then. */
export const setStock = (baseUrl: string, apiKey: string, id: string, stock: number): Promise<number | undefined> =>
  Effect.flatMap(Store.Store, (store) => store.setStock(ProductId.make(id), stock)).pipe(
    Effect.map((product) => product.stock),
    Effect.provide(Store.layer),
    Effect.provide(Layer.provide(Plaza.layerOperations({ baseUrl, apiKey: Redacted.make(apiKey) }), FetchHttpClient.layer)),
    Effect.runPromise
  )
