/** Calls by the client on undici, with rate limit, delivery rules, schemas and spans. */
import { Profiles } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { clientOf } from "../Client.ts"
import { serve } from "./Caller.ts"
import { inFibers } from "./Fibers.ts"

serve((baseUrl) => {
  const runtime = ManagedRuntime.make(clientOf(baseUrl))
  return (calls, concurrency) => runtime.runPromise(Effect.flatMap(Profiles, ({ me }) => inFibers(me)(calls, concurrency)))
})
