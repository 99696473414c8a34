import { describe, expect, it } from "@effect/vitest"
import { Chat, type ClientError, Plaza, Posts, Profiles, Store, Stories } from "@plaza-legacy/client"
import { ConversationId, MediaId, OrderId, PostId, ProductId, ProfileId } from "@plaza-legacy/domain"
import * as SimulatedTime from "@plaza-legacy/testing/SimulatedTime"
import { Clock, Effect, Either, Schedule } from "effect"
import * as Fake from "./support/FakeService.ts"

const me = Fake.json({ id: "1" })
const product = Fake.json({ id: "p", stock: 3 })
const order = Fake.json({ id: "o", carrier: "C", trackingNumber: "T" })
const fault = Fake.refusal(500, "INTERNAL_ERROR")

const getMe = Effect.flatMap(Profiles, ({ me }) => me)
const setStock = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("p"), 3))
const ship = Effect.flatMap(Store, ({ ship }) => ship(OrderId.make("o"), { carrier: "C", trackingNumber: "T" }))
const follow = Effect.flatMap(Profiles, ({ follow }) => follow(ProfileId.make("u")))
const like = Effect.flatMap(Posts, ({ like }) => like(PostId.make("x")))
const comment = Effect.flatMap(Posts, ({ comment }) => comment(PostId.make("x"), "hello"))
const send = Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("conv_1"), "hello"))
const createStory = Effect.flatMap(Stories, ({ create }) => create({ text: "hello" }))
const create = Effect.flatMap(Posts, ({ create }) => create({ text: "hello" }))

/** The result of an operation against scripted responses, and the number of requests. */
const outcome = (
  operation: Effect.Effect<unknown, ClientError.Failure, Plaza.Services>,
  replies: ReadonlyArray<Fake.Reply>
) => {
  const { calls, layer } = Fake.scripted(replies)
  return Effect.map(
    SimulatedTime.run(Effect.either(Effect.provide(operation, layer))),
    (result) => ({ result, calls, tag: Either.isLeft(result) ? result.left._tag : "Success" })
  )
}

const ambiguous = {
  "a 500": fault,
  "a 503 from a proxy": { status: 503, body: "<html>busy</html>" },
  "an undocumented 520": { status: 520 },
  "a lost connection": Fake.lost,
  "no answer in time": "hang"
} satisfies Record<string, Fake.Reply>

