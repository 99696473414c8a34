/** Calls by Plaza on a given HTTP client. */
import type * as HttpClient from "@effect/platform/HttpClient"
import { Plaza, Profiles, Store } from "@plaza/client"
import { ProductId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { apiKey } from "../ApiKey.js"
import { serve, stock } from "./Caller.js"

const id = ProductId.make(stock.id)

const calls = {
  me: Effect.flatMap(Profiles, ({ me }) => me),
  setStock: Effect.flatMap(Store, ({ setStock }) => setStock(id, stock.stock))
}

export const onLayer = (http: Layer.Layer<HttpClient.HttpClient>): void =>
  serve((baseUrl) => {
    // The limiter counts every slot, but no call waits for one.
    const client = Plaza.layer({ baseUrl, apiKey: Redacted.make(apiKey), rateLimit: 10_000_000 })
    const runtime = ManagedRuntime.make(Layer.provide(client, http))
    return (call, times, concurrency) =>
      runtime.runPromise(
        Effect.replicateEffect(Effect.asVoid<unknown, unknown, Profiles | Store>(calls[call]), times, { concurrency, discard: true })
      )
  })
