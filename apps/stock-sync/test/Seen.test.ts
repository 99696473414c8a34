import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, Schema, TestClock } from "effect"
import { Ledger, LedgerFault } from "../src/Ledger.js"
import { Lookout } from "../src/Seen/Lookout.js"
import type { Standing } from "../src/Standing.js"
import { ask, failure, layer, metric, opened, sent, taken, tell, well } from "./support/seen.js"
import { shifted } from "./support/shifted.js"
import { ledgerPath } from "./support/world.js"

/** Who looks looks again. */
const later = TestClock.adjust("10 seconds")

const seen = <A, E>(test: Effect.Effect<A, E, Ledger | Lookout | Standing>, lines?: Array<string>) =>
  Effect.scoped(Effect.flatMap(ledgerPath, (path) => Effect.provide(test, layer(path, lines))))

const readiness = Schema.decodeUnknownSync(Schema.parseJson(Schema.Struct({
  ready: Schema.Boolean,
  reasons: Schema.Array(Schema.Struct({ reason: Schema.String, message: Schema.String }))
})))

/** Where the status, the word and the reasons contradict each other nothing is given. */
const reasons = Effect.map(ask("/readyz"), ({ body, status }) => {
  const { ready, reasons } = readiness(body)
  return ready === (status === 200) && ready === (reasons.length === 0) ? reasons.map(({ reason }) => reason) : undefined
})

describe("readiness", () => {
  it.effect("is green only while everything works, and names each reason why not", () =>
    seen(Effect.gen(function*() {
      expect(yield* reasons).toEqual(["starting", "ledgerOpening", "sourceUnread"])
      yield* well()
      expect(yield* reasons).toEqual([])
      yield* tell({ _tag: "AccountIs", account: { _tag: "Paused", since: 0, failure: failure(), nextProbe: 60_000 } })
      expect(yield* reasons).toEqual(["accountPaused"])
      yield* tell({ _tag: "AccountIs", account: { _tag: "Quota", since: 0, failure: failure({ tag: "RateLimited" }), until: 60_000 } })
      yield* tell({ _tag: "LedgerIs", ledger: { _tag: "Failing", since: 0, failure: failure({ about: "ledger", message: "the disk is full" }), nextTry: 1_000 } })
      expect(yield* reasons).toEqual(["accountQuota", "ledgerFailing"])
      yield* tell({ _tag: "AccountIs", account: { _tag: "Trouble", since: 0, failure: failure(), nextTry: 1_000 } })
      yield* opened
      yield* tell({
        _tag: "SourceHeld",
        rows: 100,
        held: { zeroed: 60, dropped: 0, catalogue: 100, since: 0, at: 0 },
        failure: failure({ about: "source" })
      })
      expect(yield* reasons).toEqual(["accountTrouble", "snapshotHeld"])
      yield* tell({ _tag: "AccountIs", account: { _tag: "Running", since: 0 } })
      yield* taken({ A: 1 })
      yield* tell({ _tag: "Stopping" })
      expect(yield* reasons).toEqual(["stopping"])
      expect((yield* ask("/healthz")).status).toBe(200)
    })))

  it.effect("bears with a source that fails for a while, and not with one that stays away", () =>
    seen(Effect.gen(function*() {
      yield* well()
      const fails = tell({ _tag: "SourceFailed", failure: failure({ about: "source", tag: "SourceUnreachable", message: "there is no file stock.csv" }) })
      yield* fails
      yield* TestClock.adjust("5 minutes")
      expect(yield* reasons).toEqual([])
      yield* TestClock.adjust("1 seconds")
      expect(yield* reasons).toEqual(["sourceFailing"])
      expect((yield* ask("/readyz")).body).toContain("there is no file stock.csv")
      yield* tell({ _tag: "SourceUnchanged" })
      expect(yield* reasons).toEqual([])
      yield* TestClock.adjust("6 minutes")
      expect(yield* reasons).toEqual(["sourceStale"])
    })))

  it.effect("is red at once where the source could never be read", () =>
    seen(Effect.gen(function*() {
      yield* opened
      yield* tell({ _tag: "AccountIs", account: { _tag: "Running", since: 0 } })
      yield* tell({ _tag: "SourceFailed", failure: failure({ about: "source" }) })
      expect(yield* reasons).toEqual(["sourceFailing"])
    })))
})

