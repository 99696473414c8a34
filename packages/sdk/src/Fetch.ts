/** The HTTP client on `fetch`. */
import { ClientError } from "@plaza/client"
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import type { TransportOptions } from "./Options.ts"
import type { Platform } from "./Plaza.ts"

/** The options that only the HTTP of Node has. */
const ofNode = ["proxy", "ca", "keepAlive", "connectTimeout"] as const

const refuse = (setting: string, requirement: string) =>
  Layer.effect(HttpClient.HttpClient, Effect.fail(new ClientError.InvalidSettings({ setting, message: `${setting} ${requirement}` })))

/** Sends requests by the `fetch` of the options or of the runtime. */
export const httpClient: Platform["httpClient"] = (options: TransportOptions) => {
  const unused = ofNode.find((name) => options[name] !== undefined)
  if (unused !== undefined) return refuse(unused, "needs the HTTP of Node, but requests go by fetch")
  if (options.fetch === undefined) return FetchHttpClient.layer
  return typeof options.fetch === "function"
    ? Layer.merge(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, options.fetch))
    : refuse("fetch", "must be a function")
}
