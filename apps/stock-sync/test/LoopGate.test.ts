/**
 * What a running loop makes of a service that refuses everything, is gone, or has enough for today: it keeps quiet, says so, and goes
 * on by itself when that is over.
 */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect } from "effect"
import { answersAfter, fault, inShop, latency, patches, products, source, started } from "./support/looping.js"
import { held } from "./support/world.js"

const wanted = products(30, () => 5)
const next = products(30, () => 6)
const ids = Object.keys(wanted)
const stocks = "/store/products/*/stock"
const forGood = 1_000_000

const all = Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests)
const clear = answersAfter(latency)
const requestsOf = (path: string) => Effect.map(all, (records) => records.filter((record) => record.path === path))

/** A loop with everything in place, of which the test then changes everything. */
const inPlace = <A, E, R>(test: (loop: Effect.Effect.Success<ReturnType<typeof begun>>) => Effect.Effect<A, E, R>, settings?: Parameters<typeof started>[2]) =>
  inShop(wanted, (ledger) => Effect.flatMap(begun(ledger, settings), test))

const begun = (ledger: Parameters<typeof started>[1], settings?: Parameters<typeof started>[2]) =>
  Effect.gen(function*() {
    const feed = yield* source(wanted)
    const { standing } = yield* started(feed.service, ledger, settings)
    yield* Effect.sleep("10 seconds")
    expect(yield* held(...ids)).toEqual(wanted)
    return { feed, ledger, account: Effect.map(standing.state, ({ account }) => account), standing }
  })

describe("a service that refuses everything", () => {
  for (const [status, code, tag] of [
    [401, "INVALID_API_KEY", "InvalidApiKey"],
    [403, "INSUFFICIENT_SCOPE", "InsufficientScope"],
    [403, "DEVELOPER_ACCESS_REVOKED", "DeveloperAccessRevoked"],
    [403, "PROFILE_INCOMPLETE", "ProfileIncomplete"],
    [403, "STORE_BLOCKED", "StoreBlocked"]
  ] as const) {
    it.live(`${code} pauses the account; it is asked again ever more seldom, and goes on when that is mended`, () =>
      inPlace(({ account, feed }) =>
        Effect.gen(function*() {
          const before = (yield* patches).length
          // Of the five, the key and the access are what GET /me shows as well.
          const path = status === 401 || code === "DEVELOPER_ACCESS_REVOKED" ? "/**" : stocks
          yield* fault({ kind: "status", when: "before", status, code, path, times: forGood })
          yield* feed.set(next)
          yield* Effect.sleep("1 hour")
          expect(yield* account).toMatchObject({ _tag: "Paused", failure: { tag, code } })
          const tried = (yield* patches).length - before
          // At most what was under way when it began, then one now and then.
          expect(tried).toBeLessThan(8 + 20)
          expect((yield* requestsOf("/me")).length).toBeLessThan(25)
          yield* clear
          yield* Effect.sleep("6 minutes")
          expect(yield* account).toMatchObject({ _tag: "Running" })
          expect(yield* held(...ids)).toEqual(next)
        })))
  }

  it.live("a key that is refused at the start is asked again, and the loop begins when it is taken", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 401, path: "/me", times: 3 })
        const feed = yield* source(wanted)
        const { standing } = yield* started(feed.service, ledger)
        yield* Effect.sleep("1 minute")
        expect((yield* standing.state).account).toMatchObject({ _tag: "Paused", failure: { tag: "InvalidApiKey" } })
        yield* Effect.sleep("4 minutes")
        expect((yield* standing.state).account).toMatchObject({ _tag: "Running" })
        expect(yield* held(...ids)).toEqual(wanted)
      })))
})

