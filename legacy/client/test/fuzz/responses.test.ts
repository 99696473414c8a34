/**
 * Responses of any form: a defect, a call without an end, or the key in a result is a mistake.
 */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Chat, Media, Plaza, Posts, Profiles, Store } from "@plaza-legacy/client"
import { parseHttpDate, retryAfter } from "@plaza-legacy/domain/ErrorResponse"
import { ConversationId, OrderId, PostId, ProductId } from "@plaza-legacy/domain/Ids"
import * as Fuzz from "@plaza-legacy/testing/Fuzz"
import * as SimulatedTime from "@plaza-legacy/testing/SimulatedTime"
import { Cause, Duration, Effect, Exit, Layer, Logger, LogLevel, Option, Redacted, Schema, Stream } from "effect"
import { expect, it } from "vitest"

const secret = "Zq7Rk2Vw9Xb4Nd6Tf8Gh1Jm3Lp5Sc0Yr7Ue2Ai4o"
const key = `key_${secret}`
const baseUrl = "https://service.test/open/v1"

const calls: ReadonlyArray<Effect.Effect<unknown, unknown, Plaza.Services>> = [
  Effect.flatMap(Profiles, ({ me }) => me),
  Effect.flatMap(Posts, ({ list }) => Stream.runCollect(Stream.take(list(), 50))),
  Effect.flatMap(Posts, ({ create }) => create({ text: "hello" })),
  Effect.flatMap(Posts, ({ comment }) => comment(PostId.make("1"), "hello")),
  Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("p"), 1)),
  Effect.flatMap(Store, ({ ship }) => ship(OrderId.make("o"), { carrier: "c", trackingNumber: "t" })),
  Effect.flatMap(Chat, ({ list }) => Stream.runCollect(Stream.take(list(), 50))),
  Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("c"), "hello")),
  Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a.png", content: Stream.succeed(new Uint8Array(3)) })),
  Plaza.request({ method: "GET", path: "/x", response: Schema.Unknown })
]

const response = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  [
    String(status),
    ...Object.entries({ "content-type": "application/json", ...headers }).map(([name, value]) => `${name}: ${value}`),
    "",
    typeof body === "string" ? body : JSON.stringify(body)
  ].join("\r\n")

const post = { id: "7", text: "hello", createdAt: "2026-01-02T03:04:05.006Z", mediaIds: ["m"] }
const seeds = [
  response(200, { id: "1001", username: "shop", name: "Shop" }),
  response(200, { data: [post, { ...post, id: "8" }], next_cursor: null }),
  response(200, { data: [post], next_cursor: "c1" }),
  response(201, post, { date: "Thu, 01 Oct 2026 12:00:00 GMT" }),
  response(204, ""),
  response(200, { id: "p", stock: 1 }),
  response(429, { error: { code: "RATE_LIMITED", message: "slow down" } }, { "retry-after": "5" }),
  response(503, "<html>busy</html>", { "retry-after": "Thu, 01 Oct 2026 12:00:30 GMT", date: "Thu, 01 Oct 2026 12:00:00 GMT" }),
  response(400, { error: { code: "VALIDATION_ERROR", message: `Authorization: Bearer ${key}`, field: "text" } }),
  response(409, { error: { code: "ALREADY_SHIPPED", message: "shipped", details: { authorization: key } } }, { "x-request-id": "r-1" }),
  response(500, `echo "${key.replace("_", "\\u005f")}" ${encodeURIComponent(key)} ${Buffer.from(key).toString("base64")}`),
  response(400, `{"error":{"code":"VALIDATION_ERROR","message":"no","field":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`),
  response(302, "", { location: `https://elsewhere.test/?key=${key}` })
]

interface Parts {
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array
}

