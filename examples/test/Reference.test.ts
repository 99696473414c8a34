/** The examples of the sandbox's reference are compiled, and those that read succeed against it. */
import { describe, expect, layer } from "@effect/vitest"
import { Plaza } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { readFileSync } from "node:fs"
import * as Reference from "../src/Reference.ts"

const client = Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl })))
const world = Layer.provideMerge(client, Sandbox.layerHttpClient())

const program = readFileSync(new URL("../src/Reference.ts", import.meta.url), "utf8")

const characters: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&amp;": "&" }
const unescape = (text: string) => text.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => characters[entity] ?? "")

/** Without line breaks and indentation, which a formatter chooses. */
const words = (code: string) => code.replaceAll(/\s+/g, " ")

describe("the reference of the sandbox", () => {
  layer(world)((it) => {
    it.effect("shows an example of every operation, as it is compiled", () =>
      Effect.gen(function*() {
        const { webUrl } = yield* Sandbox.Sandbox
        const textOf = (path: string) => Effect.flatMap(HttpClient.get(new URL(path, webUrl)), (response) => response.text)
        const overview = yield* textOf("/reference")
        const areas = new Set([...overview.matchAll(/href="(\/reference\/(?!schemas)[\w-]+)"/g)].map(([, path = ""]) => path))
        const page = (yield* Effect.forEach(areas, textOf)).join("")
        const operations = [...page.matchAll(/<h2 id="(\w+)" class="operation">/g)].map(([, name = ""]) => name)
        const shown = new Map(
          [...page.matchAll(/<pre id="ts-(\w+)"[^>]*>([^<]*)<\/pre>/g)].map(([, name = "", code = ""]) => [name, unescape(code)] as const)
        )
        expect([...shown.keys()].sort()).toEqual(operations.sort())
        expect(Object.keys(Reference).sort()).toEqual(operations)
        const missing = [...shown].filter(([, code]) => !words(program).includes(`export ${words(code)}`)).map(([name]) => name)
        expect(missing).toEqual([])
      }))

    it.effect("has examples that read the seeded data", () =>
      Effect.gen(function*() {
        yield* Effect.all([
          Reference.getMe,
          Reference.getOrder,
          Reference.getProduct,
          Reference.getStore,
          Reference.getUser,
          Reference.getUserByUsername,
          Reference.listConversations,
          Reference.listMessages,
          Reference.listOrders,
          Reference.listPosts,
          Reference.setStock
        ], { discard: true })
      }))
  })
})
