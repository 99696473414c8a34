/** The page in a real Chromium, with a sandbox on a socket behind its server. */
import { NodeHttpServer } from "@effect/platform-node"
import { describe, expect, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import * as Browser from "@plaza/testing/Browser"
import { Effect, Layer, Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import * as PageServer from "../src/browser-page/PageServer.ts"
import { commitsOf } from "./support/World.ts"

const server = NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })
const routes = Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ baseUrl }) => PageServer.routes(baseUrl)))
const live = HttpRouter.serve(routes, { disableListenLog: true, disableLogger: true }).pipe(
  Layer.provideMerge(Layer.mergeAll(server, Sandbox.layerServer(), FetchHttpClient.layer))
)

/** The address of the page. */
const address = HttpServer.addressFormattedWith(Effect.succeed)

layer(live, { excludeTestServices: true })("the server of the page", (it) => {
  it.effect("forwards a request with its key, and adds none", () =>
    Effect.gen(function*() {
      const url = yield* address
      const { apiKey } = yield* Sandbox.Sandbox
      const me = HttpClientRequest.get(`${url}/open/v1/me`)
      const withKey = yield* HttpClient.execute(HttpClientRequest.bearerToken(me, apiKey))
      const without = yield* HttpClient.execute(me)
      expect([withKey.status, without.status]).toEqual([200, 401])
    }))

  it.effect("is required, because the sandbox permits no page of another origin", () =>
    Effect.gen(function*() {
      const { apiKey, baseUrl } = yield* Sandbox.Sandbox
      const request = HttpClientRequest.get(`${baseUrl}/me`).pipe(
        HttpClientRequest.bearerToken(apiKey),
        HttpClientRequest.setHeader("origin", "https://page.example")
      )
      const responses = yield* Effect.all([
        HttpClient.execute(request),
        HttpClient.execute(HttpClientRequest.setMethod(request, "OPTIONS"))
      ])
      expect(responses.map(({ status }) => status)).toEqual([200, 404])
      expect(responses.flatMap(({ headers }) => Object.keys(headers)).filter((name) => name.startsWith("access-control"))).toEqual([])
    }))
})

describe.skipIf(Browser.missing !== undefined)("the page", () => {
  layer(Layer.merge(live, Browser.layer), { excludeTestServices: true })((it) => {
    it.effect("sets a stock with the key that the person typed, also after a 503", () =>
      Effect.gen(function*() {
        const url = yield* address
        const { addFault, apiKey } = yield* Sandbox.Sandbox
        const page = yield* Browser.visit({ bypassCSP: true })
        yield* addFault({ kind: "status", when: "after", status: 503, method: "PATCH" })
        const shown = yield* Effect.promise(async () => {
          await page.goto(url)
          await Browser.check(page, "the page")
          await page.getByLabel("Key").fill(Redacted.value(apiKey))
          const send = async (product: string, result: string) => {
            await page.getByLabel("Product").fill(product)
            await page.getByLabel("Pieces").fill("7")
            await page.getByRole("button", { name: "Set stock" }).click()
            await page.getByRole("status").getByText(result).waitFor()
          }
          await send("MUG-BLUE-350", "MUG-BLUE-350: 7 pieces")
          await send("NONE", "NONE: the store has no such product")
          return page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie])
        })
        expect(shown).toEqual([0, 0, ""])
        expect((yield* commitsOf("setStock")).map(({ params, payload }) => [params["id"], payload])).toEqual([
          ["MUG-BLUE-350", { stock: 7 }],
          ["MUG-BLUE-350", { stock: 7 }]
        ])
      }))
  })
})
