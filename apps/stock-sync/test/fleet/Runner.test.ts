/** One runner of a fleet, in simulated time. */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Clock, DateTime, Duration, Effect, Logger, Metric, Option, Ref, References } from "effect"
import * as AccountWork from "../../src/fleet/operations/AccountWork.ts"
import * as Metrics from "../../src/observability/Metrics.ts"
import { SourceUnreachable } from "../../src/source/Source.ts"
import * as MonotonicClock from "../../src/sync/MonotonicClock.ts"
import { csv, type Fleet, products, sends, simulated, stocks, until } from "../support/fleetRunner.ts"
import * as Simulation from "../support/simulation.ts"

const areSent = (id: string, wanted: Simulation.Wanted) =>
  Effect.map(stocks(id), (found) => Object.entries(wanted).every(([product, stock]) => found[product] === stock))

/** A runner while it sends 200 products of one account. */
const sending = (fleet: Fleet) =>
  Effect.gen(function*() {
    yield* fleet.add("a", products("a", 200, () => 1))
    const runner = yield* fleet.start()
    yield* until(Effect.map(sends("a"), (all) => all.length > 10))
    return runner
  })

/** The service refuses the key of the account `a`, and then nothing of it is due. */
const refusedWithNothingDue = (fleet: Fleet) =>
  Effect.gen(function*() {
    for (const path of ["/me", Simulation.stockOf("a-P0000")]) {
      yield* Simulation.fault({ kind: "status", when: "before", status: 401, code: "INVALID_API_KEY", path, times: Simulation.forEver })
    }
    const { source } = yield* fleet.account("a")
    yield* source.set(products("a", 1, () => 2))
    yield* until(Effect.map(fleet.problem("a"), (problem) => problem !== null), "2 minutes")
    yield* source.set(products("a", 1, () => 1))
    yield* Effect.sleep("2 hours")
  })

