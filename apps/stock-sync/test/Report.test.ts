/** `report`: what it counts, from when on, and what its text, JSON and page say. */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Duration, Effect, Schema } from "effect"
import { type Kind, kinds } from "../src/ledger/Events.ts"
import type { HistoryEntry, LedgerEvent } from "../src/ledger/Ledger.ts"
import * as Report from "../src/observability/Report.ts"
import { runIn } from "./support/command.ts"
import { account, parsed } from "./support/program.ts"
import { csv, inFolder, wanted, write } from "./support/shop.ts"
import { utc } from "./support/utc.ts"

const request = (productId: string, seconds: number, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  productId,
  value: 0,
  reason: "soldOut",
  since: utc(0),
  sentAt: utc(seconds * 1_000),
  endedAt: utc(seconds * 1_000),
  outcome: "confirmed",
  code: undefined,
  message: undefined,
  ...more
})

const tallied = (...entries: ReadonlyArray<HistoryEntry>) => {
  const totals = Report.tally()
  for (const entry of entries) totals.add(entry)
  return totals.result()
}

const event = (kind: LedgerEvent["kind"], seconds: number, code?: string): LedgerEvent => ({
  at: utc(seconds * 1_000),
  kind,
  code,
  detail: code === undefined ? undefined : "because",
  count: 0
})

describe("the requests of a report", () => {
  it("are counted by product, outcome and failure, with the last message of each", () => {
    const refused = { outcome: "quarantined", code: "NOT_FOUND", message: "no such product" } as const
    const { products, requests } = tallied(
      request("A", 9, { reason: "backInStock", value: 3 }),
      request("B", 8, refused),
      request("C", 7, { ...refused, message: "an earlier message" }),
      request("B", 6, { ...refused, message: "an earlier message" }),
      request("A", 5, { outcome: "doubtful", code: "AttemptTimeout", message: "no response" }),
      request("A", 4)
    )
    expect(products).toEqual({ sent: 3, confirmed: 1, refused: 2, soldOut: 1, backInStock: 1 })
    expect(requests).toMatchObject({
      total: 6,
      confirmed: 2,
      lastAt: utc(9_000),
      failures: [
        { code: "NOT_FOUND", requests: 3, products: 2, message: "no such product", lastAt: utc(8_000) },
        { code: "AttemptTimeout", requests: 1, products: 1 }
      ]
    })
  })

  it("have the time that sold-out changes took from their snapshot to their confirmation", () => {
    const seconds = Array.from({ length: 100 }, (_, index) => index + 1)
    const { soldOut } = tallied(...seconds.map((each) => request(`P${each}`, each)))
    expect(soldOut).toEqual({
      count: 100,
      median: Duration.seconds(50),
      most: Duration.seconds(95),
      longest: Duration.seconds(100),
      longestProduct: "P100"
    })
    expect(tallied(request("A", 9, { reason: "rest", value: 3 })).soldOut).toBeUndefined()
  })

  it("know their busiest minute", () => {
    const at = [0, 61, 62, 63, 90, 200]
    expect(tallied(...at.map((each) => request("A", each)).toReversed()).requests.busiest).toEqual({ from: utc(61_000), requests: 4 })
  })

  it.prop("have a busiest minute as if each minute were counted", [Arbitrary.array(Generate.between(0, 400))], ([at]) => {
    const most = Math.max(0, ...at.map((from) => at.filter((each) => each >= from && each < from + 60).length))
    expect(tallied(...at.map((each) => request("A", each))).requests.busiest?.requests ?? 0).toBe(most)
  })
})

