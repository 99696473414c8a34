/**
 * A real browser for the tests of pages: the Chromium that is installed, driven over its own protocol. Knows nothing of what stands on
 * the pages.
 */
import { source as axe } from "axe-core"
import { Context, Effect, Layer, Schema, type Scope } from "effect"
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict"
import { existsSync } from "node:fs"
import { env, getuid, stderr } from "node:process"
import { type Browser as Chromium, type BrowserContextOptions, chromium, type Page } from "playwright-core"

/** `CHROMIUM` names one that lies elsewhere. */
const candidates = [
  ...(env["CHROMIUM"] === undefined ? [] : [env["CHROMIUM"]]),
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
]

const executable = candidates.find((path) => existsSync(path))

/** Why the tests that need a browser can't run here; undefined when they can. */
export const missing = executable === undefined
  ? "no Chromium is installed: install Debian's chromium, or name one in CHROMIUM, to test the pages in a real browser"
  : undefined

if (missing !== undefined) {
  stderr.write(`skipped: ${missing}\n`)
}

/** One browser for all tests of a suite. */
export class Browser extends Context.Tag("@plaza/testing/Browser")<Browser, Chromium>() {}

export const layer = Layer.scoped(
  Browser,
  Effect.acquireRelease(
    Effect.promise(() =>
      chromium.launch({
        executablePath: executable ?? "",
        // Its own sandbox doesn't run as root, as which containers run.
        args: getuid?.() === 0 ? ["--no-sandbox"] : []
      })
    ),
    (browser) => Effect.promise(() => browser.close())
  )
)

/** A page of a new visitor, without any cookie. What the page complains of on its console fails the test. */
export const visit = (options: BrowserContextOptions = {}): Effect.Effect<Page, never, Browser | Scope.Scope> =>
  Effect.gen(function*() {
    const browser = yield* Browser
    const context = yield* Effect.acquireRelease(
      Effect.promise(() => browser.newContext(options)),
      (context) => Effect.promise(() => context.close())
    )
    const page = yield* Effect.promise(() => context.newPage())
    const complaints: Array<string> = []
    page.on("pageerror", (error) => complaints.push(String(error)))
    page.on("console", (message) => {
      // A page that was refused is told there too, and is what a test may want.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
        complaints.push(message.text())
      }
    })
    yield* Effect.addFinalizer(() =>
      complaints.length === 0 ? Effect.void : Effect.dieMessage(`the page complains: ${complaints.join("; ")}`))
    return page
  })

/** What the accessibility checker finds, as far as it is told here. */
const readFindings = Schema.decodeUnknownSync(Schema.Struct({
  violations: Schema.Array(Schema.Struct({ id: Schema.String, nodes: Schema.Array(Schema.Struct({ html: Schema.String })) }))
}))

/**
 * No rule of accessibility is broken, nothing is wider than the window, and no id stands twice. The page has to have been visited with
 * `bypassCSP`, since the checker is a foreign script.
 */
export const check = async (page: Page, where: string): Promise<void> => {
  await page.evaluate(axe)
  const { violations } = readFindings(await page.evaluate("axe.run()"))
  deepStrictEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`), [], where)
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${where} is wider than the window`)
  const ids = await page.evaluate(() => Array.from(document.querySelectorAll("[id]"), ({ id }) => id))
  strictEqual(new Set(ids).size, ids.length, where)
}
