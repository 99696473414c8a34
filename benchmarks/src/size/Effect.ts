/** One call of the platform's HTTP client with a schema, without Plaza: the size of Effect itself. */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"

const Product = Schema.Struct({ id: Schema.String })

export const call = (): Promise<unknown> =>
  HttpClient.get("https://host.invalid/product").pipe(
    Effect.flatMap(HttpClientResponse.schemaBodyJson(Product)),
    Effect.provide(FetchHttpClient.layer),
    Effect.runPromise
  )
