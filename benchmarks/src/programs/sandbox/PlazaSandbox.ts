/**
 * The sandbox on a socket, in memory and without effective limits, with a number of generated posts and of products `P0`, `P1`, ...
 */
import { Sandbox } from "@plaza/sandbox"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { onRequest } from "../ChildProtocol.ts"

const count = Number(process.argv[2] ?? 0)

const serve = Effect.gen(function*() {
  const { apiKey, baseUrl } = yield* Sandbox.Sandbox
  onRequest(() => Promise.resolve({ address: baseUrl, key: Redacted.value(apiKey), pid: process.pid }))
  return yield* Effect.never
})

Effect.runFork(Effect.provide(
  serve,
  Sandbox.layerServer({
    fixtures: { generate: { posts: count, people: 0 }, products: Array.from({ length: count }, (_, index) => ({ id: `P${index}` })) },
    assumptions: { requestsPerWindow: Number.MAX_SAFE_INTEGER, dailyQuota: Number.MAX_SAFE_INTEGER }
  })
))
