/**
 * An address as a source, answered by a server that a test writes byte by byte.
 */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Clock, DateTime, Duration, Effect, Fiber, Option, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import * as Http from "../src/source/Http.ts"
import * as Open from "../src/source/Open.ts"
import { all, containing, good, hurried, poll } from "./support/reading.ts"

const csv = "productId,stock\nA,1\n"
type Answer = (response: ServerResponse, headers: IncomingHttpHeaders, path: string) => void

/** A server with one answer to everything, its address, and the headers of what it was asked. */
const serving = (answer: Answer) =>
  Effect.gen(function*() {
    const asked: Array<IncomingHttpHeaders> = []
    const server = yield* Effect.acquireRelease(
      Effect.callback<Server>((resume) => {
        const made = createServer((request, response) => {
          asked.push(request.headers)
          answer(response, request.headers, request.url ?? "")
        })
        made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
      }),
      (made) =>
        Effect.callback<void>((resume) => {
          made.close(() => resume(Effect.void))
          made.closeAllConnections()
        })
    )
    const at = server.address()
    const port = typeof at === "object" && at !== null ? at.port : 0
    return { asked, address: `http://127.0.0.1:${port}/stock.csv` }
  })

const options = { idColumn: "productId", stockColumn: "stock", poll: Duration.minutes(1), timeout: Duration.hours(1) }
const taken = (source: string, told: Partial<Http.HttpOptions> = {}) =>
  Effect.gen(function*() {
    const { open } = yield* Http.makeOnNode({ ...options, source, ...told })
    const snapshot = yield* open(Option.none())
    return yield* all(Option.getOrThrow(snapshot).rows)
  })

