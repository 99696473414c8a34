/** One service of Plaza in a page, without the others. Only its size is measured. */
import { Plaza } from "@plaza/client"
import * as Store from "@plaza/client/Store"
import { ProductId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const client = Plaza.layerOperations({ baseUrl: "https://host.invalid/open/v1", apiKey: Redacted.make("key") })

export const call = (): Promise<unknown> =>
  Effect.flatMap(Store.Store, ({ setStock }) => setStock(ProductId.make("1"), 2)).pipe(
    Effect.provide(Store.layer.pipe(Layer.provide(client), Layer.provide(FetchHttpClient.layer))),
    Effect.runPromise
  )
