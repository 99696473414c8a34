/** The types that the compiler prints for operations, as an editor shows them. */
import { expect, it } from "@effect/vitest"
import { names, operations as contract } from "@plaza/domain/Operations"
import { texts } from "@plaza/domain/OperationTexts"
import { compile } from "@plaza/testing/Compiler"
import { fileURLToPath } from "node:url"

/** The name of the failures of each operation, and a call of it. */
const operations: Readonly<Record<string, Readonly<Record<string, readonly [failure: string, call: string]>>>> = {
  Profiles: {
    me: ["MeFailure", "me"],
    get: ["GetFailure", `get(ProfileId.make("1"))`],
    find: ["FindFailure", `find(Username.make("ana"))`],
    follow: ["FollowFailure", `follow(ProfileId.make("1"))`]
  },
  Posts: {
    create: ["CreateFailure", `create({ text: "hello" })`],
    list: ["ListFailure", "Stream.runCollect(list())"],
    pages: ["ListFailure", "Stream.runCollect(pages())"],
    comment: ["CommentFailure", `comment(PostId.make("1"), "hello")`],
    like: ["LikeFailure", `like(PostId.make("1"))`]
  },
  Media: {
    upload: ["UploadFailure", `upload({ fileName: "a.png", content: new Uint8Array(8) })`]
  },
  Stories: {
    create: ["CreateFailure", "create({})"]
  },
  Store: {
    setStock: ["SetStockFailure", `setStock(ProductId.make("1"), 2)`],
    ship: ["ShipFailure", `ship(OrderId.make("1"), { carrier: "DHL", trackingNumber: "1" })`]
  },
  Chat: {
    list: ["ListFailure", "Stream.runCollect(list())"],
    pages: ["ListFailure", "Stream.runCollect(pages())"],
    send: ["SendFailure", `send(ConversationId.make("1"), "hello")`]
  }
}

const cases = Object.entries(operations).flatMap(([service, calls]) =>
  Object.entries(calls).map(([operation, [failure, call]]) => ({ service, operation, failure, call }))
)

it("lists every operation", () => {
  const serviceOf = (area: string) => `${area.slice(0, 1).toUpperCase()}${area.slice(1)}`
  const missing = names.filter((name) => operations[serviceOf(contract[name].area)]?.[texts[name].clientMethod] === undefined)
  expect(missing).toEqual([])
})

const imports = `import { Chat, Media, Posts, Profiles, Store, Stories } from "@plaza/client"
import { ConversationId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza/domain"
import { Effect, Stream } from "effect"
`

it("the compiler prints the name of an operation's failures, not their union, and the name is exported", async () => {
  const code = cases.flatMap(({ call, failure, operation, service }, index) => [
    // An error that prints the type.
    `export const wrong${index}: null = Effect.flatMap(${service}, ({ ${operation} }) => ${call})`,
    `export type Name${index} = ${service}.${failure}`
  ])
  const output = await compile(fileURLToPath(new URL("..", import.meta.url)), [{
    name: "Names.ts",
    code: `${imports}${code.join("\n")}\n`
  }])
  const printed = [...output.matchAll(/error TS2322: Type 'Effect<.+, (.+), (\w+)>' is not assignable to type 'null'/g)]
  expect(printed.map(([, failure, service]) => [service, failure])).toEqual(cases.map(({ failure, service }) => [service, failure]))
  expect(output.match(/error TS/g)).toHaveLength(cases.length)
})