describe("a service in trouble", () => {
  for (const [name, asked] of [
    ["answers 503", { kind: "status", when: "before", status: 503 }],
    ["loses every connection", { kind: "drop", when: "before" }],
    ["takes everything and answers nothing", { kind: "drop", when: "after" }]
  ] as const) {
    it.live(`isn't hammered for the hour in which it ${name}, and gets everything soon after`, () =>
      inPlace(({ account, feed }) =>
        Effect.gen(function*() {
          const before = (yield* patches).length
          yield* fault({ ...asked, path: stocks, times: forGood })
          yield* feed.set(next)
          yield* Effect.sleep("1 hour")
          expect(yield* account).toMatchObject({ _tag: "Trouble" })
          const tried = (yield* patches).length - before
          // A burst of those that were under way, and about one a minute.
          expect(tried).toBeGreaterThan(50)
          expect(tried).toBeLessThan(100)
          yield* clear
          yield* Effect.sleep("70 seconds")
          expect(yield* account).toMatchObject({ _tag: "Running" })
          expect(yield* held(...ids)).toEqual(next)
        })))
  }

  it.live("sends a sold-out product with the first request that the service takes again", () =>
    inPlace(({ feed }) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 503, path: stocks, times: forGood })
        yield* feed.set(next)
        yield* Effect.sleep("20 minutes")
        yield* feed.set({ ...next, P0029: 0 })
        yield* clear
        const before = (yield* patches).length
        yield* Effect.sleep("70 seconds")
        expect((yield* patches)[before]?.id).toBe("P0029")
      })))

  it.live("a product that fails alone is tried ever more seldom, and keeps nobody else waiting", () =>
    inPlace(({ account, feed }) =>
      Effect.gen(function*() {
        const before = (yield* patches).length
        yield* fault({ kind: "status", when: "after", status: 500, path: "/store/products/P0003/stock", times: forGood })
        yield* feed.set(next)
        yield* Effect.sleep("10 minutes")
        const sent = (yield* patches).slice(before)
        expect(sent.filter(({ id }) => id !== "P0003")).toHaveLength(29)
        expect(sent.filter(({ id }) => id === "P0003").length).toBeLessThan(40)
        yield* clear
        yield* Effect.sleep("70 seconds")
        expect(yield* account).toMatchObject({ _tag: "Running" })
        expect(yield* held(...ids)).toEqual(next)
      })))

  it.live("asserts a value again that may have been taken, and then is done with it", () =>
    inPlace(({ feed, ledger }) =>
      Effect.gen(function*() {
        const before = (yield* patches).length
        yield* fault({ kind: "drop", when: "after", path: "/store/products/P0003/stock", times: 1 })
        yield* feed.set({ ...wanted, P0003: 8 })
        yield* Effect.sleep("1 minute")
        expect((yield* patches).slice(before).map(({ id }) => id)).toEqual(["P0003", "P0003"])
        expect(yield* ledger.counts).toMatchObject({ settled: 30, doubtful: 0 })
      })))
})

describe("a quota", () => {
  it.live("that is used up keeps everything back until then, without a request, and then everything goes", () =>
    inPlace(({ account, feed }) =>
      Effect.gen(function*() {
        const before = (yield* all).length
        yield* fault({ kind: "status", when: "before", status: 429, retryAfter: String(7 * 3_600), path: stocks, times: 8 })
        yield* feed.set(next)
        yield* Effect.sleep("5 seconds")
        const state = yield* account
        expect(state).toMatchObject({ _tag: "Quota", failure: { code: "RATE_LIMITED" } })
        expect(state._tag === "Quota" && state.until - state.since).toBeGreaterThanOrEqual(7 * 3_600_000)
        yield* Effect.sleep("6 hours")
        expect((yield* all).length - before).toBeLessThanOrEqual(8)
        yield* Effect.sleep("62 minutes")
        expect(yield* account).toMatchObject({ _tag: "Running" })
        expect(yield* held(...ids)).toEqual(next)
      })))

  it.live("that doesn't say for how long is waited for a minute", () =>
    inPlace(({ account, feed }) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 429, path: stocks, times: 1 })
        yield* feed.set(next)
        yield* Effect.sleep("50 seconds")
        const state = yield* account
        expect(state._tag === "Quota" ? state.until - state.since : undefined).toBe(60_000)
        yield* Effect.sleep("20 seconds")
        expect(yield* account).toMatchObject({ _tag: "Running" })
        expect(yield* held(...ids)).toEqual(next)
      })))

  it.live("of the day ends at midnight, when the shop counts anew", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        const { standing } = yield* started(feed.service, ledger)
        yield* Effect.sleep("1 minute")
        yield* feed.set(next)
        yield* Effect.sleep("1 minute")
        const { account } = yield* standing.state
        const midnight = 24 * 3_600_000
        expect(account._tag === "Quota" ? account.until - midnight : undefined).toSatisfy((late: number) => late >= 0 && late < 2_000)
        yield* Effect.sleep("24 hours")
        expect((yield* standing.state).account).toMatchObject({ _tag: "Running" })
        expect(yield* held(...ids)).toEqual(next)
        expect((yield* patches).filter(({ status }) => status === 429).length).toBeLessThanOrEqual(8)
      }), { dailyQuota: 40 }))
})