describe("the outages of a report", () => {
  it("end with the next state of the account or the source", () => {
    const outages = Report.outagesOf([
      event("sourceFailed", 1, "SourceUnreachable"),
      event("accountPaused", 2, "STORE_BLOCKED"),
      event("snapshotAccepted", 3),
      event("accountTrouble", 4, "ConnectionLost"),
      event("accountRunning", 5),
      event("sourceFailed", 6, "SourceError")
    ], [])
    expect(outages.map(({ code, from, kind, to }) => [kind, code, from, to])).toEqual([
      ["source", "SourceError", utc(6_000), undefined],
      ["unavailable", "ConnectionLost", utc(4_000), utc(5_000)],
      ["paused", "STORE_BLOCKED", utc(2_000), utc(4_000)],
      ["source", "SourceUnreachable", utc(1_000), utc(3_000)]
    ])
  })

  it("end with what says that the source was read or the account changed, and with nothing else", () => {
    const endsOf = (begin: Kind) => kinds.filter((kind) => Report.outagesOf([event(begin, 1), event(kind, 2)], []).at(-1)?.to !== undefined)
    // A person reverts whether or not the source can be read.
    expect(endsOf("sourceFailed")).toEqual(["snapshotAccepted", "snapshotHeld", "sourceFailed", "sourceRead"])
    const states = ["accountPaused", "accountQuota", "accountTrouble", "accountRunning"]
    for (const begin of ["accountPaused", "accountQuota", "accountTrouble"] as const) expect(endsOf(begin)).toEqual(states)
  })

  it("end with a request that was confirmed, if the process left no end", () => {
    expect(Report.outagesOf([event("accountPaused", 2, "STORE_BLOCKED")], [1_000, 7_000])[0]?.to).toEqual(utc(7_000))
    expect(Report.outagesOf([event("sourceFailed", 2, "SourceError")], [7_000])[0]?.to).toBeUndefined()
  })
})

const sent = { STOCK_SYNC_SETTLE: "0 seconds" }

/** A folder whose ledger has sent the products of the shop, of which one is refused and one has no stock that is a number. */
const afterOnce = <A, E, R>(
  test: (report: (...args: ReadonlyArray<string>) => ReturnType<typeof runIn>, cwd: string) => Effect.Effect<A, E, R>
) =>
  inFolder((cwd) =>
    Effect.gen(function*() {
      yield* write(`${cwd}/stock.csv`, `${csv({ ...wanted, "<b>NEW</b>": 3 })}ODD,many\n`)
      yield* runIn(cwd, ["once", "--source", "stock.csv"], { ...yield* account, ...sent })
      return yield* test((...args) => runIn(cwd, ["report", ...args], {}), cwd)
    })
  )

describe("the command `report`", () => {
  it.live("says first whether the store is in sync and who is needed, then what happened", () =>
    afterOnce((report) =>
      Effect.gen(function*() {
        const { status, stderr, stdout } = yield* report()
        expect([status, stderr]).toEqual([0, ""])
        const total = Object.keys(wanted).length + 2
        expect(stdout.split("\n")[0]).toBe(`${total - 2} of ${total} products in sync, 2 need you`)
        expect(stdout).toContain("\nNeeds you\nproduct\twhat is wrong\twhat helps\n<b>NEW</b>\tNOT_FOUND: ")
        expect(stdout).toMatch(/run "plaza-stock-sync retry '<b>NEW<\/b>'"\.\n/)
        expect(stdout).toMatch(
          new RegExp(`\\nproducts sent\\t${total - 1}\\nproducts confirmed\\t${total - 2}\\nproducts refused\\t1\\nsold out\\t2\\n`)
        )
        expect(stdout).toMatch(/\nsold out, to the confirmation\tmedian [\d.]+ s, 95% within [\d.]+ s, longest [\d.]+ s \(\S+\)\n/)
        expect(stdout).toContain("\nsnapshots\t1 with changes, 0 held, 0 unreadable or refused\n")
        expect(stdout).toMatch(/\nRequests that were not confirmed\ncode\trequests\tproducts\tlast message\nNOT_FOUND\t1\t1\t/)
      })
    ))

  it.live("writes one JSON value, with --json and with --format json", () =>
    afterOnce((report) =>
      Effect.gen(function*() {
        const byOption = parsed((yield* report("--json")).stdout)
        expect(byOption).toMatchObject({
          now: { inSync: Object.keys(wanted).length, needing: 2, conditions: [], heldSnapshot: null },
          products: { refused: 1, soldOut: 2 },
          requests: { failures: [{ code: "NOT_FOUND", requests: 1, products: 1 }] },
          snapshots: { accepted: 1, held: 0, failed: 0 },
          outages: []
        })
        expect(parsed((yield* report("--format", "json")).stdout)).toMatchObject({ products: { refused: 1 } })
      })
    ))

  it.live("writes one page that needs nothing else, and escapes what is not ours", () =>
    afterOnce((report) =>
      Effect.gen(function*() {
        const { stdout } = yield* report("--format", "html")
        expect(stdout).toMatch(/^<!doctype html>/)
        expect(stdout).toMatch(/<\/html>\n$/)
        expect(stdout).toContain("&lt;b&gt;NEW&lt;/b&gt;")
        expect(stdout).not.toContain("<b>NEW</b>")
        expect(stdout).not.toMatch(/<script|<link[^>]+stylesheet|src=|href="(?!data:)/)
        expect(stdout).toContain("prefers-color-scheme: dark")
        expect(stdout).toContain("@media print")
      })
    ))

  it.live("counts from a time on, and says what of it the ledger no longer has", () =>
    afterOnce((report, cwd) =>
      Effect.gen(function*() {
        expect(yield* report("--since", "2999-01-01")).toMatchObject({ status: 2, stdout: "" })
        expect((yield* report("--since", "7d")).stdout).not.toContain("no longer has")
        // The source changes, and the history has room for two requests.
        yield* write(`${cwd}/stock.csv`, csv(Object.fromEntries(Object.keys(wanted).map((id) => [id, 77]))))
        yield* runIn(cwd, ["once", "--source", "stock.csv", "--history", "2"], { ...yield* account, ...sent })
        const { stdout } = yield* report("--since", "24h")
        expect(stdout).toMatch(/\nRequests before \S+ \S+ UTC are not counted: the ledger no longer has them\. --history /)
        expect(stdout).toContain("\nproducts sent\t2\n")
      })
    ))

  it.live("refuses a beginning without a zone, and other formats", () =>
    Effect.gen(function*() {
      for (const since of ["yesterday", "0s", "99999999999d", "2026-13-01", "2026-02-30", "2026-02-30T08:00Z", "2026-03-01T08:00"]) {
        expect(yield* runIn(".", ["report", "--since", since], {})).toMatchObject({
          status: 2,
          stderr:
            `plaza-stock-sync: --since must be a duration such as 24h, a day such as 2026-03-01, or a time such as 2026-03-01T08:00:00Z, not "${since}"\n`
        })
      }
      expect((yield* runIn(".", ["report", "--format", "pdf"], {})).stderr).toContain("--format must be text, json or html")
    }))

  it.live("needs a ledger that is there", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { status, stderr, stdout } = yield* runIn(cwd, ["report"], {})
        expect([status, stdout]).toEqual([2, ""])
        expect(stderr).toContain("plaza-stock-sync.sqlite")
      })
    ))
})

