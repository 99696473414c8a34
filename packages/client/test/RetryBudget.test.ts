/** The budget for the retries of a client, which limits its requests during an outage. */
import { describe, expect, it } from "@effect/vitest"
import { type ClientError, Plaza, Posts, Profiles, Store, TestTime } from "@plaza/client"
import { OrderId, ProductId } from "@plaza/domain"
import { faultPresets, Sandbox } from "@plaza/sandbox"
import { Clock, Effect, Schedule } from "effect"
import * as Fake from "./support/FakeService.ts"
import * as OnSandbox from "./support/OnSandbox.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)
const setStock = (id: string) => Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make(id), 1))
const ship = Effect.flatMap(Store, ({ ship }) => ship(OrderId.make("o"), { carrier: "C", trackingNumber: "T" }))
const create = Effect.flatMap(Posts, ({ create }) => create({ text: "hello" }))

type Call = Effect.Effect<unknown, ClientError.Failure, Plaza.Services>

/** Requests of a service that a test sets, and the client of it. */
const serving = (options: Partial<Plaza.Options> = {}) => {
  const state: { reply: (call: Fake.Call) => Fake.Reply; requests: number } = { reply: () => ({ status: 503 }), requests: 0 }
  const layer = Fake.layerPlaza((call) =>
    Effect.sync(() => {
      state.requests++
      return state.reply(call)
    }), { rateLimit: 100_000, ...options })
  /** Makes calls one after the other. Returns their requests. */
  const requestsOf = (call: Call, calls: number) =>
    Effect.gen(function*() {
      const before = state.requests
      yield* Effect.forEach(Array.from({ length: calls }), () => Effect.exit(call), { discard: true })
      return state.requests - before
    })
  return { state, layer, requestsOf }
}

const date = { date: new Date(0).toUTCString() }
const success = () => Fake.json({ id: "1" })
const endless = Plaza.withRetry(Schedule.spaced("1 second"))

