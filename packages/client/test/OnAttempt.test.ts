/** Observers of attempts: what they see, and that they change nothing. */
import { describe, expect, it } from "@effect/vitest"
import { Chat, type ClientError, FailureScope, Media, Plaza, Posts, Profiles, Store, TestTime } from "@plaza/client"
import { ConversationId, OrderId, PostId, ProductId } from "@plaza/domain"
import * as Generate from "@plaza/testing/Generators"
import { Clock, Deferred, Duration, Effect, Exit, Fiber, Schedule, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Fake from "./support/FakeService.ts"

type Operation = Effect.Effect<unknown, ClientError.Failure, Plaza.Services>

const me = Effect.flatMap(Profiles, ({ me }) => me)
const setStock = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("p"), 3))
const ship = Effect.flatMap(Store, ({ ship }) => ship(OrderId.make("o"), { carrier: "C", trackingNumber: "T" }))
const send = Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("c"), "hello"))
const like = Effect.flatMap(Posts, ({ like }) => like(PostId.make("1")))
const create = Effect.flatMap(Posts, ({ create }) => create({ text: "hello" }))
const upload = Effect.flatMap(Media, ({ upload }) => upload({ content: new Uint8Array([1]), fileName: "a.png" }))

const everySecond = { retry: Schedule.spaced("1 second") }
const empty = Fake.json({ data: [], next_cursor: null })
const limited = (seconds?: string) => Fake.refusal(429, "RATE_LIMITED", {}, seconds === undefined ? {} : { "retry-after": seconds })

/** An observer that keeps the attempts. */
const recording = () => {
  const attempts: Array<Plaza.Attempt> = []
  const onAttempt: Plaza.OnAttempt = (attempt) => Effect.sync(() => attempts.push(attempt))
  return { attempts, onAttempt }
}

/** Runs an operation against scripted responses. Returns its attempts, its exit and the requests. */
const observed = (operation: Operation, replies: ReadonlyArray<Fake.Reply>, options: Partial<Plaza.Options> = {}) => {
  const { attempts, onAttempt } = recording()
  const { calls, layer } = Fake.scripted(replies, { ...everySecond, ...options })
  return Effect.map(
    TestTime.advancing(Effect.exit(operation.pipe(Plaza.onAttempt(onAttempt), Effect.provide(layer)))),
    (exit) => ({ attempts, exit, calls })
  )
}

/** A layer whose service takes 2 seconds for each response. */
const slow = (replies: ReadonlyArray<Fake.Reply>, options: Partial<Plaza.Options> = {}) => {
  let next = 0
  return Fake.layerPlaza(
    () => Effect.delay(Effect.sync(() => replies[Math.min(next++, replies.length - 1)] ?? "hang"), "2 seconds"),
    { ...everySecond, ...options }
  )
}

const millis = (duration: Duration.Duration | undefined) => duration === undefined ? undefined : Duration.toMillis(duration)

const summary = (attempts: ReadonlyArray<Plaza.Attempt>) =>
  attempts.map(({ delay, duration, failure, number, operation, status }) => [
    operation,
    number,
    status,
    failure?._tag,
    millis(duration),
    millis(delay)
  ])

