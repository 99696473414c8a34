/** The tools of the operation catalogue: what each calls, and what it takes. */
import { expect, it } from "@effect/vitest"
import * as Client from "@plaza/client"
import { names, operations } from "@plaza/domain/Operations"
import { texts } from "@plaza/domain/OperationTexts"
import { Sandbox } from "@plaza/sandbox"
import { Context, Effect, Layer, Option, Predicate } from "effect"
import { listed } from "../../src/mcp/McpServer.ts"
import * as Tools from "../../src/mcp/Tools.ts"

const tools = Tools.offered(Tools.writes, Option.some({ open: () => Effect.never }))

const client = Layer.provideMerge(
  Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Client.Plaza.layer({ apiKey, baseUrl }))),
  Sandbox.layerHttpClient()
)

const services = {
  profiles: Client.Profiles,
  media: Client.Media,
  posts: Client.Posts,
  stories: Client.Stories,
  store: Client.Store,
  chat: Client.Chat
}

it.effect.each(names)("%s has a tool, which calls a method of the client", (name) =>
  Effect.gen(function*() {
    expect(tools.map((tool) => tool.name)).toContain(name)
    const context = yield* Effect.context<Client.Plaza.Services>()
    const key: Context.Key<Client.Plaza.Services, object> = services[operations[name].area]
    const service = Context.get(context, key)
    const method: unknown = Reflect.get(service, texts[name].clientMethod)
    expect(Predicate.isFunction(method) || Effect.isEffect(method)).toBe(true)
    if (texts[name].clientMethod === "list") expect(service).toHaveProperty("pages")
  }).pipe(Effect.provide(client)))

it("has descriptions for what a path identifies, and hints of the delivery class and the action", () => {
  const by = new Map(tools.map((tool) => [tool.name, listed(tool)]))
  const description = (name: string, argument: string) =>
    by.get(name)?.inputSchema
    && JSON.stringify(by.get(name)?.inputSchema).match(new RegExp(`"${argument}":\\{[^}]*"description":"([^"]*)"`))?.[1]
  expect(description("getUser", "id")).toBe("The id of a user")
  expect(description("shipOrder", "id")).toBe("The id of an order")
  expect(description("createComment", "id")).toBe("The id of a post")
  expect(description("setStock", "id")).toBe("The id of a product")
  expect(description("sendMessage", "id")).toBe("The id of a conversation")
  expect(description("getUserByUsername", "username")).toBe("A username, without @")
  expect(by.get("setStock")?.annotations).toEqual({
    title: "Set a product's stock",
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: true
  })
  expect(by.get("createPost")?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false, idempotentHint: false })
  expect(by.get("getMe")?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false, idempotentHint: true })
  expect(by.get("getMe")?.inputSchema).toEqual({ type: "object", properties: {}, additionalProperties: false })
})
