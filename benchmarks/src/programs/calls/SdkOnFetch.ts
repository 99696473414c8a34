/** Calls by the SDK as it is installed, on Node's fetch. */
import { createPlaza } from "@plaza/sdk"
import { apiKey } from "../ApiKey.ts"
import { inLoops, serve } from "./Caller.ts"

serve((baseUrl) => {
  const plaza = createPlaza({ baseUrl, apiKey, rateLimit: 10_000_000, fetch: globalThis.fetch })
  return inLoops(() => plaza.profiles.me())
})
