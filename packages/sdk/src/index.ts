/** The client for browsers and edge runtimes. */
import * as Fetch from "./Fetch.ts"
import { type CreatePlaza, make } from "./Plaza.ts"

export * from "./Api.ts"

/** Creates clients on the `fetch` of the runtime. */
export const createPlaza: CreatePlaza = /*#__PURE__*/ make({ httpClient: Fetch.httpClient, files: undefined })
