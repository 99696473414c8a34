/** The top of the status page: what it says in each state of a worker, and what helps. */
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Option } from "effect"
import { ofStore } from "../src/ledger/LedgerCommands.ts"
import * as Conditions from "../src/observability/Conditions.ts"
import * as Headline from "../src/observability/Headline.ts"
import * as Report from "../src/observability/Report.ts"
import * as StatusText from "../src/observability/StatusText.ts"
import type { State } from "../src/sync/SyncStatus.ts"
import { failure } from "./support/events.ts"
import {
  before,
  headlineOf,
  isShown,
  needing,
  now,
  numbersOf,
  page,
  rowsOf,
  running,
  sample,
  textOf,
  uncertain
} from "./support/statusPage.ts"
import { held } from "./support/statusSampler.ts"
import { utc } from "./support/utc.ts"

const commands = ofStore()
const six = [needing("A"), needing("B"), needing("C"), needing("D")]

describe("the headline of a running worker", () => {
  it("says how many products are in sync, wait and need a person, and names no part that is empty", () => {
    const headline = (numbers: Parameters<typeof sample>[0]) => headlineOf(page(running, sample(numbers)))
    expect(headline({ settled: 100 })).toBe("All 100 products in sync")
    expect(headline({ settled: 1 })).toBe("1 product in sync")
    expect(headline({ settled: 94, pending: 6 })).toBe("94 of 100 products in sync, 6 waiting")
    expect(headline({ settled: 94, needing: six, rejected: ["E", undefined] })).toBe("94 of 100 products in sync, 6 need you")
    expect(headline({ settled: 94, pending: 4, needing: [needing("A")], rejected: ["E"] })).toBe(
      "94 of 100 products in sync, 4 waiting, 2 need you"
    )
    expect(headline({ settled: 9_999, needing: [uncertain("A")] })).toBe("9,999 of 10,000 products in sync, 1 needs you")
    expect(headline({})).toBe("No product in the ledger")
  })

  it("is in the title of the tab while a person is needed", () => {
    expect(page(running, sample({ settled: 9, needing: [needing("A")] }))).toContain("<title>1 needs you: plaza-stock-sync</title>")
    expect(page(running, sample({ settled: 9 }))).toContain("<title>plaza-stock-sync</title>")
  })

  it.prop(
    "has parts that add up to the products that it names",
    [Generate.between(0, 2_000), Generate.between(0, 2_000), Generate.between(0, 30), Generate.between(0, 5)],
    ([settled, pending, refused, rows]) => {
      const text = headlineOf(page(running, sample({
        settled,
        pending,
        needing: Array.from({ length: refused }, (_, index) => needing(`P-${index}`)),
        rejected: Array.from({ length: rows }, () => undefined)
      })))
      const figures = Array.from(text.matchAll(/[\d,]+(?= |$)/g), ([figure]) => Number(figure.replaceAll(",", "")))
      const total = settled + pending + refused + rows
      if (total === 0) expect(text).toBe("No product in the ledger")
      else if (settled === total) expect(figures).toEqual([total])
      else {
        const [inSync = -1, all = -1, ...others] = figures
        expect(all).toBe(total)
        expect(inSync + others.reduce((sum, each) => sum + each, 0)).toBe(all)
      }
    }
  )

  it.prop(
    "never counts below zero, although rows are counted after the products",
    [Arbitrary.all([0, 1, 2, 3, 4].map(() => Generate.between(0, 5)))],
    ([[settled = 0, pending = 0, products = 0, ofSettled = 0, ofWaiting = 0]]) => {
      const counted = sample({ settled, pending }).attention
      const rejected = { settled: ofSettled, waiting: ofWaiting, needing: 0, unknown: 0 }
      const { inSync, needing, total, waiting } = Headline.numbers({ attention: { ...counted, products, rejected } })
      expect(Math.min(inSync, waiting, needing)).toBeGreaterThanOrEqual(0)
      expect(inSync + waiting + needing).toBe(total)
    }
  )
})

const paused = failure({ message: "This key was revoked." })
const source = failure({ about: "source", tag: "SourceUnreachable", code: undefined, message: "there is no file stock.csv" })
const silent = failure({ about: "ledger", tag: "LedgerFault", code: undefined, message: "the database of the ledger does not respond" })