describe("metrics", () => {
  it.effect("tell what waits by urgency, since when, how products stand, and what the account's state is", () =>
    seen(Effect.gen(function*() {
      yield* well({ A: 0, B: 0, C: 5 })
      yield* later
      expect(yield* metric("plaza_stock_sync_backlog{urgency=\"soldOut\"}")).toBe(2)
      expect(yield* metric("plaza_stock_sync_backlog{urgency=\"rest\"}")).toBe(2)
      expect(yield* metric("plaza_stock_sync_oldest_waiting_seconds{urgency=\"soldOut\"}")).toBe(10)
      expect(yield* metric("plaza_stock_sync_oldest_waiting_seconds{urgency=\"doubtful\"}")).toBe(0)
      expect(yield* metric("plaza_stock_sync_products{state=\"pending\"}")).toBe(4)
      expect(yield* metric("plaza_stock_sync_account_state{state=\"running\"}")).toBe(1)
      expect(yield* metric("plaza_stock_sync_account_state{state=\"paused\"}")).toBe(0)
      expect(yield* metric("plaza_stock_sync_ready")).toBe(1)
      expect(yield* metric("plaza_stock_sync_source_last_read_timestamp_seconds")).toBe(0)
      expect(yield* metric("plaza_stock_sync_source_stale_after_seconds")).toBe(300)
      expect(yield* metric("plaza_stock_sync_source_rows")).toBe(4)
      expect(yield* metric("plaza_stock_sync_snapshot_held")).toBe(0)
      expect(yield* metric("plaza_stock_sync_rate_limit")).toBe(120)
    })))

  it.effect("count sends by outcome and how long a value took to the shelf, by urgency", () =>
    seen(Effect.gen(function*() {
      const figures = Effect.all([
        metric("plaza_stock_sync_sends_total{outcome=\"confirmed\"}"),
        metric("plaza_stock_sync_sends_total{outcome=\"quarantined\"}"),
        metric("plaza_stock_sync_time_to_shelf_seconds_count{urgency=\"soldOut\"}"),
        metric("plaza_stock_sync_time_to_shelf_seconds_bucket{urgency=\"soldOut\",le=\"15\"}"),
        metric("plaza_stock_sync_time_to_shelf_seconds_bucket{urgency=\"soldOut\",le=\"5\"}")
      ]).pipe(Effect.map((all) => all.map((each) => each ?? 0)))
      yield* well({ A: 0, B: 0 })
      yield* later
      const before = yield* figures
      yield* sent("confirmed")
      yield* sent("quarantined")
      yield* later
      expect((yield* figures).map((figure, index) => figure - (before[index] ?? 0))).toEqual([1, 1, 1, 1, 0])
      expect(yield* metric("plaza_stock_sync_products{state=\"quarantined\"}")).toBe(1)
      expect(yield* metric("plaza_stock_sync_oldest_confirmation_age_seconds")).toBe(10)
    })))

  it.effect("count the ledger's faults, and keep the last figures while it fails", () =>
    seen(Effect.gen(function*() {
      const faults = Effect.map(metric("plaza_stock_sync_ledger_faults_total"), (count) => count ?? 0)
      yield* well({ A: 0 })
      yield* later
      const before = yield* faults
      yield* tell({ _tag: "LedgerIs", ledger: { _tag: "Failing", since: 0, failure: failure({ about: "ledger" }), nextTry: 1_000 } })
      yield* later
      expect((yield* faults) - before).toBe(1)
      expect(yield* metric("plaza_stock_sync_backlog{urgency=\"soldOut\"}")).toBe(1)
      expect(yield* metric("plaza_stock_sync_ready")).toBe(0)
    })))

  it.effect("survive a ledger that fails under whoever looks", () =>
    seen(Effect.gen(function*() {
      const ledger = yield* Ledger
      for (const backlog of [new LedgerFault({ path: ledger.path, message: "the disk is full" }), Effect.dieMessage("it is closed")]) {
        yield* tell({ _tag: "LedgerIs", ledger: { _tag: "Open", since: 0, ledger: { ...ledger, backlog } } })
        yield* later
      }
      expect((yield* ask("/")).body).toContain("The ledger has not been open yet.")
      yield* well({ A: 0 })
      yield* later
      expect(yield* metric("plaza_stock_sync_backlog{urgency=\"soldOut\"}")).toBe(1)
    })))
})

