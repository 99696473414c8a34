/**
 * What a pass makes of everything that a service can answer, and of no answer at all.
 */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox, type Fault } from "@plaza/sandbox"
import { Chunk, Deferred, Effect, Fiber, Option, Stream, TestClock } from "effect"
import { Ledger } from "../src/Ledger.js"
import { arrived, held, hurried, ledgerPath, pass, withLedger, world } from "./support/world.js"

const open = Effect.flatMap(Ledger, (ledger) => Effect.map(Stream.runCollect(ledger.open), Chunk.toReadonlyArray))
const ids = ["MUG-BLUE-250", "MUG-BLUE-350", "MUG-BLUE-500", "007", "CAP/RED L", "Ä-7", "SET #3", "50%-OFF-BOX", "BOX?MYSTERY"]
const wanted = Object.fromEntries(ids.map((id, index) => [id, index * 3]))
const stocks = "/store/products/*/stock"

const inWorld = <A, E, R>(test: (path: string) => Effect.Effect<A, E, R>) =>
  Effect.provide(Effect.scoped(Effect.flatMap(ledgerPath, test)), world)
const fault = (asked: Fault) => Effect.flatMap(Sandbox.Sandbox, ({ addFault }) => addFault(asked))
const everything = { confirmed: ids.length, unchanged: 0, stop: Option.none() }

describe("a pass", () => {
  it.effect("brings everything into place, and a second one sends nothing", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        expect(yield* hurried(pass(path, wanted))).toMatchObject(everything)
        expect(yield* held(...ids)).toEqual(wanted)
        expect(yield* hurried(pass(path, wanted))).toMatchObject({ confirmed: 0, unchanged: ids.length, stop: Option.none() })
        expect(yield* arrived).toHaveLength(ids.length)
      })))

  it.effect("sends what is sold out first, then what falls, what is back, and the rest", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        const { reset } = yield* Sandbox.Sandbox
        yield* hurried(pass(path, { "MUG-BLUE-250": 5, "MUG-BLUE-350": 5, "MUG-BLUE-500": 0, "007": 5, "Ä-7": 5 }))
        yield* reset
        const next = { "MUG-BLUE-250": 9, "MUG-BLUE-500": 3, "MUG-BLUE-350": 2, "SET #3": 4, "CAP/RED L": 0, "007": 0, "Ä-7": 5 }
        yield* hurried(pass(path, next, { concurrency: 1 }))
        expect(yield* arrived).toEqual(["007", "CAP/RED L", "MUG-BLUE-350", "MUG-BLUE-500", "MUG-BLUE-250", "SET #3"])
      })))

  it.effect("never has more than so many products in flight, and none of them twice", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        yield* fault({ kind: "delay", when: "before", millis: 5_000, method: "PATCH", times: 100 })
        const running = yield* Effect.fork(pass(path, wanted, { concurrency: 3 }))
        while ((yield* arrived).length < 3) yield* TestClock.adjust("10 millis")
        yield* TestClock.adjust("1 second")
        expect(new Set(yield* arrived).size).toBe(3)
        yield* hurried(Fiber.join(running))
        expect(yield* arrived).toHaveLength(ids.length)
      })))

  it.effect("takes an answer without a body for a yes", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "after", status: 204, body: "", method: "PATCH", times: ids.length })
        expect(yield* hurried(pass(path, wanted))).toMatchObject(everything)
        expect(yield* held(...ids)).toEqual(wanted)
      })))
})