describe("after an ambiguous failure", () => {
  for (const [name, failure] of Object.entries(ambiguous)) {
    it.effect(`reads and repeatable writes are sent again (${name})`, () =>
      Effect.gen(function*() {
        for (const [operation, reply] of [[getMe, me], [setStock, product], [follow, { status: 204 }], [like, me]] as const) {
          const { calls, tag } = yield* outcome(operation, [failure, reply])
          expect([tag, calls.length]).toEqual(["Success", 2])
        }
      }))

    it.effect(`a comment, a message and a story are not sent again (${name})`, () =>
      Effect.gen(function*() {
        for (const operation of [comment, send, createStory]) {
          const { calls, tag } = yield* outcome(operation, [failure, Fake.json({ text: "hello" })])
          expect([tag, calls.length]).toEqual(["OutcomeUnknown", 1])
        }
      }))

    it.effect(`a conflict of a repeated shipment shows that the order is shipped, not by whom (${name})`, () =>
      Effect.gen(function*() {
        const conflict = Fake.refusal(409, "CONFLICT")
        const { calls, result } = yield* outcome(ship, [failure, conflict])
        expect(Either.getOrThrow(Either.flip(result))).toMatchObject({
          _tag: "OutcomeUnknown",
          likely: "done",
          cause: { _tag: "Conflict" }
        })
        expect(calls.length).toBe(2)
        expect((yield* outcome(ship, [failure, order])).tag).toBe("Success")
        expect((yield* outcome(ship, [conflict])).tag).toBe("Conflict")
      }))
  }

  it.effect("a shipment whose retries end has an unknown outcome, with any last failure", () =>
    Effect.gen(function*() {
      expect((yield* outcome(ship, [fault])).tag).toBe("OutcomeUnknown")
      expect((yield* outcome(ship, [fault, Fake.refusal(404, "NOT_FOUND")])).tag).toBe("OutcomeUnknown")
      expect((yield* outcome(ship, [fault, Fake.refused])).tag).toBe("OutcomeUnknown")
    }))

  it.effect("a repeatable write whose retries all fail with it fails with the last failure", () =>
    Effect.gen(function*() {
      expect((yield* outcome(setStock, [fault])).tag).toBe("InternalError")
      expect((yield* outcome(setStock, [Fake.lost])).tag).toBe("ConnectionLost")
      expect((yield* outcome(setStock, ["hang"])).tag).toBe("AttemptTimeout")
      // That the service can't be reached now doesn't say that nothing happened before.
      expect((yield* outcome(setStock, [fault, Fake.refused])).tag).toBe("OutcomeUnknown")
    }))

  it.effect("a repeatable write that is refused afterwards fails with that refusal", () =>
    Effect.gen(function*() {
      for (
        const [status, code, tag] of [[404, "NOT_FOUND", "NotFound"], [403, "STORE_BLOCKED", "StoreBlocked"], [
          401,
          "INVALID_API_KEY",
          "InvalidApiKey"
        ]] as const
      ) {
        expect(yield* outcome(setStock, [fault, Fake.refusal(status, code)])).toMatchObject({ tag, calls: { length: 2 } })
      }
    }))

  it.effect("a post is not sent again after a timeout or a 504, because the service may still process it", () =>
    Effect.gen(function*() {
      for (const failure of ["hang", { status: 504 }] as const) {
        const { calls, tag } = yield* outcome(create, [failure, Fake.json({ data: [], next_cursor: null })])
        expect([tag, calls.filter(({ method }) => method === "POST").length]).toEqual(["OutcomeUnknown", 1])
      }
    }))

  it.effect("a write that may have been carried out before a redirect or a 408 is never retried without its delivery class", () =>
    Effect.gen(function*() {
      for (const status of [302, 303, 304, 408]) {
        for (const operation of [comment, send, ship]) {
          expect((yield* outcome(operation, [{ status }])).tag).toBe("OutcomeUnknown")
        }
      }
    }))

  it.effect("a call whose connection broke during sending doesn't count as never connected", () =>
    Effect.gen(function*() {
      for (const broken of ["EHOSTUNREACH", "ENETUNREACH"]) {
        for (const syscall of ["read", "write"]) {
          expect(yield* outcome(comment, [{ broken, syscall }])).toMatchObject({ tag: "OutcomeUnknown", calls: { length: 1 } })
        }
      }
    }))

  it.effect("a post whose last failure is ambiguous has an unknown outcome, also if it is not listed", () =>
    Effect.gen(function*() {
      const layer = Fake.layerPlaza(({ method }) => Effect.succeed(method === "GET" ? Fake.json({ data: [], next_cursor: null }) : fault))
      expect((yield* SimulatedTime.run(Effect.flip(Effect.provide(create, layer))))._tag).toBe("OutcomeUnknown")
    }))
})

