/** The order in which two calls for one product send and store values. */
import { describe, expect, it } from "@effect/vitest"
import { Store } from "@plaza-legacy/client"
import { ProductId } from "@plaza-legacy/domain"
import { type Fault, type Latitude, Sandbox } from "@plaza-legacy/sandbox"
import * as SimulatedTime from "@plaza-legacy/testing/SimulatedTime"
import { Effect } from "effect"
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
  }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess({ sandbox: { latitude } })))

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
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))
})
