/** The order in which two calls for one product send and store values. */
import { describe, expect, it } from "@effect/vitest"
import { Plaza, Store, TestTime } from "@plaza/client"
import { OrderId, ProductId } from "@plaza/domain"
import { type Fault, type Latitude, Sandbox } from "@plaza/sandbox"
import { anyOf, arrayOf, between, weighted } from "@plaza/testing/Generators"
import { Arbitrary, Effect, Fiber, Schedule } from "effect"
import * as Fake from "./support/FakeService.ts"
import * as OnSandbox from "./support/OnSandbox.ts"

const product = "CAP/RED L"

/** The stored values in order, where the first of two calls has a fault and the second starts meanwhile. */
const stored = (fault: Fault, latitude: Latitude.Change = {}) =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const { setStock } = yield* Store
    yield* sandbox.addFault({ ...fault, method: "PATCH" })
    yield* Effect.all([
      setStock(ProductId.make(product), 10),
      Effect.delay(setStock(ProductId.make(product), 5), "10 millis")
    ], { concurrency: 2 })
    yield* Effect.sleep("1 minute")
    return (yield* sandbox.commits).map(({ payload }) => payload)
  }).pipe(TestTime.advancing, Effect.provide(OnSandbox.inProcess({ sandbox: { latitude } })))

describe("of two stock values of one product, the service stores the value of the later call last", () => {
  it.effect("when the earlier call is retried after a 503", () =>
    Effect.map(stored({ kind: "status", when: "before", status: 503 }), (values) => expect(values).toEqual([{ stock: 10 }, { stock: 5 }])))

  it.effect("when the earlier call is retried although its value was stored", () =>
    Effect.map(stored({ kind: "drop", when: "after" }), (values) => expect(values).toEqual([{ stock: 10 }, { stock: 10 }, { stock: 5 }])))

  const givenUp = {
    "a 504": { kind: "status", when: "before", status: 504 },
    "a 502": { kind: "status", when: "before", status: 502 },
    "a lost connection": { kind: "drop", when: "before" }
  } satisfies Record<string, Fault>

  for (const [name, fault] of Object.entries(givenUp)) {
    it.effect(`unless the service goes on with the earlier request after ${name}`, () =>
      Effect.map(stored(fault, { lateCommitMillis: 5_000 }), (values) =>
        expect(values).toEqual([{ stock: 10 }, { stock: 5 }, { stock: 10 }])))
  }
})

describe("of many stock values of two products", () => {
  /** What a service does with a request: whether it stores the value, and its response. */
  const outcomes = {
    "stores it": [true, undefined],
    "fails before it": [false, { status: 503 }],
    "fails after it": [true, { status: 502 }],
    "stores it and loses the connection": [true, Fake.lost],
    "refuses the connection": [false, Fake.refused],
    "limits the rate": [false, Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "1" })],
    "stores it and never responds": [true, "hang"]
  } satisfies Record<string, readonly [boolean, Fake.Reply | undefined]>

  const outcome = weighted<keyof typeof outcomes>(
    [6, Arbitrary.Constant("stores it")],
    [
      6,
      anyOf([
        "fails before it",
        "fails after it",
        "stores it and loses the connection",
        "refuses the connection",
        "limits the rate",
        "stores it and never responds"
      ])
    ]
  )

  it.effect.prop("the service stores each in the order of the calls, whatever happens to single requests", [
    arrayOf(Arbitrary.all({ product: anyOf(["a", "b"]), afterMillis: between(0, 700) }), { minLength: 2, maxLength: 20 }),
    arrayOf(outcome, { minLength: 0, maxLength: 40 })
  ], ([calls, drawn]) =>
    Effect.gen(function*() {
      const stored: Readonly<Record<"a" | "b", Array<number>>> = { a: [], b: [] }
      let requests = 0
      const layer = Fake.layerPlaza(({ body, path }) =>
        Effect.sync(() => {
          const [stores, reply] = outcomes[drawn[requests++] ?? "stores it"]
          const product = path.includes("/a/") ? "a" : "b"
          const stock = Number(/\d+/.exec(body)?.[0])
          if (stores && stored[product].at(-1) !== stock) {
            stored[product].push(stock)
          }
          return reply ?? Fake.json({ id: product, stock })
        }), { retryBudget: false, rateLimit: 10_000, timeout: "2 seconds" })
      yield* Effect.gen(function*() {
        const { setStock } = yield* Store
        const running: Array<Fiber.Fiber<unknown, unknown>> = []
        for (const [index, { afterMillis, product }] of calls.entries()) {
          yield* Effect.sleep(afterMillis)
          running.push(yield* Effect.forkChild(setStock(ProductId.make(product), index)))
        }
        yield* Effect.forEach(running, Fiber.join)
      }).pipe(Plaza.withRetry(Schedule.spaced("1 second")), Effect.provide(layer), TestTime.advancing)
      for (const product of ["a", "b"] as const) {
        expect(stored[product]).toEqual(calls.flatMap((call, index) => call.product === product ? [index] : []))
      }
    }))
})

describe("of two shipments of one order", () => {
  const ship = (carrier: string) => Effect.flatMap(Store, ({ ship }) => ship(OrderId.make("o1"), { carrier, trackingNumber: "1" }))

  it.effect("the later call waits for the earlier one and its retry, and fails with Conflict", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.setOrder({ id: "o1" })
      yield* sandbox.addFault({ kind: "status", when: "before", status: 503, method: "POST" })
      const [first, second] = yield* Effect.all([ship("first"), Effect.delay(Effect.flip(ship("second")), "10 millis")], { concurrency: 2 })
      expect(first).toMatchObject({ carrier: "first" })
      expect(second).toMatchObject({ _tag: "Conflict" })
    }).pipe(TestTime.advancing, Effect.provide(OnSandbox.inProcess())))
})

it.effect("a stock value whose call is interrupted before its turn is not sent", () =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const { setStock } = yield* Store
    yield* sandbox.addFault({ kind: "status", when: "before", status: 503, method: "PATCH" })
    const first = yield* Effect.forkChild(setStock(ProductId.make(product), 1))
    yield* Effect.sleep("10 millis")
    const second = yield* Effect.forkChild(setStock(ProductId.make(product), 2))
    yield* Effect.sleep("10 millis")
    const third = yield* Effect.forkChild(setStock(ProductId.make(product), 3))
    yield* Fiber.interrupt(second)
    yield* Fiber.join(first)
    yield* Fiber.join(third)
    expect((yield* sandbox.commits).map(({ payload }) => payload)).toEqual([{ stock: 1 }, { stock: 3 }])
  }).pipe(TestTime.advancing, Effect.provide(OnSandbox.inProcess())))

describe("calls for different products", () => {
  it.effect("don't wait for each other", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { setStock } = yield* Store
      yield* sandbox.addFault({ kind: "delay", when: "before", millis: 5_000, method: "PATCH" })
      yield* Effect.all([
        setStock(ProductId.make(product), 10),
        Effect.delay(setStock(ProductId.make("0042"), 5), "10 millis")
      ], { concurrency: 2 })
      expect((yield* sandbox.commits).map(({ payload }) => payload)).toEqual([{ stock: 5 }, { stock: 10 }])
    }).pipe(TestTime.advancing, Effect.provide(OnSandbox.inProcess())))
})
