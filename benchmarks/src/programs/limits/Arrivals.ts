/** A service on loopback that accepts every request and records when it arrived. It responds after 20 to 400 ms. */
import { createServer } from "node:http"
import { onRequest } from "../ChildProtocol.ts"

/** Milliseconds of a monotonic clock. */
const arrivals: Array<number> = []

const server = createServer((_, response) => {
  arrivals.push(performance.now())
  // Different from request to request.
  setTimeout(() => response.end(), 20 + (arrivals.length * 137) % 380)
})

server.keepAliveTimeout = 600_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : undefined
  onRequest(() => Promise.resolve({ port, arrivals }))
})
