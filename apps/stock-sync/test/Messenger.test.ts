/** Messages to a chat on a socket: what arrives, what is tried again, and what a worker never waits for. */
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Logger, Metric, Option, Redacted, References, Schema, Scope } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import * as CurrentLedger from "../src/ledger/CurrentLedger.ts"
import * as Open from "../src/ledger/Open.ts"
import * as Messenger from "../src/observability/Messenger.ts"
import * as Metrics from "../src/observability/Metrics.ts"
import * as Notify from "../src/observability/Notify.ts"
import { layer as layerState, type SyncEvent } from "../src/sync/SyncStatus.ts"
import { failure } from "./support/events.ts"
import { freshFile } from "./support/ledger/places.ts"
import { options as ledgerOptions } from "./support/ledger/using.ts"
import * as Support from "./support/statusSampler.ts"
import { utc } from "./support/utc.ts"

const { happens, ledgerOpens, received: receives, sent } = Support

const Body = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly fields: ReadonlyArray<string>
}

type Answer = (response: ServerResponse, attempt: number) => void

const status = (code: number, headers: Readonly<Record<string, string>> = {}): Answer => (response) =>
  void response.writeHead(code, headers).end()

/** A chat on a socket. */
const chat = (answer: Answer) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: URL; readonly received: Array<Received>; readonly close: () => void }>((resume) => {
      const received: Array<Received> = []
      const server = createServer((request, response) => {
        let body = ""
        request.setEncoding("utf8").on("data", (text: string) => (body += text)).on("end", () => {
          const fields = Schema.decodeSync(Body)(body)
          received.push({ headers: request.headers, text: fields["text"] ?? "", fields: Object.keys(fields) })
          answer(response, received.length)
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({
          url: new URL(`http://127.0.0.1:${port}/T1/t0ken`),
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
const io = Effect.replicateEffect(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))), 20)

/** Moves the virtual time on in steps until something is so. The time limit of the test ends a wait for what never comes. */
const until = (isSo: () => boolean, step: Duration.Input = "5 seconds"): Effect.Effect<void> =>
  Effect.suspend(() => isSo() ? Effect.void : Effect.andThen(io, Effect.andThen(TestClock.adjust(step), until(isSo, step))))

/** Moves the virtual time on, with time for sockets every few seconds. */
const pass = (time: Duration.Input, step: Duration.Input = "5 seconds") =>
  Effect.replicateEffect(Effect.andThen(io, TestClock.adjust(step)), Math.ceil(Duration.toMillis(time) / Duration.toMillis(step)))

const paused = happens({ _tag: "AccountChanged", account: { _tag: "Paused", since: utc(0), failure: failure(), nextProbe: utc(1) } })
const running = happens({ _tag: "AccountChanged", account: { _tag: "Running", since: utc(0) } })
const unchanged: SyncEvent = { _tag: "SourceUnchanged" }

const outcome = (name: "delivered" | "failed") => Effect.map(Metric.value(Metrics.messages(name)), ({ count }) => count)

/** A worker's state and ledger with a chat, until `stop` or the end. */
const chatting = <A, E>(
  answer: Answer,
  test: (
    chat: {
      readonly received: Array<Received>
      readonly stop: Effect.Effect<void>
      readonly lines: Array<string>
      readonly close: () => void
    }
  ) => Effect.Effect<A, E, Layer.Success<ReturnType<typeof layer>>>
) =>
  Effect.scoped(Effect.gen(function*() {
    const lines: Array<string> = []
    const { close, received, url } = yield* chat(answer)
    const scope = yield* Scope.make()
    const stop = Scope.close(scope, Exit.void)
    yield* Effect.addFinalizer(() => stop)
    const context = yield* Layer.buildWithScope(layer(url, yield* freshFile, lines), scope)
    const result = yield* Effect.provide(test({ received, stop, lines, close }), context)
    expect(lines.filter((line) => line.includes("t0ken"))).toEqual([])
    return result
  }))

const layer = (url: URL, path: string, lines: Array<string>) =>
  Notify.layer({ url: Redacted.make(url) }, undefined).pipe(
    Layer.provide(NodeHttpClient.layerUndici),
    Layer.provideMerge(Layer.merge(layerState, CurrentLedger.layer)),
    Layer.provideMerge(Layer.provide(Open.layer(path, ledgerOptions), NodeServices.layer)),
    Layer.provideMerge(Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))])),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "Info"))
  )