const states: ReadonlyArray<readonly [name: string, state: Partial<State>, lead: string, says: string]> = [
  [
    "the account is paused",
    { account: { _tag: "Paused", since: before(3), failure: paused, nextProbe: utc(now.epochMilliseconds + 15_000) } },
    "Nothing is sent: the account is paused",
    "Account Paused The service refuses all requests: INVALID_API_KEY: This key was revoked. The first was refused 3 minutes ago. Changes wait in the ledger. Next check in 15 seconds. Make an active key"
  ],
  [
    "the breaker is open",
    {
      account: {
        _tag: "Trouble",
        since: before(90),
        failure: failure({ code: undefined, tag: "ConnectionLost", message: "the connection was lost" }),
        nextTry: now
      }
    },
    "Nothing is accepted: the service is unavailable",
    "The first failed 1 hour ago. Changes wait in the ledger. Next attempt now. Check the network and the status of the service."
  ],
  [
    "a quota is used up",
    {
      account: {
        _tag: "Quota",
        since: before(3),
        failure: failure({ code: "RATE_LIMITED" }),
        until: utc(now.epochMilliseconds + 7_200_000)
      }
    },
    "Nothing is sent: the rate limit or a quota is used up",
    "Sending resumes in 2 hours."
  ],
  [
    "the source can't be read",
    { source: { ...running.source, readAt: before(200), failing: { since: before(180), failure: source } } },
    "The source can't be read",
    "There is no file stock.csv. The first read failed 3 hours ago. The stock of the previous snapshot stays in effect. Correct the source."
  ],
  [
    "the source was not read for long",
    { source: { ...running.source, readAt: before(20) } },
    "The source was last read 20 minutes ago",
    "Source Stale"
  ],
  [
    "a snapshot is held",
    { source: { ...running.source, held: { ...held, since: before(61) } } },
    "Snapshot 3 of the source is held",
    "Of 100 products, 60 sell out. It arrived 1 hour ago. The stock of the previous snapshot stays in effect. If the source is wrong, correct it: the next plausible snapshot is accepted. If it is right, run plaza-stock-sync confirm 3 --ledger shop.sqlite."
  ],
  ["the worker stops", { stopping: true }, "The worker is stopping", "Not ready"]
]

describe("the headline of a worker in trouble", () => {
  it.each(states)("begins with the trouble if %s, and has the numbers below it", (_, state, lead, says) => {
    const shown = page({ ...running, ...state }, sample({ settled: 94, pending: 4, needing: [needing("A"), needing("B")] }))
    expect(headlineOf(shown)).toBe(lead)
    const numbers = "94 of 100 products in sync, 4 waiting, 2 need you"
    // The numbers of an earlier snapshot say so.
    expect(numbersOf(shown)).toBe(state.source === undefined ? numbers : `Snapshot of 5 minutes ago: ${numbers}`)
    expect(textOf(shown)).toContain(says)
    expect(textOf(shown)).toContain("Last snapshot accepted 5 minutes ago.")
  })

  it("says of which time the numbers are if the ledger can't be read", () => {
    const ledger: State["ledger"] = { _tag: "Failing", since: before(3), failure: silent, nextTry: now }
    const shown = page({ ...running, ledger }, { ...sample({ settled: 94, needing: six }), at: before(5) })
    expect(headlineOf(shown)).toBe("Nothing is sent: the ledger is unavailable")
    expect(numbersOf(shown)).toBe("5 minutes ago: 94 of 98 products in sync, 4 need you")
    expect(textOf(shown)).toContain("The database of the ledger does not respond. Nothing is sent.")
  })

  it("begins with what stops everything, if several things are wrong", () => {
    const failing = { since: before(3), failure: source }
    const account: State["account"] = { _tag: "Paused", since: before(3), failure: paused, nextProbe: now }
    const wrong: State = { ...running, account, source: { ...running.source, failing } }
    expect(headlineOf(page(wrong, sample({ settled: 1 })))).toBe("Nothing is sent: the account is paused")
    const ledger: State["ledger"] = { _tag: "Failing", since: before(3), failure: silent, nextTry: now }
    expect(headlineOf(page({ ...wrong, ledger }, sample({ settled: 1 })))).toBe("Nothing is sent: the ledger is unavailable")
    expect(textOf(page({ ...wrong, ledger }, sample({ settled: 1 })))).toMatch(/Ledger Unavailable .* Account Paused .* Source Unreadable/)
  })
})

