/** Runs a list reader with Plaza on undici. */
import { Plaza, type Posts } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { apiKey } from "../ApiKey.js"

export const run = <A, E>(baseUrl: string, program: Effect.Effect<A, E, Posts>): Promise<A> => {
  const client = Plaza.layer({ baseUrl, apiKey: Redacted.make(apiKey), rateLimit: 10_000_000 })
  return Effect.runPromise(Effect.provide(program, Layer.provide(client, NodeClient.layer)))
}
