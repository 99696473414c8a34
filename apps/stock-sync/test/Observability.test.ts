import { describe, expect, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { CurrentLedger } from "../src/ledger/CurrentLedger.ts"
import { Ledger } from "../src/ledger/Ledger.ts"
import { LedgerFault } from "../src/ledger/LedgerError.ts"
import { StatusSampler } from "../src/observability/StatusSampler.ts"
import type { SyncStatus } from "../src/sync/SyncStatus.ts"
import { failure } from "./support/events.ts"
import { freshFile } from "./support/ledger/places.ts"
import { happens, held, heldInLedger, layer, ledgerOpens, metric, opens, ready, received, request, sent } from "./support/statusSampler.ts"
import { utc } from "./support/utc.ts"
import { settable } from "./support/wallClock.ts"

/** The monitor samples again. */
const later = TestClock.adjust("10 seconds")

const monitored = <A, E>(test: Effect.Effect<A, E, CurrentLedger | Ledger | StatusSampler | SyncStatus>, lines?: Array<string>) =>
  Effect.scoped(Effect.flatMap(freshFile, (path) => Effect.provide(test, layer(path, lines))))

const readiness = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({
  ready: Schema.Boolean,
  reasons: Schema.Array(Schema.Struct({ reason: Schema.String, message: Schema.String }))
})))

/** Undefined where status, word and reasons contradict each other. */
const reasons = Effect.map(request("/readyz"), ({ body, status }) => {
  const { ready, reasons } = readiness(body)
  return ready === (status === 200) && ready === (reasons.length === 0) ? reasons.map(({ reason }) => reason) : undefined
})

describe("readiness", () => {
  it.effect("is given only while everything works, and every reason why not is named", () =>
    monitored(Effect.gen(function*() {
      expect(yield* reasons).toEqual(["starting", "ledgerOpening", "sourceUnread"])
      yield* ready()
      expect(yield* reasons).toEqual([])
      yield* happens({ _tag: "AccountChanged", account: { _tag: "Paused", since: utc(0), failure: failure(), nextProbe: utc(60_000) } })
      expect(yield* reasons).toEqual(["accountPaused"])
      yield* happens({
        _tag: "AccountChanged",
        account: { _tag: "Quota", since: utc(0), failure: failure({ tag: "RateLimited" }), until: utc(60_000) }
      })
      yield* happens({
        _tag: "LedgerChanged",
        ledger: { _tag: "Failing", since: utc(0), failure: failure({ about: "ledger", message: "the disk is full" }), nextTry: utc(1_000) }
      })
      expect(yield* reasons).toEqual(["accountQuota", "ledgerFailing"])
      yield* happens({ _tag: "AccountChanged", account: { _tag: "Trouble", since: utc(0), failure: failure(), nextTry: utc(1_000) } })
      yield* ledgerOpens
      yield* happens({
        _tag: "SnapshotHeld",
        rows: 100,
        held,
        failure: failure({ about: "source" })
      })
      expect(yield* reasons).toEqual(["accountTrouble", "snapshotHeld"])
      yield* happens({ _tag: "AccountChanged", account: { _tag: "Running", since: utc(0) } })
      yield* received({ A: 1 })
      yield* happens({ _tag: "Stopping" })
      expect(yield* reasons).toEqual(["stopping"])
      expect((yield* request("/healthz")).status).toBe(200)
    })))

  it.effect("is kept while a source fails for a short time, and lost when it stays away", () =>
    monitored(Effect.gen(function*() {
      yield* ready()
      const fails = happens({
        _tag: "SourceFailed",
        failure: failure({ about: "source", tag: "SourceUnreachable", message: "there is no file stock.csv" })
      })
      yield* fails
      yield* TestClock.adjust("5 minutes")
      expect(yield* reasons).toEqual([])
      yield* TestClock.adjust("1 seconds")
      expect(yield* reasons).toEqual(["sourceFailing"])
      expect((yield* request("/readyz")).body).toContain("there is no file stock.csv")
      yield* happens({ _tag: "SourceUnchanged" })
      expect(yield* reasons).toEqual([])
      yield* TestClock.adjust("6 minutes")
      expect(yield* reasons).toEqual(["sourceStale"])
    })))

  it.effect("is not given where the source could never be read", () =>
    monitored(Effect.gen(function*() {
      yield* ledgerOpens
      yield* happens({ _tag: "AccountChanged", account: { _tag: "Running", since: utc(0) } })
      yield* happens({ _tag: "SourceFailed", failure: failure({ about: "source" }) })
      expect(yield* reasons).toEqual(["sourceFailing"])
    })))
})