describe("the headline before the first snapshot", () => {
  const start: State = { ...running, ledger: { _tag: "Opening" }, source: { ...running.source, readAt: undefined, takenAt: undefined } }
  it("says what the start waits for, and names no number", () => {
    expect(headlineOf(page(start, undefined))).toBe("Starting: the ledger is not open yet")
    expect(numbersOf(page(start, undefined))).toBeUndefined()
    const open: State = { ...start, ledger: running.ledger }
    expect(headlineOf(page(open, undefined))).toBe("Starting: the source has not been read yet")
    expect(headlineOf(page({ ...open, account: { _tag: "Starting", since: now } }, undefined))).toBe(
      "Starting: the service has not confirmed the account yet"
    )
    expect(headlineOf(page(running, undefined))).toBe("The ledger has not been read yet")
  })

  it("shows no section that would be empty", () => {
    const shown = page(start, undefined)
    for (const id of ["waiting", "overview", "hour", "uncertain", "quarantined", "rows", "errors"]) {
      expect([id, isShown(shown, `${id}-section`)]).toEqual([id, false])
    }
    expect(isShown(shown, "needing")).toBe(false)
    expect(textOf(shown)).not.toMatch(/\bNone\b/)
  })
})

describe("the list of what needs a person", () => {
  it("says of each product what is wrong, since when, and what helps", () => {
    const list = rowsOf(
      page(running, sample({ settled: 94, needing: [needing("MUG GRAY"), uncertain("TEA-1")], rejected: ["CUP", undefined] })),
      "needing-rows"
    )
    expect(list).toEqual([
      [
        "TEA-1",
        "uncertain StockMismatch: the service accepted 3 and responded with a stock of 1",
        "3 minutes ago",
        "Compare it with the store. If the store is wrong, run plaza-stock-sync retry --ledger shop.sqlite TEA-1."
      ],
      [
        "MUG GRAY",
        "quarantined NOT_FOUND: there is no product \"MUG GRAY\"",
        "3 minutes ago",
        "Correct the id in the source, or create the product in the store and run plaza-stock-sync retry --ledger shop.sqlite 'MUG GRAY'. The worker retries it in 30 minutes."
      ],
      [
        "CUP",
        "row rejected line 10: stock is empty",
        "5 minutes ago",
        "Correct line 10 of the source. It is read again without a restart."
      ],
      ["line 11", "row rejected stock is empty", "5 minutes ago", "Correct line 11 of the source. It is read again without a restart."]
    ])
  })

  it("promises no retry while nothing is sent, or for a time that has passed", () => {
    const helps = (state: State, dueAt = utc(now.epochMilliseconds + 60_000)) =>
      rowsOf(page(state, sample({ needing: [needing("A", { dueAt })] })), "needing-rows")[0]?.[3]
    expect(helps(running)).toMatch(/The worker retries it in 1 minute\.$/)
    expect(helps(running, before(1))).toMatch(/run plaza-stock-sync retry --ledger shop\.sqlite A\.$/)
    expect(helps({ ...running, account: { _tag: "Paused", since: now, failure: paused, nextProbe: now } })).not.toContain("retries")
  })

  it("says what helps against each refusal", () => {
    const refused = (tag: string, code: string | undefined, state: "quarantined" | "uncertain" = "quarantined") =>
      StatusText.plain(
        Headline.items(
          sample({ needing: [needing("A", { state, refusal: { tag, code, message: "no", value: 3 } })] }),
          { ...commands, retryProduct: () => "retry A" }
        )[0]?.helps ?? []
      )
    expect(refused("ValidationError", "VALIDATION_ERROR")).toBe(
      "Correct the id or the stock in the source. To send it again as it is, run \"retry A\"."
    )
    expect(refused("InvalidInput", undefined)).toBe(refused("ValidationError", "VALIDATION_ERROR"))
    expect(refused("StoreBlocked", "STORE_BLOCKED")).toBe("Correct what the response names. Then run \"retry A\".")
    expect(refused("Unrecognized", undefined, "uncertain")).toMatch(/^A proxy or firewall refuses it: .* run "retry A"\.$/)
  })

  it("has the first twenty, and the command that lists all of them", () => {
    const many = Array.from({ length: 300 }, (_, index) => needing(`P-${String(index).padStart(3, "0")}`))
    const shown = page(running, sample({ settled: 700, needing: many }))
    expect(headlineOf(shown)).toBe("700 of 1,000 products in sync, 300 need you")
    expect(rowsOf(shown, "needing-rows").map(([product]) => product)).toEqual(many.slice(0, 20).map(({ productId }) => productId))
    expect(textOf(shown)).toContain("And 280 more: plaza-stock-sync status --json --ledger shop.sqlite lists all of them.")
    expect(textOf(shown)).toContain("plaza-stock-sync retry --ledger shop.sqlite sends all quarantined products again.")
    expect(textOf(shown)).toContain("Quarantined products 300")
  })

  it("has a product once that is refused and whose row is rejected", () => {
    const both = { ...sample({ needing: [needing("A")], rejected: ["A"] }) }
    expect(Headline.items(both, commands).map(({ subject }) => subject)).toEqual(["A"])
  })
})