/** The parts of a response, as far as `fetch` permits them. */
const partsOf = (bytes: Uint8Array): Parts => {
  const text = Buffer.from(bytes).toString("latin1")
  const end = text.indexOf("\r\n\r\n")
  const [first = "", ...lines] = text.slice(0, end === -1 ? text.length : end).split("\r\n")
  const headers = new Headers()
  for (const line of lines) {
    const [, name = "", value = ""] = /^([\w-]+): ([\t\x20-\x7e\x80-\xff]*)$/.exec(line) ?? []
    if (name !== "") headers.append(name, value)
  }
  const status = Number.parseInt(first, 10)
  return { status: status >= 200 && status <= 599 ? status : 200, headers, body: end === -1 ? new Uint8Array(0) : bytes.subarray(end + 4) }
}

const withoutBody = new Set([204, 205, 304])

const serviceOf = ({ body, headers, status }: Parts) =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) =>
      Effect.succeed(
        HttpClientResponse.fromWeb(request, new Response(withoutBody.has(status) ? null : Uint8Array.from(body), { status, headers }))
      )
    )
  )

it("ends in a value or a typed error, and shows the key neither there nor in the log", () =>
  Fuzz.run({
    seeds,
    words: [
      key,
      "\"data\":",
      "\"next_cursor\":\"c\"",
      "retry-after: 99999999999\r\n",
      "date: x\r\n",
      "429",
      "503",
      "\"id\":",
      "\"error\":"
    ],
    check: (bytes, choice) => {
      const call = calls[choice % calls.length] ?? Effect.void
      const client = Plaza.layer({ baseUrl, apiKey: Redacted.make(key), timeout: "10 seconds", maxWait: "1 minute" }).pipe(
        Layer.provide(serviceOf(partsOf(bytes)))
      )
      const logged: Array<string> = []
      const logger = Logger.replace(Logger.defaultLogger, Logger.map(Logger.stringLogger, (line) => logged.push(line)))
      return Effect.provide(call, client).pipe(
        SimulatedTime.run,
        Fuzz.outcome,
        // Programs print a failure as JSON. A result may be nested more deeply than `JSON.stringify` allows.
        Effect.tap((exit) => expect(() => JSON.stringify(Exit.isFailure(exit) ? exit : null)).not.toThrow()),
        Effect.map((exit) => expect(`${Fuzz.shown(exit)}${logged.join("\n")}`).not.toContain(secret)),
        Logger.withMinimumLogLevel(LogLevel.All),
        Effect.provide(logger)
      )
    }
  }))

const deep = "[".repeat(100_000) + "]".repeat(100_000)

it.each([
  ["a list", deep],
  ["a field", `{"id":${deep},"mediaId":${deep},"text":${deep}}`],
  ["an item of a list", `{"data":[${deep}],"next_cursor":null}`],
  ["a list in the place of a list of items", `{"data":{"a":${deep}},"next_cursor":${deep}}`],
  ["an unknown field", `{"id":"1","unknown":${deep}}`]
])("a success with %s that is nested very deeply ends in a value or a typed error", async (_, body) => {
  const client = Plaza.layer({ baseUrl, apiKey: Redacted.make(key) }).pipe(
    Layer.provide(serviceOf({ status: 200, headers: new Headers(), body: Buffer.from(body) }))
  )
  for (const call of calls) {
    const exit = await Effect.runPromiseExit(SimulatedTime.run(Effect.provide(call, client)))
    expect(Exit.isSuccess(exit) || Cause.isFailType(exit.cause)).toBe(true)
  }
})

it("a Retry-After and a Date of any form are no wait, or one that is finite and not negative", () =>
  Fuzz.run({
    seeds: ["5", "1.5", "Thu, 01 Oct 2026 12:00:30 GMT", "Thursday, 01-Oct-26 12:00:30 GMT", "Thu Oct  1 12:00:30 2026"],
    words: ["99999999999999999999", "GMT", "275760", " "],
    check: (bytes, choice) =>
      Effect.sync(() => {
        const [header = "", date] = Buffer.from(bytes).toString("latin1").split("\n")
        const wait = Option.getOrElse(Option.map(retryAfter(header, choice, date), Duration.toMillis), () => 0)
        expect(wait).toBeGreaterThanOrEqual(0)
        expect(new Date(choice + wait).getTime()).not.toBeNaN()
        expect(parseHttpDate(header) ?? 0).toSatisfy(Number.isFinite)
      })
  }))