describe("an observer sees", () => {
  it.effect("the attempts of a call that succeeds after retries, before the call ends", () =>
    Effect.gen(function*() {
      const { attempts, onAttempt } = recording()
      const layer = slow([Fake.refusal(503, "BUSY"), Fake.lost, Fake.json({ id: "1", stock: 3 })])
      yield* TestTime.advancing(setStock.pipe(Plaza.onAttempt(onAttempt), Effect.provide(layer)))
      expect(summary(attempts)).toEqual([
        ["setStock", 1, 503, "UnrecognizedError", 2_000, 1_000],
        ["setStock", 2, undefined, "ConnectionLost", 2_000, 1_000],
        ["setStock", 3, 200, undefined, 2_000, undefined]
      ])
      expect(yield* Clock.currentTimeMillis).toBe(8_000)
    }))

  it.effect("the attempt of a call that succeeds at once", () =>
    Effect.gen(function*() {
      const { attempts } = yield* observed(like, [{ status: 204, headers: { "x-request-id": "req_1" } }])
      expect(summary(attempts)).toEqual([["likePost", 1, 204, undefined, 0, undefined]])
      expect(attempts[0]?.headers).toEqual({ "x-request-id": "req_1" })
    }))

  it.effect("no delay after the last attempt, whatever ends the call", () =>
    Effect.gen(function*() {
      const ends: ReadonlyArray<readonly [Operation, ReadonlyArray<Fake.Reply>, Partial<Plaza.Options>, number]> = [
        [setStock, [Fake.refusal(404, "NOT_FOUND")], {}, 1],
        [setStock, [Fake.lost], { retry: Schedule.recurs(2) }, 3],
        [setStock, [Fake.lost], { retry: Schedule.recurs(0) }, 1],
        [send, [Fake.lost], {}, 1],
        [ship, [Fake.lost, Fake.refusal(409, "CONFLICT")], {}, 2],
        [me, [{ status: 200, body: "<html>" }], { retry: Schedule.recurs(1) }, 2],
        [setStock, [{ status: 200, body: "<html>" }], {}, 1],
        [upload, [Fake.refusal(413, "PAYLOAD_TOO_LARGE")], {}, 1]
      ]
      for (const [operation, replies, options, count] of ends) {
        const { attempts, calls, exit } = yield* observed(operation, replies, options)
        expect(Exit.isFailure(exit)).toBe(true)
        expect([attempts.length, calls.length]).toEqual([count, count])
        expect(attempts.map(({ delay }) => delay === undefined)).toEqual(attempts.map((_, index) => index === count - 1))
      }
    }))

  it.effect("a 429 with its wait as the delay, and zero without one, because the wait is one for a slot", () =>
    Effect.gen(function*() {
      const { attempts } = yield* observed(me, [limited("7"), limited(), Fake.json({ id: "1" })])
      expect(summary(attempts)).toEqual([
        ["getMe", 1, 429, "RateLimited", 0, 7_000],
        ["getMe", 2, 429, "RateLimited", 0, 0],
        ["getMe", 3, 200, undefined, 0, undefined]
      ])
      expect(yield* Clock.currentTimeMillis).toBeGreaterThan(7_000)
    }))

  it.effect("a 429 whose wait is too long for the call, without a delay", () =>
    Effect.gen(function*() {
      const { attempts, exit } = yield* observed(me, [limited("50")], { maxWait: "10 seconds" })
      expect(attempts.map(({ number, status }) => [number, status])).toEqual([[1, 429]])
      expect(exit).toMatchObject({ cause: { reasons: [{ error: { _tag: "RateLimited" } }] } })
    }))

  it.effect("a failed connection, a timeout and a response that never ends", () =>
    Effect.gen(function*() {
      const retry = { retry: Schedule.recurs(0), timeout: "5 seconds" } as const
      expect(summary((yield* observed(me, [Fake.refused], retry)).attempts)).toEqual([
        ["getMe", 1, undefined, "ConnectionFailed", 0, undefined]
      ])
      expect(summary((yield* observed(me, ["hang"], retry)).attempts)).toEqual([
        ["getMe", 1, undefined, "AttemptTimeout", 5_000, undefined]
      ])
      expect(summary((yield* observed(me, [{ stalled: 200, body: `{"id"` }], retry)).attempts)).toEqual([
        ["getMe", 1, 200, "AttemptTimeout", 5_000, undefined]
      ])
      expect(summary((yield* observed(setStock, [{ cut: 200, body: `{"id"` }], retry)).attempts)).toEqual([
        ["setStock", 1, 200, "UnreadableSuccess", 0, undefined]
      ])
    }))

  it.effect("the time of an attempt without the wait for its slot", () =>
    Effect.gen(function*() {
      const { attempts, onAttempt } = recording()
      const layer = slow([Fake.json({ id: "1" })], { rateLimit: 1, rateWindow: "1 minute", onAttempt })
      yield* TestTime.advancing(Effect.provide(Effect.andThen(me, me), layer))
      expect(summary(attempts)).toEqual([["getMe", 1, 200, undefined, 2_000, undefined], ["getMe", 1, 200, undefined, 2_000, undefined]])
      expect(yield* Clock.currentTimeMillis).toBeGreaterThan(60_000)
    }))

  it.effect("a new post that is found in the account's posts as one failed attempt without a delay", () =>
    Effect.gen(function*() {
      const { attempts, onAttempt } = recording()
      const posts: Array<unknown> = []
      const layer = Fake.layerPlaza(({ method }) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const date = { date: new Date(now).toUTCString() }
          if (method === "GET") {
            return Effect.succeed(Fake.json({ data: posts, next_cursor: null }, 200, date))
          }
          posts.push({ id: "9", text: "hello", createdAt: new Date(now).toISOString() })
          return Effect.succeed(Fake.lost)
        }), everySecond)
      const post = yield* TestTime.advancing(create.pipe(Plaza.onAttempt(onAttempt), Effect.provide(layer)))
      expect(post).toMatchObject({ id: "9" })
      expect(summary(attempts.filter(({ operation }) => operation === "createPost"))).toEqual([
        ["createPost", 1, undefined, "ConnectionLost", 0, undefined]
      ])
    }))

  it.effect("a new post that is not found with the delay before it is sent again, and the reads of the search", () =>
    Effect.gen(function*() {
      const { attempts, calls, exit } = yield* observed(create, [Fake.lost, empty, empty, Fake.json({ id: "9", text: "hello" }, 201)])
      expect([exit._tag, calls.filter(({ method }) => method === "POST").length]).toEqual(["Success", 2])
      const posts = attempts.filter(({ operation }) => operation === "createPost")
      expect(summary(posts)).toEqual([
        ["createPost", 1, undefined, "ConnectionLost", 0, 1_000],
        ["createPost", 2, 201, undefined, 0, undefined]
      ])
      expect(attempts.filter((attempt) => !posts.includes(attempt)).map(({ operation, status }) => [operation, status])).toEqual(
        calls.filter(({ method }) => method === "GET").map(() => ["listPosts", 200])
      )
    }))

  it.effect("the headers and the failure without the key", () =>
    Effect.gen(function*() {
      const echo = Fake.refusal(404, "NOT_FOUND", { sent: `Bearer ${Fake.key}` }, {
        "x-request-id": `for ${Fake.key}`,
        [`x-${Fake.key}`]: "1",
        "x-encoded": Buffer.from(Fake.key).toString("base64")
      })
      const { attempts } = yield* observed(setStock, [echo])
      expect(attempts).toMatchObject([{
        status: 404,
        headers: { "x-request-id": "for <redacted>", "x-<redacted>": "1", "x-encoded": "<redacted>" },
        failure: { _tag: "NotFound", details: { sent: "Bearer <redacted>" } }
      }])
      expect(JSON.stringify(attempts)).not.toContain(Fake.key)
      const success = yield* observed(like, [{ status: 204, headers: { "x-echo": Fake.key } }])
      expect(success.attempts[0]?.headers).toEqual({ "x-echo": "<redacted>" })
    }))

  it.effect("nothing of a call that sends nothing", () =>
    Effect.gen(function*() {
      const { attempts, onAttempt } = recording()
      const { calls, layer } = Fake.scripted([Fake.json({ id: "1" })], { rateLimit: 1, onAttempt })
      const invalid = Plaza.withTimeout("0 seconds")(me)
      const [first, waiting, rejected] = yield* TestTime.advancing(
        Effect.all([Effect.exit(me), Effect.exit(Plaza.withMaxWait("1 second")(me)), Effect.exit(invalid)]).pipe(Effect.provide(layer))
      )
      expect([first._tag, waiting._tag, rejected._tag]).toEqual(["Success", "Failure", "Failure"])
      expect([calls.length, attempts.length]).toEqual([1, 1])
    }))

  it.effect("each page of a list", () =>
    Effect.gen(function*() {
      const { attempts, onAttempt } = recording()
      const page = (next: string | null) => Fake.json({ data: [{ id: "1", text: "a" }], next_cursor: next })
      const { layer } = Fake.scripted([page("c"), Fake.lost, page(null)], everySecond)
      const posts = Stream.unwrap(Effect.map(Posts, ({ list }) => list()))
      expect(yield* TestTime.advancing(Effect.provide(Stream.runCollect(Plaza.onAttempt(onAttempt)(posts)), layer))).toHaveLength(2)
      expect(summary(attempts)).toEqual([
        ["listPosts", 1, 200, undefined, 0, undefined],
        ["listPosts", 1, undefined, "ConnectionLost", 0, 1_000],
        ["listPosts", 2, 200, undefined, 0, undefined]
      ])
    }))

  it.effect("a request to an undocumented endpoint", () =>
    Effect.gen(function*() {
      const request = Plaza.request({ method: "POST", path: "/notes/secret", delivery: "Repeatable", response: Schema.Unknown })
      const { attempts } = yield* observed(request, [Fake.lost, Fake.json({})])
      expect(attempts.map(({ number, operation, status }) => [operation.includes("secret"), number, status])).toEqual([
        [false, 1, undefined],
        [false, 2, 200]
      ])
    }))
})