describe("a runner", () => {
  it.effect("sends the stock of all its accounts, and then runs none of them", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        const wanted = { a: products("a", 5, () => 3), bb: products("bb", 5, () => 4), ccc: products("ccc", 5, () => 5) }
        for (const [id, stock] of Object.entries(wanted)) yield* fleet.add(id, stock)
        const { state } = yield* fleet.start()
        yield* until(Effect.map(Effect.all(Object.entries(wanted).map(([id, stock]) => areSent(id, stock))), (all) => all.every(Boolean)))
        yield* until(Effect.map(state, ({ accounts }) => accounts.active === 0))
        expect(yield* state).toMatchObject({ runner: "one", shards: 3, stopping: false, accounts: { owned: 3, failing: 0 } })
      })
    ))

  it.effect("runs no account whose source is polled, and has not changed, for longer than the statements take", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* fleet.add("a", products("a", 1, () => 1), { options: { poll: "5 seconds" } })
        yield* Ref.set(fleet.statementTime, Duration.seconds(3))
        const { state } = yield* fleet.start()
        yield* until(areSent("a", products("a", 1, () => 1)), "1 minute")
        yield* until(Effect.map(state, ({ accounts }) => accounts.active === 0), "30 seconds")
      })
    ))

  it.effect("identifies an account once, and opens its ledger only for a source that has changed", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* fleet.add("a", products("a", 1, () => 1))
        yield* fleet.start()
        yield* until(areSent("a", products("a", 1, () => 1)))
        yield* Effect.sleep("10 minutes")
        const { source } = yield* fleet.account("a")
        expect(yield* source.reads).toBeGreaterThanOrEqual(10)
        yield* source.set(products("a", 1, () => 2))
        yield* until(areSent("a", products("a", 1, () => 2)), "61 seconds")
        expect(yield* Simulation.identifications).toBe(1)
        expect(fleet.openings.filter((how) => how === "a afterTakeover")).toHaveLength(1)
      })
    ))

  it.effect("knows an account that it takes over by its ledger, and prepares the ledger only if products are due", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        const before = { a: products("a", 1, () => 1), bb: products("bb", 1, () => 1) }
        yield* fleet.add("a", before.a)
        yield* fleet.add("bb", before.bb)
        const { state, stop } = yield* fleet.start()
        yield* until(Effect.zipWith(areSent("a", before.a), areSent("bb", before.bb), (one, other) => one && other))
        yield* until(Effect.map(state, ({ accounts }) => accounts.active === 0))
        yield* Simulation.fault({ kind: "status", when: "before", status: 404, path: Simulation.stockOf("bb-P0000"), times: 1 })
        yield* (yield* fleet.account("bb")).source.set(products("bb", 1, () => 2))
        yield* until(Effect.map(sends("bb"), (all) => all.length === 2), "2 minutes")
        yield* stop
        yield* fleet.start("two")
        yield* (yield* fleet.account("a")).source.set(products("a", 1, () => 2))
        yield* until(areSent("a", products("a", 1, () => 2)), "61 seconds")
        yield* until(areSent("bb", products("bb", 1, () => 2)), "25 hours")
        expect(yield* Simulation.requestsOf("/me")).toHaveLength(3)
        expect(fleet.openings.filter((how) => how === "a afterTakeover")).toHaveLength(1)
        expect(fleet.openings.filter((how) => how === "bb afterTakeover")).toHaveLength(2)
      })
    ))

  it.effect("leaves every request of a key in its ledger for the next runner, also failed ones and one without response", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* Simulation.respondsAfter(5_000)
        yield* Simulation.fault({ kind: "status", when: "before", status: 500, path: "/me", times: 2 })
        yield* fleet.add("a", products("a", 1, () => 1))
        yield* fleet.start()
        const { memory } = yield* fleet.account("a")
        yield* until(Effect.map(Simulation.requestsOf("/me"), (all) => all.length === 3))
        yield* fleet.takeOverBy("two", "a")
        const ages = Effect.map(memory.ledger.requests, (all) => all.map(Duration.toMillis))
        expect(yield* ages).toEqual([expect.any(Number), expect.any(Number), 0])
        yield* memory.reopened
        yield* Effect.sleep("30 seconds")
        expect(yield* ages).toContain(30_000)
      })
    ))

  it.effect("keeps the problem of an account that it takes over until the service accepts its key again", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* fleet.add("a", products("a", 1, () => 1))
        const { stop } = yield* fleet.start()
        yield* until(areSent("a", products("a", 1, () => 1)))
        yield* refusedWithNothingDue(fleet)
        expect(yield* fleet.problem("a")).not.toBeNull()
        yield* stop
        yield* fleet.start("two")
        yield* Effect.sleep("5 minutes")
        expect(yield* fleet.problem("a")).not.toBeNull()
        yield* Simulation.faultsEnd
        yield* until(Effect.map(fleet.problem("a"), (problem) => problem === null), "2 hours")
      })
    ))

  it.effect("sends a delayed product when it is due, without reading the source", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* Simulation.fault({ kind: "status", when: "before", status: 404, path: Simulation.stockOf("a-P0000"), times: 1 })
        yield* fleet.add("a", products("a", 1, () => 7), { options: { poll: "1 hour", "retry-refused-after": "2 minutes" } })
        const { state } = yield* fleet.start()
        yield* until(Effect.map(sends("a"), (all) => all.length === 1))
        yield* until(Effect.map(state, ({ accounts }) => accounts.active === 0))
        const reads = yield* (yield* fleet.account("a")).source.reads
        yield* until(areSent("a", products("a", 1, () => 7)), "3 minutes")
        expect(yield* (yield* fleet.account("a")).source.reads).toBe(reads)
      })
    ))

  it.effect("a sold-out product of one account does not wait for the backlog of another",
    () =>
      simulated((fleet) =>
        Effect.gen(function*() {
          yield* fleet.add("a", products("a", 100_000, () => 1))
          yield* fleet.add("bb", products("bb", 3, () => 1), { options: { poll: "5 seconds" } })
          yield* fleet.start()
          yield* until(Effect.map(sends("bb"), (all) => all.length === 3))
          yield* until(Effect.map(sends("a"), (all) => all.length > 100))
          const { source } = yield* fleet.account("bb")
          // Sold out and back in stock, at other times of the other account's window.
          for (let round = 0; round < 10; round++) {
            yield* source.set(products("bb", 3, (index) => index === 0 && round % 2 === 0 ? 0 : 1))
            yield* until(Effect.map(sends("bb"), (all) => all.length === 3 + round + 1), "7 seconds")
            yield* Effect.sleep("3.3 seconds")
          }
          expect((yield* sends("a")).length).toBeLessThan(500)
        })
      ), 60_000)

  it.effect("an account does not wait while more others send their backlogs than may start at once",
    () =>
      simulated((fleet) =>
        Effect.gen(function*() {
          const ids = Array.from({ length: 12 }, (_, index) => `account-${String(index).padStart(2, "0")}`)
          for (const id of ids) yield* fleet.add(id, products(id, 500, () => 1))
          yield* fleet.start()
          yield* until(Effect.map(Effect.forEach(ids, sends), (all) => all.every((each) => each.length > 0)), "10 seconds")
        })
      ), 60_000)

  it.effect("an account that can't be worked on is reported, and does not affect others", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* fleet.add("no-key", products("no-key", 1, () => 1), { key: { _tag: "Env", name: "NO_SUCH_KEY" } })
        yield* fleet.add("wrong-option", products("wrong-option", 1, () => 1), { options: { concurrency: "many" } })
        yield* fleet.add("no-file", products("no-file", 1, () => 1), { source: { _tag: "Plain", text: "missing.csv" } })
        yield* fleet.add("defect", products("defect", 1, () => 1), { source: { _tag: "Plain", text: "defect.csv" } })
        const { baseUrl } = yield* Sandbox.Sandbox
        yield* fleet.add("no-service", products("no-service", 1, () => 1), { baseUrl: `${baseUrl}/nothing` })
        yield* fleet.add("good", products("good", 1, () => 1))
        const { state } = yield* fleet.start()
        yield* until(areSent("good", products("good", 1, () => 1)))
        yield* until(Effect.map(state, ({ accounts }) => accounts.failing === 5))
        yield* Effect.sleep("2 seconds")
        expect(yield* fleet.problem("no-key")).toContain("NO_SUCH_KEY")
        expect(yield* fleet.problem("wrong-option")).toContain("concurrency")
        expect(yield* fleet.problem("no-file")).toContain("no such file")
        expect(yield* fleet.problem("no-service")).toContain("there is no GET /me at the base URL of the account")
        expect(yield* fleet.problem("defect")).toContain("an unexpected failure")
        expect(yield* fleet.problem("good")).toBeNull()
        yield* fleet.change("no-key", { key: { _tag: "Env", name: "KEY_no-key" } })
        yield* until(areSent("no-key", products("no-key", 1, () => 1)), "10 seconds")
        yield* until(Effect.map(fleet.problem("no-key"), (problem) => problem === null))
      })
    ))

  it.effect("a source that can't be read for a moment is a warning, since it is read again", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* fleet.add("a", products("a", 1, () => 1), { options: { poll: "5 seconds" } })
        const lines: Array<readonly [level: string, message: unknown]> = []
        const capture = Logger.make<unknown, void>(({ logLevel, message }) => lines.push([logLevel, message]))
        yield* fleet.start().pipe(
          Effect.provide(Logger.layer([capture])),
          Effect.provideService(References.MinimumLogLevel, "Info")
        )
        yield* until(areSent("a", products("a", 1, () => 1)))
        const { source } = yield* fleet.account("a")
        yield* source.fail(
          new SourceUnreachable({ source: "a.csv", message: "a.csv was changed while it was read; no row of it was used" })
        )
        yield* until(Effect.map(fleet.problem("a"), (problem) => problem !== null))
        yield* source.set(products("a", 1, () => 2))
        yield* until(areSent("a", products("a", 1, () => 2)))
        expect(lines.filter(([level]) => level !== "Info")).toEqual([["Warn", ["source.failed"]], ["Warn", ["account.failed"]]])
      })
    ))

  it.effect("an account that the service refuses is reported, and recovers by itself", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        const { setAccess } = yield* Sandbox.Sandbox
        yield* fleet.add("a", products("a", 3, () => 1))
        yield* setAccess("store-a", "suspend")
        yield* fleet.start()
        yield* until(Effect.map(fleet.problem("a"), (problem) => problem !== null))
        expect(yield* fleet.problem("a")).toMatch(/^DEVELOPER_ACCESS_\w+: .+[^.]\. .+\. Sending then resumes without a restart$/)
        yield* setAccess("store-a", "restore")
        yield* until(areSent("a", products("a", 3, () => 1)), "10 minutes")
        yield* until(Effect.map(fleet.problem("a"), (problem) => problem === null))
      })
    ))

  it.effect("an outage of an account or of its source is in its ledger from its beginning to its end, for a report", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        const { setAccess } = yield* Sandbox.Sandbox
        yield* fleet.add("a", products("a", 3, () => 1), { options: { poll: "5 seconds" } })
        yield* fleet.start()
        yield* until(areSent("a", products("a", 3, () => 1)))
        const { memory: { ledger }, source } = yield* fleet.account("a")
        const kinds = Effect.map(ledger.events, (events) => events.map(({ kind }) => kind))
        const has = (count: number) => until(Effect.map(kinds, (found) => found.length >= count), "20 minutes")
        yield* source.fail(new SourceUnreachable({ source: "a.csv", message: "a.csv: no such file; no row of it was used" }))
        yield* has(2)
        yield* Effect.sleep("5 minutes")
        yield* source.set(products("a", 3, () => 1))
        yield* has(3)
        yield* setAccess("store-a", "suspend")
        yield* source.set(products("a", 3, () => 2))
        yield* has(5)
        yield* setAccess("store-a", "restore")
        yield* has(6)
        expect(yield* kinds).toEqual([
          "snapshotAccepted",
          "sourceFailed",
          "sourceRead",
          "snapshotAccepted",
          "accountPaused",
          "accountRunning"
        ])
      })
    ))

  it.effect("a key that the service refuses is reported with what to do, and the next key is used within seconds", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* fleet.add("a", products("a", 1, () => 1))
        const key = fleet.variables.get("KEY_a") ?? ""
        fleet.variables.set("KEY_a", `${key.slice(0, -1)}${key.endsWith("x") ? "y" : "x"}`)
        yield* fleet.start()
        yield* until(Effect.map(fleet.problem("a"), (problem) => problem !== null))
        expect(yield* fleet.problem("a")).toMatch(
          /^INVALID_API_KEY: .+[^.]\. Make an active key .+, set KEY_a to it for each runner, and restart the runners$/
        )
        yield* Effect.sleep("1 hour")
        fleet.variables.set("KEY_a", key)
        // As `fleet accounts update --key` with the same reference does.
        yield* fleet.change("a", {})
        yield* until(Effect.map(fleet.problem("a"), (problem) => problem === null), "5 seconds")
        yield* until(areSent("a", products("a", 1, () => 1)), "5 seconds")
      })
    ))

  it.effect("an account that is paused has no problem, and asks the service again when it is resumed", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* fleet.add("a", products("a", 1, () => 1))
        const { state } = yield* fleet.start()
        yield* until(areSent("a", products("a", 1, () => 1)))
        yield* refusedWithNothingDue(fleet)
        yield* fleet.pause("a")
        yield* until(Effect.map(state, ({ accounts }) => accounts.failing === 0), "3 seconds")
        yield* Effect.sleep("1 minute")
        expect(yield* fleet.problem("a")).toBeNull()
        yield* fleet.change("a", { paused: false })
        yield* until(Effect.map(fleet.problem("a"), (problem) => problem !== null), "10 seconds")
        yield* Simulation.faultsEnd
      })
    ))

  it.effect("reads at most so many sources at once, and none of them twice before the others", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        const ids = Array.from({ length: 20 }, (_, index) => `account-${String(index).padStart(2, "0")}`)
        for (const id of ids) yield* fleet.add(id, products(id, 1, () => 1))
        const { state } = yield* fleet.start()
        let most = 0
        yield* until(Effect.gen(function*() {
          most = Math.max(most, (yield* state).accounts.reading)
          const reads = yield* Effect.forEach(ids, (id) => Effect.flatMap(fleet.account(id), ({ source }) => source.reads))
          return reads.every((count) => count > 0)
        }))
        expect(most).toBeLessThanOrEqual(4)
      })
    ))

  it.effect("an account is read in time although as many workers as may start at once have started just before", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        const others = ["a", "bb", "ccc", "dddd"]
        for (const id of others) yield* fleet.add(id, products(id, 1, () => 1), { options: { poll: "1 hour" } })
        yield* fleet.add("polled", products("polled", 1, () => 1), { options: { poll: "3 seconds" } })
        const { state } = yield* fleet.start()
        yield* until(areSent("polled", products("polled", 1, () => 1)))
        yield* until(Effect.map(state, ({ accounts }) => accounts.active === 0))
        const { source } = yield* fleet.account("polled")
        for (let round = 0; round < 5; round++) {
          yield* Effect.forEach(others, (id) => fleet.change(id, {}))
          const reads = yield* source.reads
          yield* Effect.sleep("7 seconds")
          expect((yield* source.reads) - reads).toBeGreaterThanOrEqual(2)
        }
      })
    ))

  it.effect("starts at most so many workers at once, and goes on soon while these wait for the service for hours", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        const { setAccess } = yield* Sandbox.Sandbox
        const refused = Array.from({ length: 40 }, (_, index) => `refused-${index}`)
        for (const id of refused) {
          yield* fleet.add(id, products(id, 1, () => 1))
          yield* setAccess(`store-${id}`, "suspend")
        }
        yield* fleet.add("good", products("good", 1, () => 1))
        const { state } = yield* fleet.start()
        let first = 0
        yield* until(Effect.map(state, ({ accounts }) => (first = Math.max(first, accounts.active)) > 0))
        expect(first).toBeLessThanOrEqual(4)
        yield* until(areSent("good", products("good", 1, () => 1)), "20 seconds")
        yield* until(Effect.map(state, ({ accounts }) => accounts.active === refused.length), "20 seconds")
      })
    ))
})

