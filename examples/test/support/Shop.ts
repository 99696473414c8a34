/** The HTTP server of the example in process: its handlers run on the fiber and the clock of the test. */
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientRequest, type HttpMethod, HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ShopApi } from "../../src/http-server/ShopApi.ts"
import { ShopHandlers } from "../../src/http-server/ShopHandlers.ts"

const routes = HttpApiBuilder.layer(ShopApi).pipe(Layer.provide(ShopHandlers), Layer.provide(HttpServer.layerServices))

const client = Effect.map(HttpRouter.toHttpEffect(routes), (app) =>
  HttpClient.make((request) =>
    app.pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromClientRequest(request)),
      Effect.map((response) => HttpServerResponse.toClientResponse(response, { request })),
      Effect.scoped,
      Effect.orDie
    )
  ))

/** Returns a function that sends a request to the application. */
export const makeCall = Effect.map(client,
  ({ execute }) =>
    Effect.fnUntraced(function*(method: HttpMethod.HttpMethod, path: string, body: unknown) {
      const request = HttpClientRequest.make(method)(`http://localhost${path}`).pipe(HttpClientRequest.bodyJsonUnsafe(body))
      const response = yield* execute(request)
      const text = yield* response.text
      const json: unknown = text === "" ? undefined : JSON.parse(text)
      return { status: response.status, body: json }
    }))
