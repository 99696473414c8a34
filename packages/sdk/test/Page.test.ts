/** The built package in a page of a real Chromium, behind a server that forwards its requests to a sandbox in process. */
import { startSandbox } from "@plaza/sandbox/promise"
import type * as Sdk from "@plaza/sdk"
import * as Browser from "@plaza/testing/Browser"
import { Effect } from "effect"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { build, createLogger } from "vite"
import { expect, it } from "vitest"
import { built } from "./support/Built.ts"

declare global {
  interface Window {
    /** The module that the page imports. */
    readonly sdk: typeof Sdk
    /** Ends the call that the page starts last. */
    controller: AbortController
  }
}

const html = `<!doctype html><html lang="en"><head><title>Page</title><link rel="icon" href="data:,"></head><body>
<script type="module">import * as sdk from "/sdk/index.js"; window.sdk = sdk</script>
</body></html>`

const send = (response: ServerResponse, contentType: string, body: string | Uint8Array) =>
  response.setHeader("content-type", contentType).end(body)

const forward = async (request: IncomingMessage, response: ServerResponse, { baseUrl, fetch }: Sandbox) => {
  const { headers: { authorization = "", "content-type": contentType }, method = "GET", url = "" } = request
  const closed = new AbortController()
  response.once("close", () => closed.abort())
  const content = await buffer(request)
  const result = await fetch(`${baseUrl}${url.replace("/open/v1", "")}`, {
    method,
    headers: { authorization, ...contentType === undefined ? {} : { "content-type": contentType } },
    signal: closed.signal,
    ...method === "GET" ? {} : { body: new Uint8Array(content) }
  })
  response.statusCode = result.status
  for (const [name, value] of result.headers) response.setHeader(name, value)
  response.end(new Uint8Array(await result.arrayBuffer()))
}

type Sandbox = Pick<Awaited<ReturnType<typeof startSandbox>>, "apiKey" | "baseUrl" | "fetch">

/** Requests with the key of the sandbox, as a server sends those of its pages. */
const withKey = ({ apiKey, fetch }: Sandbox): typeof globalThis.fetch => (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set("authorization", `Bearer ${apiKey}`)
  return fetch(input, { ...init, headers })
}

/** The page of a test, with the built module. */
const page: Files = new Map([["/", () => html], ["/sdk/index.js", () => readFileSync(built("index.js"), "utf8")]])

/** The texts of a server's files, by their paths. */
type Files = ReadonlyMap<string, () => string>

