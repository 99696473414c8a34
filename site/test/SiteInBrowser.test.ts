/** The built site in a real Chromium: layout on a wide and on a narrow screen, and the search as a person types. The site must be built. */
import { NodeHttpServer } from "@effect/platform-node"
import { describe, expect, layer } from "@effect/vitest"
import * as Browser from "@plaza/testing/Browser"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer, HttpStaticServer } from "effect/http"
import { readdirSync } from "node:fs"
import { createServer } from "node:http"
import { site } from "../src/Paths.ts"

const served = HttpRouter.serve(HttpStaticServer.layer({ root: site }), { disableListenLog: true, disableLogger: true }).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
)

const address = HttpServer.addressFormattedWith(Effect.succeed)

const every = readdirSync(site, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".html") && file !== "404.html")
  .map((file) => `/${file.replaceAll("\\", "/")}`)

/** A page of each kind. */
const kinds = [
  "/",
  "/questions.html",
  "/reference/plaza.html",
  "/api/client/Plaza.html",
  "/decisions/037-documentation-site.html",
  "/figures.html"
]

/** Rules of axe that depend on our texts and styles. Others are up to VitePress's theme, whose landing page has no `main`. */
const rules = [
  "color-contrast",
  "duplicate-id-aria",
  "image-alt",
  "link-name",
  "scrollable-region-focusable",
  "svg-img-alt",
  "th-has-data-cells"
]

const wide = { width: 1280, height: 800 }
const narrow = { width: 390, height: 844 }

describe.skipIf(Browser.missing !== undefined)("the site", () => {
  layer(Layer.merge(served, Browser.layer), { excludeTestServices: true })((it) => {
    it.effect("scrolls no page sideways on a narrow screen, and each wide table in its own box", () =>
      Effect.gen(function*() {
        const url = yield* address
        // Scripts change no layout, and take most of the time.
        const page = yield* Browser.visit({ viewport: narrow, javaScriptEnabled: false })
        const wider = yield* Effect.promise(async () => {
          const found: Array<string> = []
          for (const path of every) {
            await page.goto(`${url}${path}`, { waitUntil: "load" })
            const widths = await page.evaluate(() => [
              document.documentElement.scrollWidth,
              ...Array.from(document.querySelectorAll("table"), (table) => table.getBoundingClientRect().right)
            ])
            if (widths.some((width) => width > 390)) found.push(`${path}: ${Math.max(...widths)}`)
          }
          return found
        })
        expect(every.length).toBeGreaterThan(100)
        expect(wider).toEqual([])
      }), 120_000)

    for (const [name, viewport, colorScheme] of [["wide", wide, "light"], ["narrow", narrow, "dark"]] as const) {
      it.effect(`is readable on a ${name} screen with ${colorScheme} colours`, () =>
        Effect.gen(function*() {
          const url = yield* address
          const page = yield* Browser.visit({ viewport, colorScheme, bypassCSP: true })
          yield* Effect.promise(async () => {
            for (const path of kinds) {
              await page.goto(`${url}${path}`)
              expect(await page.evaluate(() => document.documentElement.classList.contains("dark"))).toBe(colorScheme === "dark")
              await Browser.check(page, path, rules)
            }
          })
        }), 120_000)
    }

    it.effect("shows the answer first while a person types a question", () =>
      Effect.gen(function*() {
        const url = yield* address
        const page = yield* Browser.visit({ viewport: wide })
        const hash = yield* Effect.promise(async () => {
          await page.goto(`${url}/getting-started.html`)
          await page.getByRole("button", { name: "Search" }).click()
          const box = page.getByRole("searchbox")
          for (
            const [question, answer] of [
              ["how do I post an imag", "how-do-i-post-an-image-a-photo-or-a-video"],
              ["tiemout", "how-do-i-set-a-timeout"],
              ["what is a cursor", "what-is-a-cursor-and-how-do-i-read-all-pages"]
            ] as const
          ) {
            await box.fill("")
            await box.pressSequentially(question)
            await page.locator(`.results li:first-child a[href="/questions.html#${answer}"]`).waitFor()
          }
          await box.press("Enter")
          await page.waitForURL(/questions\.html/)
          return new URL(page.url()).hash
        })
        expect(hash).toBe("#what-is-a-cursor-and-how-do-i-read-all-pages")
      }), 60_000)
  })
})
