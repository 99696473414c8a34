/** A file streamed by undici alone in Node's default chunks: no multipart, no progress, no retries. */
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { Agent } from "undici"
import { apiKey } from "../apiKey.js"
import { sending } from "./sending.js"

sending(async ({ address, path }) => {
  const agent = new Agent()
  const headers = { authorization: `Bearer ${apiKey}` }
  const { body } = await agent.request({ origin: address, path: "/open/v1/me", method: "GET", headers })
  await body.dump()
  const { size } = await stat(path)
  return {
    upload: async () => {
      const answer = await agent.request({
        origin: address,
        path: "/open/v1/media",
        method: "POST",
        headers: { ...headers, "content-length": String(size) },
        body: createReadStream(path)
      })
      // The local service answers with a count in place of an id.
      const { mediaId } = await answer.body.json() as { readonly mediaId: string }
      return Number(mediaId)
    },
    end: () => agent.close()
  }
})
