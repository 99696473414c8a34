/** What a run of `once` makes of every kind of response, and of none. */
import { describe, expect, it } from "@effect/vitest"
import { type Fault, Sandbox } from "@plaza/sandbox"
import { Clock, Duration, Effect, Fiber } from "effect"
import { arrived, held } from "./support/sandbox.ts"
import {
  anyStock,
  commitsOf,
  entryOf,
  fault,
  faultsEnd,
  forEver,
  type MemoryLedger,
  mismatch,
  once,
  patches,
  products,
  simulated as simulatedWith,
  stockOf,
  unsettled,
  type Wanted
} from "./support/simulation.ts"

const ids = ["MUG-BLUE-250", "MUG-BLUE-350", "MUG-BLUE-500", "007", "CAP/RED L", "Ä-7", "SET #3", "50%-OFF-BOX", "BOX?MYSTERY"]
const wanted: Wanted = Object.fromEntries(ids.map((id, index) => [id, index * 3]))
const everything = { confirmed: ids.length, unchanged: 0, ended: { _tag: "Idle" }, source: { _tag: "Success" } }

const simulated = <A, E, R>(test: (memory: MemoryLedger) => Effect.Effect<A, E, R>) => simulatedWith({}, test, { limit: 100_000 })

/** How long an effect takes, in seconds. */
const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const from = yield* Clock.currentTimeMillis
    const result = yield* effect
    return { result, seconds: ((yield* Clock.currentTimeMillis) - from) / 1_000 }
  })

describe("once", () => {
  it.effect("brings every product to the wanted stock, and sends nothing the second time", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        expect(yield* once(memory, wanted)).toMatchObject(everything)
        expect(yield* held(...ids)).toEqual(wanted)
        expect(yield* once(memory, wanted)).toMatchObject({ ...everything, confirmed: 0, unchanged: ids.length })
        expect(yield* arrived).toHaveLength(ids.length)
      })
    ))

  it.effect("sends what is sold out first, then what falls, what is back, and the rest", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        yield* once(memory, { "MUG-BLUE-250": 5, "MUG-BLUE-350": 5, "MUG-BLUE-500": 0, "007": 5, "Ä-7": 5 })
        const before = (yield* arrived).length
        yield* once(memory, { "MUG-BLUE-250": 9, "MUG-BLUE-500": 3, "MUG-BLUE-350": 2, "SET #3": 4, "CAP/RED L": 0, "007": 0, "Ä-7": 5 }, {
          concurrency: 1
        })
        expect((yield* arrived).slice(before)).toEqual(["007", "CAP/RED L", "MUG-BLUE-350", "MUG-BLUE-500", "MUG-BLUE-250", "SET #3"])
      })
    ))

  it.effect("has no more products in flight than its concurrency less the one for sold-out products, and none of them twice", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        const { clearFaults } = yield* Sandbox.Sandbox
        yield* clearFaults
        yield* fault({ kind: "delay", when: "before", millis: 5_000, method: "PATCH", times: 100 })
        const running = yield* Effect.forkChild(once(memory, wanted, { concurrency: 3 }))
        yield* Effect.sleep("4 seconds")
        expect(new Set(yield* arrived).size).toBe(2)
        yield* Fiber.join(running)
        expect(yield* arrived).toHaveLength(ids.length)
      })
    ))

  it.effect("counts a response without a body as a confirmation", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "after", status: 204, body: "", method: "PATCH", times: ids.length })
        expect(yield* once(memory, wanted)).toMatchObject(everything)
        expect(yield* held(...ids)).toEqual(wanted)
      })
    ))

  it.effect("15 times in a row stays within the rate limit of the key", () => {
    const changing = (run: number) => products(30, () => run)
    return simulatedWith(changing(0), (memory) =>
      Effect.gen(function*() {
        for (let run = 1; run <= 15; run++) {
          expect(yield* once(memory, changing(run))).toMatchObject({ confirmed: 30, ended: { _tag: "Idle" } })
        }
        expect((yield* patches).filter(({ status }) => status === 429)).toEqual([])
        expect(yield* held(...Object.keys(changing(15)))).toEqual(changing(15))
      }), { limit: 120 })
  })
})

