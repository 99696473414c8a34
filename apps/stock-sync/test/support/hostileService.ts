/**
 * A service with a base URL for each way to be a burden: it refuses with texts that no database stores, with texts of megabytes, never
 * responds, or is no HTTP. At `good` it sets stock.
 *
 * Source: interface v1, "Errors" and "Conventions": the document bounds neither `code` nor `message`.
 */
import { Effect, Option, Schema } from "effect"
import { createServer, type ServerResponse } from "node:http"
import { listening } from "./listening.ts"

/** Larger than any text for people. */
export const megabytes = "m".repeat(3_000_000)

const refusals: Readonly<Record<string, readonly [status: number, code: string, message: string]>> = {
  nul: [401, "INVALID_API_KEY", "no \0 key"],
  surrogate: [401, "INVALID_API_KEY", "no \ud800 key"],
  nulCode: [403, "NO\0CODE", "no \0 code"],
  fault: [500, "NO\udc00CODE", "a \0 fault"],
  long: [401, "INVALID_API_KEY", megabytes],
  longCode: [403, megabytes, "a long code"]
}

const behaviours: Readonly<Record<string, (response: ServerResponse) => void>> = {
  hanging: () => undefined,
  garbage: ({ socket }) => void socket?.end("\0\u0001 no HTTP\r\n\r\n"),
  loop: (response) => void response.writeHead(302, { location: response.req.url }).end(),
  page: (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>log in</html>")
}

/** Every burden, as the first part of a path. */
export const burdens: ReadonlyArray<string> = [...Object.keys(refusals), ...Object.keys(behaviours)]

const StockPayload = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ stock: Schema.Number })))

/** A service until the scope ends. */
export const start = Effect.gen(function*() {
  const stock = new Map<string, number>()
  const asked = new Set<string>()
  const server = createServer((request, response) => {
    const [, kind = "", , , , , product = ""] = (request.url ?? "").split("/")
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text)).on("end", () => {
      asked.add(kind)
      const behaviour = behaviours[kind]
      const refusal = refusals[kind]
      if (behaviour !== undefined) return behaviour(response)
      if (refusal !== undefined) {
        const [status, code, message] = refusal
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error: { code, message } }))
        return
      }
      if (request.method === "GET") {
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ id: kind }))
        return
      }
      const payload = StockPayload(body)
      if (Option.isSome(payload)) stock.set(product, payload.value.stock)
      response.writeHead(204).end()
    })
  })
  const port = yield* listening(server)
  return {
    baseUrl: (kind: string) => `http://127.0.0.1:${port}/${kind}/open/v1`,
    stock: (product: string) => stock.get(product),
    /** The base URLs that got a request. */
    asked
  }
})
