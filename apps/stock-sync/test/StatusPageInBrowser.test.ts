/** The status page in a real Chromium: accessibility, keyboard, no scripts, and live updates. */
import { assert, describe, layer as suite } from "@effect/vitest"
import * as Browser from "@plaza/testing/Browser"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Server from "../src/observability/Server.ts"
import { failure } from "./support/events.ts"
import { freshFile } from "./support/ledger/places.ts"
import * as Pages from "./support/statusPage.ts"
import { happens, held, layer, ledgerOpens, ready, received, sent } from "./support/statusSampler.ts"
import { utc } from "./support/utc.ts"

/** The accessibility checker is slow on a busy machine. */
const timeout = 120_000

/** Half an hour of a busy worker. */
const busy = Effect.gen(function*() {
  const stocks = Object.fromEntries(
    Array.from({ length: 900 }, (_, index) => [`MUG-${String(index).padStart(3, "0")}`, index % 3 === 0 ? 0 : index])
  )
  yield* ledgerOpens
  yield* happens({
    _tag: "AccountBound",
    owner: { baseUrl: "https://shop.example/open/v1", id: "acc_4711", keyFingerprint: "0123456789abcdef" }
  })
  yield* happens({ _tag: "AccountChanged", account: { _tag: "Running", since: utc(0) } })
  yield* received(stocks, ["the stock is empty", "the stock \"1.234\" may be thousands"])
  for (let minute = 0; minute < 30; minute++) {
    yield* TestClock.adjust("1 minute")
    yield* happens({ _tag: "SourceUnchanged" })
    yield* Effect.replicateEffect(sent("confirmed"), minute % 17)
    if (minute % 10 === 0) yield* sent("quarantined")
    if (minute % 25 === 0)
      yield* sent("doubtful", failure({ about: "service", tag: "ConnectionLost", code: undefined, message: "the connection was lost" }))
  }
  yield* TestClock.adjust("10 seconds")
})

/** Account, source and ledger fail at the same time. */
const wrong = Effect.gen(function*() {
  yield* happens({
    _tag: "AccountChanged",
    account: { _tag: "Paused", since: utc(0), failure: failure({ message: "This key was revoked." }), nextProbe: utc(60_000) }
  })
  yield* happens({
    _tag: "SnapshotHeld",
    rows: 900,
    held,
    failure: failure({ about: "source", tag: "SnapshotHeld", code: undefined, message: "held" })
  })
  const full = failure({
    about: "ledger",
    tag: "LedgerFault",
    code: undefined,
    message: "the disk of the ledger /var/lib/stock/ledger.sqlite is full"
  })
  yield* happens({ _tag: "LedgerChanged", ledger: { _tag: "Failing", since: utc(0), failure: full, nextTry: utc(4_000_000) } })
})

