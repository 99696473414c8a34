/**
 * The service and the stock feeds of many accounts, on loopback: `/open/v1` accepts every key, and `/feeds/N` is a CSV file with a version.
 * The first accounts are active: they have more products, and half of their stock changes every minute.
 */
import { createServer } from "node:http"
import { onRequest } from "../ChildProtocol.ts"
import { products, type ShopsTask } from "./Task.ts"

const activeProducts = 20

const minute = 60_000
const me = JSON.stringify({ id: "007", username: "ada", displayName: "Ada" })

let task: ShopsTask = { active: 0 }
const counts = { feeds: 0, patches: 0 }
const polled = new Set<number>()

const feed = (rows: number, version: number): string =>
  `productId,stock\n${Array.from({ length: rows }, (_, row) => `p${row},${10 + (row % 2 === 0 ? version % 50 : 0)}\n`).join("")}`

const server = createServer((request, response) => {
  const url = request.url ?? ""
  const json = (body: string) => response.writeHead(200, { "content-type": "application/json" }).end(body)
  if (url.startsWith("/feeds/")) {
    const account = Number(url.slice("/feeds/".length))
    const isActive = account < task.active
    const version = isActive ? Math.floor(Date.now() / minute) : 0
    const rows = isActive ? activeProducts : products
    const etag = `"${version}-${rows}"`
    counts.feeds++
    polled.add(account)
    if (request.headers["if-none-match"] === etag) {
      response.writeHead(304, { etag }).end()
    } else {
      response.writeHead(200, { "content-type": "text/csv", etag }).end(feed(rows, version))
    }
  } else if (url === "/open/v1/me") {
    json(me)
  } else {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text)).on("end", () => {
      counts.patches++
      const id = url.split("/").at(-2) ?? ""
      json(`{"id":"${id}",${body.slice(1)}`)
    })
  }
})

server.keepAliveTimeout = 2 * minute
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  onRequest((request) => {
    if (request !== "counts") {
      // The cast is true: only the benchmarks of the fleet send requests, and of this type.
      task = request as ShopsTask
      polled.clear()
    }
    return Promise.resolve({
      port: typeof address === "object" && address !== null ? address.port : undefined,
      polled: polled.size,
      ...counts
    })
  })
})
