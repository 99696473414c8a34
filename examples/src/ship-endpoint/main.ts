/** Serves the endpoint on `PORT` of this machine. Reads `PLAZA_BASE_URL` and `PLAZA_API_KEY`. Callers need no key, so don't expose it. */
import { serve } from "@hono/node-server"
import { once } from "node:events"
import { getPlaza } from "./Client.ts"
import { honoServer } from "./HonoServer.ts"

const port = Number(process.env["PORT"] ?? 8080)
const plaza = getPlaza()

// A wrong base URL or key ends the program here, and not each call of a customer.
await plaza.profiles.me()
const server = serve({ fetch: honoServer(plaza).fetch, hostname: "127.0.0.1", port }, () => {
  process.stdout.write(`Listening on http://127.0.0.1:${port}\n`)
})

// The shipments in progress end first.
await Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")])
server.close()
await once(server, "close")
await plaza.close()