describe("metrics", () => {
  it.effect("show what waits by priority and for how long, products by state, and the state of the account", () =>
    monitored(Effect.gen(function*() {
      yield* ready({ A: 0, B: 0, C: 5 })
      yield* later
      expect(yield* metric("plaza_stock_sync_backlog{priority=\"soldOut\"}")).toBe(2)
      expect(yield* metric("plaza_stock_sync_backlog{priority=\"rest\"}")).toBe(2)
      expect(yield* metric("plaza_stock_sync_oldest_waiting_seconds{priority=\"soldOut\"}")).toBe(10)
      expect(yield* metric("plaza_stock_sync_oldest_waiting_seconds{priority=\"doubtful\"}")).toBe(0)
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

  it.effect("count sends by outcome, and the time from source to confirmation by priority", () =>
    monitored(Effect.gen(function*() {
      const figures = Effect.all([
        metric("plaza_stock_sync_sends_total{outcome=\"confirmed\"}"),
        metric("plaza_stock_sync_sends_total{outcome=\"quarantined\"}"),
        metric("plaza_stock_sync_time_to_shelf_seconds_count{priority=\"soldOut\"}"),
        metric("plaza_stock_sync_time_to_shelf_seconds_bucket{priority=\"soldOut\",le=\"15\"}"),
        metric("plaza_stock_sync_time_to_shelf_seconds_bucket{priority=\"soldOut\",le=\"5\"}")
      ]).pipe(Effect.map((all) => all.map((each) => each ?? 0)))
      yield* ready({ A: 0, B: 0 })
      yield* later
      const before = yield* figures
      yield* sent("confirmed")
      yield* sent("quarantined")
      yield* later
      expect((yield* figures).map((figure, index) => figure - (before[index] ?? 0))).toEqual([1, 1, 1, 1, 0])
      expect(yield* metric("plaza_stock_sync_products{state=\"quarantined\"}")).toBe(1)
      expect(yield* metric("plaza_stock_sync_oldest_confirmation_age_seconds")).toBe(10)
    })))

  it.effect("count responses that show another stock than the one sent", () =>
    monitored(Effect.gen(function*() {
      const count = Effect.map(metric("plaza_stock_sync_stock_mismatches_total"), (value) => value ?? 0)
      yield* ready({ A: 0 })
      const before = yield* count
      yield* sent("quarantined",
        failure({ about: "product", tag: "StockMismatch", code: undefined, message: "the service responded with a stock of 2" }))
      yield* later
      expect((yield* count) - before).toBe(1)
    })))

  it.effect("count the ledger's faults, and keep the last figures while it fails", () =>
    monitored(Effect.gen(function*() {
      const faults = Effect.map(metric("plaza_stock_sync_ledger_faults_total"), (count) => count ?? 0)
      yield* ready({ A: 0 })
      yield* later
      const before = yield* faults
      yield* happens({
        _tag: "LedgerChanged",
        ledger: { _tag: "Failing", since: utc(0), failure: failure({ about: "ledger" }), nextTry: utc(1_000) }
      })
      yield* later
      expect((yield* faults) - before).toBe(1)
      expect(yield* metric("plaza_stock_sync_backlog{priority=\"soldOut\"}")).toBe(1)
      expect(yield* metric("plaza_stock_sync_ready")).toBe(0)
    })))

  it.effect("show that the worker is not ready while a read of the ledger does not end", () =>
    monitored(Effect.gen(function*() {
      yield* ready({ A: 0 })
      yield* later
      expect(yield* metric("plaza_stock_sync_ready")).toBe(1)
      yield* opens({ ...yield* Ledger, attention: Effect.never })
      yield* later
      yield* happens({
        _tag: "LedgerChanged",
        ledger: { _tag: "Failing", since: utc(0), failure: failure({ about: "ledger" }), nextTry: utc(1_000) }
      })
      yield* later
      expect(yield* metric("plaza_stock_sync_ready")).toBe(0)
    })))

  it.effect("survive a ledger that fails while it is read", () =>
    monitored(Effect.gen(function*() {
      const ledger = yield* Ledger
      for (const backlog of [new LedgerFault({ path: ledger.path, message: "the disk is full" }), Effect.die("it is closed")]) {
        yield* opens({ ...ledger, backlog })
        yield* later
      }
      expect((yield* request("/")).body).toContain("Ledger not read yet")
      yield* ready({ A: 0 })
      yield* later
      expect(yield* metric("plaza_stock_sync_backlog{priority=\"soldOut\"}")).toBe(1)
    })))
})

/** The text of a page, without its markup. */
const textOf = (html: string) =>
  html.replace(/<\/?(?:a|bdi|code|span|strong|time)[^>]*>/g, "").replace(/<[^>]*>/g, " ").replace(/\s+/g, " ")

const headlineOf = (html: string) => textOf(/<h2 class="headline"[^>]*>(.*?)<\/h2>/.exec(html)?.[1] ?? "")

describe("the page", () => {
  it.effect("shows the state and what to do about it", () =>
    monitored(Effect.gen(function*() {
      expect((yield* request("/")).body).toContain("Account not known yet")
      yield* ready()
      expect((yield* request("/")).body).toContain("The worker reads the source and sends changes.")
      yield* happens({ _tag: "AccountChanged", account: { _tag: "Paused", since: utc(0), failure: failure(), nextProbe: utc(60_000) } })
      const { body } = yield* request("/")
      expect(headlineOf(body)).toBe("Nothing is sent: the account is paused")
      expect(textOf(body)).toContain(
        "The service refuses all requests: INVALID_API_KEY: the key is revoked. The first was refused just now."
      )
      expect(body).toContain("<time datetime=\"1970-01-01T00:01:00.000Z\" title=\"1970-01-01 00:01:00 UTC\">in 1 minute</time>")
      expect(body).toContain("put it into PLAZA_API_KEY or the file that PLAZA_API_KEY_FILE names, and restart the program.")
      expect(body).toContain("<title>Not ready: plaza-stock-sync</title>")
    })))

  it.effect("lists quarantined products, rejected rows and errors, and nothing of them becomes HTML", () =>
    monitored(Effect.gen(function*() {
      const hostile = "<img src=x onerror=\"alert(1)\">"
      yield* ledgerOpens
      yield* received({ [hostile]: 0, B: 3 }, [`no number: ${hostile}`])
      yield* sent("quarantined", failure({ about: "product", message: hostile }))
      yield* later
      const { body } = yield* request("/")
      expect(body).not.toContain("<img")
      expect(body.match(/&lt;img src=x onerror=&quot;alert\(1\)&quot;&gt;/g)?.length).toBeGreaterThanOrEqual(4)
      expect(body).toContain(">no number: ")
    })))

  it.effect("lists the changes of a held snapshot, with the command that confirms it", () =>
    monitored(Effect.gen(function*() {
      const ids = Array.from({ length: 510 }, (_, index) => `P-${String(index).padStart(3, "0")}`)
      yield* ledgerOpens
      yield* received(Object.fromEntries(ids.map((each) => [each, 5])))
      yield* heldInLedger(ids)
      yield* later
      const { body } = yield* request("/")
      expect(body).toContain("<h2 id=\"held-title\">Held snapshot 2</h2>")
      expect(body).toContain("plaza-stock-sync confirm 2")
      expect(body).toMatch(
        /P-499<\/th><td class="number" data-head="From">5<\/td><td class="number" data-head="To">0<\/td><td data-head="Why">sells out<\/td>/
      )
      expect(body).not.toContain("P-500")
      expect(yield* metric("plaza_stock_sync_snapshot_held")).toBe(1)
    })))

  it.effect("lists the first fifty, and says how many there are", () =>
    monitored(Effect.gen(function*() {
      yield* ledgerOpens
      yield* received(Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`P-${String(index).padStart(2, "0")}`, 0])))
      yield* Effect.replicateEffect(sent("quarantined"), 60)
      yield* later
      const { body } = yield* request("/")
      expect(body).toContain("<th scope=\"row\">P-49</th>")
      expect(body).not.toContain("<th scope=\"row\">P-50</th>")
      expect(body).toContain("50 of 60 shown.")
    })))

  it.effect("draws the last hour from samples of ten seconds, in two charts and a table", () =>
    monitored(Effect.gen(function*() {
      yield* ready(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`P-${index}`, 0])))
      yield* Effect.replicateEffect(Effect.andThen(TestClock.adjust("1 minute"), sent("confirmed")), 10)
      yield* later
      const { history } = yield* Effect.flatMap(StatusSampler, ({ status }) => status)
      expect(history).toHaveLength(1 + 10 * 6 + 1)
      expect(history.at(-1)).toMatchObject({ backlog: 31, sends: 10 })
      const { body } = yield* request("/")
      expect(body.match(/<polyline/g)).toHaveLength(2)
      expect(body).toContain("<desc id=\"sends-desc\">1 now. The table below has the numbers.</desc>")
      expect(body).toMatch(
        /title="1970-01-01 00:10:10 UTC">just now<\/time><\/th><td class="number" data-head="Products waiting">31<\/td><td class="number" data-head="Stock requests">5<\/td>/
      )
    })))

  it.effect("reads the ledger no more often, however many request the page", () =>
    monitored(Effect.gen(function*() {
      yield* ready({ A: 0 })
      yield* later
      const ledger = yield* Ledger
      let reads = 0
      const counted = { ...ledger, attention: Effect.suspend(() => (reads++, ledger.attention)) }
      yield* opens(counted)
      yield* Effect.replicateEffect(request("/"), 100)
      yield* later
      expect(reads).toBe(1)
    })))
})

