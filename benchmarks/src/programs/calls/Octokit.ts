/**
 * Calls by `@octokit/core` with its plugins for retries and throttling, the caller with the most similar features. Its
 * limiters are active but never delay a call.
 */
import { Octokit } from "@octokit/core"
import { retry } from "@octokit/plugin-retry"
import { throttling } from "@octokit/plugin-throttling"
import Bottleneck from "bottleneck"
import { apiKey } from "../ApiKey.js"
import { inLoops, serve, stock } from "./Caller.js"

const never = () => false

serve((baseUrl) => {
  const Client = Octokit.plugin(retry, throttling)
  const throttle = {
    onRateLimit: never,
    onSecondaryRateLimit: never,
    global: new Bottleneck.Group({ maxConcurrent: 1_000 }),
    write: new Bottleneck.Group({ maxConcurrent: 1_000 })
  }
  const client = new Client({ auth: apiKey, baseUrl, throttle })
  return inLoops({
    me: () => client.request("GET /me"),
    setStock: () => client.request("PATCH /store/products/{id}/stock", stock)
  })
})