describe("the files of accounts", () => {
  const ids = Array.from({ length: 20 }, (_, index) => `account-${String(index).padStart(2, "0")}`)
  const pathOf = (id: string) => `/in/${id}.csv`
  const wanted = (id: string, stock: number) => products(id, 3, () => stock)
  const write = (fleet: Fleet, id: string, stock: number) => fleet.files.write(pathOf(id), csv(wanted(id, stock)))
  const add = (fleet: Fleet, id: string) =>
    Effect.andThen(write(fleet, id, 1), fleet.add(id, wanted(id, 1), { source: { _tag: "Plain", text: pathOf(id) } }))
  const allAreSent = (stock: number) =>
    Effect.map(Effect.forEach(ids, (id) => areSent(id, wanted(id, stock))), (all) => all.every((each) => each))

  it.effect("are read when they have settled, without a wait that keeps other accounts from reading, and settling is no problem", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* Effect.forEach(ids, (id) => add(fleet, id))
        const { state } = yield* fleet.start()
        yield* Effect.sleep("4 seconds")
        expect((yield* state).accounts).toMatchObject({ reading: 0, waitingToRead: 0, failing: 0 })
        // They settle after five seconds. Each of the four places would be held five times by another account.
        yield* until(allAreSent(1), "4 seconds")
        yield* Effect.sleep("2 minutes")
        // Within the poll interval and the time to settle, and a second for the requests.
        yield* Effect.forEach(ids, (id) => write(fleet, id, 20))
        yield* until(allAreSent(20), "66 seconds")
        expect((yield* state).accounts.failing).toBe(0)
      })
    ))

  it.effect("are read after each poll although they are rewritten every two seconds", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* add(fleet, "a")
        yield* fleet.start()
        let stock = 100
        yield* Effect.forkScoped(
          Effect.forever(Effect.andThen(Effect.suspend(() => write(fleet, "a", ++stock)), Effect.sleep("2 seconds")))
        )
        for (let polls = 0; polls < 5; polls++) {
          const before = stock
          // The poll interval, ten seconds for the file, and the requests.
          yield* until(Effect.map(stocks("a"), (found) => Object.values(found).every((each) => each > before)), "75 seconds")
        }
        expect(yield* fleet.problem("a")).toBeNull()
      })
    ))
})