describe("after a retryable failure", () => {
  const operations = { getMe, setStock, ship, comment, send } as const

  for (const [name, operation] of Object.entries(operations)) {
    it.effect(`${name} is sent again when the service was never reached, or refused for the rate`, () =>
      Effect.gen(function*() {
        const success = Fake.json({ id: "o", text: "hello" })
        const limited = Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "3" })
        expect(yield* outcome(operation, [Fake.refused, Fake.refused, limited, success])).toMatchObject({
          tag: "Success",
          calls: { length: 4 }
        })
        expect((yield* outcome(operation, [Fake.refused])).tag).toBe("ConnectionFailed")
      }))

    for (
      const [status, code, tag] of [
        [400, "VALIDATION_ERROR", "ValidationError"],
        [401, "INVALID_API_KEY", "InvalidApiKey"],
        [403, "INSUFFICIENT_SCOPE", "InsufficientScope"],
        [404, "NOT_FOUND", "NotFound"],
        [409, "CONFLICT", "Conflict"],
        [413, "PAYLOAD_TOO_LARGE", "PayloadTooLarge"]
      ] as const
    ) {
      it.effect(`${name} is not sent again after ${status}`, () =>
        Effect.gen(function*() {
          const { calls, result } = yield* outcome(operation, [Fake.refusal(status, code, { field: "text" })])
          expect(calls.length).toBe(1)
          // A code that the endpoint doesn't list keeps its meaning, though not its class.
          const failure = Either.getOrThrow(Either.flip(result))
          expect([tag, "UnrecognizedError"]).toContain(failure._tag)
          expect(failure).toMatchObject({ status, code, details: { field: "text" } })
        }))
    }
  }

  for (const retryAfter of ["40", "Thu, 01 Jan 1970 00:00:40 GMT"]) {
    it.effect(`a Retry-After is waited out by every call of the key (${retryAfter})`, () =>
      Effect.gen(function*() {
        const { calls, layer } = Fake.scripted([Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": retryAfter }), me])
        // The second call asks while the first one waits.
        const ends = yield* Effect.all(
          [getMe, Effect.delay(getMe, "5 seconds")].map((call) => Effect.zipRight(call, Clock.currentTimeMillis)),
          { concurrency: "unbounded" }
        ).pipe(Effect.provide(layer), SimulatedTime.run)
        expect(calls.length).toBe(3)
        // Behind a refusal requests go out a 120th of a minute apart.
        expect(ends).toEqual([40_000, 40_500])
      }))
  }

  it.effect("a Retry-After beyond the maximum wait fails at once, with that time", () =>
    Effect.gen(function*() {
      const { calls, result } = yield* outcome(getMe, [
        Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "86400" })
      ])
      expect(calls.length).toBe(1)
      expect(Either.getOrThrow(Either.flip(result))).toMatchObject({ _tag: "RateLimited", retryAfter: { value: { millis: 86_400_000 } } })
    }))
})