describe("faults on the way", () => {
  const faults: ReadonlyArray<readonly [name: string, fault: Fault]> = [
    ["a 500 before anything happened", { kind: "status", when: "before", status: 500 }],
    ["a 500 after it had happened", { kind: "status", when: "after", status: 500 }],
    ["a 503 with a page of HTML", { kind: "status", when: "after", status: 503, body: "<html>busy</html>", contentType: "text/html" }],
    ["a connection that is lost on the way there", { kind: "drop", when: "before" }],
    ["a connection that is lost on the way back", { kind: "drop", when: "after" }],
    ["an answer that is cut short", { kind: "cut", when: "after" }],
    ["an answer that isn't JSON", { kind: "garbage", body: "<html>fine</html>" }],
    ["an answer that comes after the time for it", { kind: "delay", when: "after", millis: 45_000 }],
    ["a request that arrives after the time for it", { kind: "delay", when: "before", millis: 45_000 }],
    ["a 429 that asks to wait a little", { kind: "status", when: "before", status: 429, retryAfter: "7" }]
  ]
  for (const [name, each] of faults) {
    it.effect(`everything is in place at the end in spite of ${name}, three times`, () =>
      inWorld((path) =>
        Effect.gen(function*() {
          yield* fault({ ...each, path: stocks, times: 3 })
          expect(yield* hurried(pass(path, wanted))).toMatchObject(everything)
          expect(yield* held(...ids)).toEqual(wanted)
          expect(yield* withLedger(path, open)).toEqual([])
        })))
  }

  it.effect("a product that fails longer than the client tries gets a second turn in the same pass", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        // Five attempts are one turn.
        yield* fault({ kind: "status", when: "after", status: 500, path: "/store/products/007/stock", times: 6 })
        expect(yield* hurried(pass(path, wanted))).toMatchObject(everything)
      })))

  it.effect("a product that always fails stays doubtful with the reason, the rest is in place, and the next pass sends it alone", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        const { clearFaults, reset } = yield* Sandbox.Sandbox
        yield* fault({ kind: "status", when: "after", status: 500, path: "/store/products/007/stock", times: 1000 })
        const result = yield* hurried(pass(path, wanted))
        expect(result).toMatchObject({ confirmed: ids.length - 1, counts: { doubtful: 1 }, stop: Option.none() })
        expect(yield* withLedger(path, open)).toMatchObject([{ productId: "007", state: "doubtful", refusal: { tag: "InternalError" } }])
        yield* clearFaults
        yield* reset
        expect(yield* hurried(pass(path, wanted))).toMatchObject({ confirmed: 1, unchanged: ids.length - 1 })
        expect(yield* arrived).toEqual(["007"])
      })))
})

describe("refusals of one product", () => {
  for (const [name, status, code] of [["it doesn't exist", 404, "NOT_FOUND"], ["its value is refused", 400, "VALIDATION_ERROR"], ["it is someone else's", 403, "FORBIDDEN"]] as const) {
    it.effect(`sets a product aside because ${name}, sends the rest, and tries it again only with another value`, () =>
      inWorld((path) =>
        Effect.gen(function*() {
          yield* fault({ kind: "status", when: "before", status, code, path: "/store/products/007/stock" })
          expect(yield* hurried(pass(path, wanted))).toMatchObject({ confirmed: ids.length - 1, counts: { quarantined: 1 }, stop: Option.none() })
          expect(yield* withLedger(path, open)).toMatchObject([{ productId: "007", refusal: { code } }])
          expect(yield* hurried(pass(path, wanted))).toMatchObject({ confirmed: 0, unchanged: ids.length - 1, counts: { quarantined: 1 } })
          expect(yield* hurried(pass(path, { ...wanted, "007": 77 }))).toMatchObject({ confirmed: 1, counts: { quarantined: 0 } })
          expect(yield* held("007")).toEqual({ "007": 77 })
        })))
  }

  it.effect("a product that nobody has is set aside by the service's own word", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        const result = yield* hurried(pass(path, { ...wanted, "NO SUCH": 4 }))
        expect(result).toMatchObject({ confirmed: ids.length, counts: { quarantined: 1 } })
      })))

  it.effect("a value over what the service takes is set aside by the service's own word", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        const result = yield* hurried(pass(path, { ...wanted, "007": Number.MAX_SAFE_INTEGER }))
        expect(result).toMatchObject({ confirmed: ids.length - 1, counts: { quarantined: 1 } })
      })))

  it.effect("a refusal that nobody knows is held against no product: it is left for the next pass", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 403, code: "SOMETHING_NEW", path: "/store/products/007/stock" })
        expect(yield* hurried(pass(path, wanted))).toMatchObject({ confirmed: ids.length - 1, counts: { pending: 1 }, stop: Option.none() })
        expect(yield* hurried(pass(path, wanted))).toMatchObject({ confirmed: 1 })
      })))
})

describe("refusals of everything", () => {
  for (const [status, code, tag] of [
    [401, "INVALID_API_KEY", "InvalidApiKey"],
    [403, "INSUFFICIENT_SCOPE", "InsufficientScope"],
    [403, "DEVELOPER_ACCESS_REVOKED", "DeveloperAccessRevoked"],
    [403, "PROFILE_INCOMPLETE", "ProfileIncomplete"],
    [403, "STORE_BLOCKED", "StoreBlocked"],
    [401, "SOMETHING_NEW", "UnrecognizedError"]
  ] as const) {
    it.effect(`${code} (${status}) ends the pass at once, and nothing is lost`, () =>
      inWorld((path) =>
        Effect.gen(function*() {
          const { clearFaults } = yield* Sandbox.Sandbox
          yield* fault({ kind: "status", when: "before", status, code, path: stocks, times: 1000 })
          const result = yield* hurried(pass(path, wanted, { concurrency: 2 }))
          expect(result).toMatchObject({ confirmed: 0, counts: { pending: ids.length } })
          expect(Option.getOrThrow(result.stop)).toMatchObject({ failure: { _tag: tag }, reach: "account" })
          expect((yield* arrived).length).toBeLessThanOrEqual(2)
          yield* clearFaults
          expect(yield* hurried(pass(path, wanted))).toMatchObject(everything)
          expect(yield* held(...ids)).toEqual(wanted)
        })))
  }

  it.effect("a quota that is used up ends the pass and says when to come back", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 429, retryAfter: "7200", path: stocks, times: 1000 })
        const { counts, stop } = yield* hurried(pass(path, wanted, { concurrency: 1 }))
        expect(counts).toMatchObject({ pending: ids.length })
        expect(["RateLimited", "RateLimitWaitExceeded"]).toContain(Option.getOrThrow(stop).failure._tag)
      })))

  it.effect("a key that is refused when its owner is asked for ends the pass before the source is taken over", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 401, path: "/me" })
        expect(yield* Effect.flip(hurried(pass(path, wanted)))).toMatchObject({ _tag: "InvalidApiKey" })
        expect(yield* withLedger(path, open)).toEqual([])
        expect(yield* arrived).toEqual([])
      })))
})

