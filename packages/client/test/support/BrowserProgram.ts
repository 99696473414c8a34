/** A program for a web page: one service of the client over fetch. A test bundles it and runs it without Node. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { ProductId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Plaza from "../../src/Plaza.js"
import { Store } from "../../src/Store.js"

/** Sets a stock and tells what the service holds then. */
export const setStock = (baseUrl: string, apiKey: string, id: string, stock: number): Promise<number | undefined> =>
  Effect.flatMap(Store, (store) => store.setStock(ProductId.make(id), stock)).pipe(
    Effect.map((product) => product.stock),
    Effect.provide(Layer.provide(Plaza.layer({ baseUrl, apiKey: Redacted.make(apiKey) }), FetchHttpClient.layer)),
    Effect.runPromise
  )