describe("an interrupted call", () => {
  it.effect("has shown its failed attempts, and not the one that was interrupted", () =>
    Effect.gen(function*() {
      const { attempts, onAttempt } = recording()
      const { calls, layer } = Fake.scripted([Fake.lost, "hang"], everySecond)
      const call = yield* Effect.forkChild(setStock.pipe(Plaza.onAttempt(onAttempt), Effect.provide(layer)))
      yield* TestClock.adjust("10 seconds")
      expect(calls).toHaveLength(2)
      yield* Fiber.interrupt(call)
      expect(summary(attempts)).toEqual([["setStock", 1, undefined, "ConnectionLost", 0, 1_000]])
    }))

  it.effect("ends although its observer doesn't", () =>
    Effect.gen(function*() {
      const seen = yield* Deferred.make<void>()
      const { layer } = Fake.scripted([Fake.json({ id: "1" })])
      const call = yield* Effect.forkChild(
        me.pipe(Plaza.onAttempt(() => Effect.andThen(Deferred.succeed(seen, undefined), Effect.never)), Effect.provide(layer))
      )
      yield* Deferred.await(seen)
      yield* Fiber.interrupt(call)
      expect(Exit.hasInterrupts(yield* Fiber.await(call))).toBe(true)
    }))
})

describe("the observers of a call and of its layer", () => {
  it.effect("both see each attempt, the one of the call first", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const by = (name: string): Plaza.OnAttempt => ({ number }) => Effect.sync(() => order.push(`${name} ${number}`))
      const { layer } = Fake.scripted([Fake.lost, Fake.json({ id: "1" })], { ...everySecond, onAttempt: by("layer") })
      yield* TestTime.advancing(Effect.andThen(Plaza.onAttempt(by("call"))(me), me).pipe(Effect.provide(layer)))
      expect(order).toEqual(["call 1", "layer 1", "call 2", "layer 2", "layer 1"])
    }))

  it.effect("are the inner one and that of the layer if one is within another", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const by = (name: string): Plaza.OnAttempt => () => Effect.sync(() => seen.push(name))
      const { layer } = Fake.scripted([Fake.json({ id: "1" })], { onAttempt: by("layer") })
      yield* Effect.provide(Effect.andThen(Plaza.onAttempt(by("inner"))(me), me).pipe(Plaza.onAttempt(by("outer"))), layer)
      expect(seen).toEqual(["inner", "layer", "outer", "layer"])
    }))

  it.effect("don't mix the attempts of calls that run side by side", () =>
    Effect.gen(function*() {
      const first = recording()
      const second = recording()
      let failed = false
      const layer = Fake.layerPlaza(({ method }) =>
        Effect.sync(() => {
          const fails = method === "GET" && !failed
          failed ||= fails
          return fails ? Fake.lost : Fake.json({ id: "1", stock: 3 })
        }), everySecond)
      yield* TestTime.advancing(
        Effect.all([Plaza.onAttempt(first.onAttempt)(me), Plaza.onAttempt(second.onAttempt)(setStock)], { concurrency: 2 }).pipe(
          Effect.provide(layer)
        )
      )
      expect(first.attempts.map(({ number, operation }) => [operation, number])).toEqual([["getMe", 1], ["getMe", 2]])
      expect(second.attempts.map(({ number, operation }) => [operation, number])).toEqual([["setStock", 1]])
    }))
})