describe("a service in trouble", () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`P${index}`, 1]))
  for (const [name, asked] of [
    ["answers 503", { kind: "status", when: "before", status: 503 }],
    ["closes every connection", { kind: "drop", when: "before" }],
    ["answers with refusals that nobody knows", { kind: "status", when: "before", status: 418 }]
  ] as const) {
    it.effect(`isn't hammered when it ${name}: the pass ends after a few products in a row`, () =>
      inWorld((path) =>
        Effect.gen(function*() {
          yield* fault({ ...asked, path: stocks, times: 10_000 })
          const result = yield* hurried(pass(path, many, { concurrency: 2 }))
          expect(Option.getOrThrow(result.stop).reach).toBe("trouble")
          expect(result.counts.pending + result.counts.doubtful).toBe(60)
          expect(new Set(yield* arrived).size).toBeLessThanOrEqual(6)
        })))
  }

  it.effect("isn't given up for failures with successes between them", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        const { setProduct } = yield* Sandbox.Sandbox
        yield* Effect.forEach(Object.keys(many), (id) => setProduct({ id }))
        for (const id of ["P1", "P12", "P23", "P34", "P45", "P56"]) {
          yield* fault({ kind: "status", when: "after", status: 503, path: `/store/products/${id}/stock`, times: 5 })
        }
        expect(yield* hurried(pass(path, many, { concurrency: 1 }))).toMatchObject({ confirmed: 60, stop: Option.none() })
      })))
})

describe("a stop", () => {
  /** A pass that is interrupted once a request is on its way, with every answer late. */
  const interruptedWith = (path: string, millis: number, when: "before" | "after") =>
    Effect.gen(function*() {
      yield* fault({ kind: "delay", when, millis, path: stocks, times: 1000 })
      const running = yield* Effect.fork(pass(path, wanted, { concurrency: 2 }))
      while ((yield* arrived).length < 2) yield* TestClock.adjust("10 millis")
      const done = yield* Deferred.make<void>()
      yield* Effect.fork(Effect.zipRight(Fiber.interrupt(running), Deferred.succeed(done, undefined)))
      return { done: Effect.map(Deferred.poll(done), Option.isSome) }
    })

  it.effect("lets finish what is in flight, begins nothing new, and leaves a ledger that tells the truth", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        const { clearFaults } = yield* Sandbox.Sandbox
        const { done } = yield* interruptedWith(path, 4_000, "after")
        expect(yield* done).toBe(false)
        while (!(yield* done)) yield* TestClock.adjust("500 millis")
        expect(yield* arrived).toHaveLength(2)
        const left = yield* withLedger(path, open)
        expect(left).toHaveLength(ids.length - 2)
        expect(left.every((entry) => entry.state === "pending")).toBe(true)
        yield* clearFaults
        expect(yield* hurried(pass(path, wanted))).toMatchObject({ confirmed: ids.length - 2, unchanged: 2 })
        expect(yield* held(...ids)).toEqual(wanted)
      })))

  it.effect("doesn't wait longer than ten seconds, and remembers what was cut off as doubtful", () =>
    inWorld((path) =>
      Effect.gen(function*() {
        const { done } = yield* interruptedWith(path, 25_000, "after")
        yield* TestClock.adjust("9 seconds")
        yield* Effect.repeatN(Effect.yieldNow(), 100)
        expect(yield* done).toBe(false)
        yield* TestClock.adjust("2 seconds")
        while (!(yield* done)) yield* Effect.yieldNow()
        const left = yield* withLedger(path, open)
        expect(left.filter((entry) => entry.state === "doubtful")).toHaveLength(2)
        expect(left.filter((entry) => entry.state === "pending")).toHaveLength(ids.length - 2)
      })))
})