describe("faults on the way", () => {
  const faults: ReadonlyArray<readonly [name: string, fault: Fault]> = [
    ["a 500 before anything happened", { kind: "status", when: "before", status: 500 }],
    ["a 500 after it had happened", { kind: "status", when: "after", status: 500 }],
    ["a 503 with a page of HTML", { kind: "status", when: "after", status: 503, body: "<html>busy</html>", contentType: "text/html" }],
    ["a connection lost on the way there", { kind: "drop", when: "before" }],
    ["a connection lost on the way back", { kind: "drop", when: "after" }],
    ["a response that is cut off", { kind: "cut", when: "after" }],
    ["a response that isn't JSON", { kind: "garbage", body: "<html>fine</html>" }],
    ["a response after the timeout", { kind: "delay", when: "after", millis: 45_000 }],
    ["a request that arrives after the timeout", { kind: "delay", when: "before", millis: 45_000 }],
    ["a 429 that asks for a short pause", { kind: "status", when: "before", status: 429, retryAfter: "7" }]
  ]
  for (const [name, each] of faults) {
    it.effect(`everything is settled at the end despite ${name}, three times`, () =>
      simulated((memory) =>
        Effect.gen(function*() {
          const { clearFaults } = yield* Sandbox.Sandbox
          // Of two delays only the first takes effect.
          yield* clearFaults
          yield* fault({ ...each, path: anyStock, times: 3 })
          expect(yield* once(memory, wanted)).toMatchObject(everything)
          expect(yield* held(...ids)).toEqual(wanted)
          expect(yield* unsettled(memory.ledger)).toEqual([])
        })
      ))
  }

  it.effect("a product that always fails stays doubtful with the reason after five attempts, and the next run sends it alone", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "after", status: 500, path: stockOf("007"), times: forEver })
        const { result, seconds } = yield* timed(once(memory, wanted))
        expect(result).toMatchObject({ confirmed: ids.length - 1, counts: { doubtful: 1 }, ended: { _tag: "Idle" } })
        expect(seconds).toBeLessThan(60)
        expect(yield* unsettled(memory.ledger)).toMatchObject([{
          productId: "007",
          state: "doubtful",
          attempts: 5,
          refusal: { tag: "InternalError" }
        }])
        yield* faultsEnd
        const before = (yield* arrived).length
        expect(yield* once(memory, wanted)).toMatchObject({ confirmed: 1, unchanged: ids.length - 1 })
        expect((yield* arrived).slice(before)).toEqual(["007"])
      })
    ))
})

describe("a write that takes effect after its timeout", () => {
  const late = (millis: number) =>
    Effect.flatMap(Sandbox.Sandbox, ({ setLatitude }) =>
      setLatitude({ lateCommitMillis: millis, lateCommitStatuses: [500, 502, 503, 504] }))

  it.effect("with the same value delays nothing", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        yield* late(20_000)
        yield* fault({ kind: "status", when: "before", status: 504, path: stockOf("007"), times: 1 })
        const { result, seconds } = yield* timed(once(memory, wanted))
        expect(result).toMatchObject(everything)
        expect(seconds).toBeLessThan(10)
        yield* Effect.sleep("1 minute")
        expect(yield* held(...ids)).toEqual(wanted)
      })
    ))

  it.effect("after the process was killed is overwritten before the next run ends", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        yield* once(memory, wanted)
        yield* late(20_000)
        const { clearFaults } = yield* Sandbox.Sandbox
        yield* clearFaults
        yield* fault({ kind: "delay", when: "before", millis: 25_000, path: stockOf("007"), times: 1 })
        const first = yield* Effect.forkChild(once(memory, { ...wanted, "007": 70 }, { stopWithin: Duration.millis(1) }))
        yield* Effect.sleep("2 seconds")
        yield* Fiber.interrupt(first)
        const { result, seconds } = yield* timed(once(memory, { ...wanted, "007": 7 }))
        // The write of 70 landed meanwhile, so 7 was sent once more after that was no longer possible.
        expect(result).toMatchObject({ counts: { settled: ids.length, doubtful: 0 }, ended: { _tag: "Idle" } })
        expect(seconds).toBeGreaterThanOrEqual(60)
        expect(seconds).toBeLessThan(75)
        expect(yield* commitsOf("007")).toEqual([9, 7, 70, 7])
        expect(yield* held("007")).toEqual({ "007": 7 })
      })
    ))

  it.effect("of an earlier run is overwritten although the source went back to the confirmed value", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        yield* once(memory, wanted)
        yield* late(30_000)
        yield* fault({ kind: "status", when: "before", status: 504, path: stockOf("007"), times: 5 })
        expect(yield* once(memory, { ...wanted, "007": 70 })).toMatchObject({ counts: { doubtful: 1 } })
        expect(yield* once(memory, wanted)).toMatchObject({ counts: { settled: ids.length } })
        yield* Effect.sleep("5 minutes")
        expect(yield* held("007")).toEqual({ "007": 9 })
      })
    ))

  it.effect("of several products with several values each leaves nothing different when the run ends", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        yield* late(15_000)
        for (const times of [3, 2, 1]) {
          yield* fault({ kind: "status", when: "before", status: 504, path: anyStock, times: ids.length * times - 1 })
          yield* once(memory, Object.fromEntries(ids.map((id, index) => [id, times * 100 + index])))
        }
        yield* faultsEnd
        expect(yield* once(memory, wanted)).toMatchObject({ counts: { settled: ids.length, doubtful: 0, pending: 0 } })
        expect(yield* held(...ids)).toEqual(wanted)
        yield* Effect.sleep("10 minutes")
        expect(yield* held(...ids)).toEqual(wanted)
      })
    ))
})

