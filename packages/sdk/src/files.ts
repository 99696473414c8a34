/** The client for Bun and Deno. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Fetch from "./Fetch.ts"
import { type CreatePlaza, make } from "./Plaza.ts"

export * from "./Api.ts"

/** Creates clients on the `fetch` of the runtime, with its files. */
export const createPlaza: CreatePlaza = /*#__PURE__*/ make({ httpClient: Fetch.httpClient, files: NodeFileSystem.layer })