/** A worker whose status page listens on a socket. */
const monitored = <A, E, R>(use: (url: string) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(freshFile, (path) =>
    Effect.provide(
      Effect.flatMap(Server.listen({ host: "127.0.0.1", port: 0 }), use),
      layer(path)
    ))

const open = (page: Page) => page.locator("details").evaluateAll((all) => all.forEach((each) => each.setAttribute("open", "")))

/** Pages of workers in many states, each with the headline that a reader sees. */
const pages: ReadonlyArray<readonly [headline: string, html: string]> = [
  ["All 100 products in sync", Pages.page(Pages.running, Pages.sample({ settled: 100 }))],
  [
    "Starting: the source has not been read yet",
    Pages.page({ ...Pages.running, source: { ...Pages.running.source, readAt: undefined } }, undefined)
  ],
  [
    "The source can't be read",
    Pages.page({ ...Pages.running, source: { ...Pages.running.source, failing: { since: Pages.before(180), failure: failure() } } },
      Pages.sample({ settled: 94, pending: 4, needing: [Pages.needing("A"), Pages.uncertain("B")] }))
  ],
  [
    "Nothing is sent: the ledger is unavailable",
    Pages.page({ ...Pages.running, ledger: { _tag: "Failing", since: Pages.before(3), failure: failure(), nextTry: Pages.now } },
      Pages.sample({ settled: 94 }))
  ],
  [
    "Snapshot 3 of the source is held",
    Pages.page({ ...Pages.running, source: { ...Pages.running.source, held } }, {
      ...Pages.sample({ settled: 100 }),
      heldChanges: Array.from({ length: 60 }, (_, index) => ({ productId: `P-${index}`, kind: "soldOut", from: 5, to: 0 } as const))
    })
  ],
  [
    "Nothing is sent: the account is paused",
    Pages.page({
      ...Pages.running,
      account: { _tag: "Paused", since: Pages.before(3), failure: failure(), nextProbe: Pages.now }
    }, Pages.sample({ settled: 90, pending: 10 }))
  ],
  [
    "700 of 1,001 products in sync, 301 need you",
    Pages.page(Pages.running, Pages.sample({
      settled: 700,
      needing: [Pages.needing("X".repeat(200)), ...Array.from({ length: 299 }, (_, index) => Pages.needing(`P-${index}`))],
      rejected: [undefined]
    }))
  ]
]

type Page = Effect.Success<ReturnType<typeof Browser.visit>>

const steps = (run: () => Promise<void>) => Effect.promise(run)

const focused = (page: Page) =>
  page.evaluate(() =>
    document.activeElement?.getAttribute("aria-label") ??
      ((document.activeElement?.id ?? "") || (document.activeElement?.textContent ?? "").trim())
  )

describe.skipIf(Browser.missing !== undefined)("the status page in a browser", () => {
  suite(Browser.layer)((it) => {
    for (const [colorScheme, width] of [["light", 1280], ["dark", 390]] as const) {
      // The page's policy would block the checker's script.
      const visitor = { colorScheme, viewport: { width, height: 900 }, bypassCSP: true }

      it.effect(`is accessible, ${colorScheme} and ${width} pixels wide`, () =>
        monitored((url) =>
          Effect.gen(function*() {
            const page = yield* Browser.visit(visitor)
            yield* steps(async () => {
              await page.goto(url)
              await Browser.check(page, "starting")
            })
            yield* busy
            yield* steps(async () => {
              await page.goto(url)
              await open(page)
              await Browser.check(page, "busy")
            })
            yield* wrong
            yield* steps(async () => {
              await page.goto(url)
              await Browser.check(page, "wrong")
            })
          })
        ), timeout)
    }

    for (const [colorScheme, width] of [["light", 390], ["dark", 1280]] as const) {
      it.effect(`begins with the headline of each state and fits, ${colorScheme} and ${width} pixels wide`, () =>
        monitored((url) =>
          Effect.gen(function*() {
            const page = yield* Browser.visit({ colorScheme, viewport: { width, height: 900 }, bypassCSP: true })
            yield* steps(async () => {
              for (const [headline, body] of pages) {
                await page.route(`${url}/`, (route) =>
                  route.fulfill({ contentType: "text/html", body }))
                await page.goto(url)
                // The first heading of the content, on the first screen.
                const first = page.getByRole("main").getByRole("heading").first()
                assert.strictEqual(await first.innerText(), headline)
                assert.isBelow((await first.boundingBox())?.y ?? Infinity, 200)
                await open(page)
                await Browser.check(page, headline)
                await page.unroute(`${url}/`)
              }
              // No table scrolls inside itself either.
              assert.deepStrictEqual(
                await page.locator(".scroll").evaluateAll((all) =>
                  all.flatMap((each) => each.scrollWidth > each.clientWidth ? [each.getAttribute("aria-label")] : [])
                ),
                []
              )
            })
          })
        ), timeout)
    }

    it.effect("shows everything without scripts, with names for screen readers", () =>
      monitored((url) =>
        Effect.gen(function*() {
          yield* busy
          const page = yield* Browser.visit({ javaScriptEnabled: false })
          yield* steps(async () => {
            await page.goto(url)
            assert.match(await page.getByRole("status").getByRole("heading").innerText(),
              /^\d+ of 902 products in sync, \d+ waiting, 5 need you$/)
            assert.isFalse(await page.getByRole("button", { name: "Live" }).isVisible())
            assert.isTrue(await page.getByRole("link", { name: "Refresh" }).isVisible())
            // A chart has a text alternative; its numbers are in a table.
            assert.match(await page.getByRole("img", { name: /^Products waiting/ }).textContent() ?? "", /\d+ now\./)
            for (const summary of await page.locator("summary").all()) if (await summary.isVisible()) await summary.click()
            assert.isAtLeast(await page.getByRole("region", { name: "Last hour, table" }).getByRole("row").count(), 7)
            for (
              const name of [
                "Waiting to be sent, table",
                "Needs you, table",
                "Quarantined products, table",
                "Rows that were rejected or changed, table",
                "Recent errors, table"
              ]
            ) {
              assert.isAtLeast(await page.getByRole("region", { name }).getByRole("rowheader").count(), 2, name)
            }
            assert.include(await page.getByRole("rowheader", { name: "Sold out" }).locator("..").innerText(), "min")
          })
        })
      ), timeout)

    it.effect("is operated by keyboard with a visible focus", () =>
      monitored((url) =>
        Effect.gen(function*() {
          yield* ready({ A: 0 })
          yield* sent("quarantined")
          yield* TestClock.adjust("10 seconds")
          const page = yield* Browser.visit()
          yield* steps(async () => {
            await page.goto(url)
            for (
              const stop of [
                "Skip to the content",
                "Refresh",
                "live",
                "Needs you, table",
                "Waiting to be sent, table",
                "Show as a table",
                "Quarantined products 1",
                "Recent errors 1",
                "Recent errors, table",
                "/healthz"
              ]
            ) {
              await page.keyboard.press("Tab")
              assert.strictEqual(await focused(page), stop)
              if (stop === "Recent errors 1") await page.keyboard.press("Enter")
              assert.strictEqual(
                await page.evaluate(() => document.activeElement === null ? "" : getComputedStyle(document.activeElement).outlineStyle),
                "solid"
              )
            }
          })
        })
      ), timeout)

    it.effect("updates itself without losing the reader's place, reports a lost connection, and stops on request",
      () =>
        monitored((url) =>
          Effect.gen(function*() {
            yield* ready({ A: 0 })
            yield* sent("quarantined")
            yield* TestClock.adjust("10 seconds")
            const page = yield* Browser.visit()
            const live = page.getByRole("button", { name: "Live" })
            yield* steps(async () => {
              // The test advances the page's clock.
              await page.clock.install()
              await page.goto(url)
              await page.getByRole("region", { name: "Quarantined products" }).locator("summary").click()
              await page.getByText("The worker reads the source and sends changes.").waitFor()
            })
            // A section that was empty appears, and the readers' own stays open.
            yield* received({ "ALWAYS-THERE": 1, A: 0 }, ["the stock is empty"])
            yield* TestClock.adjust("10 seconds")
            yield* steps(async () => {
              assert.isFalse(await page.locator("#rows-section").isVisible())
              await page.clock.runFor(10_000)
              await page.locator("#rows-section").waitFor()
              await page.getByRole("heading", { name: "0 of 3 products in sync, 1 waiting, 2 need you" }).waitFor()
            })
            yield* happens({
              _tag: "AccountChanged",
              account: { _tag: "Paused", since: utc(0), failure: failure(), nextProbe: utc(60_000) }
            })
            yield* steps(async () => {
              await page.clock.runFor(10_000)
              await page.getByRole("status").getByText("Nothing is sent: the account is paused").waitFor()
              await page.getByText("The service refuses all requests: INVALID_API_KEY: the key is revoked").waitFor()
              assert.strictEqual(await page.title(), "Not ready: plaza-stock-sync")
              assert.isTrue(await page.locator("#quarantined-section details").evaluate((details) => details.hasAttribute("open")))
              await page.route(url, (route) => route.abort())
              await page.clock.runFor(10_000)
              await page.getByRole("status").getByText("No response from the program").waitFor()
              await page.unroute(url)
              await live.click()
              assert.strictEqual(await live.getAttribute("aria-pressed"), "false")
            })
            yield* happens({ _tag: "AccountChanged", account: { _tag: "Running", since: utc(0) } })
            yield* steps(async () => {
              await page.clock.runFor(60_000)
              assert.strictEqual(await page.getByText("The worker reads the source and sends changes.").count(), 0)
              await live.click()
              await page.clock.runFor(10_000)
              await page.getByText("The worker reads the source and sends changes.").waitFor()
            })
          })
        ), timeout)
  })
})
