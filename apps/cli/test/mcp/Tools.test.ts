/** The tools of the operation catalogue: what each calls, and what it takes. */
import { expect, it } from "@effect/vitest"
import * as Client from "@plaza/client"
import { names, type OperationName } from "@plaza/domain/Operations"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer, Option, Stream } from "effect"
import { listed } from "../../src/mcp/McpServer.ts"
import * as Tools from "../../src/mcp/Tools.ts"
import type { UploadFolder } from "../../src/mcp/UploadFolder.ts"

/** A folder in which every path is a small photo. */
const folder: UploadFolder = {
  open: (path) => Effect.succeed({ fileName: path, size: 4, content: Stream.make(new Uint8Array([0xff, 0xd8, 0xff, 0xe0])) })
}

const tools = Tools.offered(Tools.writes, Option.some(folder))

const client = Layer.provideMerge(
  Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Client.Plaza.layer({ apiKey, baseUrl }))),
  Sandbox.layerHttpClient()
)

const [user, order, product] = [{ id: "1005" }, { id: "500001" }, { id: "0042" }]

/** Arguments for the seeded shop, and a part of the result of each tool. */
const calls: Readonly<Record<OperationName, (post: string) => readonly [args: object, result: object]>> = {
  getMe: () => [{}, { id: "1001" }],
  getUser: () => [user, user],
  getUserByUsername: () => [{ username: "corner-shop" }, { id: "1001", username: "corner-shop" }],
  followUser: () => [user, { ...user, done: true }],
  uploadMedia: () => [{ path: "photo.jpg" }, { mediaId: expect.stringMatching(/./) as unknown }],
  createPost: () => [{ text: "Open until six" }, { text: "Open until six", mediaIds: [] }],
  listPosts: () => [{ limit: 1 }, { data: [{ id: expect.stringMatching(/./) as unknown }] }],
  createComment: (id) => [{ id, text: "Thank you" }, { text: "Thank you" }],
  likePost: (id) => [{ id }, { id, done: true }],
  createStory: () => [{ story: { text: "New today" } }, { response: expect.anything() as unknown }],
  setStock: () => [{ ...product, stock: 7 }, { ...product, stock: 7 }],
  shipOrder: () => [{ ...order, carrier: "DHL", trackingNumber: "T1" }, { ...order, carrier: "DHL", trackingNumber: "T1" }],
  listConversations: () => [{ limit: 1 }, { data: [{ id: "conv_308" }], nextCursor: expect.stringMatching(/./) as unknown }],
  sendMessage: () => [{ id: "conv_301", text: "It is here" }, { text: "It is here" }]
}

it.effect.each(names)("%s has a tool, which makes the call with its arguments and returns its result", (name) =>
  Effect.gen(function*() {
    const { state } = yield* Sandbox.Sandbox
    const [args, result] = calls[name]((yield* state).posts[0]?.id ?? "")
    const tool = tools.find((tool) => tool.name === name)
    if (tool === undefined) return yield* Effect.die(new Error(`no tool ${name}`))
    expect(yield* Effect.flatten(tool.prepare({ ...args }))).toMatchObject(result)
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
