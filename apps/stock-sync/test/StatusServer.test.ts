import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Http from "node:http"
import * as Net from "node:net"
import { address, observed } from "./support/observability.ts"
import { happens } from "./support/statusSampler.ts"

interface Answer {
  readonly status: number | undefined
  readonly body: string
}

/** Asks with exactly these headers. */
const ask = (url: string, options: Http.RequestOptions = {}) =>
  Effect.callback<Answer>((resume) => {
    const request = Http.request(url, { agent: false, ...options }, (response) => {
      let body = ""
      response.setEncoding("utf8").on("data", (text: string) => (body += text)).on("end",
        () => resume(Effect.succeed({ status: response.statusCode, body })))
    })
    request.on("error", (error) => resume(Effect.succeed({ status: undefined, body: error.message })))
    request.end()
  })

const listening = <A, E>(use: (url: string) => Effect.Effect<A, E>, host?: string) => {
  const lines: Array<string> = []
  return Effect.scoped(
    Effect.provide(Effect.flatMap(address(lines), use), observed({ lines, port: 0, ...(host === undefined ? {} : { host }) }))
  )
}

describe("on a socket", () => {
  it.live("the page, health, readiness and metrics are there, to HEAD as well", () =>
    listening((url) =>
      Effect.gen(function*() {
        expect((yield* ask(url)).body).toContain("<!doctype html>")
        expect(yield* ask(`${url}/healthz?probe=1`)).toEqual({ status: 200, body: "ok\n" })
        expect(yield* ask(`${url}/readyz`)).toMatchObject({ status: 503 })
        expect((yield* ask(`${url}/metrics`)).body).toContain("\nplaza_stock_sync_ready 0\n")
        for (const path of ["/assets/status.css", "/assets/status.js", "/assets/icon.svg"]) {
          expect((yield* ask(url + path)).status).toBe(200)
        }
        expect(yield* ask(url, { method: "HEAD" })).toEqual({ status: 200, body: "" })
        expect((yield* ask(url, { method: "POST" })).status).toBe(405)
      })
    ))

  it.live("a name from elsewhere is refused on loopback, and taken where another address was asked for", () =>
    Effect.gen(function*() {
      const named = { headers: { host: "shop.example" } }
      yield* listening((url) =>
        Effect.gen(function*() {
          expect((yield* ask(`${url}/healthz`, named)).status).toBe(403)
        })
      )
      yield* listening((url) =>
        Effect.gen(function*() {
          expect((yield* ask(url, named)).status).toBe(200)
        }), "0.0.0.0")
    }))

  it.live("headers larger than sixteen kilobytes are refused, and the next request succeeds", () =>
    listening((url) =>
      Effect.gen(function*() {
        expect((yield* ask(url, { headers: { filler: "x".repeat(17_000) } })).status).toBe(431)
        expect((yield* ask(`${url}/healthz`)).status).toBe(200)
      })
    ))

  it.live("it ends with the loop, although somebody holds a connection open", () =>
    Effect.gen(function*() {
      let held: Net.Socket | undefined
      const url = yield* listening((url) =>
        Effect.as(
          Effect.callback<void>((resume) => {
            const { hostname, port } = new URL(url)
            held = Net.connect(Number(port), hostname, () => resume(Effect.void)).on("error", () => undefined)
            held.write("GET / HTTP/1.1\r\nhost: localhost\r\n")
          }),
          url
        )
      )
      expect((yield* ask(url)).status).toBeUndefined()
      held?.destroy()
    }))

  it.live("a port that is taken is named, with what to change", () =>
    listening((url) =>
      Effect.gen(function*() {
        const port = Number(new URL(url).port)
        const refused = yield* Effect.flip(Effect.scoped(Effect.provide(Effect.void, observed({ port }))))
        expect(refused.message).toBe(`port ${port} is in use: choose another one with --port or STOCK_SYNC_PORT, or 0 for any free port`)
        const nowhere = yield* Effect.flip(Effect.scoped(Effect.provide(Effect.void, observed({ port: 0, host: "192.0.2.1" }))))
        expect(nowhere.message).toContain("--host or STOCK_SYNC_HOST")
      })
    ))
})

describe("the log", () => {
  const Line = Schema.fromJsonString(Schema.Struct({
    logLevel: Schema.String,
    message: Schema.String,
    timestamp: Schema.String,
    annotations: Schema.Record(Schema.String, Schema.Unknown)
  }))

  it.live("is JSON where that is asked for, an object a line", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      yield* Effect.scoped(
        Effect.provide(happens({ _tag: "Stopping" }), observed({ lines, port: 0, logs: { format: "json", level: "Info" } }))
      )
      const told = yield* Effect.forEach(lines, (line) => Schema.decodeUnknownEffect(Line)(line))
      expect(lines.every((line) => line.endsWith("}\n"))).toBe(true)
      expect(told.map(({ logLevel, message }) => [logLevel, message])).toEqual([["INFO", "page.listening"], ["INFO", "worker.stopping"]])
      expect(told[0]?.annotations["address"]).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    }))

  it.live("says nothing below its level", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      yield* Effect.scoped(
        Effect.provide(happens({ _tag: "Stopping" }), observed({ lines, port: 0, logs: { format: "text", level: "Warn" } }))
      )
      expect(lines).toEqual([])
    }))
})