describe("what a runner does for an account", () => {
  it.effect("is known from its start to its end, and only while the runner owns the account",
    () =>
      simulated((fleet) =>
        Effect.gen(function*() {
          const { setAccess } = yield* Sandbox.Sandbox
          yield* fleet.add("a", products("a", 200, () => 1))
          const { activity } = yield* fleet.start()
          const label = Effect.gen(function*() {
            const now = { wall: yield* DateTime.now, monotonic: yield* MonotonicClock.now }
            return Option.map(yield* activity("a"), (own) => AccountWork.owned(own, now).label)
          })
          const is = (expected: string) => Effect.map(label, Option.contains(expected))
          expect(yield* activity("unknown")).toEqual(Option.none())
          yield* until(is("Sending"))
          yield* until(is("Waiting for the rate limit"))
          expect(yield* sends("a")).toHaveLength(119)
          yield* until(areSent("a", products("a", 200, () => 1)))
          yield* until(is("Idle"))
          const own = Option.getOrThrow(yield* activity("a"))
          expect(own.nextPoll - (yield* MonotonicClock.now)).toBeLessThanOrEqual(60_000)
          expect(own.nextDue).toBe(Number.POSITIVE_INFINITY)
          expect(own.status?.sends.confirmed.count).toBe(200)

          yield* setAccess("store-a", "suspend")
          yield* (yield* fleet.account("a")).source.set(products("a", 200, () => 2))
          yield* until(is("Paused by an error"))
          expect(Option.getOrThrow(yield* activity("a")).status?.errors.length).toBeGreaterThan(0)
          yield* setAccess("store-a", "restore")
          yield* fleet.change("a", { paused: true })
          yield* until(is("Paused"))

          yield* Ref.set(fleet.isFresh, false)
          expect(yield* activity("a")).toEqual(Option.none())
          yield* Ref.set(fleet.isFresh, true)
          yield* fleet.lose
          expect(yield* activity("a")).toEqual(Option.none())
        })
      ), 30_000)

  it.effect("includes when its worker starts again after a failure", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* fleet.add("a", products("a", 1, () => 1), { source: { _tag: "Plain", text: "missing.csv" } })
        const { activity } = yield* fleet.start()
        const isRetried = Effect.gen(function*() {
          const now = yield* MonotonicClock.now
          return Option.exists(yield* activity("a"), ({ active, retryAt }) => !active && retryAt > now)
        })
        yield* until(isRetried)
      })
    ))
})