describe("a ledger that takes long to count", () => {
  it.effect("is read for a twentieth of the time, and what needs no counting is shown all the same", () =>
    monitored(Effect.gen(function*() {
      const ledger = yield* Ledger
      let reads = 0
      const slow = { ...ledger, attention: Effect.suspend(() => (reads++, Effect.delay(ledger.attention, "6 seconds"))) }
      yield* ready({ A: 0 })
      yield* opens(slow)
      yield* TestClock.adjust("1 minute")
      yield* sent("confirmed")
      yield* TestClock.adjust("1 minute")
      expect(reads).toBe(1)
      const { history, ledger: sample } = yield* Effect.flatMap(StatusSampler, ({ status }) => status)
      expect(history.at(-1)).toMatchObject({ sends: 1 })
      expect(sample?.at.epochMilliseconds).toBeLessThan(60_000)
      expect(textOf((yield* request("/")).body)).toMatch(/Ledger read \d+ \w+ ago/)
      yield* TestClock.adjust("30 seconds")
      expect(reads).toBe(2)
    })))
})

describe("a wall clock that is set", () => {
  for (const [name, by] of [["a day back", -86_400_000], ["a day forward", 86_400_000]] as const) {
    it.effect(`${name} stops no sample, and no wait becomes negative`, () =>
      Effect.gen(function*() {
        const hands = yield* TestClock.testClockWith(Effect.succeed)
        const clock = yield* settable
        yield* Effect.provideService(
          monitored(Effect.gen(function*() {
            yield* ready({ A: 0, B: 0 })
            yield* hands.adjust("10 seconds")
            clock.shift(by)
            yield* sent("confirmed")
            yield* hands.adjust("10 seconds")
            const { history, ledger, now } = yield* Effect.flatMap(StatusSampler, ({ status }) => status)
            expect(ledger?.at).toEqual(now)
            expect(history.every(({ at }) => at <= DateTime.toEpochMillis(now))).toBe(true)
            expect(yield* metric("plaza_stock_sync_backlog{priority=\"soldOut\"}")).toBe(1)
            expect(yield* metric("plaza_stock_sync_oldest_waiting_seconds{priority=\"soldOut\"}")).toBeGreaterThanOrEqual(0)
            yield* happens({ _tag: "SourceUnchanged" })
            expect(yield* reasons).toEqual([])
          })),
          Clock.Clock,
          clock
        )
      }))
  }
})

