/** The status page in a real Chromium: accessibility, keyboard, no scripts, and live updates. */
import { assert, describe, layer as suite } from "@effect/vitest"
import * as Browser from "@plaza/testing/Browser"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Server from "../src/observability/Server.ts"
import { failure } from "./support/events.ts"
import { freshFile } from "./support/ledger/places.ts"
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
              await page.locator("summary").click()
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

    it.effect("shows everything without scripts, with names for screen readers", () =>
      monitored((url) =>
        Effect.gen(function*() {
          yield* busy
          const page = yield* Browser.visit({ javaScriptEnabled: false })
          yield* steps(async () => {
            await page.goto(url)
            assert.strictEqual(await page.getByRole("status").filter({ hasText: "The worker reads the source and sends changes." }).count(),
              1)
            assert.isFalse(await page.getByRole("button", { name: "Live" }).isVisible())
            assert.isTrue(await page.getByRole("link", { name: "Refresh" }).isVisible())
            // A chart has a text alternative; its numbers are in a table.
            assert.match(await page.getByRole("img", { name: /^Products waiting/ }).textContent() ?? "", /\d+ now\./)
            await page.locator("summary").click()
            assert.isAtLeast(await page.getByRole("region", { name: "Last hour, table" }).getByRole("row").count(), 7)
            for (
              const name of [
                "Waiting to be sent, table",
                "Quarantined products, table",
                "Rejected and changed rows, table",
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
          yield* ready()
          const page = yield* Browser.visit()
          yield* steps(async () => {
            await page.goto(url)
            for (
              const stop of [
                "Skip to the content",
                "Refresh",
                "live",
                "Waiting to be sent, table",
                "Show as a table",
                "Uncertain products, table",
                "Quarantined products, table",
                "Rejected and changed rows, table",
                "Recent errors, table",
                "/healthz"
              ]
            ) {
              await page.keyboard.press("Tab")
              assert.strictEqual(await focused(page), stop)
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
            yield* ready()
            const page = yield* Browser.visit()
            const live = page.getByRole("button", { name: "Live" })
            yield* steps(async () => {
              // The test advances the page's clock.
              await page.clock.install()
              await page.goto(url)
              await page.locator("summary").click()
              await page.getByText("The worker reads the source and sends changes.").waitFor()
            })
            yield* happens({
              _tag: "AccountChanged",
              account: { _tag: "Paused", since: utc(0), failure: failure(), nextProbe: utc(60_000) }
            })
            yield* steps(async () => {
              await page.clock.runFor(10_000)
              await page.getByRole("status").getByText("the service refuses all requests: INVALID_API_KEY: the key is revoked").waitFor()
              assert.strictEqual(await page.title(), "Not ready: plaza-stock-sync")
              assert.isTrue(await page.locator("details").evaluate((details) => details.hasAttribute("open")))
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
