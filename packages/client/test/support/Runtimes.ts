/** The HTTP clients that tests run the client on. */
import { NodeHttpClient } from "@effect/platform-node"
import type { Layer } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import * as NodeClient from "../../src/node.ts"

export type Runtime = readonly [name: string, http: Layer.Layer<HttpClient.HttpClient>]

export const runtimes: ReadonlyArray<Runtime> = [
  ["undici", NodeClient.layer],
  ["the platform's undici", NodeHttpClient.layerUndici],
  ["fetch", FetchHttpClient.layer],
  ["node:http", NodeHttpClient.layerNodeHttp]
]