describe("the retry budget of a client", () => {
  const failures: Readonly<Record<string, readonly [Fake.Reply, Call]>> = {
    "a 503 of a read": [{ status: 503 }, me],
    "a 500 of a repeatable write": [Fake.refusal(500, "INTERNAL_ERROR"), setStock("p")],
    "a lost connection": [Fake.lost, me],
    "a timeout": ["hang", me],
    "a failed connection": [Fake.refused, me]
  }
  for (const [name, [reply, call]] of Object.entries(failures)) {
    it.effect(`pays for 35 retries after ${name}`, () => {
      const { layer, requestsOf, state } = serving({ timeout: "1 second" })
      state.reply = () => reply
      return Effect.gen(function*() {
        expect(yield* requestsOf(endless(call), 1)).toBe(36)
        expect(yield* requestsOf(endless(call), 5)).toBe(5)
      }).pipe(Effect.provide(layer), TestTime.advancing)
    })
  }

  it.effect("is shared by all calls", () => {
    const { layer, requestsOf } = serving()
    return Effect.gen(function*() {
      expect(yield* requestsOf(me, 50)).toBe(50 + 35)
      expect(yield* requestsOf(setStock("p"), 50)).toBe(50)
    }).pipe(Effect.provide(layer), TestTime.advancing)
  })

  it.effect("is not shared by two clients", () => {
    const [one, other] = [serving(), serving()]
    return Effect.gen(function*() {
      expect(yield* Effect.provide(one.requestsOf(endless(me), 1), one.layer)).toBe(36)
      expect(yield* Effect.provide(other.requestsOf(endless(me), 1), other.layer)).toBe(36)
    }).pipe(TestTime.advancing)
  })

  it.effect("without tokens reports a failure at once", () => {
    const { layer, requestsOf, state } = serving()
    return Effect.gen(function*() {
      yield* requestsOf(endless(me), 1)
      const start = yield* Clock.currentTimeMillis
      expect(yield* Effect.flip(me)).toMatchObject({ status: 503, attempts: 1 })
      expect(yield* Effect.flip(setStock("p"))).toMatchObject({ status: 503, attempts: 1 })
      expect(yield* Effect.flip(ship)).toMatchObject({ _tag: "OutcomeUnknown", attempts: 1, cause: { status: 503 } })
      state.reply = () => Fake.refused
      expect(yield* Effect.flip(ship)).toMatchObject({ _tag: "ConnectionFailed", attempts: 1 })
      expect(yield* Clock.currentTimeMillis).toBe(start)
    }).pipe(Effect.provide(layer), TestTime.advancing)
  })

  it.effect("doesn't pay for a retry after a 429", () => {
    const { layer, requestsOf, state } = serving()
    return Effect.gen(function*() {
      const limited = Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "1" })
      state.reply = () => state.requests % 50 === 0 ? success() : limited
      expect(yield* requestsOf(me, 1)).toBe(50)
      state.reply = () => ({ status: 503 })
      expect(yield* requestsOf(endless(me), 1)).toBe(36)
      state.reply = () => state.requests % 2 === 0 ? success() : limited
      expect(yield* requestsOf(me, 3)).toBe(6)
    }).pipe(Effect.provide(layer), TestTime.advancing)
  })

  it.effect("pays neither for the search for a post nor for its retries", () => {
    const { layer, requestsOf, state } = serving()
    return Effect.gen(function*() {
      let lists = 0
      // The list fails twice, and then shows the post.
      state.reply = ({ method }) =>
        method === "POST" || ++lists <= 2
          ? { status: 500 }
          : Fake.json({ data: [{ id: "1", text: "hello", createdAt: "1970-01-01T00:00:00.000Z" }], next_cursor: null }, 200, date)
      expect(yield* create).toMatchObject({ id: "1" })
      expect(lists).toBeGreaterThan(2)
      state.reply = () => ({ status: 503 })
      expect(yield* requestsOf(endless(me), 1)).toBe(36)
      // Without tokens the search runs all the same, with its retries.
      lists = 0
      state.reply = ({ method }) => {
        lists += method === "GET" ? 1 : 0
        return { status: 500 }
      }
      expect(yield* Effect.flip(create)).toMatchObject({ _tag: "OutcomeUnknown", attempts: 1 })
      expect(lists).toBe(5)
    }).pipe(Effect.provide(layer), TestTime.advancing)
  })

  it.effect("can be switched off", () => {
    const { layer, requestsOf } = serving({ retryBudget: false })
    return Effect.gen(function*() {
      expect(yield* requestsOf(me, 100)).toBe(500)
    }).pipe(Effect.provide(layer), TestTime.advancing)
  })

  it.effect("earns a token by a success, and a retry costs 14", () => {
    const { layer, requestsOf, state } = serving()
    return Effect.gen(function*() {
      yield* requestsOf(endless(me), 1)
      // 500 tokens pay for 35 retries, and 10 are left.
      for (const [successes, retries] of [[3, 0], [1, 1], [13, 0], [1, 1], [28, 2], [600, 35]] as const) {
        state.reply = success
        yield* requestsOf(me, successes)
        state.reply = () => ({ status: 503 })
        expect([successes, yield* requestsOf(endless(me), 1)]).toEqual([successes, 1 + retries])
      }
    }).pipe(Effect.provide(layer), TestTime.advancing)
  })
})

describe("an outage of a minute", () => {
  /** The requests that the sandbox sees in its outage, of 100 calls that start with it. */
  const requestsInOutage = (retryBudget: boolean) =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const outage = faultPresets["outage"] ?? (yield* Effect.die(new Error("no preset for an outage")))
      yield* sandbox.addFault(outage.fault)
      const calls = Array.from({ length: 50 }, (_, index) => [me, setStock(`p${index}`)]).flat()
      yield* Effect.forEach(calls, (call) => Effect.exit<unknown, unknown, OnSandbox.World>(call), {
        concurrency: "unbounded",
        discard: true
      })
      expect(yield* Clock.currentTimeMillis).toBeLessThan(60_000)
      const duringOutage = yield* sandbox.countRequests()
      yield* Effect.sleep("1 minute")
      expect(yield* me).toHaveProperty("id")
      return duringOutage
    }).pipe(
      TestTime.advancing,
      Effect.provide(OnSandbox.inProcess({
        sandbox: { assumptions: { requestsPerWindow: 10_000 } },
        client: { rateLimit: 10_000, retryBudget }
      }))
    )

  it.effect("costs the service 35 requests more than its 100 calls", () =>
    Effect.gen(function*() {
      expect(yield* requestsInOutage(true)).toBe(135)
    }))

  it.effect("costs the service 400 requests more than its 100 calls without the budget", () =>
    Effect.gen(function*() {
      expect(yield* requestsInOutage(false)).toBe(500)
    }))
})
