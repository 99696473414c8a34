/** A file streamed by undici alone in Node's default chunks: no multipart, no progress, no retries. */
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { Agent } from "undici"
import { apiKey } from "../ApiKey.js"
import { serve } from "./Uploader.js"

serve(async ({ address, path }) => {
  const agent = new Agent()
  const headers = { authorization: `Bearer ${apiKey}` }
  const { body } = await agent.request({ origin: address, path: "/open/v1/me", method: "GET", headers })
  await body.dump()
  const { size } = await stat(path)
  return {
    upload: async () => {
      const response = await agent.request({
        origin: address,
        path: "/open/v1/media",
        method: "POST",
        headers: { ...headers, "content-length": String(size) },
        body: createReadStream(path)
      })
      // The cast is true: the local service responds with the number of bytes as the id.
      const { mediaId } = await response.body.json() as { readonly mediaId: string }
      return Number(mediaId)
    },
    close: () => agent.close()
  }
})
