/** Serves the endpoint on `PORT` of this machine. Reads `PLAZA_BASE_URL` and `PLAZA_API_KEY`. Callers need no key, so don't expose it. */
import { serve } from "@hono/node-server"
import { getPlaza } from "./Client.ts"
import { honoServer } from "./HonoServer.ts"

const port = Number(process.env["PORT"] ?? 8080)

serve({ fetch: honoServer(getPlaza()).fetch, hostname: "127.0.0.1", port }, () => {
  process.stdout.write(`Listening on http://127.0.0.1:${port}\n`)
})
