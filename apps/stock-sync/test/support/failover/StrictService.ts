/**
 * A small service for many accounts with `GET /me` and `PATCH` of a stock, which fails and is late by a seed. It refuses every request
 * beyond a key's allowance, and records each request with the runner that sent it. Each runner has an HTTP proxy of its own here.
 *
 * Source: interface v1, "Endpoints", "Errors", "Limits".
 */
import { Clock, Duration, Effect, Option, Random, Schema } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { listening } from "../listening.ts"

export interface Allowance {
  readonly limit: number
  readonly window: Duration.Duration
}

/** A request as it arrived. */
export interface Arrival {
  readonly account: string
  readonly runner: string
  readonly at: number
  /** The product and its stock; undefined for a request of the account itself. */
  readonly set: { readonly product: string; readonly stock: number } | undefined
  /** Whether it counts against the allowance. A request that is refused with 429 by a fault does not. */
  readonly counted: boolean
  /** Whether it exceeded the allowance. */
  readonly exceeded: boolean
}

type Fault = "statusBefore" | "statusAfter" | "dropBefore" | "dropAfter" | "lateCommit" | "lateResponse" | "gatewayTimeout" | "rateLimited"
const faults: ReadonlyArray<Fault> = [
  "statusBefore",
  "statusAfter",
  "dropBefore",
  "dropAfter",
  "lateCommit",
  "lateResponse",
  "gatewayTimeout",
  "rateLimited"
]
// Of all requests, for each of the faults.
const share = 0.012
/** A late commit or response comes at most so long after its request. */
export const latestMillis = 3_000
const earliestMillis = 2_200

const StockPayload = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ stock: Schema.Finite })))
const stockPath = /^\/open\/v1\/store\/products\/([^/]+)\/stock$/

const bodyOf = (request: IncomingMessage): Promise<string> =>
  new Promise((resolve) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text)).on("end", () => resolve(body))
  })

export interface Options {
  /** The accounts by their keys. */
  readonly accounts: ReadonlyMap<string, string>
  /** Those whose requests never fail by a fault. */
  readonly steady: ReadonlySet<string>
  readonly allowance: Allowance
  readonly seed: number
}

/** A service until the scope ends. */
export const start = ({ accounts, allowance, seed, steady }: Options) =>
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const random = yield* Random.withSeed(Effect.gen(function*() {
      return yield* Random.Random
    }), seed)
    const below = (limit: number) => Math.floor(random.nextDoubleUnsafe() * limit)
    const stock = new Map(Array.from(accounts.values(), (account) => [account, new Map<string, number>()]))
    const arrivals: Array<Arrival> = []
    const inWindow = new Map<string, Array<number>>()
    const runners = new WeakMap<Socket, string>()
    let isFailing = false
    let hits = 0

    const hasSlot = (key: string, at: number): boolean => {
      const times = (inWindow.get(key) ?? []).filter((time) => time > at - Duration.toMillis(allowance.window))
      inWindow.set(key, times)
      return times.length < allowance.limit
    }
    const pickFault = (account: string): Fault | undefined => {
      const drawn = random.nextDoubleUnsafe()
      return isFailing && !steady.has(account) ? faults[Math.floor(drawn / share)] : undefined
    }
    const later = (then: () => void) => {
      setTimeout(then, earliestMillis + below(latestMillis - earliestMillis)).unref()
    }

    const respond = (response: ServerResponse, status: number, body?: object, headers: Record<string, string> = {}) => {
      if (response.destroyed) return
      response.writeHead(status, { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers })
      response.end(body === undefined ? undefined : JSON.stringify(body))
    }
    const refuse = (response: ServerResponse, status: number, code: string, headers?: Record<string, string>) =>
      respond(response, status, { error: { code, message: "refused" } }, headers)
    const failed = (response: ServerResponse) => {
      const status = [500, 502, 503, 504][below(4)] ?? 500
      if (status === 500) refuse(response, status, "INTERNAL_ERROR")
      else respond(response, status)
    }

    const handle = async (request: IncomingMessage, response: ServerResponse) => {
      const at = clock.currentTimeMillisUnsafe()
      const key = (request.headers.authorization ?? "").slice("Bearer ".length)
      const account = accounts.get(key)
      const body = await bodyOf(request)
      if (account === undefined) return refuse(response, 401, "INVALID_API_KEY")
      const product = stockPath.exec(request.url ?? "")?.[1]
      const payload = Option.getOrUndefined(StockPayload(body))
      const set = product === undefined || payload === undefined ? undefined : { product, stock: payload.stock }
      const fault = pickFault(account)
      const exceeded = fault !== "rateLimited" && !hasSlot(key, at)
      const counted = fault !== "rateLimited"
      arrivals.push({ account, runner: runners.get(request.socket) ?? "unknown", at, set, counted, exceeded })
      if (exceeded) return refuse(response, 429, "RATE_LIMITED", { "retry-after": "1" })
      if (counted) inWindow.get(key)?.push(at)
      const isMe = request.method === "GET" && request.url === "/open/v1/me"
      if (!isMe && (request.method !== "PATCH" || set === undefined)) return refuse(response, 400, "VALIDATION_ERROR")
      const commit = () => {
        if (set !== undefined) stock.get(account)?.set(set.product, set.stock)
      }
      const succeed = () =>
        set === undefined
          ? respond(response, 200, { id: account, username: account })
          : random.nextDoubleUnsafe() < 0.8
          ? respond(response, 200, { id: set.product, stock: set.stock })
          : respond(response, 204)
      if (fault === undefined) {
        commit()
        return succeed()
      }
      hits++
      switch (fault) {
        case "statusBefore":
          return failed(response)
        case "statusAfter":
          commit()
          return failed(response)
        case "dropBefore":
          return request.socket.destroy()
        case "dropAfter":
          commit()
          return request.socket.destroy()
        case "lateCommit":
          return later(() => {
            commit()
            succeed()
          })
        case "lateResponse":
          commit()
          return later(succeed)
        case "gatewayTimeout":
          respond(response, 504)
          return later(commit)
        case "rateLimited":
          return refuse(response, 429, "RATE_LIMITED", { "retry-after": "1" })
      }
    }

    const service = createServer((request, response) => {
      void handle(request, response)
    })
    // A runner that is killed cuts its connections.
    service.on("clientError", (_, socket) => socket.destroy())
    const port = yield* listening(service)

    /** The address of a proxy whose requests count as those of this runner. */
    const proxyFor = Effect.fnUntraced(function*(runner: string) {
      const proxy = createServer()
      proxy.on("connect", (_, socket: Socket) => {
        runners.set(socket, runner)
        socket.on("error", () => socket.destroy())
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
        service.emit("connection", socket)
      })
      return `http://127.0.0.1:${yield* listening(proxy)}`
    })

    return {
      port,
      // Requests to this machine go through no proxy. The name is never looked up, because the proxies are the service.
      baseUrl: `http://service.test:${port}/open/v1`,
      proxyFor,
      arrivals,
      stock: (account: string, product: string) => stock.get(account)?.get(product),
      setFailing: (failing: boolean) => Effect.sync(() => void (isFailing = failing)),
      hits: () => hits
    }
  })