describe("a chat", () => {
  it.effect("gets one message when the account is paused, and one when that is over, in the format of Slack and nothing else", () =>
    chatting(status(200), ({ received }) =>
      Effect.gen(function*() {
        yield* ledgerOpens
        yield* running
        yield* paused
        yield* pass("45 seconds")
        expect(received).toEqual([])
        yield* until(() => received.length === 1)
        expect(received[0]).toMatchObject({
          fields: ["text"],
          headers: { "content-type": "application/json" }
        })
        expect(received[0]?.headers["user-agent"]).toMatch(/^plaza-stock-sync\//)
        expect(received[0]?.text).toMatch(/^\S+ledger\.sqlite: Nothing is sent: the account is paused\. .*INVALID_API_KEY.* \(for 1 min\)$/)
        expect(received[0]?.headers["traceparent"]).toBeUndefined()
        yield* pass("30 minutes", "15 seconds")
        expect(received).toHaveLength(1)
        yield* running
        yield* until(() => received.length === 2)
        expect(received[1]?.text).toMatch(/^\S+ledger\.sqlite: Over after 31 min[ 0-9s]*: the service refused all requests\.$/)
      })))

  it.effect("gets one message for all products that are refused, from the ledger, and another one for further ones after an hour", () =>
    chatting(status(200), ({ received }) =>
      Effect.gen(function*() {
        yield* ledgerOpens
        yield* running
        yield* receives({ A: 1, B: 2, "<!channel>": 3, D: 4 })
        for (let count = 0; count < 3; count++) yield* sent("quarantined")
        yield* until(() => received.length === 1, "15 seconds")
        const [first = "", ...lines] = received[0]?.text.split("\n") ?? []
        expect(first).toMatch(/^\S+ledger\.sqlite: 3 products need you:$/)
        expect(lines).toHaveLength(3)
        expect(received[0]?.text).toContain("• &lt;!channel&gt;: NOT_FOUND: no such product.")
        expect(received[0]?.text).toContain("run `plaza-stock-sync retry A`.")
        yield* sent("quarantined")
        yield* pass("50 minutes", "15 seconds")
        expect(received).toHaveLength(1)
        yield* until(() => received.length === 2, "15 seconds")
        expect(received[1]?.text).toMatch(/ledger\.sqlite: 4 products need you:\n/)
      })))

  it.effect("that is away delays neither the worker nor its stop", () =>
    chatting(() => undefined, ({ received, stop }) =>
      Effect.gen(function*() {
        yield* ledgerOpens
        yield* paused
        yield* until(() => received.length === 1)
        // The request has no response. Time stands still.
        yield* Effect.replicateEffect(happens(unchanged), 100)
        yield* stop
      })))

  it.effect("that fails is tried a bounded number of times, and again after a pause while the problem lasts", () =>
    chatting(status(500), ({ lines, received }) =>
      Effect.gen(function*() {
        const before = yield* outcome("failed")
        yield* ledgerOpens
        yield* paused
        yield* until(() => lines.some((line) => line.includes("notify.failed")))
        expect(received).toHaveLength(3)
        expect(lines.filter((line) => line.includes("notify.failing"))).toHaveLength(1)
        expect(lines[0]).toMatch(/level=WARN .*message=notify\.failing reason="status 500"/)
        expect(yield* outcome("failed")).toBe(before + 1)
        yield* pass("14 minutes", "15 seconds")
        expect(received).toHaveLength(3)
        yield* until(() => received.length === 4)
      })))

  it.effect("that refuses a message, or redirects it, is not asked again at once", () =>
    chatting(
      (response, attempt) => (attempt === 1 ? status(404) : status(307, { location: "/elsewhere" }))(response, attempt),
      ({ lines, received }) =>
        Effect.gen(function*() {
          yield* ledgerOpens
          yield* paused
          yield* until(() => lines.some((line) => line.includes("notify.failed")))
          yield* pass("10 minutes", "15 seconds")
          expect(received).toHaveLength(1)
          yield* until(() => lines.filter((line) => line.includes("notify.failed")).length === 2)
          expect(received).toHaveLength(2)
          expect(lines.at(-1)).toContain("reason=\"status 307\"")
        })
    ))

  it.effect("that asks to wait is not asked before that", () =>
    chatting((response, attempt) => status(attempt === 1 ? 429 : 200, { "retry-after": "300" })(response, attempt), ({ received }) =>
      Effect.gen(function*() {
        yield* ledgerOpens
        yield* paused
        yield* until(() =>
          received.length === 1
        )
        yield* pass("290 seconds", "10 seconds")
        expect(received).toHaveLength(1)
        yield* until(() => received.length === 2)
        expect(received[1]?.text).toBe(received[0]?.text)
      })))

  it.effect("that asks to wait for hours gets what is still true after that", () =>
    chatting((response, attempt) => status(attempt === 1 ? 429 : 200, { "retry-after": "7200" })(response, attempt), ({ received }) =>
      Effect.gen(function*() {
        yield* ledgerOpens
        yield* paused
        yield* until(() =>
          received.length === 1
        )
        yield* pass("119 minutes", "30 seconds")
        expect(received).toHaveLength(1)
        yield* until(() => received.length === 2)
        expect(received[1]?.text).toContain("(for 2 h")
      })))

  it.effect("that can't be reached is reported without its address", () =>
    chatting(status(200), ({ close, lines }) =>
      Effect.gen(function*() {
        close()
        yield* ledgerOpens
        yield* paused
        yield* until(() => lines.length === 1)
        expect(lines[0]).toMatch(/message=notify\.failing reason="Transport \(ECONNREFUSED\)"/)
      })))

  it.effect("gets at most six messages an hour, also if it shows those whose requests it does not respond to",
    () =>
      chatting(() => undefined, ({ received }) =>
        Effect.gen(function*() {
          yield* ledgerOpens
          const at: Array<number> = []
          for (let minutes = 0; minutes < 240; minutes++) {
            yield* minutes % 14 < 7 ? paused : running
            yield* happens(minutes % 60 < 30 ? { _tag: "SourceFailed", failure: failure({ about: "source", message: "none" }) } : unchanged)
            yield* pass("1 minute", "15 seconds")
            while (at.length < received.length) at.push(minutes)
          }
          expect(at.length).toBeGreaterThan(6)
          // As far as the steps of the test tell the time.
          for (const first of at) expect(at.filter((each) => each >= first && each - first < 59).length).toBeLessThanOrEqual(6)
        })), 60_000)
})

/** Processes that follow each other, with one ledger in a file and one chat. */
const inTurn = <A, E, R>(
  answer: Answer,
  test: (
    received: ReadonlyArray<Received>,
    process: <B, E2>(use: Effect.Effect<B, E2, Layer.Success<ReturnType<typeof layer>>>) => Effect.Effect<B, unknown>
  ) => Effect.Effect<A, E, R>
) =>
  Effect.scoped(Effect.gen(function*() {
    const { received, url } = yield* chat(answer)
    const path = yield* freshFile
    // Its end does not wait for messages.
    return yield* test(received, (use) => Effect.provide(Effect.tap(use, io), Layer.fresh(layer(url, path, []))))
  }))

const hundred = (stock: number) => Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`P${index}`, stock]))

