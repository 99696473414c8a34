/** The pages of a fleet in a real Chromium, served on a port: accessibility, layout, search without scripts, and hostile texts. */
import { assert, describe, layer as suite } from "@effect/vitest"
import * as Streams from "@plaza/cli-kit/Streams"
import * as Browser from "@plaza/testing/Browser"
import { Effect, Layer, Option, Ref, type Scope } from "effect"
import type { FleetDatabase } from "../../src/fleet/FleetDatabase.ts"
import * as FleetLedger from "../../src/fleet/FleetLedger.ts"
import type { AccountActivity, RunnerState } from "../../src/fleet/FleetRunner.ts"
import * as FleetObservability from "../../src/fleet/operations/FleetObservability.ts"
import * as Logs from "../../src/observability/Logs.ts"
import * as SyncStatus from "../../src/sync/SyncStatus.ts"
import { eventually } from "../support/eventually.ts"
import * as Support from "../support/fleetStatus.ts"
import { address } from "../support/observability.ts"
import { shared } from "../support/shared.ts"
import { utc } from "../support/utc.ts"

const { accounts, heldSnapshot, products, runnerRow } = Support

/** The accessibility checker is slow on a busy machine. */
const timeout = 120_000

let server: Effect.Success<typeof Support.server>
shared(Support.server, (built) => {
  server = built
})

const hostile = "<script>alert(1)</script>\"' \u202Eabc"

const busy = Effect.gen(function*() {
  yield* runnerRow("stock-sync-7d9f-2-0123abcd", 0, [{
    reason: "loopStuck",
    message: "the runner has been stuck for 1 min 35 s: restart it"
  }])
  yield* runnerRow("stock-sync-7d9f-3-4567cdef", 60_000)
  const names = Array.from({ length: 60 }, (_, index) => `shop-${String(index).padStart(3, "0")}.example`)
  yield* accounts({
    ...Object.fromEntries(names.map((name, index) => [name, {
      runner: index % 3 === 0 ? "stock-sync-7d9f-3-4567cdef" : Support.runner,
      paused: index % 11 === 1,
      ...(index % 7 === 2 ? { problem: "INVALID_API_KEY: the key was revoked. Make an active key in the web app" } : {})
    }])),
    [hostile]: { runner: Support.runner, problem: hostile },
    ["x".repeat(200)]: {}
  })
  yield* products(names.filter((_, index) => index % 5 === 0), [
    { as: "soldOut", count: 12, since: Date.UTC(2026, 0) },
    { as: "falling", count: 3, since: Date.UTC(2026, 1) },
    { as: "quarantined", count: 2 },
    { as: "settled", count: 80 }
  ])
  yield* heldSnapshot("shop-005.example", Date.UTC(2026, 2))
})

const idle = Support.idleUntil(Number.MAX_SAFE_INTEGER / 1_000)
const failure = {
  at: utc(0),
  about: "account",
  productId: undefined,
  tag: "InvalidApiKey",
  code: "INVALID_API_KEY",
  message: "the key was revoked"
} as const
const activities: Readonly<Record<string, AccountActivity>> = {
  "shop-005.example": {
    ...idle,
    active: true,
    rateLimit: { free: 0, inFlight: 4, waiting: 1, pausedUntil: undefined, pausedOperations: [] }
  },
  "shop-010.example": {
    ...idle,
    active: true,
    status: {
      ...SyncStatus.initial(utc(0)),
      account: { _tag: "Paused", since: utc(0), failure, nextProbe: utc(60_000) },
      errors: [failure]
    }
  },
  ["x".repeat(200)]: idle
}

/** A runner whose pages are on a port, and its state. */
const served = <A, E, E2>(
  prepare: Effect.Effect<unknown, E2, FleetDatabase>,
  use: (url: string, state: Ref.Ref<RunnerState>) => Effect.Effect<A, E, Browser.Browser | Scope.Scope>
) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const state = yield* Effect.flatMap(Support.readyState, Ref.make)
    yield* FleetObservability.layer({ server: Option.some({ host: "127.0.0.1", port: 0 }), notify: Option.none(), exportsMetrics: false })
      .pipe(
        Layer.provide(Layer.mergeAll(
          Layer.provide(FleetLedger.layer, Layer.effectDiscard(prepare)),
          Support.layerRunner(state, activities),
          Logs.layer({ format: "text", level: "Info" })
        )),
        Layer.provide(server.database),
        Layer.provide(Streams.layerTest({ stdout: [], stderr: lines })),
        Layer.fresh,
        Layer.build
      )
    return yield* use(yield* eventually(address(lines), (url) => url.startsWith("http")), state)
  })

