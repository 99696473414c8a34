/** Which calls a fault hits: by key, by account, by number and in sequence; replacing and removing one fault. */
import { assert, describe, it } from "@effect/vitest"
import { type Fault, FaultId, Sandbox } from "@plaza/sandbox"
import { between, someOf } from "@plaza/testing/Generators"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Generator from "../src/Generator.ts"
import type { Latency } from "../src/http/Fault.ts"
import { drawMillis } from "../src/http/Faults.ts"
import { call, control, layerInProcess, layerSocket, messageOf, refusal, someone } from "./support.ts"

const add = (fault: Fault) => Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.addFault(fault))

/** The status of each of so many calls; 0 if the connection is closed. */
const statuses = (calls: number, key?: Redacted.Redacted) =>
  Effect.replicateEffect(
    call("GET", "/me", key === undefined ? {} : { key }).pipe(Effect.map(({ status }) => status), Effect.orElseSucceed(() => 0)),
    calls
  )

const failure = { kind: "status", when: "before", status: 500 } as const
const ok = (count: number) => Array.from({ length: count }, () => 200)

for (const [way, provide] of [["in process", layerInProcess], ["over a socket", layerSocket]] as const) {
  describe(`a fault ${way}`, () => {
    it.effect("of an account hits its calls with any key, by id or by username", () =>
      Effect.gen(function*() {
        const { createKey } = yield* Sandbox.Sandbox
        const other = yield* someone
        const second = yield* createKey(other.id)
        for (const account of [other.id, other.username]) {
          yield* add({ ...failure, account, times: 2 })
          assert.deepStrictEqual(yield* statuses(2), [200, 200])
          assert.deepStrictEqual(yield* statuses(1, other.key), [500])
          assert.deepStrictEqual(yield* statuses(2, second.apiKey), [500, 200])
        }
      }).pipe(Effect.provide(provide())))

    it.effect("of a key hits only calls with that key", () =>
      Effect.gen(function*() {
        const { createKey, revokeKey } = yield* Sandbox.Sandbox
        const { apiKey, id } = yield* createKey("1001")
        yield* add({ ...failure, key: id, times: 2 })
        assert.deepStrictEqual(yield* statuses(2), [200, 200])
        assert.strictEqual((yield* call("GET", "/me", { key: null })).status, 401)
        assert.deepStrictEqual(yield* statuses(1, apiKey), [500])
        yield* revokeKey(id)
        assert.deepStrictEqual(yield* statuses(1, apiKey), [401])
      }).pipe(Effect.provide(provide())))

    it.effect("hits exactly the nth matching call", () =>
      Effect.gen(function*() {
        yield* add({ ...failure, path: "/me", nth: 3 })
        yield* call("GET", "/users/1002")
        assert.deepStrictEqual(yield* statuses(5), [200, 200, 500, 200, 200])
        yield* add({ ...failure, nth: 2, times: 2 })
        assert.deepStrictEqual(yield* statuses(5), [200, 500, 500, 200, 200])
      }).pipe(Effect.provide(provide())))

    it.effect("ends after its time by the sandbox's clock, however many calls it has hit", () =>
      Effect.gen(function*() {
        const { advanceClock, faults, replaceFault } = yield* Sandbox.Sandbox
        const id = yield* add({ ...failure, lastsMillis: 60_000 })
        yield* advanceClock("59 seconds")
        assert.deepStrictEqual(yield* statuses(3), [500, 500, 500])
        yield* replaceFault(id, { ...failure, lastsMillis: 2_000, times: 3 })
        yield* advanceClock("1 second")
        assert.deepStrictEqual(yield* statuses(2), [500, 500])
        yield* advanceClock("1 second")
        assert.deepStrictEqual(yield* faults, [])
        assert.deepStrictEqual(yield* statuses(1), [200])
      }).pipe(Effect.provide(provide())))

    it.effect("hits every nth matching call, from the nth on or from another one", () =>
      Effect.gen(function*() {
        yield* add({ kind: "status", when: "after", status: 500, every: 10 })
        assert.deepStrictEqual(yield* statuses(30), [...ok(9), 500, ...ok(9), 500, ...ok(9), 500])
        yield* Effect.flatMap(Sandbox.Sandbox, ({ reset }) => reset)
        yield* add({ ...failure, every: 3, nth: 1, times: 2 })
        assert.deepStrictEqual(yield* statuses(8), [500, 200, 200, 500, ...ok(4)])
      }).pipe(Effect.provide(provide())))

    it.effect("of a sequence has one outcome for each call", () =>
      Effect.gen(function*() {
        const { faults } = yield* Sandbox.Sandbox
        const outcomes = [
          { kind: "status", when: "before", status: 500 },
          { kind: "drop", when: "before" },
          { kind: "pass" }
        ] as const
        yield* add({ kind: "sequence", outcomes, path: "/me" })
        assert.deepStrictEqual(yield* statuses(2), [500, 0])
        assert.deepStrictEqual((yield* faults).map(({ hits, remaining }) => [hits, remaining]), [[2, 1]])
        assert.deepStrictEqual(yield* statuses(2), [200, 200])
        assert.deepStrictEqual(yield* faults, [])
        yield* add({ kind: "sequence", outcomes, times: 5 })
        assert.deepStrictEqual(yield* statuses(6), [500, 0, 200, 500, 0, 200])
      }).pipe(Effect.provide(provide())))

    it.effect("is replaced in its place, and removed alone", () =>
      Effect.gen(function*() {
        const id = yield* add({ ...failure, times: 5 })
        const other = yield* add({ ...failure, status: 501, times: 5 })
        assert.deepStrictEqual(yield* statuses(1), [500])
        const fault = { ...failure, status: 503, times: 2 }
        assert.deepStrictEqual((yield* control("PUT", `/faults/${id}`, { json: fault })).json, { id, fault, hits: 0, remaining: 2 })
        assert.deepStrictEqual(yield* statuses(1), [503])
        assert.strictEqual((yield* control("DELETE", `/faults/${id}`)).status, 204)
        assert.deepStrictEqual(yield* statuses(1), [501])
        assert.strictEqual((yield* control("DELETE", `/faults/${other}`)).status, 204)
        assert.deepStrictEqual(yield* statuses(1), [200])
        for (const method of ["PUT", "DELETE"] as const) {
          const reply = yield* control(method, `/faults/${id}`, method === "PUT" ? { json: fault } : {})
          assert.strictEqual(refusal(reply), "404 NOT_FOUND")
          assert.include(messageOf(reply), "fault_1")
        }
        assert.strictEqual(refusal(yield* control("PUT", `/faults/${id}`, { json: { kind: "drop" } })), "400 VALIDATION_ERROR when")
      }).pipe(Effect.provide(provide())))
  })
}