const reads = (...rows: Parameters<typeof receives>) => Effect.andThen(Effect.andThen(ledgerOpens, running), receives(...rows))

describe("a process that is started again", () => {
  it.effect("does not repeat what lasts before a day has passed", () =>
    inTurn(status(200), (received, process) =>
      Effect.gen(function*() {
        yield* process(Effect.gen(function*() {
          yield* ledgerOpens
          yield* paused
          yield* until(() => received.length === 1)
        }))
        for (let start = 0; start < 10; start++) {
          yield* process(Effect.gen(function*() {
            yield* ledgerOpens
            yield* paused
            yield* pass("10 minutes", "15 seconds")
          }))
        }
        expect(received).toHaveLength(1)
        yield* process(Effect.gen(function*() {
          yield* ledgerOpens
          yield* paused
          yield* TestClock.adjust("22 hours")
          yield* until(() => received.length === 2, "15 seconds")
          expect(received[1]?.text).toMatch(/the account is paused\. .* \(still, after 1 d/)
        }))
      })), 60_000)

  it.effect("announces the end of what ended while none was there, once the source is read and the account known",
    () =>
      inTurn(status(200), (received, process) =>
        Effect.gen(function*() {
          yield* process(Effect.gen(function*() {
            yield* ledgerOpens
            yield* running
            yield* receives(hundred(5))
            yield* Support.heldInLedger(Object.keys(hundred(0)))
            yield* until(() => received.length === 1, "15 seconds")
            expect(received[0]?.text).toMatch(/Snapshot \d+ of the source is held/)
          }))
          yield* TestClock.adjust("5 hours")
          yield* process(Effect.gen(function*() {
            yield* ledgerOpens
            yield* running
            yield* pass("14 minutes", "15 seconds")
            expect(received).toHaveLength(1)
            yield* receives(hundred(6))
            yield* until(() => received.length === 2, "15 seconds")
            expect(received[1]?.text).toMatch(/Over after 5 h \d+ min: a snapshot was held\.$/)
          }))
          // Only once.
          yield* process(Effect.gen(function*() {
            yield* reads(hundred(6))
            yield* pass("20 minutes", "15 seconds")
          }))
          expect(received).toHaveLength(2)
        })), 60_000)

  it.effect("again and again, before it knows whether its message has arrived, writes at most six an hour",
    () =>
      inTurn(() => undefined, (received, process) =>
        Effect.gen(function*() {
          const at: Array<number> = []
          for (let start = 0; start < 90; start++) {
            yield* process(Effect.gen(function*() {
              yield* ledgerOpens
              yield* paused
              yield* pass("80 seconds", "10 seconds")
            }))
            while (at.length < received.length) at.push(start * 80)
          }
          expect(at.length).toBeGreaterThan(6)
          // As far as the steps of the test tell the time.
          for (const first of at) expect(at.filter((each) => each >= first && each - first < 3_500).length).toBeLessThanOrEqual(6)
        })), 60_000)
})

describe("rejected rows", () => {
  const rows = { A: 1, B: 2, C: 3 }

  it.effect("are one message an hour after they came, with the first of them, and none for other ones until a day later",
    () =>
      inTurn(status(200), (received, process) =>
        Effect.gen(function*() {
          yield* process(Effect.gen(function*() {
            yield* reads(rows, ["there is no <id>"])
            yield* pass("59 minutes", "15 seconds")
            expect(received).toEqual([])
            yield* until(() => received.length === 1, "15 seconds")
            expect(received[0]?.text).toMatch(/^\S+ledger\.sqlite: 1 row of the source is rejected:\n• line 5: there is no &lt;id&gt;\n/)
            expect(received[0]?.text).toContain("\nCorrect the source. It is read again without a restart. (for 1 h")
            yield* receives(rows, ["no id", "no id"])
            yield* pass("2 hours", "15 seconds")
            expect(received).toHaveLength(1)
          }))
          yield* process(Effect.gen(function*() {
            yield* reads(rows, ["no id", "no id"])
            yield* TestClock.adjust("20 hours")
            yield* until(() => received.length === 2, "15 seconds")
            expect(received[1]?.text).toMatch(/ 2 rows of the source are rejected:\n/)
            yield* receives(rows)
            for (let hour = 0; hour < 48; hour++) yield* Effect.andThen(TestClock.adjust("1 hour"), io)
            expect(received).toHaveLength(2)
          }))
        })), 60_000)
})

describe("a defect while problems are looked for", () => {
  it.effect("is logged, and the next turn looks again", () =>
    Effect.scoped(Effect.gen(function*() {
      let turns = 0
      const nothing: Messenger.Found = { _tag: "Known", problems: [], unknown: new Set() }
      const find = Effect.suspend(() => ++turns === 1 ? Effect.die(new Error("a defect")) : Effect.succeed(nothing))
      const store = { read: Effect.succeedNone, write: () => Effect.void }
      yield* Effect.provide(Messenger.run({ url: Redacted.make(new URL("http://127.0.0.1:9/")) }, "status", find, store),
        NodeHttpClient.layerUndici)
      yield* TestClock.adjust("20 seconds")
      expect(turns).toBe(2)
    })))
})

/** A chat and a store in memory, and processes that share them. */
const inMemory = () => {
  const received: Array<string> = []
  const stored: { text: string | undefined; isAway: boolean; losesResponse: boolean } = {
    text: undefined,
    isAway: false,
    losesResponse: false
  }
  const client = HttpClient.make((request) =>
    Effect.sync(() => {
      received.push(request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : "")
      return HttpClientResponse.fromWeb(request, new Response(null, { status: 200 }))
    })
  )
  const store: Messenger.Store<"away", never> = {
    read: Effect.suspend(() => stored.isAway ? Effect.fail("away") : Effect.succeed(Option.fromUndefinedOr(stored.text))),
    write: (text) =>
      Effect.suspend(() => {
        if (stored.isAway) return Effect.fail("away")
        stored.text = text
        return stored.losesResponse ? Effect.fail("away") : Effect.void
      })
  }
  const process = (found: () => Messenger.Found) =>
    Messenger.run({ url: Redacted.make(new URL("https://chat.example/")) }, "status", Effect.sync(found), store).pipe(
      Effect.provideService(HttpClient.HttpClient, client)
    )
  return { received, stored, process }
}

const elsewhere = { _tag: "Elsewhere" } as const
const wrong = (...keys: ReadonlyArray<string>): Messenger.Found => ({
  _tag: "Known",
  problems: keys.map((key) => ({
    key,
    kind: "paused",
    account: key,
    name: "refused",
    text: `${key} is refused.`,
    delay: Duration.zero
  })),
  unknown: new Set()
})

const minutes = (count: number) => Effect.replicateEffect(TestClock.adjust("15 seconds"), count * 4)

describe("two processes that share what was announced", () => {
  it.effect("are one to the chat, also if both write for a while and neither notices", () =>
    Effect.scoped(Effect.gen(function*() {
      const { process, received } = inMemory()
      let one = wrong("A")
      let two: Messenger.Found = elsewhere
      yield* process(() => one)
      yield* process(() => two)
      yield* minutes(1)
      two = wrong("A", "B")
      yield* minutes(2)
      one = wrong("A", "B", "C")
      yield* minutes(2)
      two = elsewhere
      one = wrong()
      yield* minutes(7)
      expect(received.slice(0, 3)).toEqual([
        expect.stringContaining("\"A: A is refused."),
        expect.stringContaining("\"B: B is refused."),
        expect.stringContaining("\"C: C is refused.")
      ])
      expect(received).toHaveLength(4)
      expect(received.at(-1)).toMatch(/A: Over.*B: Over.*C: Over/)
    })))

  it.effect("pass on what one of them announced while nothing could be stored", () =>
    Effect.scoped(Effect.gen(function*() {
      const { process, received, stored } = inMemory()
      let one = wrong("A")
      let two: Messenger.Found = elsewhere
      yield* process(() => one)
      yield* process(() => two)
      stored.isAway = true
      yield* minutes(2)
      expect(received).toEqual([expect.stringContaining("A is refused.")])
      stored.isAway = false
      one = elsewhere
      two = wrong()
      yield* minutes(8)
      expect(received.slice(1)).toEqual([expect.stringContaining("A: Over after")])
    })))

  it.effect("count a message once, also if the response about what was stored is lost", () =>
    Effect.scoped(Effect.gen(function*() {
      const { process, received, stored } = inMemory()
      const keys: Array<string> = []
      yield* process(() => wrong(...keys))
      stored.losesResponse = true
      for (let key = 0; key < 8; key++) {
        keys.push(`P${key}`)
        yield* minutes(2)
      }
      expect(received).toHaveLength(6)
      yield* minutes(42)
      expect(received).toHaveLength(6)
      yield* minutes(4)
      expect(received).toHaveLength(7)
    })))
})
