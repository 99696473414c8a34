/** The client for browsers and edge runtimes. */
import * as Fetch from "./Fetch.ts"
import { type CreatePlaza, make } from "./Plaza.ts"

export * from "./Api.ts"

/**
 * Creates clients on the `fetch` of the runtime.
 *
 * @example
 * import { createPlaza } from "@plaza/sdk"
 *
 * const plaza = createPlaza({ baseUrl: "https://host/open/v1", apiKey: "a key" })
 * const product = await plaza.store.setStock("MUG-BLUE-350", 12)
 * // => { id: "MUG-BLUE-350", stock: 12 }
 */
export const createPlaza: CreatePlaza = /*#__PURE__*/ make({ httpClient: Fetch.httpClient, files: undefined })