describe("runs of `once`, as cron starts them", () => {
  const Outages = Schema.Struct({
    outages: Schema.Array(Schema.Struct({ kind: Schema.String, code: Schema.String, to: Schema.NullOr(Schema.String) }))
  })
  const outagesIn = (cwd: string) =>
    Effect.map(runIn(cwd, ["report", "--json"], {}), ({ stdout }) =>
      Schema.decodeUnknownSync(Outages)(parsed(stdout)).outages.map(({ code, kind, to }) => [kind, code, to === null ? "lasts" : "ended"]))

  it.live("leave one outage of a source that each of them can't read, and its end", () =>
    afterOnce((_, cwd) =>
      Effect.gen(function*() {
        const env = { ...yield* account, ...sent }
        for (let run = 0; run < 2; run++) yield* runIn(cwd, ["once", "--source", "none.csv"], env)
        expect(yield* outagesIn(cwd)).toEqual([["source", "SourceError", "lasts"]])
        yield* runIn(cwd, ["once", "--source", "stock.csv"], env)
        expect(yield* outagesIn(cwd)).toEqual([["source", "SourceError", "ended"]])
      })
    ))

  it.live("leave one outage of a key that each of them finds refused, and its end, although nothing is to be sent", () =>
    afterOnce((_, cwd) =>
      Effect.gen(function*() {
        const { addFault, clearFaults } = yield* Sandbox.Sandbox
        const env = { ...yield* account, ...sent }
        yield* addFault({ kind: "status", when: "before", status: 401, code: "INVALID_API_KEY", path: "/me", times: 1_000 })
        for (let run = 0; run < 2; run++) yield* runIn(cwd, ["once", "--source", "stock.csv"], env)
        yield* clearFaults
        expect(yield* outagesIn(cwd)).toEqual([["paused", "INVALID_API_KEY", "lasts"]])
        yield* runIn(cwd, ["once", "--source", "stock.csv"], env)
        expect(yield* outagesIn(cwd)).toEqual([["paused", "INVALID_API_KEY", "ended"]])
      })
    ))
})
