/** A Node server that sends the same short response to every request: the upper bound. */
import { createServer } from "node:http"
import { onRequest } from "../ChildProtocol.js"

const body = JSON.stringify({ id: "1001", username: "plaza-shop" })

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body)
  })
})

server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  onRequest(() => Promise.resolve({ address: `http://127.0.0.1:${port}`, key: "none", pid: process.pid }))
})