describe("an address", () => {
  it.effect("is read with what it is allowed to be read by, and told of nothing else", () =>
    Effect.gen(function*() {
      const { address, asked } = yield* serving((response) => response.setHeader("content-type", "text/csv; charset=utf-8").end(csv))
      expect(yield* taken(address, { authorization: Redacted.make("Bearer secret") })).toEqual([good(2, "A", 1)])
      expect(asked).toMatchObject([{ authorization: "Bearer secret", "accept-encoding": "identity" }])
      expect(asked[0]).not.toHaveProperty("traceparent")
    }))

  for (
    const [header, value, asking] of [
      ["etag", "\"v1\"", "if-none-match"],
      ["etag", "W/\"v1\"", "if-none-match"],
      ["last-modified", "Wed, 21 Oct 2026 07:28:00 GMT", "if-modified-since"]
    ] as const
  ) {
    it.effect(`is asked only for what is newer than ${header} ${value}`, () =>
      Effect.gen(function*() {
        let now: string = value
        const { address, asked } = yield* serving((response, headers) => {
          response.setHeader(header, now)
          if (headers[asking] === now) response.writeHead(304).end()
          else response.end(csv)
        })
        const { open } = yield* Http.makeOnNode({ ...options, source: address })
        const first = Option.getOrThrow(yield* open(Option.none()))
        yield* all(first.rows)
        expect(yield* open(first.version)).toEqual(Option.none())
        expect(asked[1]).toMatchObject({ [asking]: value })
        now = "\"v2\""
        expect(yield* all(Option.getOrThrow(yield* open(first.version)).rows)).toHaveLength(1)
      }))
  }

  it.effect("without a mark is read again each time", () =>
    Effect.gen(function*() {
      const { address } = yield* serving((response) => response.end(csv))
      const { open } = yield* Http.makeOnNode({ ...options, source: address })
      expect(yield* open(Option.none())).toMatchObject({ value: { version: Option.none() } })
    }))

  for (
    const [type, body] of [
      ["application/json", `[{"productId":"A","stock":1}]`],
      ["application/vnd.shop.v2+json; charset=utf-8", `{"data":[{"productId":"A","stock":1}]}`],
      ["application/x-ndjson", `{"productId":"A","stock":1}`],
      ["application/jsonl", `{"productId":"A","stock":1}`]
    ] as const
  ) {
    it.effect(`is read as its content type says, ${type}`, () =>
      Effect.gen(function*() {
        const { address } = yield* serving((response) => response.setHeader("content-type", type).end(body))
        expect(yield* taken(address)).toEqual([good(1, "A", 1)])
      }))
  }

  it.effect("is read as its ending says where its content type says nothing, and as it was told in any case", () =>
    Effect.gen(function*() {
      const { address } = yield* serving((response, _, path) =>
        response.setHeader("content-type", path.startsWith("/stock.json") ? "application/octet-stream" : "text/csv").end(
          `[{"productId":"A","stock":1}]`
        )
      )
      expect(yield* taken(address.replace(".csv", ".json?key=1"))).toEqual([good(1, "A", 1)])
      expect(yield* taken(address, { format: "json" })).toEqual([good(1, "A", 1)])
    }))

  it.effect("that points elsewhere is followed, without what is meant for the first place alone", () =>
    Effect.gen(function*() {
      const other = yield* serving((response) => response.end(csv))
      const { address, asked } = yield* serving((response, _, path) =>
        path === "/moved"
          ? response.writeHead(302, { location: other.address }).end()
          : response.writeHead(307, { location: "/moved" }).end()
      )
      expect(yield* taken(address, { authorization: Redacted.make("Bearer secret") })).toEqual([good(2, "A", 1)])
      expect(asked).toMatchObject([{ authorization: "Bearer secret" }, { authorization: "Bearer secret" }])
      expect(other.asked[0]).not.toHaveProperty("authorization")
    }))

  it.effect("is asked again when it stumbles", () =>
    Effect.gen(function*() {
      let times = 0
      const { address, asked } = yield* serving((response) => {
        times++
        if (times === 1) response.socket?.destroy()
        else if (times < 4) response.writeHead(times === 2 ? 503 : 429).end("busy")
        else response.end(csv)
      })
      expect(yield* hurried(taken(address))).toEqual([good(2, "A", 1)])
      expect(asked).toHaveLength(4)
    }))

  for (
    const [name, answer, tag, message, times] of [
      ["that answers 500 for good", (response) => response.writeHead(500).end(), "SourceUnreachable", "it responded 500", 4],
      ["that hangs up for good", (response) => response.socket?.destroy(), "SourceUnreachable", "the connection failed", 4],
      ["that never answers", () => undefined, "SourceUnreachable", "no response for 30s", 4],
      ["that doesn't know it", (response) => response.writeHead(404).end(csv), "SourceError", "it responded 404", 1],
      ["that refuses the key", (response) => response.writeHead(401).end(csv), "SourceError", "STOCK_SYNC_SOURCE_AUTHORIZATION", 1],
      ["that has nothing to say", (response) => response.writeHead(204).end(), "SourceError", "it responded 204", 1],
      ["that gives a part", (response) => response.writeHead(206).end(csv), "SourceError", "it responded 206", 1],
      ["that says unchanged without being asked", (response) => response.writeHead(304).end(), "SourceError", "it responded 304", 1],
      [
        "that redirects in circles",
        (response) => response.writeHead(302, { location: "/again" }).end(),
        "SourceError",
        "redirects too often",
        6
      ],
      [
        "that compresses in another way",
        (response) => response.setHeader("content-encoding", "br").end(csv),
        "SourceError",
        "content encoding \"br\" is not supported",
        1
      ],
      [
        "that sends no gzip as gzip",
        (response) => response.setHeader("content-encoding", "gzip").end(csv),
        "SourceUnreachable",
        "cut short",
        1
      ],
      [
        "that sends half of its gzip",
        (response) => response.setHeader("content-encoding", "gzip").end(gzipSync(csv).subarray(0, -9)),
        "SourceUnreachable",
        "cut short",
        1
      ],
      [
        "that promises more than its gzip",
        (response) => {
          response.setHeader("content-encoding", "gzip").setHeader("content-length", "500").write(gzipSync(csv),
            () => response.socket?.end())
        },
        "SourceUnreachable",
        "cut short",
        1
      ],
      [
        "that ends its chunks without the last one",
        (response) => {
          response.write(`${csv}B,2\n`, () => response.socket?.end())
        },
        "SourceUnreachable",
        "cut short",
        1
      ],
      [
        "that promises more than it sends",
        (response) => {
          response.setHeader("content-length", "500").write(`${csv}B,2\n`, () => response.socket?.end())
        },
        "SourceUnreachable",
        "cut short",
        1
      ],
      [
        "that breaks off between two pieces",
        (response) => {
          response.write(`${csv}B,2\n`, () => response.socket?.destroy())
        },
        "SourceUnreachable",
        "cut short",
        1
      ],
      ["that falls silent on its way", (response) => void response.write(`${csv}B,2\n`), "SourceUnreachable", "no response for 30s", 1]
    ] satisfies ReadonlyArray<readonly [string, Answer, string, string, number]>
  ) {
    it.effect(`refuses the whole of an address ${name}`, () =>
      Effect.gen(function*() {
        const { address, asked } = yield* serving(answer)
        // Long enough for a busy machine, unless it is what the test waits for.
        const timeout = message.startsWith("no response") ? Duration.seconds(30) : Duration.hours(1)
        const error = yield* hurried(
          Effect.flip(taken(`${address}?signature=secret`, { authorization: Redacted.make("Bearer secret"), timeout }))
        )
        expect(error).toMatchObject({ _tag: tag, message: containing(message), source: address })
        expect(error.message).not.toContain("secret")
        expect(asked).toHaveLength(times)
      }))
  }

  /** A response that ends with its connection. */
  const delimited = (type: string, body: string | Uint8Array, version = "1.1", more = ""): Answer => ({ socket }) => {
    socket?.write(`HTTP/${version} 200 OK\r\nContent-Type: ${type}\r\n${more}\r\n`)
    socket?.end(body)
  }
  const document = `{"data":[{"productId":"A","stock":1}]}`
  const line = `{"productId":"A","stock":1}\n`

  for (
    const [name, answer] of [
      ["CSV", delimited("text/csv", csv)],
      ["CSV of HTTP/1.0", delimited("text/csv", csv, "1.0")],
      ["CSV of HTTP/1.0, cut at the end of a line", delimited("text/csv", "productId,stock\nA,1\n", "1.0")],
      ["CSV of HTTP/1.0, byte by byte", ({ socket }) => {
        socket?.setNoDelay(true)
        socket?.write("HTTP/1.0 200 OK\r\nContent-Type: text/csv\r\n\r\np")
        socket?.write("r")
        socket?.end(csv.slice(2))
      }],
      ["CSV that says when the connection closes", delimited("text/csv", csv, "1.1", "Connection: close\r\n")],
      ["NDJSON", delimited("application/x-ndjson", line)]
    ] satisfies ReadonlyArray<readonly [string, Answer]>
  ) {
    it.effect(`is refused if nothing shows that its response is complete, as in ${name}`, () =>
      Effect.gen(function*() {
        const { address } = yield* serving(answer)
        const error = yield* Effect.flip(taken(address))
        expect(error).toMatchObject({ _tag: "SourceError", message: containing("neither a Content-Length nor chunks") })
        expect(error.message).toContain("--accept-partial length (STOCK_SYNC_ACCEPT_PARTIAL); no row of it was used")
        expect(yield* taken(address, { acceptPartial: ["length"] })).toMatchObject([{ productId: "A", stock: 1 }])
      }))
  }

  for (
    const [name, answer] of [
      ["a whole JSON document", delimited("application/json", document)],
      ["gzip of the transfer", delimited("text/csv", gzipSync(csv), "1.1", "Content-Encoding: gzip\r\n")],
      ["gzip of the file", delimited("text/csv", gzipSync(csv), "1.0")]
    ] satisfies ReadonlyArray<readonly [string, Answer]>
  ) {
    it.effect(`without a length is read if its content shows that it is complete: ${name}`, () =>
      Effect.gen(function*() {
        const { address } = yield* serving(answer)
        expect(yield* taken(address)).toMatchObject([{ productId: "A", stock: 1 }])
      }))
  }

  for (
    const [name, body] of [
      ["a message in it", "productId,stock\nA,1\nB,1\nPHP Fatal error:  Uncaught Error in /export.php:3\n"],
      ["a last line that is none", "productId,stock\nA,1\nB\n"]
    ] as const
  ) {
    it.effect(`is refused with ${name}, although its response is complete`, () =>
      Effect.gen(function*() {
        const { address } = yield* serving((response) => response.end(body))
        expect(yield* Effect.flip(taken(address))).toMatchObject({ _tag: "SourceError", message: containing("may be cut") })
      }))
  }

  it.effect("that gives a part is read if its range is accepted", () =>
    Effect.gen(function*() {
      const { address } = yield* serving((response) => response.writeHead(206, { "content-range": "items 0-0/5" }).end(csv))
      expect((yield* Effect.flip(taken(address))).message).toContain("--accept-partial content-range")
      expect(yield* taken(address, { acceptPartial: ["Content-Range"] })).toEqual([good(2, "A", 1)])
    }))

  for (
    const [source, message] of [["http://user:secret@127.0.0.1/", "STOCK_SYNC_SOURCE_AUTHORIZATION"], ["http://", "not a valid address"], [
      "https://127.0.0.1:99999/x",
      "not a valid address"
    ]] as const
  ) {
    it.effect(`${source.replace("secret", "…")} is refused before anything is asked`, () =>
      Effect.map(Effect.flip(Http.makeOnNode({ ...options, source })), (error) => {
        expect(error.message).toContain(message)
        expect(error.message).not.toContain("secret")
      }))
  }

  it.effect("is read in gzip if the server ignores what was asked for", () =>
    Effect.gen(function*() {
      const { address } = yield* serving((response) => response.setHeader("content-encoding", "gzip").end(gzipSync(csv)))
      expect(yield* taken(address)).toEqual([good(2, "A", 1)])
    }))

  it.effect("gets the headers that were set, at its own origin only", () =>
    Effect.gen(function*() {
      const other = yield* serving((response) => response.end(csv))
      const { address, asked } = yield* serving((response) => response.writeHead(302, { location: other.address }).end())
      expect(yield* taken(address, { headers: Redacted.make({ "x-api-key": "secret" }) })).toEqual([good(2, "A", 1)])
      expect(asked).toMatchObject([{ "x-api-key": "secret", "accept-encoding": "identity" }])
      expect(other.asked[0]).not.toHaveProperty("x-api-key")
    }))

  for (
    const [name, wait, seconds] of [
      ["in seconds", () => "45", 45],
      // The date is one of the server's clock.
      ["as a date", () => "Wed, 21 Oct 2026 07:28:45 GMT", 45]
    ] as const
  ) {
    it.effect(`that asks for a pause ${name} gets it`, () =>
      Effect.gen(function*() {
        const at: Array<number> = []
        const clock = yield* Clock.Clock
        const { address } = yield* serving((response) => {
          at.push(clock.currentTimeMillisUnsafe())
          if (at.length > 1) response.end(csv)
          else response.writeHead(429, { "retry-after": wait(), "date": "Wed, 21 Oct 2026 07:28:00 GMT" }).end()
        })
        expect(yield* hurried(taken(address))).toEqual([good(2, "A", 1)])
        expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(seconds * 1_000)
      }))
  }

  it.effect("that asks for a long pause is not waited for, and the failure says when to come back", () =>
    Effect.gen(function*() {
      const { address, asked } = yield* serving((response) => response.writeHead(429, { "retry-after": "3600" }).end())
      const error = yield* Effect.flip(taken(address))
      expect(error).toMatchObject({
        _tag: "SourceUnreachable",
        message: containing("it responded 429 with Retry-After until 1970-01-01T01:00:00.000Z")
      })
      expect(error).toMatchObject({ retryAt: DateTime.makeUnsafe(3_600_000) })
      expect(asked).toHaveLength(1)
    }))

  it.effect("is opened from time to time", () =>
    Effect.gen(function*() {
      const source = yield* Open.make({ ...options, source: "http://127.0.0.1:1/stock.csv", poll: Duration.minutes(5) })
      const looks = yield* Effect.forkChild(Stream.runCount(Stream.take(source.changes, 3)))
      yield* TestClock.adjust("14 minutes")
      expect(yield* poll(looks)).toEqual(Option.none())
      yield* TestClock.adjust("1 minutes")
      expect(yield* Fiber.join(looks)).toBe(3)
    }).pipe(Effect.provide(NodeServices.layer)))
})
