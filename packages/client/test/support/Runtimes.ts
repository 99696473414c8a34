/** The HTTP clients that tests run the client on. */
import { NodeHttpClient } from "@effect/platform-node"
import type { Layer } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import * as NodeHttp from "../../src/node-http.ts"
import * as NodeClient from "../../src/node.ts"

export type Runtime = readonly [name: string, http: Layer.Layer<HttpClient.HttpClient>]

export const runtimes: ReadonlyArray<Runtime> = [
  ["undici", NodeClient.layer],
  ["the platform's undici", NodeHttpClient.layerUndici],
  ["fetch", FetchHttpClient.layer],
  ["node:http", NodeHttp.layer],
  ["the platform's node:http", NodeHttpClient.layerNodeHttp]
]

/** Whether requests are sent by `node:http`, which accepts more than the others. */
export const isNodeHttp = (name: string): boolean => name.endsWith("node:http")
