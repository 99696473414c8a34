import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, type Duration, Effect, Exit, Fiber, Layer, Logger, Metric, Redacted, References, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import { createHmac } from "node:crypto"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import * as Metrics from "../src/observability/Metrics.ts"
import * as Webhook from "../src/observability/Webhook.ts"
import { layer as layerState, type SyncEvent, SyncStatus } from "../src/sync/SyncStatus.ts"
import { failure, id } from "./support/events.ts"
import { utc } from "./support/utc.ts"

const secret = Buffer.from("an example secret of 24 b.")

const Event = Schema.fromJsonString(Schema.Struct({ type: Schema.String, data: Schema.Record(Schema.String, Schema.Unknown) }))

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly event: typeof Event.Type
}

type Answer = (response: ServerResponse, attempt: number) => void

const status = (code: number, headers: Readonly<Record<string, string>> = {}): Answer => (response) =>
  void response.writeHead(code, headers).end()

/** A receiver on a socket; what it is sent stands in the array. */
const receiver = (answer: Answer) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: URL; readonly received: Array<Received>; readonly close: () => void }>((resume) => {
      const received: Array<Received> = []
      const server = createServer((request, response) => {
        let body = ""
        request.setEncoding("utf8").on("data", (text: string) => (body += text)).on("end", () => {
          received.push({ headers: request.headers, body, event: Schema.decodeSync(Event)(body) })
          answer(response, received.length)
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({
          url: new URL(`http://127.0.0.1:${port}/hook?token=t0ken`),
          received,
          close: () => {
            server.closeAllConnections()
            server.close()
          }
        }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** Lets sockets do their work, which no virtual clock does. */
const io = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Moves the virtual time on in steps until something is so. The time limit of the test ends a wait for what never comes. */
const until = (isSo: () => boolean, step: Duration.Input = "100 millis"): Effect.Effect<void> =>
  Effect.suspend(() =>
    isSo() ? Effect.void : Effect.andThen(Effect.replicateEffect(io, 20), Effect.andThen(TestClock.adjust(step), until(isSo, step)))
  )

const publish = (event: SyncEvent) => Effect.flatMap(SyncStatus, (state) => state.publish(event))

const paused = publish({ _tag: "AccountChanged", account: { _tag: "Paused", since: utc(0), failure: failure(), nextProbe: utc(1) } })
const running = publish({ _tag: "AccountChanged", account: { _tag: "Running", since: utc(0) } })
const quarantined = (product: string) =>
  publish({
    _tag: "Sent",
    productId: id(product),
    priority: "rest",
    wasQuarantined: false,
    wasUncertain: false,
    since: utc(0),
    value: 3,
    outcome: "quarantined",
    failure: failure({ code: "NOT_FOUND" })
  })

const outcome = (name: Metrics.WebhookOutcome) => Effect.map(Metric.value(Metrics.webhook(name)), ({ count }) => count)

/** A worker's state with a webhook to a receiver. The scope that it lives in is closed by `stop`, or at the end. */
const hooked = <A, E>(
  answer: Answer,
  test: (
    receiver: {
      readonly received: Array<Received>
      readonly stop: Effect.Effect<void>
      readonly lines: Array<string>
      readonly close: () => void
    }
  ) => Effect.Effect<A, E, SyncStatus>
) =>
  Effect.scoped(Effect.gen(function*() {
    const lines: Array<string> = []
    const { close, received, url } = yield* receiver(answer)
    const scope = yield* Scope.make()
    const stop = Scope.close(scope, Exit.void)
    yield* Effect.addFinalizer(() =>
      Effect.gen(function*() {
        let stopped = false
        yield* Effect.forkChild(Effect.andThen(stop, Effect.sync(() => (stopped = true))))
        yield* until(() => stopped)
      })
    )
    const context = yield* Webhook.layer({ url: Redacted.make(url), secret: Redacted.make(secret) }).pipe(
      Layer.provide(NodeHttpClient.layerUndici),
      Layer.provideMerge(layerState),
      Layer.provideMerge(Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))])),
      Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "Info")),
      Layer.buildWithScope(scope)
    )
    const result = yield* Effect.provide(test({ received, stop, lines, close }), context)
    expect(lines.filter((line) => line.includes("t0ken"))).toEqual([])
    return result
  }))

const typesIn = (received: ReadonlyArray<Received>) => received.map(({ event }) => event.type)

describe("the webhook", () => {
  it.effect("posts an event with a signature that the receiver can verify", () =>
    hooked(status(204), ({ received }) =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1_700_000_000_000)
        yield* publish({
          _tag: "AccountBound",
          owner: { baseUrl: "https://shop.example/open/v1", id: "acc_1", keyFingerprint: "f1ngerprint" }
        })
        yield* paused
        yield* until(() => received.length === 1)
        const body = received[0]?.body ?? ""
        const headers: IncomingHttpHeaders = received[0]?.headers ?? {}
        expect(JSON.parse(body)).toEqual({
          type: "account.paused",
          timestamp: "2023-11-14T22:13:20.000Z",
          data: {
            account: { baseUrl: "https://shop.example/open/v1", id: "acc_1" },
            code: "INVALID_API_KEY",
            message: "the key is revoked"
          }
        })
        expect(headers["content-type"]).toBe("application/json")
        expect(headers["user-agent"]).toMatch(/^plaza-stock-sync\//)
        expect(headers["webhook-id"]).toMatch(/^msg_[0-9a-f]{32}$/)
        expect(Number(headers["webhook-timestamp"])).toBeGreaterThanOrEqual(1_700_000_000)
        const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`
        expect(headers["webhook-signature"]).toBe(`v1,${createHmac("sha256", secret).update(signed).digest("base64")}`)
        expect(headers["traceparent"]).toBeUndefined()
        expect(headers["b3"]).toBeUndefined()
      })))

  it("signs as the specification's own example", () => {
    const body = "{\"test\": 2432232314}"
    expect(Webhook.signature(Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64"), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body))
      .toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  })

  it.effect("repeats a failed delivery with the same id before the next one", () =>
    hooked((response, attempt) => status(attempt <= 2 ? 500 : 200)(response, attempt), ({ lines, received }) =>
      Effect.gen(function*() {
        yield* paused
        yield* running
        yield* until(() => received.length === 4)
        expect(typesIn(received)).toEqual(["account.paused", "account.paused", "account.paused", "account.healed"])
        expect(new Set(received.slice(0, 3).map(({ headers }) => headers["webhook-id"])).size).toBe(1)
        expect(received[3]?.headers["webhook-id"]).not.toBe(received[0]?.headers["webhook-id"])
        yield* until(() => lines.length === 2)
        expect(lines[0]).toMatch(/level=WARN .*message=webhook\.failing .*reason="status 500"/)
        expect(lines[1]).toMatch(/level=INFO .*message=webhook\.delivered /)
      })))

  it.effect("ends an attempt that gets no response, and tries again", () =>
    hooked((response, attempt) => attempt === 1 ? undefined : status(200)(response, attempt), ({ lines, received }) =>
      Effect.gen(function*() {
        yield* paused
        yield* until(() =>
          received.length === 1
        )
        yield* TestClock.adjust("8 seconds")
        expect(received).toHaveLength(1)
        yield* until(() => received.length === 2)
        expect(lines[0]).toContain("no response within 10s")
      })))

  it.effect("gives up after a quarter of an hour without a receiver, and goes on with the next event", () =>
    hooked(status(500), ({ lines, received }) =>
      Effect.gen(function*() {
        const before = yield* outcome("failed")
        yield* paused
        yield* until(() => lines.some((line) => line.includes("webhook.failed")), "5 seconds")
        expect(lines.filter((line) => line.includes("webhook.failing"))).toHaveLength(1)
        expect(yield* outcome("failed")).toBe(before + 1)
        expect(received.length).toBeGreaterThan(10)
        yield* running
        yield* until(() => typesIn(received).includes("account.healed"))
      })))

  it.effect("reports a receiver that can't be reached without its address", () =>
    hooked(status(200), ({ close, lines }) =>
      Effect.gen(function*() {
        close()
        yield* paused
        yield* until(() => lines.length === 1)
        expect(lines[0]).toMatch(/message=webhook\.failing .*reason="Transport \(ECONNREFUSED\)"/)
      })))

  it.effect("follows no redirect", () =>
    hooked(status(307, { location: "/elsewhere" }), ({ lines, received }) =>
      Effect.gen(function*() {
        yield* paused
        yield* until(() => lines.length === 1)
        expect(lines[0]).toContain("status 307")
        expect(received).toHaveLength(1)
      })))

  it.effect("reads no more of a response than it must", () => {
    const pour = (response: ServerResponse): void => {
      if (response.destroyed) return
      if (response.write("x".repeat(65_536))) setImmediate(pour, response)
      else response.once("drain", () => pour(response))
    }
    return hooked((response) => pour(response.writeHead(200)), ({ received }) =>
      Effect.gen(function*() {
        const before = yield* outcome("delivered")
        yield* paused
        yield* running
        yield* until(() => received.length === 2)
        expect(yield* outcome("delivered")).toBeGreaterThan(before)
      }))
  })

  it.effect("names products that are quarantined together in one delivery", () =>
    hooked(status(200), ({ received }) =>
      Effect.gen(function*() {
        for (let index = 0; index < 120; index++) yield* quarantined(`P${index}`)
        yield* until(() => received.length === 1)
        expect(received[0]?.event.data).toMatchObject({ products: { length: 50 }, more: 70 })
        yield* TestClock.adjust("1 minute")
        yield* Effect.replicateEffect(io, 20)
        expect(received).toHaveLength(1)
      })))

  it.effect("drops and counts the oldest events while the receiver is away, and never holds up who reports them", () =>
    hooked(() => undefined, ({ received }) =>
      Effect.gen(function*() {
        const before = yield* outcome("dropped")
        yield* paused
        yield* until(() => received.length === 1)
        for (let index = 0; index < 75; index++) yield* Effect.andThen(running, paused)
        yield* TestClock.adjust("1 millis")
        // One is on its way, and a hundred wait.
        expect(yield* outcome("dropped")).toBe(before + 50)
      })))

  it.effect("delivers what waits when the worker stops", () =>
    hooked(status(200), ({ received, stop }) =>
      Effect.gen(function*() {
        yield* paused
        yield* quarantined("A")
        yield* running
        const stopping = yield* Effect.forkChild(stop)
        yield* until(() => received.length === 3)
        yield* Fiber.join(stopping)
        expect(typesIn(received)).toEqual(["account.paused", "product.quarantined", "account.healed"])
      })))

  it.effect("delivers what waits when the worker is interrupted", () =>
    Effect.scoped(Effect.gen(function*() {
      const { received, url } = yield* receiver(status(200))
      const reported = yield* Deferred.make<void>()
      const work = Effect.andThen(Effect.all([paused, running, Deferred.succeed(reported, undefined)]), Effect.never).pipe(
        Effect.provide(Layer.provideMerge(
          Layer.provide(Webhook.layer({ url: Redacted.make(url), secret: Redacted.make(secret) }), NodeHttpClient.layerUndici),
          layerState
        ))
      )
      const worker = yield* Effect.forkChild(work)
      yield* Deferred.await(reported)
      yield* Effect.forkChild(Fiber.interrupt(worker), { startImmediately: true })
      yield* until(() => received.length === 2)
      expect(typesIn(received)).toEqual(["account.paused", "account.healed"])
    })))

  it.effect("holds a stop up for no more than five seconds, and counts what it could not deliver", () =>
    hooked(() => undefined, ({ lines, received, stop }) =>
      Effect.gen(function*() {
        const before = yield* outcome("failed")
        yield* paused
        yield* running
        yield* until(() => received.length === 1)
        const stopping = yield* Effect.forkChild(stop)
        yield* until(() => received.length === 2)
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(stopping)
        expect(yield* outcome("failed")).toBe(before + 2)
        expect(lines.at(-1)).toMatch(/message=webhook\.undelivered deliveries=2/)
      })))
})
