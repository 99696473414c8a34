/**
 * A service that refuses uploads at their first bytes and closes the connection. A worker, because a client in the same thread would read
 * the refusal before it writes again.
 */
import { selfSigned } from "@plaza/testing/SelfSigned"
import * as Http from "node:http"
import * as Https from "node:https"
import type { Socket } from "node:net"
import { parentPort, workerData } from "node:worker_threads"

export interface Refusing {
  readonly scheme: "http" | "https"
  /** Whether it reads the rest of the upload. */
  readonly readsOn: boolean
}

const tooLarge = JSON.stringify({ error: { code: "PAYLOAD_TOO_LARGE", message: "too large" } })

if (parentPort !== null) {
  const port = parentPort
  // The test passes a `Refusing`.
  const { readsOn, scheme } = workerData as Refusing
  const refuse: Http.RequestListener = (request, response) => {
    request.on("error", () => {})
    request.once("data", () => {
      request.pause()
      response.writeHead(413, { "content-type": "application/json", connection: "close" }).end(tooLarge, () => {
        if (readsOn) {
          request.resume()
        }
        request.socket.destroySoon()
      })
    })
  }
  const server = scheme === "https" ? Https.createServer(selfSigned, refuse) : Http.createServer(refuse)
  server.on("connection", (socket: Socket) => socket.on("error", () => {}))
  server.listen(0, "127.0.0.1", () => port.postMessage(server.address()))
}
