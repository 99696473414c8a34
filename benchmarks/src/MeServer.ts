/**
 * A bare server for one answer, in a process of its own so that its work isn't taken for the client's. Tells its port to
 * the process that forked it, and ends with it. On loopback alone.
 *
 * @since 0.1.0
 */
import { createServer } from "node:http"

const body = JSON.stringify({ id: "007", username: "ada", displayName: "Ada", bio: "Sells maps", createdAt: "2026-10-01T12:00:00.000Z" })

const server = createServer((request, response) => {
  const { authorization } = request.headers
  if (request.url !== "/open/v1/me" || authorization === undefined) {
    response.writeHead(404).end()
    return
  }
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body)
})

server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.send?.(typeof address === "object" && address !== null ? address.port : undefined)
})
process.on("disconnect", () => process.exit(0))
