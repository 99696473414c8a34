/**
 * Every kind of fault, in process and over a socket: the response that the caller gets, and the state of the sandbox.
 */
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it, layer } from "@effect/vitest"
import { type Fault, type RequestRecord, Sandbox } from "@plaza-legacy/sandbox"
import { Cause, Effect, Exit, Fiber, Option, Redacted, Schedule, TestClock } from "effect"
import { call, control, layerInProcess, layerSocket, messageOf, refusal } from "./support.ts"

const post = (text: string) => call("POST", "/posts", { json: { text } })
const count = (text: string) =>
  Effect.flatMap(Sandbox.Sandbox, ({ state }) => Effect.map(state, ({ posts }) => posts.filter((post) => post.text === text).length))
const add = (fault: Fault) => Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.addFault(fault))
const last = Effect.flatMap(Sandbox.Sandbox, ({ requests }) => Effect.map(requests, (all) => all.at(-1)))

/** The last request, once it has the expected fields. */
const eventually = (isAwaited: (record: RequestRecord) => boolean) =>
  last.pipe(
    Effect.flatMap((record) => record !== undefined && isAwaited(record) ? Effect.succeed(record) : Effect.fail("not yet")),
    Effect.retry(Schedule.spaced("1 millis"))
  )

/** For a sandbox that other tests have used. */
const afresh = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.zipRight(Effect.flatMap(Sandbox.Sandbox, ({ reset }) => reset), test)

/** Sends a post and returns head and body separately. */
const headAndBody = Effect.gen(function*() {
  const sandbox = yield* Sandbox.Sandbox
  const client = yield* Effect.serviceOption(HttpClient.HttpClient)
  return {
    send: (url: string, text: string) =>
      Effect.gen(function*() {
        const init = {
          method: "POST",
          headers: { authorization: `Bearer ${Redacted.value(sandbox.apiKey)}`, "content-type": "application/json" },
          body: JSON.stringify({ text })
        }
        if (client._tag === "None") {
          const response = yield* Effect.promise(() => fetch(url, init))
          const body = yield* Effect.exit(Effect.tryPromise(() => response.text()))
          return { status: response.status, body }
        }
        const request = HttpClientRequest.post(url, { headers: init.headers }).pipe(
          HttpClientRequest.bodyText(init.body, "application/json")
        )
        const response = yield* client.value.execute(request)
        return {
          status: response.status,
          body: yield* Effect.exit(Effect.mapError(response.text, (cause) => new Cause.UnknownException(cause)))
        }
      })
  }
})