describe("the page", () => {
  it.effect("tells in words how it stands and what somebody has to do", () =>
    seen(Effect.gen(function*() {
      expect((yield* ask("/")).body).toContain("Account not known yet")
      yield* well()
      expect((yield* ask("/")).body).toContain("It does its work.")
      yield* tell({ _tag: "AccountIs", account: { _tag: "Paused", since: 0, failure: failure(), nextProbe: 60_000 } })
      const { body } = yield* ask("/")
      expect(body).toContain("The service refuses everything since 1970-01-01 00:00:00 UTC: INVALID_API_KEY: the key is revoked.")
      expect(body).toContain("set PLAZA_API_KEY to it and start the program again.")
      expect(body).toContain("<title>Not ready: plaza-stock-sync</title>")
    })))

  it.effect("lists what is quarantined, what was set aside and the last errors, and nothing of it becomes HTML", () =>
    seen(Effect.gen(function*() {
      const hostile = "<img src=x onerror=\"alert(1)\">"
      yield* opened
      yield* taken({ [hostile]: 0, B: 3 }, [`no number: ${hostile}`])
      yield* sent("quarantined", failure({ about: "product", message: hostile }))
      yield* later
      const { body } = yield* ask("/")
      expect(body).not.toContain("<img")
      expect(body.match(/&lt;img src=x onerror=&quot;alert\(1\)&quot;&gt;/g)?.length).toBeGreaterThanOrEqual(4)
      expect(body).toContain(">no number: ")
    })))

  it.effect("lists the first fifty, and says how many there are", () =>
    seen(Effect.gen(function*() {
      yield* opened
      yield* taken(Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`P-${String(index).padStart(2, "0")}`, 0])))
      yield* Effect.replicateEffect(sent("quarantined"), 60)
      yield* later
      const { body } = yield* ask("/")
      expect(body).toContain("<th scope=\"row\">P-49</th>")
      expect(body).not.toContain("<th scope=\"row\">P-50</th>")
      expect(body).toContain("The first 50 of 60;")
    })))

  it.effect("draws the hour from what was seen every ten seconds, in two charts and in a table", () =>
    seen(Effect.gen(function*() {
      yield* well(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`P-${index}`, 0])))
      yield* Effect.replicateEffect(Effect.zipRight(TestClock.adjust("1 minute"), sent("confirmed")), 10)
      yield* later
      const { history } = yield* Effect.flatMap(Lookout, ({ look }) => look)
      expect(history).toHaveLength(1 + 10 * 6 + 1)
      expect(history.at(-1)).toMatchObject({ backlog: 31, sends: 10 })
      const { body } = yield* ask("/")
      expect(body.match(/<polyline/g)).toHaveLength(2)
      expect(body).toContain("<desc id=\"sends-desc\">1 now. The table below has the numbers.</desc>")
      expect(body).toMatch(/00:10:10 UTC<\/time><\/th><td class="number">31<\/td><td class="number">5<\/td>/)
    })))

  it.effect("asks the ledger no more often, however many ask for the page", () =>
    seen(Effect.gen(function*() {
      yield* well({ A: 0 })
      const ledger = yield* Ledger
      let asked = 0
      const counted = { ...ledger, counts: Effect.suspend(() => (asked++, ledger.counts)) }
      yield* tell({ _tag: "LedgerIs", ledger: { _tag: "Open", since: 0, ledger: counted } })
      yield* Effect.replicateEffect(ask("/"), 100)
      yield* later
      expect(asked).toBe(1)
    })))
})

