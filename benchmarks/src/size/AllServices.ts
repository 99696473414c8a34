/** Every service of Plaza in a page. Only its size is measured. */
import { Plaza, Store } from "@plaza/client"
import { ProductId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const client = Plaza.layer({ baseUrl: "https://host.invalid/open/v1", apiKey: Redacted.make("key") })

export const call = (): Promise<unknown> =>
  Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("1"), 2)).pipe(
    Effect.provide(Layer.provide(client, FetchHttpClient.layer)),
    Effect.runPromise
  )
