/**
 * A minimal server on loopback for the benchmarks of the client. The path before `/open/v1` sets the length and the delay of a list.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { onRequest } from "./ChildProtocol.ts"
import { page } from "./ListedPosts.ts"

const json = (response: ServerResponse, body: string) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body)
}

const me = JSON.stringify({ id: "007", username: "ada", displayName: "Ada", bio: "Sells maps", createdAt: "2026-10-01T12:00:00.000Z" })
const product = JSON.stringify({ id: "sku_1", stock: 12, name: "Map of the fens", createdAt: "2026-10-01T12:00:00.000Z" })

/** Reads a body and passes its length to a callback. */
const count = (request: IncomingMessage, done: (bytes: number) => void) => {
  let bytes = 0
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length
  })
  request.on("end", () => done(bytes))
}

const list = /^\/(\d+)\/(\d+)\/open\/v1\/me\/posts$/

const server = createServer((request, response) => {
  const { authorization } = request.headers
  const url = request.url ?? ""
  if (authorization === undefined) {
    response.writeHead(401).end()
  } else if (url === "/open/v1/me") {
    json(response, me)
  } else if (request.method === "PATCH" && url === "/open/v1/store/products/sku_1/stock") {
    count(request, () => json(response, product))
  } else if (request.method === "POST" && url === "/open/v1/media") {
    count(request, (bytes) => json(response, JSON.stringify({ mediaId: String(bytes) })))
  } else {
    const { pathname, searchParams } = new URL(url, "http://host")
    const [, total, delay] = list.exec(pathname) ?? []
    if (total === undefined) {
      response.writeHead(404).end()
      return
    }
    const respond = () => json(response, page(Number(total), Number(searchParams.get("limit")), searchParams.get("cursor")))
    if (delay === "0") respond()
    else setTimeout(respond, Number(delay))
  }
})

server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  onRequest(() => Promise.resolve({ port: typeof address === "object" && address !== null ? address.port : undefined }))
})
