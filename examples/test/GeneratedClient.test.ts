/** The generated client: its types match the OpenAPI file, and the sandbox returns what they promise. */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Redacted } from "effect"
import { readFileSync } from "node:fs"
import openapiTS, { astToString, COMMENT_HEADER } from "openapi-typescript"
import { allPosts, makeClient } from "../src/GeneratedClient.ts"

const here = (path: string) => new URL(path, import.meta.url)

/** A test with its own sandbox and a client for it. */
const withClient = (test: (client: ReturnType<typeof makeClient>) => Promise<void>) =>
  Effect.flatMap(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Effect.promise(() => test(makeClient(baseUrl, Redacted.value(apiKey))))).pipe(
    Effect.provide(Sandbox.layerServer())
  )

describe("the client that openapi-typescript and openapi-fetch make of the OpenAPI file", () => {
  it("has the types of the file as it is now", async () => {
    const types = astToString(await openapiTS(here("../../packages/domain/openapi.json")))
    expect(
      readFileSync(here("../src/openapi.d.ts"), "utf8"),
      "openapi.d.ts is out of date: run `pnpm --filter @plaza/examples types` and commit it"
    ).toBe(`${COMMENT_HEADER}${types}`)
  })

  it.live("writes, and reads what it wrote", () =>
    withClient(async (client) => {
      const created = await client.POST("/posts", { body: { text: "by another client" } })
      const stock = await client.PATCH("/store/products/{id}/stock", { params: { path: { id: "CAP/RED L" } }, body: { stock: 3 } })
      const me = await client.GET("/me")
      expect(created.data).toMatchObject({ text: "by another client", mediaIds: [] })
      expect(stock.data).toMatchObject({ id: "CAP/RED L", stock: 3 })
      expect(me.data?.id).toBe((await client.GET("/users/{id}", { params: { path: { id: me.data?.id ?? "" } } })).data?.id)
    }))

  it.live("reads a list to its end, each item once", () =>
    withClient(async (client) => {
      const posts = await allPosts(client, 7)
      expect(posts).toEqual((await client.GET("/me/posts", { params: { query: { limit: 100 } } })).data?.data)
      expect(posts.length).toBeGreaterThan(7)
    }))

  it.live("uploads a file and names it in a post", () =>
    withClient(async (client) => {
      const media = await client.POST("/media", {
        body: { file: "picture" },
        bodySerializer: ({ file }) => {
          const form = new FormData()
          form.append("file", new File([file], "picture.png", { type: "image/png" }))
          return form
        }
      })
      const mediaIds = [media.data?.mediaId ?? ""]
      expect((await client.POST("/posts", { body: { text: "with a picture", mediaIds } })).data?.mediaIds).toEqual(mediaIds)
    }))

  it.live("is refused with a code that the types know", () =>
    withClient(async (client) => {
      const { error, response } = await client.POST("/posts/{id}/comments", {
        params: { path: { id: "nowhere" } },
        body: { text: "hello" }
      })
      expect([response.status, error?.error.code]).toEqual([404, "NOT_FOUND"])
      const order = { params: { path: { id: "SO/2026/26" } }, body: { carrier: "Post", trackingNumber: "1" } }
      expect((await client.POST("/store/orders/{id}/ship", order)).data?.id).toBe("SO/2026/26")
      const second = await client.POST("/store/orders/{id}/ship", order)
      expect([second.response.status, second.error?.error.code]).toEqual([409, "CONFLICT"])
      const wrong = await client.POST("/posts", { body: {} })
      expect([wrong.response.status, wrong.error?.error.code]).toEqual([400, "VALIDATION_ERROR"])
    }))
})
