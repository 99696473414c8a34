/**
 * The service and the stock feeds of many accounts, on loopback: `/open/v1` accepts every key, and `/feeds/N` is a CSV file with a version.
 * The first accounts are active: half of their stock changes every minute.
 */
import { createServer } from "node:http"
import { onRequest } from "../ChildProtocol.js"
import type { ShopsTask } from "./Task.js"

const minute = 60_000
const me = JSON.stringify({ id: "007", username: "ada", displayName: "Ada" })

let task: ShopsTask = { active: 0, activeProducts: 20, products: 3 }
const counts = { me: 0, feeds: 0, unchanged: 0, patches: 0 }

const feed = (account: number, version: number): string => {
  const rows = account < task.active ? task.activeProducts : task.products
  return `productId,stock\n${Array.from({ length: rows }, (_, row) => `p${row},${10 + (row % 2 === 0 ? version % 50 : 0)}\n`).join("")}`
}

const server = createServer((request, response) => {
  const url = request.url ?? ""
  const json = (body: string) => response.writeHead(200, { "content-type": "application/json" }).end(body)
  if (url.startsWith("/feeds/")) {
    const account = Number(url.slice("/feeds/".length))
    const version = account < task.active ? Math.floor(Date.now() / minute) : 0
    const etag = `"${version}-${account < task.active ? task.activeProducts : task.products}"`
    counts.feeds++
    if (request.headers["if-none-match"] === etag) {
      counts.unchanged++
      response.writeHead(304, { etag }).end()
    } else {
      response.writeHead(200, { "content-type": "text/csv", etag }).end(feed(account, version))
    }
  } else if (url === "/open/v1/me") {
    counts.me++
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
    // The cast is true: only the benchmark `fleet` sends requests, and of this type.
    if (request !== "counts") task = request as ShopsTask
    return Promise.resolve({ port: typeof address === "object" && address !== null ? address.port : undefined, ...counts })
  })
})