describe("an observer", () => {
  const broken: Readonly<Record<string, Plaza.OnAttempt>> = {
    "that dies": () => Effect.die(new Error("observer")),
    "that throws": () => {
      throw new Error("observer")
    },
    "that interrupts itself": () => Effect.interrupt,
    // False, as in code without types.
    "that fails": () => Effect.fail("observer") as unknown as Effect.Effect<void>,
    "that returns no Effect": () => undefined as unknown as Effect.Effect<void>
  }
  const replies: ReadonlyArray<Fake.Reply> = [
    Fake.json({ id: "1", stock: 3, text: "hello" }),
    Fake.lost,
    Fake.refused,
    Fake.refusal(404, "NOT_FOUND"),
    Fake.refusal(503, "BUSY"),
    limited("2"),
    { status: 403, body: "<html>" },
    { status: 200, body: "<html>" },
    { cut: 200, body: "{" },
    empty,
    "hang"
  ]
  const operations: ReadonlyArray<Operation> = [me, setStock, ship, send, like, create, upload]

  const outcome = (operation: Operation, script: ReadonlyArray<Fake.Reply>, options: Partial<Plaza.Options>) => {
    const { calls, layer } = Fake.scripted(script, { retry: Schedule.recurs(3), ...options })
    return Effect.map(
      TestTime.advancing(Effect.result(Effect.provide(operation, layer))),
      (result) => [
        calls.map(({ method, path }) => `${method} ${path}`),
        result._tag === "Failure" ? [JSON.stringify(result.failure), FailureScope.mayHaveHappened(result.failure)] : result.success
      ]
    )
  }

  for (const [name, onAttempt] of Object.entries(broken)) {
    it.effect.prop(
      `${name} changes neither the requests nor the outcome of any call`,
      [Generate.elementOf(operations), Generate.arrayOf(Generate.elementOf(replies), { minLength: 1, maxLength: 5 })],
      ([operation, script]) =>
        Effect.gen(function*() {
          const expected = yield* outcome(operation, script, {})
          expect(yield* outcome(operation, script, { onAttempt })).toEqual(expected)
          expect(yield* outcome(Plaza.onAttempt(onAttempt)(operation), script, {})).toEqual(expected)
        }),
      { arbitrary: { runs: 40 } }
    )

    it.effect(`${name} doesn't keep the attempts from the observer of the layer`, () =>
      Effect.gen(function*() {
        const { attempts, onAttempt: ofLayer } = recording()
        const { layer } = Fake.scripted([Fake.lost, Fake.json({ id: "1" })], { ...everySecond, onAttempt: ofLayer })
        yield* TestTime.advancing(Effect.provide(Plaza.onAttempt(onAttempt)(me), layer))
        expect(summary(attempts)).toEqual([
          ["getMe", 1, undefined, "ConnectionLost", 0, 1_000],
          ["getMe", 2, 200, undefined, 0, undefined]
        ])
      }))
  }

  it.effect("delays the next attempt and the end of the call, and not the time of an attempt", () =>
    Effect.gen(function*() {
      const { attempts, onAttempt } = recording()
      const layer = slow([Fake.lost, Fake.json({ id: "1" })], {
        onAttempt: (attempt) => Effect.andThen(onAttempt(attempt), Effect.sleep("10 seconds"))
      })
      yield* TestTime.advancing(Effect.provide(me, layer))
      expect(attempts.map(({ duration }) => millis(duration))).toEqual([2_000, 2_000])
      expect(yield* Clock.currentTimeMillis).toBe(2_000 + 10_000 + 1_000 + 2_000 + 10_000)
    }))

  it.effect.prop(
    "sees one attempt for each request, numbered from 1, with the status of its response",
    [
      Generate.elementOf([me, setStock, ship, send, like, upload]),
      Generate.arrayOf(Generate.elementOf(replies), { minLength: 1, maxLength: 6 })
    ],
    ([operation, script]) =>
      Effect.gen(function*() {
        const { attempts, calls } = yield* observed(operation, script, { retry: Schedule.recurs(4) })
        expect(attempts.map(({ number }) => number)).toEqual(calls.map((_, index) => index + 1))
        expect(attempts.map(({ status }) => status)).toEqual(calls.map((_, index) => {
          const reply = script[Math.min(index, script.length - 1)]
          return reply === undefined || reply === "hang" || "broken" in reply
            ? undefined
            : "cut" in reply
            ? reply.cut
            : "stalled" in reply
            ? reply.stalled
            : reply.status
        }))
        expect(attempts.map(({ delay }) => delay === undefined)).toEqual(attempts.map((_, index) => index === attempts.length - 1))
      })
  )
})
