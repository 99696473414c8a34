/** Calls by the client on undici, with rate limit, delivery rules, schemas and spans. */
import { Profiles } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { clientOf } from "../Client.js"
import { serve } from "./Caller.js"

serve((baseUrl) => {
  const runtime = ManagedRuntime.make(clientOf(baseUrl))
  return (calls, concurrency) =>
    runtime.runPromise(Effect.replicateEffect(Effect.flatMap(Profiles, ({ me }) => me), calls, { concurrency, discard: true }))
})