describe("refusals of one product", () => {
  for (const [name, status, code] of [["it doesn't exist", 404, "NOT_FOUND"], ["its value is refused", 400, "VALIDATION_ERROR"]] as const) {
    it.effect(`because ${name} quarantine it at once; it is sent again with another value, or when it is due`, () =>
      simulated((memory) =>
        Effect.gen(function*() {
          yield* fault({ kind: "status", when: "before", status, code, path: stockOf("007"), times: 1 })
          expect(yield* once(memory, wanted)).toMatchObject({
            confirmed: ids.length - 1,
            counts: { quarantined: 1 },
            ended: { _tag: "Idle" }
          })
          expect(yield* unsettled(memory.ledger)).toMatchObject([{ productId: "007", refusal: { code } }])
          expect(yield* once(memory, wanted)).toMatchObject({ confirmed: 0, unchanged: ids.length - 1, counts: { quarantined: 1 } })
          expect(yield* once(memory, { ...wanted, "007": 77 })).toMatchObject({ confirmed: 1, counts: { quarantined: 0 } })
          expect(yield* held("007")).toEqual({ "007": 77 })
          yield* fault({ kind: "status", when: "before", status, code, path: stockOf("007"), times: 1 })
          yield* once(memory, wanted)
          yield* Effect.sleep("1 minute")
          expect(yield* once(memory, wanted)).toMatchObject({ confirmed: 1, counts: { quarantined: 0 } })
        })
      ))
  }

  for (const [status, code] of [[403, "SOMETHING_NEW"], [403, "STORE_BLOCKED"], [409, "CONFLICT"], [401, "INVALID_API_KEY"]] as const) {
    it.effect(`with ${status} ${code} quarantine it the second time, and the rest is sent`, () =>
      simulated((memory) =>
        Effect.gen(function*() {
          yield* fault({ kind: "status", when: "before", status, code, path: stockOf("007"), times: 2 })
          const { result, seconds } = yield* timed(once(memory, wanted))
          expect(result).toMatchObject({ confirmed: ids.length - 1, counts: { quarantined: 1, pending: 0 }, ended: { _tag: "Idle" } })
          expect(seconds).toBeLessThan(10)
          expect(yield* entryOf(memory.ledger, "007")).toMatchObject({ state: "quarantined", attempts: 2, refusal: { code } })
          yield* fault({ kind: "status", when: "before", status, code, path: stockOf("Ä-7"), times: 1 })
          expect(yield* once(memory, { ...wanted, "Ä-7": 77 })).toMatchObject({ confirmed: 1, counts: { quarantined: 1 } })
          expect(yield* held("Ä-7")).toEqual({ "Ä-7": 77 })
        })
      ))
  }

  it.effect("by the sandbox itself: a product that nobody has, and a value over its limit", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        const result = yield* once(memory, { ...wanted, "NO SUCH": 4, "007": Number.MAX_SAFE_INTEGER })
        expect(result).toMatchObject({ confirmed: ids.length - 1, counts: { quarantined: 2 } })
      })
    ))

  for (const [name, header] of [["without a Retry-After", {}], ["that asks for a second", { retryAfter: "1" }]] as const) {
    it.effect(`by a 429 ${name}: given up after five requests`, () =>
      simulated((memory) =>
        Effect.gen(function*() {
          yield* fault({ kind: "status", when: "before", status: 429, ...header, path: stockOf("007"), times: forEver })
          const { result, seconds } = yield* timed(once(memory, wanted))
          expect(result).toMatchObject({ counts: { quarantined: 0, pending: 1 }, ended: { _tag: "Idle" } })
          expect(seconds).toBeLessThan(300)
          expect((yield* arrived).filter((id) => id === "007")).toHaveLength(5)
          yield* faultsEnd
          expect(yield* once(memory, wanted)).toMatchObject({ confirmed: 1, counts: { pending: 0 } })
        })
      ))
  }

  it.effect("because the response shows another stock: uncertain, never counted as confirmed", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        yield* fault(mismatch("007", 99, 1))
        expect(yield* once(memory, wanted)).toMatchObject(everything)
        expect((yield* arrived).filter((id) => id === "007")).toHaveLength(2)
        yield* fault(mismatch("007", 99, forEver))
        expect(yield* once(memory, { ...wanted, "007": 5 })).toMatchObject({
          confirmed: 0,
          counts: { uncertain: 1, quarantined: 0, settled: ids.length - 1 }
        })
        expect(yield* entryOf(memory.ledger, "007")).toMatchObject({
          state: "uncertain",
          wanted: 5,
          confirmed: undefined,
          refusal: { tag: "StockMismatch", value: 5 }
        })
      })
    ))
})