describe("a change of the accounts", () => {
  it.effect("takes effect within seconds: added, paused, resumed, removed", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        const { state } = yield* fleet.start()
        yield* Effect.sleep("30 seconds")
        yield* fleet.add("a", products("a", 1, () => 1), { options: { poll: "5 seconds" } })
        yield* until(areSent("a", products("a", 1, () => 1)), "10 seconds")
        const { source } = yield* fleet.account("a")

        yield* fleet.change("a", { paused: true })
        yield* Effect.sleep("5 seconds")
        const reads = yield* source.reads
        yield* source.set(products("a", 1, () => 2))
        yield* Effect.sleep("1 minute")
        expect(yield* source.reads).toBe(reads)
        expect(yield* stocks("a")).toEqual(products("a", 1, () => 1))

        yield* fleet.change("a", { paused: false })
        yield* until(areSent("a", products("a", 1, () => 2)), "10 seconds")

        yield* fleet.remove("a")
        yield* until(Effect.map(state, ({ accounts }) => accounts.owned === 0), "10 seconds")
        yield* source.set(products("a", 1, () => 3))
        yield* Effect.sleep("1 minute")
        expect(yield* stocks("a")).toEqual(products("a", 1, () => 2))
      })
    ))

  it.effect("is noticed at once while the worker of the account runs, although the next poll is far away", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* fleet.add("a", products("a", 1, () => 1), { options: { poll: "1 hour" } })
        const { state } = yield* fleet.start()
        yield* until(areSent("a", products("a", 1, () => 1)))
        yield* until(Effect.map(state, ({ accounts }) => accounts.active === 0))
        yield* Simulation.respondsAfter(5_000)
        const { source } = yield* fleet.account("a")
        yield* source.set(products("a", 1, () => 2))
        yield* fleet.change("a", {})
        yield* until(Effect.map(sends("a"), (all) => all.length === 2), "10 seconds")
        yield* source.set(products("a", 1, () => 3))
        yield* fleet.change("a", {})
        yield* until(areSent("a", products("a", 1, () => 3)), "30 seconds")
      })
    ))

  it.effect("replaces the settings of a running worker, which records its requests first",
    () =>
      simulated((fleet) =>
        Effect.gen(function*() {
          yield* sending(fleet)
          yield* fleet.change("a", { options: { concurrency: "1" } })
          yield* until(Effect.map(Simulation.identifications, (count) => count === 2), "15 seconds")
          yield* until(areSent("a", products("a", 200, () => 1)), "10 minutes")
          const { length } = yield* sends("a")
          expect(length).toBe(200)
        })
      ), 30_000)
})

