/** The program of `BrowserProgram.ts` without the client: one call of the platform's `HttpClient` with a schema. */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"

const Product = Schema.Struct({ id: Schema.String, stock: Schema.Number })

/** Sets a stock and returns the stock that the service shows. */
export const setStock = (baseUrl: string, apiKey: string, id: string, stock: number): Promise<number> =>
  HttpClientRequest.patch(`${baseUrl}/store/products/${id}/stock`).pipe(
    HttpClientRequest.bearerToken(apiKey),
    HttpClientRequest.bodyJsonUnsafe({ stock }),
    HttpClient.execute,
    Effect.flatMap(HttpClientResponse.schemaBodyJson(Product)),
    Effect.map((product) => product.stock),
    Effect.provide(FetchHttpClient.layer),
    Effect.runPromise
  )