describe("a success that can't be read", () => {
  for (const body of ["", "<html>", "{\"id\":", "null", "{\"id\":7,\"createdAt\":\"yesterday\"}"]) {
    it.effect(`of a post is looked up and never sent again (${JSON.stringify(body)})`, () =>
      Effect.gen(function*() {
        const { calls, result } = yield* outcome(create, [{ status: 200, body }])
        expect(calls.filter(({ method }) => method === "POST").length).toBe(1)
        expect(Either.getOrThrow(Either.flip(result))).toMatchObject({ _tag: "UnreadableSuccess", status: 200, body })
      }))

    it.effect(`of a read is retried as a fault of the service (${JSON.stringify(body)})`, () =>
      Effect.gen(function*() {
        expect((yield* outcome(getMe, [{ status: 200, body }, me])).tag).toBe("Success")
        const { calls, result } = yield* outcome(getMe, [{ status: 200, body }])
        const failure = Either.getOrThrow(Either.flip(result))
        expect(calls.length).toBe(5)
        expect(failure).toMatchObject({ _tag: "UnrecognizedError", status: 200, category: "ServiceFault", details: { body } })
      }))
  }

  it.effect("is not one whose field `error` is empty, because unknown fields are ignored", () =>
    Effect.gen(function*() {
      for (const error of [null, false, "", 0, [], {}]) {
        for (const operation of [getMe, comment, like, setStock]) {
          expect(yield* outcome(operation, [Fake.json({ id: "1", text: "hello", error })])).toMatchObject({
            tag: "Success",
            calls: { length: 1 }
          })
        }
      }
    }))

  it.effect("is one whose body is an error", () =>
    Effect.gen(function*() {
      for (const error of [{ code: "FORBIDDEN", message: "no" }, { code: 500 }, "INTERNAL_ERROR"]) {
        for (const operation of [comment, send, like, follow, setStock, ship]) {
          expect(yield* outcome(operation, [Fake.json({ error })])).toMatchObject({ tag: "UnreadableSuccess", calls: { length: 1 } })
        }
      }
    }))

  it.effect("is not one whose body omits only fields that the request determines", () =>
    Effect.gen(function*() {
      for (const body of [{}, { ok: true }, { id: null }]) {
        expect((yield* outcome(setStock, [Fake.json(body)])).result).toMatchObject(Either.right({ id: "p" }))
        expect((yield* outcome(ship, [Fake.json(body)])).result).toMatchObject(Either.right({ id: "o" }))
      }
    }))

  it.effect("is the failure of a write whose response is incomplete; a read is sent again", () =>
    Effect.gen(function*() {
      const cut = { cut: 200, body: "{\"id\":" }
      expect(yield* outcome(setStock, [cut])).toMatchObject({ tag: "UnreadableSuccess", calls: { length: 1 } })
      expect(yield* outcome(getMe, [cut, me])).toMatchObject({ tag: "Success", calls: { length: 2 } })
    }))

  it.effect("is the failure of a write after an ambiguous attempt too", () =>
    Effect.gen(function*() {
      for (const operation of [setStock, ship, like]) {
        const { calls, tag } = yield* outcome(operation, [Fake.lost, { status: 200, body: "<html>" }])
        expect([tag, calls.length]).toEqual(["UnreadableSuccess", 2])
      }
    }))

  it.effect("is the failure of a write whose response never ends; a refusal that never ends is still a refusal", () =>
    Effect.gen(function*() {
      expect(yield* outcome(send, [{ stalled: 200, body: "{\"text\":" }])).toMatchObject({
        tag: "UnreadableSuccess",
        calls: { length: 1 }
      })
      const refused = yield* outcome(send, [{ stalled: 403, body: "{\"error\":" }])
      expect(Either.getOrThrow(Either.flip(refused.result))).toMatchObject({
        _tag: "UnrecognizedError",
        status: 403,
        category: "Forbidden"
      })
    }))

  it.effect("is not one without a body, if the request determines the result", () =>
    Effect.gen(function*() {
      for (const reply of [{ status: 204 }, { status: 200, body: "" }, { status: 201, body: "" }]) {
        expect((yield* outcome(setStock, [reply])).result).toEqual(Either.right({ id: "p", stock: 3 }))
        expect((yield* outcome(ship, [reply])).result).toEqual(Either.right({ id: "o", carrier: "C", trackingNumber: "T" }))
        expect((yield* outcome(comment, [reply])).result).toEqual(Either.right({ text: "hello" }))
        expect((yield* outcome(like, [reply])).tag).toBe("Success")
      }
    }))

  it.effect("is the HTML page of a captive portal, which doesn't confirm a like", () =>
    Effect.gen(function*() {
      expect((yield* outcome(like, [{ status: 200, body: "<html>log in</html>" }])).tag).toBe("UnreadableSuccess")
    }))
})