describe("refusals of everything", () => {
  for (
    const [status, code] of [
      [401, "INVALID_API_KEY"],
      [403, "INSUFFICIENT_SCOPE"],
      [403, "DEVELOPER_ACCESS_REVOKED"],
      [403, "PROFILE_INCOMPLETE"],
      [403, "STORE_BLOCKED"],
      [403, "SOMETHING_NEW"]
    ] as const
  ) {
    for (const everywhere of [false, true]) {
      it.effect(`${code} (${status}) of ${everywhere ? "every request" : "every product"} ends the run soon, and nothing is lost`, () =>
        simulated((memory) =>
          Effect.gen(function*() {
            yield* once(memory, { "Ä-7": 1 })
            yield* fault({ kind: "status", when: "before", status, code, path: everywhere ? "/**" : anyStock, times: forEver })
            const { result, seconds } = yield* timed(once(memory, wanted, { concurrency: 2 }))
            expect(seconds).toBeLessThan(60)
            expect(result).toMatchObject({ confirmed: 0, ended: { _tag: "Open", state: { reason: "Refused", failure: { code } } } })
            expect((yield* arrived).length).toBeLessThan(15)
            // Refused a second time, products are not quarantined where it is the account that is refused.
            expect(yield* once(memory, wanted, { concurrency: 2 })).toMatchObject({ confirmed: 0, counts: { quarantined: 0 } })
            yield* faultsEnd
            expect(yield* once(memory, wanted)).toMatchObject({ counts: { settled: ids.length }, ended: { _tag: "Idle" } })
            expect(yield* held(...ids)).toEqual(wanted)
          })
        ))
    }
  }

  it.effect("a quota that is used up ends the run at once", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        for (const times of [1, forEver]) {
          yield* fault({ kind: "status", when: "before", status: 429, retryAfter: "7200", path: anyStock, times })
          const { result, seconds } = yield* timed(once(memory, products(60, () => times)))
          expect(seconds).toBeLessThan(10)
          expect(result).toMatchObject({ ended: { _tag: "Open", state: { reason: "RateLimited" } } })
          expect(result.counts.pending).toBeGreaterThan(50)
        }
      })
    ))

  it.effect("a key that is refused by GET /me ends the run before the source is read", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 401, path: "/me", times: forEver })
        const { result, seconds } = yield* timed(once(memory, wanted))
        expect(result).toMatchObject({
          ended: { _tag: "Open", state: { failure: { _tag: "InvalidApiKey" } } },
          source: undefined,
          counts: { pending: 0, settled: 0 }
        })
        expect(seconds).toBeLessThan(10)
        expect(yield* arrived).toEqual([])
      })
    ))
})