describe("a sentence", () => {
  it("begins with a capital letter, unless it begins with a name", () => {
    for (
      const [text, sentence] of [
        ["the ledger /data/stock.sqlite can't be opened", "The ledger /data/stock.sqlite can't be opened"],
        ["sold out, to the confirmation", "Sold out, to the confirmation"],
        ["settled", "Settled"]
      ] as const
    ) expect(StatusText.capitalized(text)).toBe(sentence)
    const names = [
      "http://shop.example/stock.csv: status 503",
      "s3://shop/stock.csv: access denied",
      "stock.csv was just written",
      "stock: line 2: the stock is not a number",
      "feeds/stock.csv: it does not exist",
      "plaza-stock-sync is stopping"
    ]
    for (const text of names) expect(StatusText.capitalized(text)).toBe(text)
  })

  it("about a source that can't be read names it as it is, on the page and in a report", () => {
    const message = "http://shop.example/stock.csv: status 503"
    const unreachable = failure({ about: "source", tag: "SourceUnreachable", code: undefined, message })
    const source = { ...running.source, failing: { since: before(3), failure: unreachable } }
    expect(StatusText.plain(Conditions.source(source, now, undefined, commands).description)).toContain(`${message}. `)
    const outage = { kind: "source", code: "SourceUnreachable", detail: message, from: before(3), to: undefined } as const
    const snapshot = { held: Option.none(), takenAt: undefined, rows: undefined, unit: "line", lastNumber: 0, reverted: undefined } as const
    const [condition] = Report.conditions({ outages: [outage], snapshot }, commands, undefined)
    expect(StatusText.plain(condition?.description ?? [])).toContain(`${message}. `)
  })
})

describe("times", () => {
  it("are relative to now, in their largest unit, with the exact time beside them", () => {
    const at = (seconds: number) => StatusText.relative(utc(now.epochMilliseconds + seconds * 1_000), now)
    expect([0, -1, 1, -2, -59, -60, -119, -120, -3_600, -86_399, -86_400, -200 * 86_400].map(at)).toEqual([
      "just now",
      "just now",
      "now",
      "2 seconds ago",
      "59 seconds ago",
      "1 minute ago",
      "1 minute ago",
      "2 minutes ago",
      "1 hour ago",
      "23 hours ago",
      "1 day ago",
      "200 days ago"
    ])
    expect([5, 60, 7_300].map(at)).toEqual(["in 5 seconds", "in 1 minute", "in 2 hours"])
    expect(page(running, sample({ settled: 1 }))).toContain(
      "<time datetime=\"1970-01-01T23:59:00.000Z\" title=\"1970-01-01 23:59:00 UTC\">1 minute ago</time>"
    )
  })
})