describe("a request", () => {
  it.effect("is refused where a page elsewhere made its own name point here", () =>
    monitored(Effect.gen(function*() {
      for (const host of ["evil.example", "evil.example:9000", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "", "a b"]) {
        for (const path of ["/", "/metrics", "/readyz", "/healthz"]) {
          expect([host, (yield* request(path, { headers: { host } })).status]).toEqual([host, 403])
        }
      }
      for (const host of ["localhost", "LOCALHOST:9000", "127.0.0.1:9000", "[::1]:9000", "127.8.8.8", "stock.localhost"]) {
        expect([host, (yield* request("/healthz", { headers: { host } })).status]).toEqual([host, 200])
      }
    })))

  it.effect("can change nothing, and is framed, scripted or cached by nobody", () =>
    monitored(Effect.gen(function*() {
      for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
        const answer = yield* request("/", { method })
        expect(answer.status).toBe(405)
        expect(answer.headers.get("allow")).toBe("GET, HEAD")
      }
      const page = yield* request("/")
      expect(page.headers.get("content-security-policy")).toContain("default-src 'none'")
      expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'")
      expect(page.headers.get("cache-control")).toBe("no-store")
      expect(page.headers.get("access-control-allow-origin")).toBeNull()
      expect((yield* request("/metrics")).headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
      expect((yield* request("/nothing-here")).status).toBe(404)
    })))
})

