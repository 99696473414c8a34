/** Calls by the platform's HTTP client on undici, with its span and a schema, and without Plaza. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Profile } from "@plaza/domain/Resources"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { apiKey } from "../ApiKey.ts"
import { serve } from "./Caller.ts"
import { inFibers } from "./Fibers.ts"

serve((baseUrl) => {
  const runtime = ManagedRuntime.make(NodeHttpClient.layerUndici)
  const me = Effect.flatMap(HttpClient.HttpClient, (client) =>
    HttpClientRequest.get(`${baseUrl}/me`).pipe(
      HttpClientRequest.bearerToken(apiKey),
      HttpClientRequest.acceptJson,
      client.execute,
      Effect.flatMap(HttpClientResponse.filterStatusOk),
      Effect.flatMap(HttpClientResponse.schemaBodyJson(Profile))
    ))
  return (calls, concurrency) => runtime.runPromise(inFibers(me)(calls, concurrency))
})
