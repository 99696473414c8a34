/**
 * The sandbox inside another program: neither may affect the other.
 */
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import {
  Cause,
  Context,
  DateTime,
  Deferred,
  Effect,
  Exit,
  Fiber,
  HashMap,
  Layer,
  Logger,
  LogLevel,
  Option,
  Redacted,
  Schedule,
  Schema,
  Scope,
  Stream,
  Tracer
} from "effect"
import { createServer } from "node:http"
import { connect } from "node:net"
import * as Envelope from "../src/http/Envelope.ts"
import * as Failures from "../src/http/Failures.ts"
import { call, control, field, layerInProcess, layerSocket, refusal } from "./support.ts"

describe("in process", () => {
  it.effect("concurrent requests each get their own response, and writes run one after the other", () =>
    Effect.gen(function*() {
      const replies = yield* Effect.all(
        Array.from({ length: 50 }, (_, index) => call("POST", "/posts", { json: { text: `p${index}` } })),
        { concurrency: "unbounded" }
      )
      assert.isTrue(replies.every(({ status }) => status === 200))
      const { posts } = yield* (yield* Sandbox.Sandbox).state
      assert.strictEqual(new Set(posts.map(({ id }) => id)).size, 38 - 1 + 50)
      assert.strictEqual(posts.length, 37 + 50)
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("a write whose body does not arrive ends when its caller is interrupted, and has no effect", () =>
    Effect.gen(function*() {
      const { apiKey, baseUrl, state } = yield* Sandbox.Sandbox
      const client = yield* HttpClient.HttpClient
      const before = yield* state
      const isRead = yield* Deferred.make<void>()
      const half = Stream.onStart(Stream.make(Buffer.from("{\"text\":")), Deferred.succeed(isRead, undefined))
      const writing = yield* Effect.fork(client.execute(
        HttpClientRequest.post(`${baseUrl}/posts`).pipe(
          HttpClientRequest.bearerToken(Redacted.value(apiKey)),
          HttpClientRequest.bodyStream(Stream.concat(half, Stream.never), { contentType: "application/json" })
        )
      ))
      yield* Deferred.await(isRead)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(writing)))
      assert.deepStrictEqual((yield* state).posts, before.posts)
      const { json } = yield* control("GET", "/requests")
      const { data } = Schema.decodeUnknownSync(Schema.Struct({ data: Schema.Array(Schema.Struct({ delivered: Schema.String })) }))(json)
      assert.strictEqual(data.at(-1)?.delivered, "abandoned")
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("the caller's spans and logs contain nothing of the sandbox, and no key", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const logger = Logger.make(({ annotations, cause, message }) => {
        seen.push(String(message), Cause.pretty(cause), JSON.stringify(HashMap.toEntries(annotations)))
      })
      const spans: Array<string> = []
      const tracer = Tracer.make({
        context: (evaluate) => evaluate(),
        span: (name, parent, context, links, startTime, kind) => {
          spans.push(name)
          const attributes = new Map<string, unknown>()
          return {
            _tag: "Span",
            name,
            parent,
            context,
            kind,
            attributes,
            links,
            sampled: true,
            spanId: "a",
            traceId: "b",
            status: { _tag: "Started", startTime },
            attribute: (key, value) => {
              seen.push(`${key}=${String(value)}`)
            },
            addLinks: () => {},
            end: () => {},
            event: () => {}
          }
        }
      })
      const sandbox = yield* Sandbox.Sandbox
      yield* call("POST", "/posts", { json: { text: "a" } }).pipe(
        Effect.zipRight(call("GET", "/users/nobody")),
        Effect.withTracer(tracer),
        Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
        Logger.withMinimumLogLevel(LogLevel.All)
      )
      assert.deepStrictEqual([...new Set(spans)], ["http.client POST", "http.client GET"])
      assert.notInclude(seen.join("\n"), Redacted.value(sandbox.apiKey))
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("two sandboxes are independent of each other", () =>
    Effect.gen(function*() {
      const inner = Effect.map(call("POST", "/posts", { json: { text: "only here" } }), ({ status }) => status)
      assert.strictEqual(yield* Effect.provide(inner, layerInProcess({ seed: 2 })), 200)
      const { posts } = yield* (yield* Sandbox.Sandbox).state
      assert.strictEqual(posts.filter(({ text }) => text === "only here").length, 0)
    }).pipe(Effect.provide(layerInProcess())))

  it.scoped("sandboxes share their routes and nothing else", () =>
    Effect.gen(function*() {
      const year = (number: number) => DateTime.unsafeMake(`${number}-01-01T00:00:00Z`)
      const one = yield* Layer.build(layerInProcess({ seed: 1, freezeClock: year(2001) }))
      const two = yield* Layer.build(layerInProcess({ seed: 2, freezeClock: year(2002), assumptions: { maxTextLength: 5 } }))
      const ofOne = Context.get(one, Sandbox.Sandbox)
      const ofTwo = Context.get(two, Sandbox.Sandbox)
      const write = (text: string) => call("POST", "/posts", { json: { text } })

      const first = yield* Effect.provide(write("a"), one)
      const second = yield* Effect.provide(write("b"), two)
      assert.deepStrictEqual([field(first, "createdAt"), field(second, "createdAt")], [
        "2001-01-01T00:00:00.000Z",
        "2002-01-01T00:00:00.000Z"
      ])
      // Each counts its own posts.
      assert.strictEqual(field(first, "id"), field(second, "id"))
      assert.strictEqual((yield* Effect.provide(write("too long for two"), one)).status, 200)
      assert.strictEqual(refusal(yield* Effect.provide(write("too long for two"), two)), "400 VALIDATION_ERROR text")
      assert.strictEqual(refusal(yield* Effect.provide(call("GET", "/me", { key: ofOne.apiKey }), two)), "401 INVALID_API_KEY")

      yield* ofOne.addFault({ kind: "status", when: "before", status: 503 })
      yield* ofOne.advanceClock("1 day")
      yield* ofOne.setLatitude({ createStatus: 201 })
      assert.strictEqual((yield* Effect.provide(write("c"), two)).status, 200)
      assert.strictEqual((yield* Effect.provide(write("c"), one)).status, 503)
      assert.strictEqual((yield* Effect.provide(write("c"), one)).status, 201)
      const seedOf = Effect.map(control("GET", "/health"), (reply) => field(reply, "seed"))
      assert.deepStrictEqual([yield* Effect.provide(seedOf, one), yield* Effect.provide(seedOf, two)], [1, 2])

      yield* ofOne.reset
      const texts = Effect.map(Effect.all([ofOne.state, ofTwo.state]),
        (states) => states.map(({ posts }) => posts.slice(37).map(({ text }) => text)))
      assert.deepStrictEqual(yield* texts, [[], ["b", "c"]])
      assert.deepStrictEqual((yield* Effect.all([ofOne.clock, ofTwo.clock])).map(({ now }) => DateTime.formatIso(now)), [
        "2001-01-01T00:00:00.000Z",
        "2002-01-01T00:00:00.000Z"
      ])
      assert.deepStrictEqual([yield* ofOne.countRequests(), yield* ofTwo.countRequests()], [0, 4])
      const products = Effect.map(Effect.all([ofOne.state, ofTwo.state]), ([a, b]) => [a.products, b.products])
      const [productsOfOne, productsOfTwo] = yield* products
      assert.notDeepEqual(productsOfOne, productsOfTwo)
    }))
})

describe("in one graph of layers", () => {
  class First extends Context.Tag("test/First")<First, Sandbox.Sandbox["Type"]>() {}
  class Second extends Context.Tag("test/Second")<Second, Sandbox.Sandbox["Type"]>() {}
  const layers = Layer.merge(
    Layer.provide(Layer.effect(First, Sandbox.Sandbox), Sandbox.layerHttpClient()),
    Layer.provide(Layer.effect(Second, Sandbox.Sandbox), Sandbox.layerHttpClient({ seed: 2 }))
  )

  it.effect("two sandboxes are independent of each other too", () =>
    Effect.gen(function*() {
      const first = yield* First
      const second = yield* Second
      yield* first.setProduct({ id: "FIRST" })
      const { products } = yield* second.state
      assert.isFalse(products.some(({ id }) => id === "FIRST"))
      assert.notStrictEqual(Redacted.value(first.apiKey), Redacted.value(second.apiKey))
    }).pipe(Effect.provide(layers)))
})

describe("a defect", () => {
  it.effect("is 500 in the envelope without internal details, and is logged", () =>
    Effect.gen(function*() {
      const logged: Array<string> = []
      const logger = Logger.make(({ cause }) => {
        logged.push(Cause.pretty(cause))
      })
      const { error } = yield* Failures.fromCause(Cause.die(new Error("secret inside")), "getMe").pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, logger))
      )
      const response = Envelope.failure(error)
      const text = Envelope.textOf(response)
      assert.strictEqual(refusal({ status: response.status, headers: {}, text, json: Envelope.jsonOf(response) }), "500 INTERNAL_ERROR")
      assert.notInclude(text, "secret")
      assert.include(logged.join(), "secret inside")
    }))
})

describe("on a socket", () => {
  it.live("a port that is in use, or a host of another machine, fails with one sentence", () =>
    Effect.gen(function*() {
      const port = yield* Effect.acquireRelease(
        Effect.async<{ readonly close: () => void; readonly port: number }>((resume) => {
          const server = createServer().listen(0, "127.0.0.1", () => {
            const address = server.address()
            const number = typeof address === "object" && address !== null ? address.port : 0
            resume(Effect.succeed({ port: number, close: () => server.close() }))
          })
        }),
        ({ close }) => Effect.sync(close)
      )
      const refused = (options: Sandbox.ServerOptions) => Effect.flip(Effect.scoped(Layer.build(Sandbox.layerServer(options))))
      assert.strictEqual((yield* refused({ port: port.port })).message,
        `port ${port.port} is in use: choose another port, or 0 for any free port`)
      assert.match((yield* refused({ host: "203.0.113.1" })).message, /203\.0\.113\.1 is not an address of this machine/)
    }).pipe(Effect.scoped))

  it.live("a stop does not wait for open connections", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(layerSocket(), scope)
      const { hanging, idle } = yield* Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        yield* sandbox.addFault({ kind: "delay", when: "before", millis: 3_600_000 })
        const hanging = yield* Effect.fork(Effect.exit(call("GET", "/me")))
        yield* sandbox.requests.pipe(
          Effect.flatMap((all) => all.length === 1 ? Effect.void : Effect.fail("not yet")),
          Effect.retry(Schedule.spaced("1 millis"))
        )
        const { port } = new URL(sandbox.baseUrl)
        const idle = yield* Effect.async<Fiber.Fiber<void>>((resume) => {
          const socket = connect(Number(port), "127.0.0.1", () =>
            resume(Effect.fork(Effect.async<void>((closed) => {
              socket.on("close", () => closed(Effect.void))
            }))))
        })
        return { hanging, idle }
      }).pipe(Effect.provide(context))
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(hanging)))
      assert.isUndefined(yield* Fiber.join(idle))
    }))

  it.live("a client in process and one on a socket get the same responses", () =>
    Effect.gen(function*() {
      const sample = Effect.gen(function*() {
        const replies = [
          yield* call("GET", "/me"),
          yield* call("PATCH", "/store/products/0042/stock", { json: { stock: 3 } }),
          yield* call("POST", "/users/1002/follow"),
          yield* call("POST", "/posts", { text: "" }),
          yield* call("GET", "/users/nobody"),
          yield* call("GET", "/conversations?limit=3")
        ]
        return replies.map(({ headers, json, status }) => ({ status, json, type: headers["content-type"], id: headers["x-request-id"] }))
      })
      assert.deepStrictEqual(yield* Effect.provide(sample, layerSocket()), yield* Effect.provide(sample, layerInProcess()))
    }))

  it.live("its layer provides no HttpClient", () =>
    Effect.gen(function*() {
      assert.isTrue(Option.isNone(yield* Effect.serviceOption(HttpClient.HttpClient)))
    }).pipe(Effect.provide(layerSocket())))
})