describe("a service that fails", () => {
  const many = products(60, () => 1)
  for (
    const [name, asked] of [
      ["answers 503", { kind: "status", when: "before", status: 503 }],
      ["closes every connection", { kind: "drop", when: "before" }],
      ["answers with unknown refusals", { kind: "status", when: "before", status: 418 }]
    ] as const
  ) {
    it.effect(`and ${name} ends the run after a few products`, () =>
      simulatedWith(many, (memory) =>
        Effect.gen(function*() {
          yield* fault({ ...asked, path: anyStock, times: forEver })
          const { result, seconds } = yield* timed(once(memory, many, { concurrency: 2 }))
          expect(result.ended).toMatchObject({ _tag: "Open", state: { reason: name.includes("refusals") ? "Refused" : "ServiceFault" } })
          expect(result.counts.pending + result.counts.doubtful).toBeGreaterThanOrEqual(58)
          expect(new Set(yield* arrived).size).toBeLessThanOrEqual(15)
          expect(seconds).toBeLessThan(120)
        })))
  }

  it.effect("leaves one outage in the ledger, however many runs it lasts, and its end", () =>
    simulatedWith(many, (memory) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 503, path: anyStock, times: forEver })
        for (let run = 0; run < 3; run++) yield* once(memory, many, { concurrency: 2 })
        const kinds = Effect.map(memory.ledger.events, (events) => events.map(({ kind }) => kind))
        expect(yield* kinds).toEqual(["snapshotAccepted", "accountTrouble"])
        yield* (yield* Sandbox.Sandbox).clearFaults
        expect(yield* once(memory, many)).toMatchObject({ ended: { _tag: "Idle" } })
        expect(yield* kinds).toEqual(["snapshotAccepted", "accountTrouble", "accountRunning"])
      })))

  it.effect("for some products with successes between them does not end the run", () =>
    simulatedWith(many, (memory) =>
      Effect.gen(function*() {
        for (const id of ["P0001", "P0012", "P0023", "P0034", "P0045", "P0056"]) {
          yield* fault({ kind: "status", when: "after", status: 503, path: stockOf(id), times: 2 })
        }
        expect(yield* once(memory, many, { concurrency: 1 })).toMatchObject({ confirmed: 60, ended: { _tag: "Idle" } })
      })))
})

describe("a stop", () => {
  const interrupted = (memory: MemoryLedger, millis: number, stopWithin = Duration.seconds(10)) =>
    Effect.gen(function*() {
      const { clearFaults } = yield* Sandbox.Sandbox
      yield* clearFaults
      yield* fault({ kind: "delay", when: "after", millis, path: anyStock, times: forEver })
      const running = yield* Effect.forkChild(once(memory, wanted, { concurrency: 3, stopWithin }))
      while ((yield* arrived).length < 2) yield* Effect.sleep("10 millis")
      return yield* timed(Fiber.interrupt(running))
    })

  it.effect("waits for requests in flight and starts none; the next run continues from there", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        const { seconds } = yield* interrupted(memory, 4_000)
        expect(seconds).toBeGreaterThan(3.9)
        expect(seconds).toBeLessThan(4.1)
        expect(yield* arrived).toHaveLength(2)
        expect(yield* memory.ledger.counts).toMatchObject({ settled: 2, pending: ids.length - 2, sending: 0, doubtful: 0 })
        yield* faultsEnd
        expect(yield* once(memory, wanted)).toMatchObject({ confirmed: ids.length - 2, unchanged: 2 })
        expect(yield* held(...ids)).toEqual(wanted)
      })
    ))

  it.effect("waits at most for --stop-within, and interrupted requests are doubtful", () =>
    simulated((memory) =>
      Effect.gen(function*() {
        const { seconds } = yield* interrupted(memory, 25_000)
        expect(seconds).toBeGreaterThan(9.9)
        expect(seconds).toBeLessThan(10.1)
        expect(yield* memory.ledger.counts).toMatchObject({ doubtful: 2, pending: ids.length - 2, sending: 0 })
        yield* faultsEnd
        expect(yield* once(memory, wanted)).toMatchObject({ source: { _tag: "Success" } })
        expect(yield* held(...ids)).toEqual(wanted)
      })
    ))
})
