/** The client for Node. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeClient from "@plaza/client/node"
import * as Fetch from "./Fetch.ts"
import { toDuration } from "./Options.ts"
import { type CreatePlaza, make, type Platform } from "./Plaza.ts"

export * from "./Api.ts"

const httpClient: Platform["httpClient"] = (options) => {
  const { ca, connectTimeout, fetch, keepAlive, proxy } = options
  return fetch === undefined
    ? NodeClient.layerWith({
      proxy,
      ca,
      keepAlive: keepAlive === undefined ? undefined : toDuration(keepAlive),
      connectTimeout: connectTimeout === undefined ? undefined : toDuration(connectTimeout)
    })
    : Fetch.httpClient(options)
}

/** Creates clients on the HTTP of Node, with proxies. */
export const createPlaza: CreatePlaza = /*#__PURE__*/ make({ httpClient, files: NodeFileSystem.layer })
