/** The report of `plaza verify` for people: a table, and a page in a real Chromium. */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Output from "@plaza/cli-kit/Output"
import * as Streams from "@plaza/cli-kit/Streams"
import * as Browser from "@plaza/testing/Browser"
import { Effect, Layer } from "effect"
import * as Page from "../src/verify/Page.ts"
import type { Report } from "../src/verify/Report.ts"
import { print } from "../src/verify/Verify.ts"
import { verify } from "./support/Verifying.ts"
import * as WrongService from "./support/WrongService.ts"

/** A service with texts that a page must escape. It contradicts three rules. */
const hostile = WrongService.sandbox(({ body, path }) =>
  path === "/me" && body.includes("username")
    ? { body: JSON.stringify({ id: "<script>alert(1)</script>", username: 5, "<b>&\"'": true, ["x".repeat(300)]: 1 }) }
    : undefined
)

const reported = Effect.map(verify(), ({ report }) => report).pipe(Effect.provide(hostile))

const printed = (report: Report, options: { readonly columns?: number; readonly json?: boolean; readonly all?: boolean }) =>
  Effect.gen(function*() {
    const stdout: Array<string> = []
    const streams = Streams.layerTest({
      stdout,
      stderr: [],
      ...(options.columns === undefined ? {} : { columns: options.columns })
    })
    yield* print(report, { all: options.all ?? false }).pipe(
      Effect.provide(Layer.provideMerge(Output.layer({ json: options.json ?? false, quiet: false }), streams))
    )
    return stdout.join("")
  })

describe("the table", () => {
  it.effect("has what is contradicted and what was learnt, and counts the other rules", () =>
    Effect.gen(function*() {
      const report = yield* reported
      const text = yield* printed(report, { columns: 80 })
      for (const line of text.split("\n")) assert.isAtMost(line.length, 80, line)
      const [head, ...sections] = text.split("\n\n")
      assert.match(
        head ?? "",
        /^Resources and their fields\ncontradicted +Field names are camelCase, except next_cursor\.\n +-> the field "<b>&"'"/
      )
      assert.match(head ?? "", /\ncontradicted +A profile has the username as a string\.\n +-> username in GET \/me is 5$/)
      assert.strictEqual(sections.length, 2)
      assert.match(sections[0] ?? "", /^Learnt of the open points\ndefaultPageSize +20\n/)
      assert.match(
        sections[1] ?? "",
        /^\d+ confirmed, 2 contradicted, \d+ not observable, by \d+ requests\.\n$/
      )
    }))

  it.effect("has every rule with --all, by section, with a reason for all that is not confirmed, and fits into 80 columns", () =>
    Effect.gen(function*() {
      const report = yield* reported
      const text = yield* printed(report, { columns: 80, all: true })
      for (const line of text.split("\n")) assert.isAtMost(line.length, 80, line)
      for (const section of new Set(report.rules.map(({ section }) => section))) assert.include(text, `${section}\n`)
      assert.match(text, /\ncontradicted +A profile has the username as a string\.\n +-> username in GET \/me is 5\n/)
      assert.match(text, /\nconfirmed +GET \/me returns the account of the key\.\n/)
      assert.match(text, /\n\d+ confirmed, 2 contradicted, \d+ not observable, by \d+ requests\.\n$/)
    }))

  it.effect("has tabs in a pipe, and is the report with --json", () =>
    Effect.gen(function*() {
      const report = yield* reported
      assert.include(yield* printed(report, {}), "\ncontradicted\tA profile has the username as a string.\n\t-> username in GET /me is 5\n")
      const json = yield* printed(report, { json: true })
      assert.strictEqual(json, `${JSON.stringify(report)}\n`)
      assert.deepStrictEqual(Object.keys(report), ["baseUrl", "startedAt", "requests", "rules", "learnt"])
    }))
})

describe.skipIf(Browser.missing !== undefined)("the page", () => {
  layer(Browser.layer, { timeout: 60_000 })((it) => {
    for (const [width, colorScheme] of [[360, "light"], [360, "dark"], [1280, "dark"]] as const) {
      it.effect(`fits into ${width} pixels, is accessible in a ${colorScheme} colour scheme, and escapes what the service sent`, () =>
        Effect.gen(function*() {
          const report = yield* reported
          const page = yield* Browser.visit({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true })
          yield* Effect.promise(async () => {
            await page.setContent(Page.render(report))
            await Browser.check(page, `the page at ${width}`)
            assert.strictEqual(await page.locator("main script").count(), 0)
            assert.strictEqual(await page.locator("li.contradicted").count(), 2)
            assert.include(await page.locator("main").innerText(), `<b>&"'`)
            assert.strictEqual(await page.locator("[src], link").count(), 0)
          })
        }), 120_000)
    }
  })
})