describe("the log", () => {
  it.effect("has a line for each change of state, and none for a send", () => {
    const lines: Array<string> = []
    return Effect.andThen(
      monitored(Effect.gen(function*() {
        yield* ready({ A: 0, B: 0, C: 0 })
        yield* sent("confirmed")
        yield* sent("quarantined")
        for (const nextProbe of [1_000, 2_000, 3_000]) {
          yield* happens({
            _tag: "AccountChanged",
            account: { _tag: "Paused", since: utc(0), failure: failure(), nextProbe: utc(nextProbe) }
          })
        }
        yield* happens({ _tag: "AccountChanged", account: { _tag: "Running", since: utc(0) } })
        yield* happens({
          _tag: "AccountChanged",
          account: { _tag: "Quota", since: utc(0), failure: failure({ code: "RATE_LIMITED" }), until: utc(86_400_000) }
        })
        yield* happens({ _tag: "AccountChanged", account: { _tag: "Running", since: utc(0) } })
        yield* happens({
          _tag: "AccountChanged",
          account: { _tag: "Trouble", since: utc(0), failure: failure({ code: undefined, tag: "ConnectionLost" }), nextTry: utc(1_000) }
        })
        yield* happens({ _tag: "AccountChanged", account: { _tag: "Running", since: utc(0) } })
        const ledgerFails = happens({
          _tag: "LedgerChanged",
          ledger: { _tag: "Failing", since: utc(0), failure: failure({ message: "the disk is full" }), nextTry: utc(1_000) }
        })
        yield* Effect.andThen(ledgerFails, ledgerFails)
        yield* ledgerOpens
        // Each time with another time.
        for (const hour of ["10", "11"]) {
          const message = `it is busy until 2026-11-28T${hour}:00:00.000Z`
          yield* happens({ _tag: "SourceFailed", failure: failure({ about: "source", message }) })
        }
        yield* happens({ _tag: "SourceUnchanged" })
        yield* happens({ _tag: "SourceUnchanged" })
        const holds = happens({ _tag: "SnapshotHeld", rows: 100, held, failure: failure({ about: "source" }) })
        yield* Effect.andThen(holds, holds)
        const reconcilingFails = happens({ _tag: "ReconciliationFailed", failure: failure() })
        yield* Effect.andThen(reconcilingFails, reconcilingFails)
        yield* happens({ _tag: "Reconciled", products: 4, differing: 0, resent: false })
        yield* happens({ _tag: "Reconciled", products: 4, differing: 0, resent: false })
        yield* later
        yield* Effect.flatMap(Ledger, (ledger) => ledger.release(Option.none()))
        yield* later
        yield* happens({ _tag: "Stopping" })
      }), lines),
      Effect.sync(() => {
        // Fields have no order.
        const logged = lines.map((line) =>
          line.replace(/^.* level=(\w+) fiber=\S+ message=/, "$1 ").replace(/(?: [a-zA-Z]+=(?:"[^"]*"|\S+))+$/, (fields) =>
            Array.from(fields.matchAll(/ [a-zA-Z]+=(?:"[^"]*"|\S+)/g), ([field]) => field).sort().join(""))
        )
        expect(logged).toEqual([
          expect.stringMatching(/^INFO ledger\.opened ledger=\S+$/),
          "INFO account.known account=acc_1 address=https://shop.example/open/v1",
          "INFO account.running",
          "INFO snapshot.accepted changed=4 missing=0 negative=0 rejected=0 rows=4 soldOut=0",
          "WARN product.quarantined detail=\"no such product\" error=NOT_FOUND product=B stock=0",
          "ERROR account.paused detail=\"the key is revoked\" error=INVALID_API_KEY nextProbe=1970-01-01T00:00:01.000Z",
          "INFO account.running after=paused",
          "WARN account.quota detail=\"the key is revoked\" error=RATE_LIMITED until=1970-01-02T00:00:00.000Z",
          "INFO account.running after=quota",
          "WARN account.trouble detail=\"the key is revoked\" error=ConnectionLost nextTry=1970-01-01T00:00:01.000Z",
          "INFO account.running after=trouble",
          "ERROR ledger.failed detail=\"the disk is full\" error=INVALID_API_KEY nextTry=1970-01-01T00:00:01.000Z",
          expect.stringMatching(/^INFO ledger\.reopened ledger=\S+$/),
          "ERROR source.failed detail=\"it is busy until 2026-11-28T10:00:00.000Z\" error=INVALID_API_KEY",
          "INFO source.recovered",
          "ERROR snapshot.held detail=\"snapshot 3 of the source is held since 1970-01-01 00:00:00 UTC: of 100 products, 60 sell out\" fell=0 missing=0 products=100 reverted=0 rose=0 rows=100 snapshot=3 soldOut=60",
          "WARN reconciliation.failed detail=\"the key is revoked\" error=INVALID_API_KEY",
          "INFO reconciliation.completed differing=0 products=4",
          "INFO products.released products=1 quarantined=0",
          "INFO worker.stopping"
        ])
      })
    )
  })

  it.effect("stays a line an event, whatever a product is called", () => {
    const lines: Array<string> = []
    return Effect.andThen(
      monitored(Effect.gen(function*() {
        yield* ledgerOpens
        yield* received({ "A\nlevel=ERROR message=forged": 0 })
        yield* sent("quarantined", failure({ about: "product", message: "first\nlevel=ERROR message=forged" }))
        yield* later
      }), lines),
      Effect.sync(() => expect(lines.filter((line) => line.includes("\n"))).toEqual([]))
    )
  })
})
