/**
 * The pages in a real Chromium: from the request for access to a revoked key, by mouse, by keyboard and without scripts, and
 * their accessibility.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import * as Browser from "@plaza/testing/Browser"
import { Effect, Layer } from "effect"
import type { Page, Route } from "playwright-core"
import { call, layerSocket, refusal } from "./support.ts"

const asked = {
  useCase: "Keeps the stock of our shop right.\nTwice a day.",
  website: "https://shop.example/about",
  botName: "Stock keeper"
}

/** The accessibility check reads every element several times, which is slow on a busy machine. */
const timeoutMillis = 180_000

/** Runs steps in the browser. */
const steps = <A>(run: (webUrl: string) => Promise<A>) =>
  Effect.flatMap(Sandbox.Sandbox, ({ webUrl }) => Effect.promise(() => run(webUrl.replace(/\/$/, ""))))

const becomes = async (page: Page, url: string, username: string) => {
  await page.goto(`${url}/sign-in`)
  await page.getByLabel("New username").fill(username)
  await page.getByRole("button", { name: "Create and sign in" }).click()
  await page.getByRole("heading", { name: "Developers" }).waitFor()
}

const asks = async (page: Page) => {
  await page.getByLabel("Use case").fill(asked.useCase)
  await page.getByLabel("Website").fill(asked.website)
  await page.getByLabel("Bot name").fill(asked.botName)
  await page.getByRole("button", { name: "Request access" }).click()
  await page.getByRole("status").getByText("Request sent").waitFor()
}

const approves = async (page: Page, url: string, username: string) => {
  await page.goto(`${url}/operator`)
  const request = page.getByRole("article").filter({ hasText: username })
  await request.getByRole("button", { name: "Approve" }).click()
  await page.getByRole("status").getByText("Request approved").waitFor()
}

/** Creates a key and returns the value that the page shows. */
const makes = async (page: Page, url: string) => {
  await page.goto(`${url}/settings/developers`)
  await page.getByLabel("Name", { exact: true }).fill("Stock integration")
  await page.getByLabel("profile:read").check()
  await page.getByRole("button", { name: "Create key" }).click()
  return page.getByRole("textbox", { name: "the value of the new key" }).inputValue()
}

/** Revokes the key, and confirms in the dialog or, without scripts, on a page. */
const revokes = async (page: Page) => {
  await page.getByRole("button", { name: "Revoke Stock integration" }).click()
  await page.getByText("Revoke this key?").waitFor()
  await page.getByRole("button", { name: "Revoke key" }).click()
  await page.getByRole("status").getByText("Key revoked").waitFor()
}