describe("a ledger that takes long to count", () => {
  it.effect("is asked for a twentieth of the time, and what needs no counting is told all the same", () =>
    seen(Effect.gen(function*() {
      const ledger = yield* Ledger
      let asked = 0
      const slow = { ...ledger, counts: Effect.suspend(() => (asked++, Effect.delay(ledger.counts, "6 seconds"))) }
      yield* well({ A: 0 })
      yield* tell({ _tag: "LedgerIs", ledger: { _tag: "Open", since: 0, ledger: slow } })
      yield* TestClock.adjust("1 minute")
      yield* sent("confirmed")
      yield* TestClock.adjust("1 minute")
      expect(asked).toBe(1)
      const { figures, history } = yield* Effect.flatMap(Lookout, ({ look }) => look)
      expect(history.at(-1)).toMatchObject({ sends: 1 })
      expect(figures?.at).toBeLessThan(60_000)
      expect((yield* ask("/")).body).toContain(", the ledger's figures as of ")
      yield* TestClock.adjust("30 seconds")
      expect(asked).toBe(2)
    })))
})

describe("a wall clock that jumps", () => {
  for (const [name, by] of [["a day back", -86_400_000], ["a day forth", 86_400_000]] as const) {
    it.effect(`${name} keeps nobody from looking, and nothing is waited for longer than it was`, () =>
      Effect.gen(function*() {
        const hands = yield* TestClock.testClock()
        const clock = yield* shifted
        yield* Effect.withClock(
          seen(Effect.gen(function*() {
            yield* well({ A: 0, B: 0 })
            yield* hands.adjust("10 seconds")
            clock.shift(by)
            yield* sent("confirmed")
            yield* hands.adjust("10 seconds")
            const { figures, history, now } = yield* Effect.flatMap(Lookout, ({ look }) => look)
            expect(figures?.at).toBe(now)
            expect(history.every(({ at }) => at <= now)).toBe(true)
            expect(yield* metric("plaza_stock_sync_backlog{urgency=\"soldOut\"}")).toBe(1)
            expect(yield* metric("plaza_stock_sync_oldest_waiting_seconds{urgency=\"soldOut\"}")).toBeGreaterThanOrEqual(0)
            yield* tell({ _tag: "SourceUnchanged" })
            expect(yield* reasons).toEqual([])
          })),
          clock
        )
      }))
  }
})

describe("who asks", () => {
  it.effect("is refused where a page elsewhere made its own name point here", () =>
    seen(Effect.gen(function*() {
      for (const host of ["evil.example", "evil.example:9000", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "", "a b"]) {
        for (const path of ["/", "/metrics", "/readyz", "/healthz"]) {
          expect([host, (yield* ask(path, { headers: { host } })).status]).toEqual([host, 403])
        }
      }
      for (const host of ["localhost", "LOCALHOST:9000", "127.0.0.1:9000", "[::1]:9000", "127.8.8.8", "stock.localhost"]) {
        expect([host, (yield* ask("/healthz", { headers: { host } })).status]).toEqual([host, 200])
      }
    })))

  it.effect("can change nothing, and is framed, scripted or cached by nobody", () =>
    seen(Effect.gen(function*() {
      for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
        const answer = yield* ask("/", { method })
        expect(answer.status).toBe(405)
        expect(answer.headers.get("allow")).toBe("GET, HEAD")
      }
      const page = yield* ask("/")
      expect(page.headers.get("content-security-policy")).toContain("default-src 'none'")
      expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'")
      expect(page.headers.get("cache-control")).toBe("no-store")
      expect(page.headers.get("access-control-allow-origin")).toBeNull()
      expect((yield* ask("/metrics")).headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
      expect((yield* ask("/nothing-here")).status).toBe(404)
    })))
})