describe("a runner that loses shards", () => {
  it.effect("sends nothing more for their accounts, and takes them over again when it acquires them",
    () =>
      simulated((fleet) =>
        Effect.gen(function*() {
          const { state } = yield* sending(fleet)
          yield* fleet.lose
          yield* Effect.sleep("2 seconds")
          const { length } = yield* sends("a")
          yield* fleet.takeOverBy("two", "a")
          yield* Effect.sleep("2 minutes")
          expect(yield* sends("a")).toHaveLength(length)
          expect(yield* state).toMatchObject({ shards: 0, accounts: { owned: 0, active: 0 } })

          yield* fleet.acquire(2)
          yield* until(areSent("a", products("a", 200, () => 1)), "10 minutes")
          expect((yield* fleet.account("a")).row).toMatchObject({ runner: "one", epoch: 3 })
          expect(yield* Simulation.identifications).toBe(2)
        })
      ), 30_000)

  it.effect("sends nothing with a lease that is not fresh, although it still owns the shards",
    () =>
      simulated((fleet) =>
        Effect.gen(function*() {
          yield* sending(fleet)
          yield* Ref.set(fleet.isFresh, false)
          yield* Effect.sleep("1 second")
          const { length } = yield* sends("a")
          yield* Effect.sleep("2 minutes")
          expect(yield* sends("a")).toHaveLength(length)
          yield* Ref.set(fleet.isFresh, true)
          yield* until(areSent("a", products("a", 200, () => 1)), "10 minutes")
        })
      ), 30_000)

  it.effect("stops a worker whose account another runner has taken over, and takes it back only with its shard",
    () =>
      simulated((fleet) =>
        Effect.gen(function*() {
          yield* sending(fleet)
          yield* fleet.takeOverBy("two", "a")
          yield* until(Effect.map(fleet.account("a"), ({ row }) => row.runner === "one" && row.epoch === 3), "30 seconds")
          yield* until(areSent("a", products("a", 200, () => 1)), "10 minutes")
          expect(yield* fleet.problem("a")).toBeNull()
        })
      ), 30_000)
})

