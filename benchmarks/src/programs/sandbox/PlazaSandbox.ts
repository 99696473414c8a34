/**
 * The sandbox on a socket, in memory, with a number of generated posts and products and without effective limits.
 */
import { Sandbox } from "@plaza/sandbox"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { onRequest } from "../ChildProtocol.js"

const posts = Number(process.argv[2] ?? 0)

const serve = Effect.gen(function*() {
  const { apiKey, baseUrl } = yield* Sandbox.Sandbox
  onRequest(() => Promise.resolve({ address: baseUrl, key: Redacted.value(apiKey), pid: process.pid }))
  return yield* Effect.never
})

Effect.runFork(Effect.provide(
  serve,
  Sandbox.layerServer({
    fixtures: { generate: { posts, products: posts, people: 0 } },
    assumptions: { requestsPerWindow: Number.MAX_SAFE_INTEGER, dailyQuota: Number.MAX_SAFE_INTEGER }
  })
))
