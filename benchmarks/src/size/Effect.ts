/** One call of the platform's HTTP client with a schema, without Plaza: the size of Effect itself. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Product = Schema.Struct({ id: Schema.String })

export const call = (): Promise<unknown> =>
  HttpClient.get("https://host.invalid/product").pipe(
    Effect.flatMap(HttpClientResponse.schemaBodyJson(Product)),
    Effect.provide(FetchHttpClient.layer),
    Effect.runPromise
  )