describe("a fault", () => {
  it.effect("that an earlier one went before hits the next call", () =>
    Effect.gen(function*() {
      yield* add(failure)
      yield* add({ ...failure, status: 502 })
      yield* add({ ...failure, status: 503, nth: 2 })
      assert.deepStrictEqual(yield* statuses(4), [500, 502, 503, 200])
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("of a sequence combines with a delay, and lets other faults hit the calls that it passes", () =>
    Effect.gen(function*() {
      const { requests } = yield* Sandbox.Sandbox
      yield* add({ kind: "sequence", outcomes: [{ kind: "pass" }, { kind: "delay", when: "after", millis: 500 }] })
      yield* add({ ...failure, times: 2 })
      assert.deepStrictEqual(yield* statuses(1), [500])
      const second = yield* Effect.forkChild(statuses(1))
      yield* TestClock.adjust("499 millis")
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* Fiber.join(second), [500])
      assert.deepStrictEqual((yield* requests).map(({ faults }) => faults.join(" ")), ["fault_2", "fault_1 fault_2"])
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("is replaced and removed by a program as well", () =>
    Effect.gen(function*() {
      const { removeFault, replaceFault } = yield* Sandbox.Sandbox
      const id = yield* add(failure)
      assert.deepStrictEqual((yield* replaceFault(id, { ...failure, status: 503 })).remaining, 1)
      yield* removeFault(id)
      assert.deepStrictEqual(yield* statuses(1), [200])
      assert.strictEqual((yield* Effect.flip(removeFault(FaultId.make("fault_9")))).code, "NOT_FOUND")
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("with an invalid target is refused, and the refusal repeats no key", () =>
    Effect.gen(function*() {
      const { apiKey } = yield* Sandbox.Sandbox
      for (
        const [fault, name] of [
          [{ ...failure, nth: 0 }, "nth"],
          [{ ...failure, every: 1.5 }, "every"],
          [{ ...failure, key: Redacted.value(apiKey) }, "key"],
          [{ ...failure, account: 7 }, "account"],
          [{ kind: "sequence", outcomes: [] }, "outcomes.0"],
          [{ kind: "sequence", outcomes: [{ kind: "pass", times: 2 }] }, "outcomes.0.times"],
          [{ kind: "sequence", outcomes: [{ kind: "drop" }] }, "outcomes.0.when"],
          [{ kind: "delay", when: "after", millis: { distribution: "uniform", min: 2, max: 1 } }, "millis.max"],
          [{ kind: "delay", when: "after", millis: { distribution: "logNormal", median: 0, p99: 1 } }, "millis.median"],
          [{ kind: "delay", when: "after", millis: { distribution: "logNormal", median: 5, p99: 1 } }, "millis.p99"],
          [{ kind: "slow", when: "after", millis: { distribution: "uniform", min: 1, max: 2 } }, "millis"]
        ] as const
      ) {
        const reply = yield* control("POST", "/faults", { json: fault })
        assert.strictEqual(refusal(reply), `400 VALIDATION_ERROR ${name}`)
        assert.notInclude(reply.text, Redacted.value(apiKey))
      }
    }).pipe(Effect.provide(layerInProcess())))

  it.effect.prop("hits the calls that a plain count gives, whatever nth, every and times are", [
    someOf({ nth: between(1, 6), every: between(1, 4), times: between(1, 4) })
  ], ([target]) =>
    Effect.gen(function*() {
      yield* add({ ...failure, ...target })
      const step = target.every ?? 1
      const first = target.nth ?? step
      const most = target.times ?? (target.every === undefined ? 1 : Number.POSITIVE_INFINITY)
      const expected = Array.from({ length: 14 }, (_, index) => {
        const place = (index + 1 - first) / step
        return Number.isInteger(place) && place >= 0 && place < most ? 500 : 200
      })
      assert.deepStrictEqual(yield* statuses(14), expected)
    }).pipe(Effect.provide(layerInProcess())), { arbitrary: { runs: 25 } })
})

describe("the latencies of a delay", () => {
  const drawn = (latency: Latency, seed = "1") => {
    const random = Generator.make(seed)
    return Array.from({ length: 4_000 }, () => drawMillis(latency, random))
  }
  const share = (values: ReadonlyArray<number>, test: (value: number) => boolean) => values.filter(test).length / values.length

  it("are whole milliseconds, the same for the same seed and others for another one", () => {
    const latency = { distribution: "uniform", min: 5, max: 40 } as const
    const first = drawn(latency)
    assert.deepStrictEqual(drawn(latency), first)
    assert.notDeepEqual(drawn(latency, "2"), first)
    assert.isTrue(first.every((value) => Number.isInteger(value) && value >= 5 && value <= 40))
    assert.strictEqual(new Set(first).size, 36)
  })

  it("have the mean and the deviation of a normal distribution, and are never negative", () => {
    const values = drawn({ distribution: "normal", mean: 300, deviation: 80 })
    assert.approximately(share(values, (value) => value < 300), 0.5, 0.03)
    assert.approximately(share(values, (value) => Math.abs(value - 300) <= 80), 0.683, 0.03)
    assert.isTrue(drawn({ distribution: "normal", mean: 0, deviation: 50 }).every((value) => value >= 0))
  })

  it("have the median and the 99th percentile of a log-normal distribution", () => {
    const values = drawn({ distribution: "logNormal", median: 80, p99: 2_000 })
    assert.approximately(share(values, (value) => value < 80), 0.5, 0.03)
    assert.approximately(share(values, (value) => value > 2_000), 0.01, 0.006)
  })

  it.effect("are waited for", () =>
    Effect.gen(function*() {
      yield* add({ kind: "delay", when: "after", millis: { distribution: "uniform", min: 500, max: 600 } })
      const reply = yield* Effect.forkChild(statuses(1))
      yield* TestClock.adjust("499 millis")
      assert.isUndefined(reply.pollUnsafe())
      yield* TestClock.adjust("101 millis")
      assert.deepStrictEqual(yield* Fiber.join(reply), [200])
    }).pipe(Effect.provide(layerInProcess())))
})