describe("a delay", () => {
  it.effect("before the handler: a caller that closes the connection meanwhile causes no write", () =>
    Effect.gen(function*() {
      yield* add({ kind: "delay", when: "before", millis: 5_000 })
      const outcome = yield* Effect.fork(Effect.timeoutOption(post("a"), "1 second"))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(outcome))._tag, "None")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* count("a"), 0)
      assert.deepInclude(yield* last, { status: null, delivered: "abandoned", deliveredStatus: null })
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("after the handler: a caller that closes the connection meanwhile has caused the write", () =>
    Effect.gen(function*() {
      yield* add({ kind: "delay", when: "after", millis: 5_000 })
      const outcome = yield* Effect.fork(Effect.timeoutOption(post("a"), "1 second"))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(outcome))._tag, "None")
      assert.strictEqual(yield* count("a"), 1)
      assert.deepInclude(yield* last, { status: 200, delivered: "abandoned", deliveredStatus: null })
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("lasts for its duration by the caller's clock, then the response arrives", () =>
    Effect.gen(function*() {
      yield* add({ kind: "delay", when: "before", millis: 300 })
      const reply = yield* Effect.fork(post("a"))
      yield* TestClock.adjust("299 millis")
      assert.isNull(yield* Fiber.poll(reply).pipe(Effect.map((exit) => exit._tag === "None" ? null : exit)))
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(reply)).status, 200)
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("combines with a fault of another kind", () =>
    Effect.gen(function*() {
      yield* add({ kind: "delay", when: "after", millis: 300 })
      yield* add({ kind: "status", when: "after", status: 502 })
      const reply = yield* Effect.fork(post("a"))
      yield* TestClock.adjust("300 millis")
      assert.strictEqual((yield* Fiber.join(reply)).status, 502)
    }).pipe(Effect.provide(layerInProcess())))

  it.live("over a socket: a connection closed before the handler causes no write, one closed after it does", () =>
    Effect.gen(function*() {
      for (const [when, happened] of [["before", 0], ["after", 1]] as const) {
        yield* add({ kind: "delay", when, millis: 60_000 })
        const request = yield* Effect.fork(post(when))
        const waiting = yield* eventually((record) => record.faults.length === 1 && (when === "before" || record.status === 200))
        assert.strictEqual(waiting.delivered, "waiting")
        yield* Fiber.interrupt(request)
        const gone = yield* eventually((record) => record.delivered !== "waiting")
        assert.strictEqual(gone.delivered, "abandoned")
        assert.strictEqual(yield* count(when), happened)
        yield* Effect.flatMap(Sandbox.Sandbox, ({ reset }) => reset)
      }
    }).pipe(Effect.provide(layerSocket())))
})

describe("a slow body", () => {
  it.effect("arrives in pieces by the caller's clock, and is complete in the end", () =>
    Effect.gen(function*() {
      yield* add({ kind: "slow", when: "after", millis: 1_000 })
      const reply = yield* Effect.fork(post("a"))
      yield* TestClock.adjust("999 millis")
      assert.strictEqual(yield* count("a"), 1)
      assert.isTrue(Option.isNone(yield* Fiber.poll(reply)))
      yield* TestClock.adjust("1 millis")
      const { headers, status, text } = yield* Fiber.join(reply)
      assert.strictEqual(status, 200)
      assert.include(text, "\"text\":\"a\"")
      assert.strictEqual(headers["content-length"], String(text.length))
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("applies to any response, an empty one included", () =>
    Effect.gen(function*() {
      yield* add({ kind: "slow", when: "before", millis: 50, status: 503, body: "<h1>Bad</h1>" })
      const refused = yield* Effect.fork(post("a"))
      yield* TestClock.adjust("100 millis")
      const { status, text } = yield* Fiber.join(refused)
      assert.deepStrictEqual([status, text], [503, "<h1>Bad</h1>"])
      assert.strictEqual(yield* count("a"), 0)
      assert.deepInclude(yield* last, { status: null, delivered: "replaced", deliveredStatus: 503 })
      yield* add({ kind: "slow", when: "after", millis: 50 })
      assert.strictEqual((yield* call("POST", "/users/1002/follow")).status, 204)
      assert.deepInclude(yield* last, { status: 204, delivered: "complete", deliveredStatus: 204 })
    }).pipe(Effect.provide(layerInProcess())))

  it.live("over a socket: arrives incrementally, and a closed connection does not harm the service", () =>
    Effect.gen(function*() {
      const { addFault, apiKey, baseUrl } = yield* Sandbox.Sandbox
      const get = Effect.promise(() => fetch(`${baseUrl}/me`, { headers: { authorization: `Bearer ${Redacted.value(apiKey)}` } }))
      yield* addFault({ kind: "slow", when: "after", millis: 100 })
      const whole = yield* get
      const length = Number(whole.headers.get("content-length"))
      const reader = whole.body?.getReader() ?? assert.fail("there is no body")
      const first = yield* Effect.promise(() => reader.read())
      assert.isBelow(first.value?.length ?? length, length)
      let read = first.value?.length ?? 0
      for (let next = yield* Effect.promise(() => reader.read()); !next.done; next = yield* Effect.promise(() => reader.read())) {
        read += next.value.length
      }
      assert.strictEqual(read, length)
      yield* addFault({ kind: "slow", when: "after", millis: 3_600_000 })
      const left = yield* get
      yield* Effect.promise(() => left.body?.cancel() ?? Promise.resolve())
      assert.strictEqual((yield* call("GET", "/me")).status, 200)
    }).pipe(Effect.provide(layerSocket())))
})

describe("faults", () => {
  it.effect("hit as many calls as they have times, then no more", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* add({ kind: "status", when: "before", status: 500, times: 2 })
      const statuses = yield* Effect.replicateEffect(Effect.map(call("GET", "/me"), ({ status }) => status), 3)
      assert.deepStrictEqual(statuses, [500, 500, 200])
      assert.deepStrictEqual(yield* sandbox.faults, [])
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("hit only the calls whose method and path match", () =>
    Effect.gen(function*() {
      yield* add({ kind: "status", when: "before", status: 500, method: "POST", path: "/posts/*/like" })
      yield* add({ kind: "status", when: "before", status: 501, path: "/users/*", times: 2 })
      yield* add({ kind: "status", when: "before", status: 502, path: "/store/products/CAP%2FRED%20L/*" })
      const status = (method: "GET" | "POST" | "PATCH", path: string) => Effect.map(call(method, path), (reply) => reply.status)
      assert.strictEqual(yield* status("GET", "/me"), 200)
      assert.strictEqual(yield* status("POST", "/posts/1/comments"), 400)
      assert.strictEqual(yield* status("GET", "/posts/1/like"), 404)
      assert.strictEqual(yield* status("POST", "/posts/1/like"), 500)
      assert.strictEqual(yield* status("GET", "/users/1001"), 501)
      assert.strictEqual(yield* status("POST", "/users/1001/follow"), 501)
      assert.strictEqual(yield* status("PATCH", "/store/products/CAP%2FRED%20L/stock"), 502)
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("at a rate hit that share of the calls, the same ones for the same seed", () =>
    Effect.gen(function*() {
      const draw = (seed: number) =>
        Effect.gen(function*() {
          yield* add({ kind: "status", when: "before", status: 500, rate: 0.25 })
          return yield* Effect.replicateEffect(Effect.map(call("GET", "/me"), ({ status }) => status === 500), 100)
        }).pipe(Effect.provide(layerInProcess({ seed, assumptions: { requestsPerWindow: 1_000 } })))
      const first = yield* draw(1)
      const hits = first.filter((hit) => hit).length
      assert.isTrue(hits > 10 && hits < 45, String(hits))
      assert.deepStrictEqual(yield* draw(1), first)
      assert.notDeepEqual(yield* draw(2), first)
    }))

  it.effect("of every kind at once hit the same calls again in a sandbox of the same seed", () =>
    Effect.gen(function*() {
      const run = Effect.gen(function*() {
        const { requests } = yield* Sandbox.Sandbox
        yield* add({ kind: "status", when: "before", status: 500, rate: 0.2 })
        yield* add({ kind: "drop", when: "after", rate: 0.2, path: "/posts" })
        yield* add({ kind: "cut", when: "after", rate: 0.2, times: 3 })
        yield* add({ kind: "garbage", body: "", rate: 0.2 })
        yield* add({ kind: "delay", when: "after", millis: 0, rate: 0.5 })
        for (let round = 0; round < 20; round++) {
          yield* Effect.exit(post(String(round)))
          yield* Effect.exit(call("GET", "/me"))
        }
        return (yield* requests).map(({ delivered, deliveredStatus, faults }) => ({ delivered, deliveredStatus, faults }))
      })
      const [first, again, other] = yield* Effect.all([1, 1, 2].map((seed) => Effect.provide(run, layerInProcess({ seed }))))
      assert.deepStrictEqual(again, first)
      assert.notDeepEqual(other, first)
      assert.deepStrictEqual([...new Set(first?.flatMap(({ faults }) => faults))].sort(), [
        "fault_1",
        "fault_2",
        "fault_3",
        "fault_4",
        "fault_5"
      ])
    }))

  it.effect("can respond for an endpoint that the document doesn't show", () =>
    Effect.gen(function*() {
      yield* add({
        kind: "status",
        when: "before",
        status: 200,
        path: "/store/products",
        body: "{\"data\":[]}",
        contentType: "application/json"
      })
      assert.deepStrictEqual((yield* call("GET", "/store/products")).json, { data: [] })
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("send the content type as it is set, an empty one as well", () =>
    Effect.gen(function*() {
      for (const contentType of ["", "text/x; y", "application/json"]) {
        yield* add({ kind: "status", when: "before", status: 500, body: "{}", contentType })
        yield* add({ kind: "garbage", body: "{", contentType })
        yield* add({ kind: "slow", when: "after", millis: 0, body: "{}", contentType })
        const sent = yield* Effect.replicateEffect(Effect.map(call("GET", "/me"), ({ headers }) => headers["content-type"]), 3)
        assert.deepStrictEqual(sent, [contentType, contentType, contentType])
      }
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("do not change the rate: the calls they hit are counted", () =>
    Effect.gen(function*() {
      yield* add({ kind: "status", when: "before", status: 500, times: 2 })
      const statuses = yield* Effect.replicateEffect(Effect.map(call("GET", "/me"), ({ status }) => status), 4)
      assert.deepStrictEqual(statuses, [500, 500, 200, 429])
    }).pipe(Effect.provide(layerInProcess({ assumptions: { requestsPerWindow: 3 } }))))

  it.effect("can be added, listed and cleared over HTTP as well", () =>
    Effect.gen(function*() {
      const fault = { kind: "status", when: "before", status: 500, times: 3 }
      assert.deepStrictEqual((yield* control("POST", "/faults", { json: fault })).json, { id: "fault_1" })
      assert.strictEqual((yield* call("GET", "/me")).status, 500)
      assert.deepStrictEqual((yield* control("GET", "/faults")).json, { data: [{ id: "fault_1", fault, hits: 1, remaining: 2 }] })
      assert.strictEqual((yield* control("DELETE", "/faults")).status, 204)
      assert.strictEqual((yield* call("GET", "/me")).status, 200)
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("that are invalid are refused", () =>
    Effect.gen(function*() {
      for (
        const [fault, name] of [
          [{ kind: "wonder" }, "kind"],
          [{ kind: "status", when: "before" }, "status"],
          [{ kind: "status", when: "before", status: 99 }, "status"],
          [{ kind: "status", when: "later", status: 500 }, "when"],
          [{ kind: "drop", when: "before", times: 0 }, "times"],
          [{ kind: "drop", when: "before", rate: 2 }, "rate"],
          [{ kind: "delay", when: "before", millis: -1 }, "millis"],
          [{ kind: "delay", when: "before", millis: 1e308 }, "millis"],
          [{ kind: "slow", when: "before" }, "millis"],
          [{ kind: "drop", when: "before", rat: 0.5 }, "rat"],
          [{ kind: "status", when: "before", status: 429, retryAfter: "1\r\nx: y" }, "retryAfter"]
        ] as const
      ) {
        const reply = yield* control("POST", "/faults", { json: fault })
        assert.strictEqual(refusal(reply), `400 VALIDATION_ERROR ${name}`)
        assert.notInclude(messageOf(reply), "\n")
      }
    }).pipe(Effect.provide(layerInProcess())))
})

// Last, because it provides the same layer to every test after it.
for (const [way, provide] of [["in process", layerInProcess()], ["over a socket", layerSocket()]] as const) {
  layer(provide, { excludeTestServices: true })(`a fault ${way}`, (it) => {
    it.effect("of a status before the handler: the caller gets it, and nothing is written", () =>
      afresh(Effect.gen(function*() {
        yield* add({ kind: "status", when: "before", status: 503 })
        assert.strictEqual(refusal(yield* post("a")), "503 INTERNAL_ERROR")
        assert.strictEqual(yield* count("a"), 0)
        const record = yield* last
        assert.deepInclude(record, { status: null, delivered: "replaced", deliveredStatus: 503 })
        assert.strictEqual((yield* post("b")).status, 200)
      })))

    it.effect("of a status after the handler: the caller gets it, and the write is done", () =>
      afresh(Effect.gen(function*() {
        yield* add({ kind: "status", when: "after", status: 500 })
        assert.strictEqual(refusal(yield* post("a")), "500 INTERNAL_ERROR")
        assert.strictEqual(yield* count("a"), 1)
        assert.deepInclude(yield* last, { status: 200, delivered: "replaced", deliveredStatus: 500 })
      })))

    it.effect("of a connection dropped before the handler: the call fails, and nothing is written", () =>
      afresh(Effect.gen(function*() {
        yield* add({ kind: "drop", when: "before" })
        assert.isTrue(Exit.isFailure(yield* Effect.exit(post("a"))))
        assert.strictEqual(yield* count("a"), 0)
        assert.deepInclude(yield* last, { status: null, delivered: "dropped", deliveredStatus: null })
        assert.strictEqual((yield* post("b")).status, 200)
      })))

    it.effect("of a connection dropped after the handler: the call fails, and the write is done", () =>
      afresh(Effect.gen(function*() {
        yield* add({ kind: "drop", when: "after" })
        assert.isTrue(Exit.isFailure(yield* Effect.exit(post("a"))))
        assert.strictEqual(yield* count("a"), 1)
        assert.deepInclude(yield* last, { status: 200, delivered: "dropped", deliveredStatus: null })
      })))

    it.effect("of a cut body: the head arrives, the body fails, and the write is done", () =>
      afresh(Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        for (const [when, happened] of [["before", 0], ["after", 1]] as const) {
          yield* add({ kind: "cut", when })
          const { send } = yield* headAndBody
          const { body, status } = yield* send(`${sandbox.baseUrl}/posts`, when)
          assert.strictEqual(status, 200)
          assert.isTrue(Exit.isFailure(body))
          assert.strictEqual(yield* count(when), happened)
          assert.deepInclude(yield* last, { delivered: "cut", deliveredStatus: 200 })
        }
        yield* add({ kind: "cut", when: "before", status: 418, code: "TEAPOT" })
        const { send } = yield* headAndBody
        const { body, status } = yield* send(`${sandbox.baseUrl}/posts`, "b")
        assert.strictEqual(status, 418)
        assert.isTrue(Exit.isFailure(body))
      })))

    it.effect("of garbage: a 200 that isn't JSON, and the write is done", () =>
      afresh(Effect.gen(function*() {
        yield* add({ kind: "garbage", body: "<html>" })
        const reply = yield* post("a")
        assert.deepStrictEqual([reply.status, reply.text, reply.headers["content-type"]], [200, "<html>", "application/json"])
        assert.strictEqual(yield* count("a"), 1)
      })))

    it.effect("of a proxy's own response: any status, any body, and Retry-After unchanged", () =>
      afresh(Effect.gen(function*() {
        for (const status of [400, 403, 404, 409, 418, 500, 502, 520]) {
          yield* add({ kind: "status", when: "before", status, body: "<h1>Bad</h1>" })
          yield* add({ kind: "status", when: "before", status, body: "" })
          yield* add({ kind: "status", when: "before", status, code: "NEW_CODE", message: "new" })
          const html = yield* call("GET", "/me")
          assert.deepStrictEqual([html.status, html.text], [status, "<h1>Bad</h1>"])
          assert.match(html.headers["content-type"] ?? "", /^text\/html/)
          const empty = yield* call("GET", "/me")
          assert.deepStrictEqual([empty.status, empty.text], [status, ""])
          const unknown = yield* call("GET", "/me")
          assert.deepStrictEqual([unknown.status, unknown.json], [status, { error: { code: "NEW_CODE", message: "new" } }])
        }
        for (const retryAfter of ["7", "Wed, 21 Oct 2026 07:28:00 GMT", "soon"]) {
          yield* add({ kind: "status", when: "before", status: 429, retryAfter })
          const reply = yield* call("GET", "/me")
          assert.strictEqual(refusal(reply), "429 RATE_LIMITED")
          assert.strictEqual(reply.headers["retry-after"], retryAfter)
        }
      })))

    it.effect("has a response with a request id", () =>
      afresh(Effect.gen(function*() {
        yield* add({ kind: "status", when: "after", status: 500 })
        assert.strictEqual((yield* post("a")).headers["x-request-id"], (yield* last)?.id)
      })))
  })
}