describe("retries", () => {
  it.effect("end, and a layer or a call can have another schedule", () =>
    Effect.gen(function*() {
      expect((yield* outcome(getMe, [fault])).calls.length).toBe(5)
      expect((yield* outcome(Plaza.withRetry(Schedule.recurs(1))(getMe), [fault])).calls.length).toBe(2)
      const { calls, layer } = Fake.scripted([fault], { retry: Schedule.stop })
      yield* SimulatedTime.run(Effect.either(Effect.provide(getMe, layer)))
      expect(calls.length).toBe(1)
    }))

  it.effect("repeat neither a refusal nor a write of the class Once, even with an endless schedule", () =>
    Effect.gen(function*() {
      const endless = Plaza.withRetry(Schedule.spaced("1 second"))
      for (const operation of [comment, send, createStory]) {
        expect(yield* outcome(endless(operation), [Fake.lost])).toMatchObject({ tag: "OutcomeUnknown", calls: { length: 1 } })
      }
      for (const operation of [getMe, setStock, ship, comment]) {
        expect(yield* outcome(endless(operation), [Fake.refusal(401, "INVALID_API_KEY")])).toMatchObject({
          tag: "InvalidApiKey",
          calls: { length: 1 }
        })
      }
      const { calls, tag } = yield* outcome(endless(create), ["hang", Fake.json({ data: [], next_cursor: null })])
      expect([tag, calls.filter(({ method }) => method === "POST").length]).toEqual(["OutcomeUnknown", 1])
    }))

  it.effect("don't count a 429, which is retried even after the schedule has ended", () =>
    Effect.gen(function*() {
      const limited = Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "1" })
      for (const [operation, reply] of [[getMe, me], [comment, Fake.json({ text: "hello" })]] as const) {
        const ended = yield* outcome(Plaza.withRetry(Schedule.stop)(operation), [limited, limited, limited, reply])
        expect(ended).toMatchObject({ tag: "Success", calls: { length: 4 } })
      }
    }))

  it.effect("end with the last failure, all its fields and the number of attempts", () =>
    Effect.gen(function*() {
      const answer = Fake.refusal(503, "BUSY", { queue: 7 }, { "x-request-id": "r-1", "retry-after": "1" })
      const { result } = yield* outcome(getMe, [answer])
      expect(Either.getOrThrow(Either.flip(result))).toMatchObject({
        _tag: "UnrecognizedError",
        status: 503,
        code: "BUSY",
        details: { queue: 7 },
        requestId: "r-1",
        retryAfter: { value: { millis: 1_000 } },
        attempts: 5
      })
      const lost = yield* outcome(comment, [Fake.refused, Fake.refused, Fake.lost])
      expect(Either.getOrThrow(Either.flip(lost.result))).toMatchObject({
        _tag: "OutcomeUnknown",
        attempts: 3,
        cause: { _tag: "ConnectionLost", reason: "ECONNRESET", attempts: 3, cause: { code: "ECONNRESET" } }
      })
    }))

  it.effect("wait no longer than the call's maximum wait", () =>
    Effect.gen(function*() {
      const limited = Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "60" })
      expect((yield* outcome(getMe, [limited, me])).tag).toBe("Success")
      const impatient = yield* outcome(Plaza.withMaxWait("10 seconds")(getMe), [limited, me])
      expect(impatient).toMatchObject({ tag: "RateLimited", calls: { length: 1 } })
    }))

  it.effect("back off after a 429 without Retry-After", () =>
    Effect.gen(function*() {
      const { calls, tag } = yield* outcome(getMe, [Fake.refusal(429, "RATE_LIMITED"), Fake.refusal(429, "RATE_LIMITED"), me])
      expect([tag, calls.length]).toEqual(["Success", 3])
    }))
})

describe("an empty text", () => {
  const comment = Effect.flatMap(Posts, ({ comment }) => comment(PostId.make("x"), ""))
  const send = Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("conv_1"), ""))
  const create = (mediaIds?: ReadonlyArray<MediaId>) =>
    Effect.flatMap(Posts, ({ create }) => create({ text: "", ...(mediaIds && { mediaIds }) }))

  it.effect("fails without a request if there is nothing but the text", () =>
    Effect.gen(function*() {
      for (const operation of [comment, send, create(), create([])]) {
        const { calls, result } = yield* outcome(operation, [fault])
        expect(Either.getOrThrow(Either.flip(result))).toMatchObject({ _tag: "InvalidInput", field: "text" })
        expect(calls.length).toBe(0)
      }
    }))

  it.effect("is sent with a post that has media, and blank text is always sent", () =>
    Effect.gen(function*() {
      const created = Fake.json({ id: "1", createdAt: "2026-01-01T00:00:00.000Z" })
      const blanks = Effect.flatMap(Posts, ({ create }) => create({ text: " " }))
      for (const operation of [create([MediaId.make("m")]), blanks]) {
        expect((yield* outcome(operation, [created])).tag).toBe("Success")
      }
    }))
})