describe("a database that is away", () => {
  it.effect("stops no runner: it continues by itself when the database is back", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        const { state } = yield* sending(fleet)
        yield* Ref.set(fleet.isReachable, false)
        yield* Effect.sleep("5 seconds")
        const { length } = yield* sends("a")
        const before = (yield* state).loop
        yield* Effect.sleep("5 minutes")
        const { loop } = yield* state
        expect(yield* sends("a")).toHaveLength(length)
        expect(loop.lastReachedAt).toBe(before.lastReachedAt)
        expect(loop.lastTurnAt).toBeGreaterThan(before.lastTurnAt)
        yield* Ref.set(fleet.isReachable, true)
        yield* until(areSent("a", products("a", 200, () => 1)), "10 minutes")
        yield* until(Effect.map(fleet.problem("a"), (problem) => problem === null))
      })
    ), 30_000)
})

describe("a database that does not respond", () => {
  it.effect("has its connections cut, and keeps neither the loop nor a stop of the runner waiting",
    () =>
      simulated((fleet) =>
        Effect.gen(function*() {
          const { state, stop } = yield* sending(fleet)
          yield* Ref.set(fleet.isSilent, true)
          const before = (yield* state).loop
          yield* Effect.sleep("10 seconds")
          const { loop } = yield* state
          expect(loop.lastTurnAt).toBeGreaterThan(before.lastTurnAt)
          expect(loop.lastReachedAt).toBe(before.lastReachedAt)
          expect(yield* fleet.cuts).toBe(1)
          yield* Ref.set(fleet.isSilent, false)
          yield* until(areSent("a", products("a", 200, () => 1)), "10 minutes")
          expect((yield* state).loop.lastReachedAt).toBeGreaterThan(loop.lastTurnAt)
          yield* Ref.set(fleet.isSilent, true)
          yield* Effect.sleep("1 second")
          const stoppedAt = yield* Clock.currentTimeMillis
          yield* stop
          expect((yield* Clock.currentTimeMillis) - stoppedAt).toBeLessThan(1_000)
        })
      ), 30_000)
})