/** Serves files and the interface. `held` resolves when the page requests the user `held`, and `released` when it ends that. */
const serve = async (sandbox: Sandbox, files: Files) => {
  const server = createServer((request, response) => {
    const { url = "" } = request
    const file = files.get(url)
    if (file !== undefined) send(response, url === "/" ? "text/html" : "text/javascript", file())
    else if (url === "/open/v1/users/held") {
      response.once("close", () => server.emit("released"))
      server.emit("held")
    } else if (url.startsWith("/open/v1/")) void forward(request, response, sandbox)
    else response.writeHead(404).end()
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  if (typeof address !== "object" || address === null) throw new Error("the server has no port")
  return {
    origin: `http://127.0.0.1:${address.port}`,
    held: once(server, "held"),
    released: once(server, "released"),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

/** Runs a test with an empty page. */
const withPage = <A>(use: (page: Page) => Promise<A>): Promise<A> =>
  Effect.runPromise(
    Effect.provide(Effect.scoped(Effect.flatMap(Browser.visit(), (page) => Effect.promise(() => use(page)))), Browser.layer)
  )

type Page = Effect.Success<ReturnType<typeof Browser.visit>>

it.skipIf(Browser.missing !== undefined)("a page imports one module, and calls the service with it", async () => {
  built("index.js")
  await using sandbox = await startSandbox()
  await using server = await serve(sandbox, page)
  await withPage(async (page) => {
    const requests: Array<string> = []
    page.on("request", (request) => requests.push(`${request.method()} ${request.url().replace(server.origin, "")}`))
    await page.goto(server.origin)
    await page.waitForFunction(() => "sdk" in window)
    expect(requests).toEqual(["GET /", "GET /sdk/index.js"])

    const options = { baseUrl: `${server.origin}/open/v1`, apiKey: sandbox.apiKey }
    const listed = await page.evaluate(async (options) => {
      const ids: Array<string> = []
      for await (const { id } of window.sdk.createPlaza(options).posts.list({ pageSize: 1 })) ids.push(id)
      return ids
    }, options)
    const shop = await page.evaluate((options) => window.sdk.createPlaza(options).profiles.me(), options)
    const own = (await sandbox.state()).posts.filter(({ authorId }) => authorId === shop.id).map(({ id }) => id)
    expect(own.length).toBeGreaterThan(1)
    expect(listed.toSorted()).toEqual(own.toSorted())

    const created = await page.evaluate(async (options) => {
      const plaza = window.sdk.createPlaza(options)
      const { mediaId } = await plaza.media.upload({
        fileName: "mug.png",
        content: new File(["a blue mug"], "mug.png", { type: "image/png" })
      })
      const post = await plaza.posts.create({ text: "From a page.", mediaIds: [mediaId] })
      return { id: post.id, text: post.text, createdAt: post.createdAt instanceof Date, mediaId }
    }, options)
    expect(created).toMatchObject({ text: "From a page.", createdAt: true })
    const { media, posts } = await sandbox.state()
    expect(media.filter(({ id }) => id === created.mediaId)).toMatchObject([{ size: 10, contentType: "image/png" }])
    expect(posts.filter(({ id }) => id === created.id)).toMatchObject([{ text: "From a page.", mediaIds: [created.mediaId] }])

    const streamed = await page.evaluate(async (options) => {
      const { media } = window.sdk.createPlaza({ ...options, retry: false })
      const bytes = new Uint8Array(10)
      const stream = () => new Blob([bytes]).stream()
      const sent: Array<number> = []
      const ids = [
        await media.upload({ fileName: "a.png", content: bytes, onProgress: (count) => sent.push(count) }),
        await media.upload({ fileName: "b.png", content: stream() }),
        await media.upload({ fileName: "c.png", content: stream })
      ].map(({ mediaId }) => mediaId)
      return { ids, last: sent.at(-1) }
    }, options)
    expect(streamed.last).toBe(10)
    const stored = (await sandbox.state()).media.filter(({ id }) => streamed.ids.includes(id))
    expect(stored.map(({ name, size }) => [name, size])).toEqual([["a.png", 10], ["b.png", 10], ["c.png", 10]])

    const failed = await page.evaluate(async (options) => {
      const { Conflict, NotFound, createPlaza, isPlazaError } = window.sdk
      const shipment = { carrier: "Post", trackingNumber: "1" }
      const error = await createPlaza(options).store.ship("none", shipment).then(() => undefined, (error: unknown) => error)
      return isPlazaError(error)
        ? [error instanceof NotFound, error instanceof Conflict, error._tag, error.category, error.mayHaveHappened]
        : []
    }, options)
    expect(failed).toEqual([true, false, "NotFound", "NotFound", false])

    const ended = page.evaluate(async (options) => {
      window.controller = new AbortController()
      const { signal } = window.controller
      return window.sdk.createPlaza(options).profiles.get("held", { signal }).then(() => "a profile", (reason: unknown) => reason)
    }, options)
    await server.held
    await page.evaluate(() => window.controller.abort("no longer needed"))
    expect(await ended).toBe("no longer needed")
    await server.released

    expect(requests.filter((request) => !request.includes(" /open/v1/"))).toEqual(["GET /", "GET /sdk/index.js"])
  })
})

it.skipIf(Browser.missing !== undefined)("a page that Vite builds without a setting or a warning calls the service", async () => {
  built("index.js")
  const root = mkdtempSync(join(tmpdir(), "plaza-vite-"))
  try {
    mkdirSync(join(root, "node_modules/@plaza"), { recursive: true })
    symlinkSync(fileURLToPath(new URL("..", import.meta.url)), join(root, "node_modules/@plaza/sdk"))
    writeFileSync(join(root, "index.html"), "<!doctype html><title>Page</title><script type=module src=/main.ts></script>")
    writeFileSync(
      join(root, "main.ts"),
      `import { createPlaza } from "@plaza/sdk"
const plaza = createPlaza({ baseUrl: location.origin + "/open/v1", apiKey: "page" })
plaza.store.setStock("MUG-BLUE-350", 12).then(({ stock }) => document.body.append(String(stock)))
`
    )
    const logged: Array<string> = []
    const log = (message: string) => {
      logged.push(message)
    }
    const customLogger = { ...createLogger("silent"), warn: log, warnOnce: log, error: log }
    await build({ root, configFile: false, customLogger })
    expect(logged).toEqual([])

    const dist = join(root, "dist")
    const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((file) => /\.(?:html|js)$/.test(file))
    expect(files.filter((file) => file.endsWith(".js"))).toHaveLength(1)
    const served = new Map(files.map((file) => [file === "index.html" ? "/" : `/${file}`, () => readFileSync(join(dist, file), "utf8")]))
    await using sandbox = await startSandbox()
    await using server = await serve({ ...sandbox, fetch: withKey(sandbox) }, served)
    await withPage(async (page) => {
      await page.goto(server.origin)
      await page.waitForFunction(() => document.body.innerText === "12")
    })
  } finally {
    rmSync(root, { recursive: true })
  }
})