describe.skipIf(Browser.missing !== undefined)("in a browser", () => {
  layer(Layer.merge(layerSocket(), Browser.layer), { excludeTestServices: true })("over a socket", (it) => {
    it.effect("a person requests access, is approved, and creates, copies, uses and revokes a key", () =>
      Effect.gen(function*() {
        const page = yield* Browser.visit({ permissions: ["clipboard-read", "clipboard-write"] })
        const key = yield* steps(async (url) => {
          await becomes(page, url, "whole-story")
          await asks(page)
          assert.isFalse(await page.getByRole("button", { name: "Create key" }).isVisible())
          await approves(page, url, "whole-story")
          const value = await makes(page, url)
          assert.match(value, /^key_[A-Za-z0-9]{40}$/)
          await page.getByRole("button", { name: "Copy the value of the new key" }).click()
          await page.getByRole("status").getByText("Copied.").waitFor()
          assert.strictEqual(await page.evaluate(() => navigator.clipboard.readText()), value)
          return value
        })
        const me = yield* call("GET", "/me", { key })
        assert.deepInclude(me.json, { username: "whole-story" })
        assert.strictEqual(refusal(yield* call("GET", "/me/posts", { key })), "403 INSUFFICIENT_SCOPE")
        yield* steps(async (url) => {
          await page.goto(`${url}/settings/developers`)
          const shown = await page.content()
          assert.notInclude(shown, key.slice(4, -4))
          assert.include(shown, `key_…${key.slice(-4)}`)
          await revokes(page)
        })
        assert.strictEqual(refusal(yield* call("GET", "/me", { key })), "401 INVALID_API_KEY")
      }))

    it.effect("everything works without scripts", () =>
      Effect.gen(function*() {
        const page = yield* Browser.visit({ javaScriptEnabled: false })
        const key = yield* steps(async (url) => {
          await becomes(page, url, "scriptless")
          await asks(page)
          await approves(page, url, "scriptless")
          const value = await makes(page, url)
          assert.strictEqual(await page.locator("button[data-copy]:visible").count(), 0)
          // The tabs of the shells, by keyboard.
          const lines = (shell: string) => page.getByRole("region", { name: `the lines for ${shell}` })
          assert.include(await lines("sh").innerText(), `export PLAZA_API_KEY=${value}`)
          await page.getByRole("radio", { name: "sh, bash, zsh" }).focus()
          await page.keyboard.press("ArrowRight")
          assert.include(await lines("fish").innerText(), `set -gx PLAZA_API_KEY ${value}`)
          assert.isFalse(await lines("sh").isVisible())
          await page.keyboard.press("ArrowRight")
          await page.keyboard.press("ArrowRight")
          assert.isTrue(await lines("sh").isVisible())
          return value
        })
        assert.strictEqual((yield* call("GET", "/me", { key })).status, 200)
        yield* steps(async (url) => {
          await page.goto(`${url}/console`)
          assert.isTrue(await page.getByText("profiles.getMe").first().isVisible())
          await page.getByLabel("Text").fill("no such request")
          await page.getByRole("button", { name: "Filter" }).click()
          await page.getByText("No request matches the filter.").waitFor()
          await page.getByRole("link", { name: "Clear" }).click()
          await page.getByRole("link", { name: "GET /me", exact: true }).first().click()
          await page.locator("#request").getByText("Bearer key_***").waitFor({ state: "attached" })
          await page.getByRole("link", { name: "Close" }).click()
          assert.isFalse(await page.locator("#request").isVisible())
          await page.goto(`${url}/console/faults`)
          await page.getByLabel("Kind").selectOption("delay")
          await page.getByRole("button", { name: "Show its fields" }).click()
          assert.isTrue(await page.getByLabel("Delay (ms)").isVisible())
          assert.isFalse(await page.getByLabel("Status").isVisible())
          assert.isFalse(await page.getByLabel("Share of calls (%)").isVisible())
          await page.getByText("More (8)").click()
          assert.isTrue(await page.getByLabel("Share of calls (%)").isVisible())
          await page.goto(`${url}/settings/developers`)
          await revokes(page)
        })
        assert.strictEqual(refusal(yield* call("GET", "/me", { key })), "401 INVALID_API_KEY")
      }))

    it.effect("access can be requested by keyboard alone, with a visible focus", () =>
      Effect.gen(function*() {
        const page = yield* Browser.visit()
        yield* steps(async (url) => {
          await becomes(page, url, "by-keyboard")
          await page.goto(`${url}/settings/developers`)
          const focused = () =>
            page.evaluate(() => (document.activeElement?.id ?? "") || (document.activeElement?.textContent ?? "").trim())
          const outline = () =>
            page.evaluate(() => document.activeElement === null ? "" : getComputedStyle(document.activeElement).outlineStyle)
          await page.keyboard.press("Tab")
          assert.strictEqual(await focused(), "Skip to the content")
          await page.keyboard.press("Enter")
          assert.strictEqual(await focused(), "content")
          for (
            const [stop, text] of [
              ["Switch account", ""],
              ["Sign out", ""],
              ["useCase", asked.useCase.split("\n")[0] ?? ""],
              ["website", asked.website],
              ["botName", asked.botName],
              ["Request access", ""]
            ] as const
          ) {
            await page.keyboard.press("Tab")
            assert.strictEqual(await focused(), stop)
            assert.strictEqual(await outline(), "solid", stop)
            await page.keyboard.type(text)
          }
          await page.keyboard.press("Enter")
          await page.getByRole("status").getByText("Request sent").waitFor()
          assert.isTrue(await page.getByText(asked.website).isVisible())
        })
      }))

    it.effect("the console shows new requests, and stops on request", () =>
      Effect.gen(function*() {
        const page = yield* Browser.visit()
        // The test controls the time of the page.
        yield* steps(async (url) => {
          await page.clock.install()
          await page.goto(`${url}/console`)
        })
        const follow = page.getByRole("button", { name: "Live" })
        yield* call("GET", "/users/nobody-followed")
        yield* steps(async () => {
          assert.strictEqual(await follow.getAttribute("aria-pressed"), "true")
          await page.route("**/console", (route) => route.abort())
          await page.clock.runFor(2_000)
          await page.getByRole("status").getByText("The sandbox does not respond.").waitFor()
          await page.unroute("**/console")
          await page.clock.runFor(2_000)
          await page.getByText("/users/nobody-followed").waitFor()
          assert.strictEqual(await page.getByText("The sandbox does not respond.").count(), 0)
          await follow.click()
          assert.strictEqual(await follow.getAttribute("aria-pressed"), "false")
        })
        yield* call("GET", "/users/nobody-unfollowed")
        yield* steps(async () => {
          await page.clock.runFor(10_000)
          assert.strictEqual(await page.getByText("/users/nobody-unfollowed").count(), 0)
          await page.getByRole("link", { name: "Refresh" }).click()
          await page.getByText("/users/nobody-unfollowed").waitFor()
        })
      }))

    it.effect("a request opens beside the list, by mouse and by keys, and the list keeps its place", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        yield* sandbox.reset
        for (const name of ["first", "second", "third"]) yield* call("GET", `/users/${name}`)
        const page = yield* Browser.visit()
        const opened = () => page.locator("#request h2").first().innerText()
        const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
        const held: Array<Route> = []
        let slow = true
        yield* steps(async (url) => {
          await page.clock.install()
          await page.goto(`${url}/console`)
          assert.isFalse(await page.locator("#request").isVisible())
          await page.getByRole("link", { name: "/users/second" }).click()
          await page.locator("#request").getByText("GET /users/second").waitFor()
          assert.strictEqual(await page.locator("tr[aria-current]").count(), 1)
          // Down is older: the newest request is first.
          await page.keyboard.press("j")
          await page.locator("#request").getByText("GET /users/first").waitFor()
          assert.strictEqual(await focused(), "GET /users/first")
          await page.keyboard.press("j")
          assert.strictEqual(await opened(), "GET /users/first")
          await page.keyboard.press("k")
          await page.locator("#request").getByText("GET /users/second").waitFor()
          await page.goBack()
          await page.locator("#request").getByText("GET /users/first").waitFor()
          await page.locator("#request summary").first().click()
        })
        yield* call("GET", "/users/fourth")
        yield* steps(async () => {
          await page.clock.runFor(2_000)
          await page.getByRole("link", { name: "/users/fourth" }).waitFor()
          assert.isTrue(await page.locator("#request details").first().evaluate((details: HTMLDetailsElement) => details.open))
          assert.isTrue(await page.locator("#request").getByRole("button", { name: "Copy the curl command" }).isVisible())
          // A slow answer for an earlier choice does not replace the later one.
          await page.route("**/console?id=*", async (route) => {
            if (slow) {
              slow = false
              held.push(route)
            } else await route.continue()
          })
          await page.getByRole("link", { name: "/users/third" }).click()
          await page.getByRole("link", { name: "/users/first" }).click()
          await page.locator("tr[aria-current]").getByText("/users/first").waitFor()
          const answered = page.waitForResponse((response) => response.url().includes("id="))
          for (const route of held) await route.continue()
          await (await answered).finished()
          assert.strictEqual(await opened(), "GET /users/first")
          await page.unroute("**/console?id=*")
          await page.getByLabel("Text").press("j")
          assert.strictEqual(await opened(), "GET /users/first")
          await page.getByRole("heading", { name: "Console" }).click()
          await page.keyboard.press("Escape")
          await page.locator("#request").waitFor({ state: "hidden" })
          assert.strictEqual(new URL(page.url()).search, "")
          await page.keyboard.press("j")
          await page.locator("#request").getByText("GET /users/fourth").waitFor()
          await page.getByRole("button", { name: "Send again" }).click()
          await page.getByRole("status").getByText("Request sent again").waitFor()
          assert.include(page.url(), "/console?id=")
          assert.strictEqual(await page.locator("tr[data-request]").count(), 5)
        })
      }))

    it.effect("a fault is added and removed, and the clock advances", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const page = yield* Browser.visit()
        const before = yield* sandbox.clock
        yield* steps(async (url) => {
          await page.goto(`${url}/console/faults`)
          await page.getByLabel("Kind").selectOption("slow")
          await page.getByLabel("Duration (ms)").waitFor()
          await page.getByLabel("Kind").selectOption("status")
          await page.getByText("More (13)").click()
          await page.getByLabel("Code").waitFor()
          await page.getByLabel("Path").fill("GET /me")
          await page.getByLabel("Status").fill("99")
          await page.getByRole("button", { name: "Add fault" }).click()
          const refused = page.getByRole("alert")
          await refused.waitFor()
          assert.include(await refused.innerText(), "Status")
          assert.strictEqual(await page.title(), "Error: Faults · Plaza sandbox")
          assert.strictEqual(await page.getByLabel("Path").inputValue(), "GET /me")
          await page.getByLabel("Status").fill("418")
          await page.getByRole("button", { name: "Add fault" }).click()
          await page.getByRole("status").getByText("added: the next GET /me fails with 418 before it is carried out").waitFor()
          await page.goto(`${url}/console/behaviour`)
          await page.getByLabel("Advance by").fill("90")
          await page.getByLabel("Unit").selectOption("minutes")
          await page.getByRole("button", { name: "Advance clock" }).click()
          await page.getByText("1h 30m ahead").waitFor()
        })
        assert.strictEqual((yield* call("GET", "/me")).status, 418)
        assert.strictEqual((yield* sandbox.clock).aheadMillis - before.aheadMillis, 90 * 60_000)
        yield* steps(async (url) => {
          await page.goto(`${url}/console/faults`)
          await page.getByRole("button", { name: "Add Rate limit now" }).click()
          await page.getByRole("button", { name: /^Remove fault_/ }).click()
          await page.getByRole("status").getByText(/^Fault fault_\d+ removed/).waitFor()
        })
        assert.deepStrictEqual(yield* sandbox.faults, [])
      }))

    it.effect("a person tries an operation from the reference without scripts, and opens its request", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const page = yield* Browser.visit({ javaScriptEnabled: false })
        yield* steps(async (url) => {
          await page.goto(`${url}/reference#createPost`)
          await page.locator("#createPost").getByRole("link").click()
          assert.strictEqual(page.url(), `${url}/reference/posts#createPost`)
          const example = page.locator("section", { has: page.locator("#createPost") })
          assert.isFalse(await example.getByText("posts.create({").isVisible())
          await example.getByText("TypeScript").click()
          assert.isTrue(await example.getByText("posts.create({").isVisible())
          await page.getByLabel("Try it: createPost").click()
          await page.locator("#createPost-body").fill(`{ "text": "from the reference" }`)
          await page.getByRole("button", { name: "Send POST /posts", exact: true }).click()
          const response = page.getByRole("region", { name: "Response of createPost" })
          assert.include(await response.innerText(), "from the reference")
          assert.strictEqual(await page.locator("#createPost-body").inputValue(), `{ "text": "from the reference" }`)
          await response.getByRole("link", { name: "Show the request in the console" }).click()
          await page.getByText("Bearer key_***").waitFor()
        })
        assert.isTrue((yield* sandbox.state).posts.some(({ text }) => text === "from the reference"))
      }))

    it.effect("the seconds until a fault ends are counted down, and the focus stays where it was", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const page = yield* Browser.visit()
        const id = yield* sandbox.addFault({ kind: "status", when: "before", status: 503, path: "/nowhere", lastsMillis: 3_600_000 })
        yield* steps(async (url) => {
          await page.clock.install()
          await page.goto(`${url}/console/faults`)
          await page.getByText(/^ends in 3,(600|5\d\d) s$/).waitFor()
          await page.getByRole("button", { name: `Remove ${id}` }).focus()
        })
        yield* sandbox.advanceClock("59 minutes")
        yield* steps(async () => {
          await page.clock.runFor(2_000)
          await page.getByText(/^ends in (60|[1-5]\d) s$/).waitFor()
          assert.strictEqual(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), `Remove ${id}`)
        })
        yield* sandbox.removeFault(id)
      }))

    it.effect("a person sends the first request from the home page, looks at it and sends it again", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const page = yield* Browser.visit({ permissions: ["clipboard-read", "clipboard-write"] })
        yield* steps(async (url) => {
          await page.goto(url)
          await page.getByRole("button", { name: "Copy the API key" }).click()
          await page.getByRole("status").getByText("Copied.").waitFor()
          await page.getByRole("button", { name: "Show what happens" }).click()
          await page.getByText("The list has the post.").waitFor()
          await page.getByRole("button", { name: "Send it from here" }).click()
          await page.getByText("\"username\": \"corner-shop\"").waitFor()
          await page.getByRole("link", { name: "Headers and details" }).click()
          await page.getByText("Bearer key_***").waitFor()
          await page.getByRole("button", { name: "Copy the curl command" }).click()
          assert.include(await page.evaluate(() => navigator.clipboard.readText()), "-H \"Authorization: Bearer $PLAZA_API_KEY\"")
          await page.getByRole("button", { name: "Send again" }).click()
          await page.getByRole("status").getByText("Request sent again").waitFor()
        })
        assert.deepInclude((yield* sandbox.requests).at(-1), { operation: "getMe", deliveredStatus: 200 })
      }))

    it.effect("a dialog asks before a snapshot is restored, and can be cancelled by keyboard", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const page = yield* Browser.visit()
        yield* sandbox.saveSnapshot("asked")
        yield* sandbox.createAccount({ username: "after-snapshot" })
        const isThere = Effect.map(sandbox.state, ({ accounts }) => accounts.some(({ username }) => username === "after-snapshot"))
        yield* steps(async (url) => {
          await page.goto(`${url}/console/snapshots`)
          await page.getByRole("button", { name: "Restore asked" }).click()
          await page.getByRole("dialog", { name: "Restore this snapshot?" }).waitFor()
          assert.strictEqual(await page.evaluate(() => document.activeElement?.textContent), "Cancel")
          await page.keyboard.press("Escape")
          await page.getByRole("dialog").waitFor({ state: "detached" })
        })
        assert.isTrue(yield* isThere)
        yield* steps(async () => {
          await page.getByRole("button", { name: "Restore asked" }).click()
          await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click()
          await page.getByRole("status").getByText("Snapshot restored").waitFor()
        })
        assert.isFalse(yield* isThere)
      }))

    it.effect("user input is never HTML", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const hostile = `"><img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`
        const { id } = yield* sandbox.createAccount({ username: hostile, name: hostile, access: "none" })
        yield* sandbox.requestAccess(id, { useCase: hostile, website: `https://x.example/${hostile}`, botName: hostile.slice(0, 100) })
        yield* call("GET", `/${encodeURIComponent(hostile)}?${hostile.replaceAll(/[\s<>"]/g, encodeURIComponent)}`)
        yield* call("POST", "/posts", { json: { text: hostile }, headers: { "x-hostile": hostile } })
        yield* sandbox.setProduct({ id: hostile, name: hostile })
        const newest = (yield* sandbox.requests).at(-1)?.id ?? ""
        const page = yield* Browser.visit()
        yield* steps(async (url) => {
          await page.goto(`${url}/sign-in`)
          await page.getByLabel("Username", { exact: true }).fill(hostile)
          await page.getByRole("button", { name: "Sign in", exact: true }).click()
          await page.getByText(hostile).first().waitFor()
          for (
            const path of [
              "/settings/developers",
              "/operator",
              "/console",
              `/console/request?id=${newest}`,
              "/console/state",
              "/console/state?of=products",
              "/sign-in"
            ]
          ) {
            await page.goto(url + path)
            assert.strictEqual(await page.locator("main img, main script").count(), 0, path)
            assert.notInclude(await page.title(), "taken")
          }
        })
      }))

    // At the same time, since most of the time the browser checks one page after the other.
    describe.concurrent("the pages are accessible", () => {
      for (const [colorScheme, width] of [["light", 1280], ["dark", 360]] as const) {
        // The pages forbid foreign scripts, such as the accessibility check.
        const options = { colorScheme, viewport: { width, height: 800 }, bypassCSP: true }
        const where = `${colorScheme} and ${width} pixels wide`

        it.effect(`console, home page and reference, ${where}`, () =>
          Effect.gen(function*() {
            const sandbox = yield* Sandbox.Sandbox
            const page = yield* Browser.visit(options)
            yield* sandbox.addFault({ kind: "status", when: "after", status: 503, path: "/users/*" })
            for (let attempt = 0; attempt < 2; attempt++)
              yield* call("GET", "/users/1002", { headers: { "x-long": "long".repeat(200) } })
            const { id = "" } = (yield* sandbox.requests).at(-1) ?? {}
            yield* call("POST", "/posts", { json: { text: "stored" } })
            yield* call("GET", "/me/posts")
            const shown = (yield* sandbox.requests).slice(-2).map((record) => record.id).join("+")
            yield* sandbox.addFault({ kind: "drop", when: "after", every: 1_000 })
            yield* sandbox.saveSnapshot(`shown-${colorScheme}`)
            yield* steps(async (url) => {
              for (
                const path of [
                  `/?tried=${id}&shown=${shown}`,
                  "/sign-in",
                  "/nowhere",
                  "/console",
                  "/console?text=nothing-like-it",
                  `/console?id=${id}`,
                  `/console?id=${shown.split("+")[0]}`,
                  `/console/request?id=${id}`,
                  "/console/state",
                  "/console/state?of=products&text=blue",
                  "/console/state?of=orders&text=50000",
                  "/console/faults?kind=delay",
                  "/console/behaviour",
                  "/console/state?of=conversations",
                  "/console/snapshots",
                  "/console/worlds",
                  "/reference",
                  "/reference/posts",
                  "/reference/schemas"
                ]
              ) {
                await page.goto(url + path)
                await page.evaluate(() => {
                  // Open all but the accordions, in which one part closes the others.
                  for (const details of document.querySelectorAll<HTMLDetailsElement>("details:not([name])")) details.open = true
                })
                await Browser.check(page, path)
              }
              await page.goto(`${url}/console/snapshots`)
              await page.getByRole("button", { name: "Reset sandbox" }).click()
              await page.getByRole("dialog").waitFor()
              await Browser.check(page, "the dialog")
            })
            yield* sandbox.clearFaults
            yield* steps(async (url) => {
              await page.goto(`${url}/console/behaviour`)
              await page.getByRole("button", { name: "Try another service" }).click()
              await page.getByRole("status").getByText("This is another service now.").waitFor()
              await Browser.check(page, "another service")
              await page.getByRole("button", { name: "Reset to the default" }).click()
              await page.getByRole("status").getByText("as by default").waitFor()
              await page.goto(`${url}/reference/store#getProduct`)
              await page.getByLabel("Try it: getProduct").click()
              await page.getByRole("button", { name: "Send GET /store/products/{id}" }).click()
              await page.getByRole("region", { name: "Response of getProduct" }).waitFor()
              await Browser.check(page, "a tried operation")
            })
          }), timeoutMillis)

        it.effect(`the forms for access, decisions and keys, ${where}`, () =>
          Effect.gen(function*() {
            const page = yield* Browser.visit(options)
            yield* steps(async (url) => {
              const username = `everybody-${colorScheme}`
              await becomes(page, url, username)
              await Browser.check(page, "without access")
              await asks(page)
              await Browser.check(page, "asked")
              await page.goto(`${url}/operator`)
              await Browser.check(page, "/operator")
              await approves(page, url, username)
              await page.goto(`${url}/settings/developers`)
              await page.getByLabel("Name", { exact: true }).fill("Stock integration")
              await page.getByRole("button", { name: "Create key" }).click()
              await page.getByRole("alert").waitFor()
              await Browser.check(page, "refused")
              await makes(page, url)
              await Browser.check(page, "made")
            })
          }), timeoutMillis)
      }
    })
  })
})
