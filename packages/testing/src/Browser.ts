/**
 * The installed Chromium for tests of pages, driven through playwright-core, with checks for accessibility and
 * layout.
 */
import axe from "axe-core"
import { Context, Effect, Layer, Schema, type Scope } from "effect"
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict"
import { existsSync } from "node:fs"
import { env, getuid, stderr } from "node:process"
import { type Browser as Chromium, type BrowserContextOptions, chromium, type Page } from "playwright-core"

/** Paths to try; the variable `CHROMIUM` names another one. */
const candidates = [
  ...(env["CHROMIUM"] === undefined ? [] : [env["CHROMIUM"]]),
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
]

const executable = candidates.find((path) => existsSync(path))

/** Why tests in a browser can't run on this machine; undefined if they can. */
export const missing = executable === undefined
  ? "no Chromium is installed: install Debian's chromium, or name one in CHROMIUM, to test the pages in a real browser"
  : undefined

if (missing !== undefined) {
  stderr.write(`skipped: ${missing}\n`)
}

/** A browser shared by the tests of a suite. */
export class Browser extends Context.Service<Browser, Chromium>()("@plaza/testing/Browser") {}

export const layer = Layer.effect(
  Browser,
  Effect.acquireRelease(
    Effect.promise(() =>
      chromium.launch({
        executablePath: executable ?? "",
        // Chromium's sandbox doesn't run as root, and containers do.
        args: getuid?.() === 0 ? ["--no-sandbox"] : []
      })
    ),
    (browser) => Effect.promise(() => browser.close())
  )
)

/** A page in a new browser context, without cookies. Errors on its console fail the test. */
export const visit = (options: BrowserContextOptions = {}): Effect.Effect<Page, never, Browser | Scope.Scope> =>
  Effect.gen(function*() {
    const browser = yield* Browser
    const context = yield* Effect.acquireRelease(
      Effect.promise(() => browser.newContext(options)),
      (context) => Effect.promise(() => context.close())
    )
    const page = yield* Effect.promise(() => context.newPage())
    const errors: Array<string> = []
    page.on("pageerror", (error) => errors.push(String(error)))
    page.on("console", (message) => {
      // Chromium logs an error status here too, which a test may expect.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
        errors.push(message.text())
      }
    })
    yield* Effect.addFinalizer(() => errors.length === 0 ? Effect.void : Effect.die(`the page logs errors: ${errors.join("; ")}`))
    return page
  })

/** The violations that axe reports. */
const readFindings = Schema.decodeUnknownSync(Schema.Struct({
  violations: Schema.Array(Schema.Struct({ id: Schema.String, nodes: Schema.Array(Schema.Struct({ html: Schema.String })) }))
}))

/**
 * Asserts that axe reports no violation of its rules, or of some of them, nothing is wider than the window and every id is unique. Requires a
 * page visited with `bypassCSP`, because axe is a foreign script.
 */
export const check = async (page: Page, where: string, rules?: ReadonlyArray<string>): Promise<void> => {
  await page.evaluate(axe.source)
  const options = JSON.stringify({ resultTypes: ["violations"], ...(rules === undefined ? {} : { runOnly: rules }) })
  const { violations } = readFindings(await page.evaluate(`axe.run(${options})`))
  deepStrictEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`), [], where)
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${where} is wider than the window`)
  const ids = await page.evaluate(() => Array.from(document.querySelectorAll("[id]"), ({ id }) => id))
  strictEqual(new Set(ids).size, ids.length, where)
}
