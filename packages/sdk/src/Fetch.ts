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

/** Whether this is a page or a worker of one. Runtimes of servers have no such location. */
const isPage = (): boolean => "location" in globalThis && "navigator" in globalThis && "isSecureContext" in globalThis

// Over HTTP/1.1, which the page can't see, browsers send no stream.
const withoutStreams: typeof globalThis.fetch = async (input, init) =>
  globalThis.fetch(input, init?.body instanceof ReadableStream ? { ...init, body: await new Response(init.body).arrayBuffer() } : init)

const layerOf = (fetch: typeof globalThis.fetch) => Layer.merge(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))

/** Sends requests by the `fetch` of the options or of the runtime. */
export const httpClient: Platform["httpClient"] = (options: TransportOptions) => {
  const unused = ofNode.find((name) => options[name] !== undefined)
  if (unused !== undefined) return refuse(unused, "needs the HTTP of Node, but requests go by fetch")
  if (options.fetch === undefined) return isPage() ? layerOf(withoutStreams) : FetchHttpClient.layer
  return typeof options.fetch === "function" ? layerOf(options.fetch) : refuse("fetch", "must be a function")
}
