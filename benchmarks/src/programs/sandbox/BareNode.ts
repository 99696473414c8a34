/** A Node server that returns the same few bytes to every request, as an upper bound. */
import { createServer } from "node:http"
import { answering } from "../answering.js"

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
  answering(() => Promise.resolve({ address: `http://127.0.0.1:${port}`, key: "none", memory: process.memoryUsage().rss }))
})