const steps = (run: () => Promise<void>) => Effect.promise(run)

describe.skipIf(Browser.missing !== undefined)("the pages of a fleet in a browser", () => {
  suite(Browser.layer, { excludeTestServices: true })((it) => {
    for (const [colorScheme, width] of [["light", 1280], ["dark", 360]] as const) {
      // The page's policy would block the checker's script.
      const visitor = { colorScheme, viewport: { width, height: 900 }, bypassCSP: true }

      it.effect(`are accessible, ${colorScheme} and ${width} pixels wide`, () =>
        served(busy, (url, state) =>
          Effect.gen(function*() {
            const page = yield* Browser.visit(visitor)
            yield* steps(async () => {
              await page.goto(url)
              await Browser.check(page, "fleet")
              assert.match(await page.getByRole("main").getByRole("heading").first().innerText(),
                /^\d+ of 62 accounts running without trouble, \d+ need you, 6 paused, \d+ pending$/)
              // Nor does a table scroll inside itself, long ids included.
              assert.deepStrictEqual(
                await page.locator(".scroll").evaluateAll((all) =>
                  all.flatMap((each) => each.scrollWidth > each.clientWidth ? [each.getAttribute("aria-label")] : [])
                ),
                []
              )
              await page.goto(`${url}/accounts/shop-005.example`)
              await Browser.check(page, "account with a held snapshot, whose worker sends")
              await page.goto(`${url}/accounts/shop-010.example`)
              await Browser.check(page, "account with quarantined products, whose worker is paused by an error")
              await page.goto(`${url}/accounts/shop-006.example`)
              await Browser.check(page, "account of another runner")
              await page.goto(`${url}/accounts/${"x".repeat(200)}`)
              await Browser.check(page, "account with a long id")
              await page.goto(`${url}/nothing`)
              await Browser.check(page, "not found")
            })
            yield* Ref.update(state, (state) => ({ ...state, shards: 0 }))
            yield* steps(async () => {
              await page.goto(url)
              await Browser.check(page, "not ready")
            })
          })), timeout)
    }

    it.effect("find accounts without scripts", () =>
      served(busy, (url) =>
        Effect.gen(function*() {
          const page = yield* Browser.visit({ javaScriptEnabled: false })
          yield* steps(async () => {
            await page.goto(url)
            const table = page.getByRole("region", { name: "Accounts, table" })
            assert.strictEqual(await table.getByRole("rowheader").count(), 50)
            await page.getByRole("link", { name: "Next page" }).click()
            assert.strictEqual(await table.getByRole("rowheader").count(), 12)
            await page.getByRole("link", { name: "Previous page" }).click()
            assert.strictEqual(await table.getByRole("rowheader").count(), 50)
            await page.getByLabel("Id begins with").fill("shop-01")
            await page.getByLabel("State").selectOption("With waiting products")
            await page.getByRole("button", { name: "Show" }).click()
            assert.deepStrictEqual(await table.getByRole("rowheader").allInnerTexts(), ["shop-010.example", "shop-015.example"])
            await table.getByRole("link", { name: "shop-010.example" }).click()
            assert.strictEqual(await page.getByRole("region", { name: "Needs you, table" }).getByRole("rowheader").count(), 2)
            await page.getByRole("region", { name: "Quarantined products" }).locator("summary").click()
            assert.strictEqual(await page.getByRole("region", { name: "Quarantined products, table" }).getByRole("rowheader").count(), 2)
            await page.getByRole("link", { name: "fleet", exact: true }).click()
            assert.strictEqual(new URL(page.url()).pathname, "/")
          })
        })), timeout)

    it.effect("run no script of an id or a message, and lead to its account", () =>
      served(busy, (url) =>
        Effect.gen(function*() {
          const page = yield* Browser.visit()
          yield* steps(async () => {
            let dialogs = 0
            page.on("dialog", (dialog) => {
              dialogs++
              void dialog.dismiss()
            })
            await page.goto(`${url}/?prefix=${encodeURIComponent("<")}`)
            await page.getByRole("region", { name: "Accounts, table" }).getByRole("link").click()
            await page.getByRole("heading", { name: "State", exact: true }).waitFor()
            assert.strictEqual(page.url(), `${url}/accounts/${encodeURIComponent(hostile)}`)
            assert.include(await page.locator("header").innerText(), "<script>alert(1)</script>")
            assert.strictEqual(dialogs, 0)
          })
        })), timeout)
  })
})