describe("the log", () => {
  it.effect("has a line for each event that is worth one, and none for a send", () => {
    const lines: Array<string> = []
    return Effect.zipRight(
      seen(Effect.gen(function*() {
        yield* well({ A: 0, B: 0, C: 0 })
        yield* sent("confirmed")
        yield* sent("quarantined")
        for (const nextProbe of [1_000, 2_000, 3_000]) {
          yield* tell({ _tag: "AccountIs", account: { _tag: "Paused", since: 0, failure: failure(), nextProbe } })
        }
        yield* tell({ _tag: "AccountIs", account: { _tag: "Running", since: 0 } })
        yield* tell({ _tag: "AccountIs", account: { _tag: "Quota", since: 0, failure: failure({ code: "RATE_LIMITED" }), until: 86_400_000 } })
        yield* tell({ _tag: "AccountIs", account: { _tag: "Running", since: 0 } })
        yield* tell({ _tag: "AccountIs", account: { _tag: "Trouble", since: 0, failure: failure({ code: undefined, tag: "ConnectionLost" }), nextTry: 1_000 } })
        yield* tell({ _tag: "AccountIs", account: { _tag: "Running", since: 0 } })
        yield* tell({ _tag: "LedgerIs", ledger: { _tag: "Failing", since: 0, failure: failure({ message: "the disk is full" }), nextTry: 1_000 } })
        yield* opened
        const fails = tell({ _tag: "SourceFailed", failure: failure({ about: "source", message: "there is no file" }) })
        yield* Effect.zipRight(fails, fails)
        yield* tell({ _tag: "SourceUnchanged" })
        yield* tell({ _tag: "SourceUnchanged" })
        const held = { zeroed: 60, dropped: 0, catalogue: 100, since: 0, at: 0 }
        const holds = tell({ _tag: "SourceHeld", rows: 100, held, failure: failure({ about: "source" }) })
        yield* Effect.zipRight(holds, holds)
        yield* later
        yield* Effect.flatMap(Ledger, (ledger) => ledger.release(Option.none()))
        yield* later
        yield* tell({ _tag: "Stopping" })
      }), lines),
      Effect.sync(() => {
        // Facts stand in no order.
        const told = lines.map((line) =>
          line.replace(/^.* level=(\w+) fiber=\S+ message=/, "$1 ").replace(/(?: [a-zA-Z]+=\S+)+$/, (facts) => facts.split(" ").sort().join(" ")))
        expect(told).toEqual([
          expect.stringMatching(/^INFO "the ledger is open" ledger=\S+$/),
          "INFO \"the key is known\" account=acc_1 address=https://shop.example/open/v1",
          "INFO sending",
          "INFO \"a snapshot is taken\" changed=4 dropped=0 rows=4 zeroed=0",
          "WARN \"a product is quarantined: NOT_FOUND: no such product\" product=B stock=0",
          "ERROR \"the account is paused: INVALID_API_KEY: the key is revoked\" nextProbe=1970-01-01T00:00:01.000Z",
          "INFO \"the account is no longer refused, sending goes on\"",
          "WARN \"no request is allowed for now: RATE_LIMITED: the key is revoked\" until=1970-01-02T00:00:00.000Z",
          "INFO \"requests are allowed again, sending goes on\"",
          "WARN \"the service is in trouble: ConnectionLost: the key is revoked\" nextTry=1970-01-01T00:00:01.000Z",
          "INFO \"the service answers again, sending goes on\"",
          "ERROR \"the disk is full\" nextTry=1970-01-01T00:00:01.000Z",
          expect.stringMatching(/^INFO "the ledger is open again" ledger=\S+$/),
          "ERROR \"there is no file\" tag=InvalidApiKey",
          "INFO \"the source can be read again, and is unchanged\"",
          "ERROR \"the brake holds the source since 1970-01-01 00:00:00 UTC: it would take 60 of 100 products out of sale (60 with stock 0, 0 no longer named)\" rows=100",
          "INFO \"products are quarantined no more\" products=1 quarantined=0",
          "INFO stopping"
        ])
      })
    )
  })

  it.effect("stays a line an event, whatever a product is called", () => {
    const lines: Array<string> = []
    return Effect.zipRight(
      seen(Effect.gen(function*() {
        yield* opened
        yield* taken({ "A\nlevel=ERROR message=forged": 0 })
        yield* sent("quarantined", failure({ about: "product", message: "first\nlevel=ERROR message=forged" }))
        yield* later
      }), lines),
      Effect.sync(() => expect(lines.filter((line) => line.includes("\n"))).toEqual([]))
    )
  })
})