describe("the faults of ledgers", () => {
  it.effect("are counted, and an account that another runner has taken over is none", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        const faults = Effect.map(Metric.value(Metrics.ledgerFaults), ({ count }) => count)
        yield* fleet.add("a", products("a", 200, () => 1))
        yield* fleet.start()
        yield* until(Effect.map(sends("a"), (all) => all.length > 10))
        const before = yield* faults
        yield* fleet.takeOverBy("two", "a")
        yield* until(Effect.map(fleet.account("a"), ({ row }) => row.runner === "one" && row.epoch === 3), "30 seconds")
        expect(yield* faults).toBe(before)
        yield* until(Effect.map(sends("a"), (all) => all.length > 20))
        yield* Ref.set(fleet.isReachable, false)
        yield* until(Effect.map(faults, (count) => count > before), "5 minutes")
      })
    ), 30_000)
})

describe("a stop", () => {
  it.effect("waits for requests in flight and starts none", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* Simulation.respondsAfter(3_000)
        yield* fleet.add("a", products("a", 200, () => 1))
        const { stop } = yield* fleet.start()
        yield* until(Effect.map(sends("a"), (all) => all.length >= 8))
        yield* stop
        const { memory } = yield* fleet.account("a")
        const { length } = yield* sends("a")
        const { doubtful, sending, settled } = yield* memory.ledger.counts
        expect({ doubtful, sending, settled }).toEqual({ doubtful: 0, sending: 0, settled: length })
        yield* Effect.sleep("1 minute")
        expect(yield* sends("a")).toHaveLength(length)
      })
    ))

  it.effect("waits no longer than its limit", () =>
    simulated((fleet) =>
      Effect.gen(function*() {
        yield* Simulation.respondsAfter(25_000)
        yield* fleet.add("a", products("a", 3, () => 1))
        const { stop } = yield* fleet.start()
        yield* until(Effect.map(sends("a"), (all) => all.length >= 3))
        const before = yield* Clock.currentTimeMillis
        yield* stop
        expect((yield* Clock.currentTimeMillis) - before).toBeLessThanOrEqual(15_100)
      })
    ))
})
