/**
 * What the compiler prints about calls of the client and of the SDK, as an editor shows it: short types with the names of failures, and for a
 * mistake a first line that says what is wrong.
 */
import { compile, type Module } from "@plaza/testing/Compiler"
import { fileURLToPath } from "node:url"
import { beforeAll, describe, expect, it } from "vitest"

const folder = fileURLToPath(new URL("..", import.meta.url))

/** The options and the types of the SDK that most users have. */
const options = {
  exactOptionalPropertyTypes: false,
  paths: { "@plaza/sdk": [`${folder}../packages/sdk/index.d.ts`] }
}

/** What the expressions below use. */
const client = `import { FailureScope, Media, Plaza, Posts, Profiles, RateLimit, Store } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { OrderId, PostId, ProductId } from "@plaza/domain"
import { Effect, Layer, Redacted, Schema } from "effect"
const shipment = { carrier: "DHL", trackingNumber: "1" }
const setStock = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("1"), 1))
const live = Plaza.layer({ baseUrl: "https://host/open/v1", apiKey: Redacted.make("a key") })
`

const sdk = `import { createPlaza, type Failures, isPlazaError } from "@plaza/sdk"
const plaza = createPlaza({ baseUrl: "https://host/open/v1", apiKey: "a key" })
declare const failure: Failures["store"]["ship"]
`

const clientTypes: Readonly<Record<string, string>> = {
  "setStock": "Effect<Product, SetStockFailure, Store>",
  "Effect.flatMap(Store, ({ ship }) => ship(OrderId.make(\"1\"), shipment))": "Effect<Order, ShipFailure, Store>",
  "Effect.flatMap(Posts, ({ create }) => create({ text: \"a\" }))": "Effect<Post, CreateFailure, Posts>",
  "Effect.map(Posts, ({ list }) => list())": "Effect<Stream<Post, ListFailure, never>, never, Posts>",
  "Effect.flatMap(Profiles, ({ me }) => me)": "Effect<Profile, MeFailure, Profiles>",
  "Effect.flatMap(Media, ({ uploadFile }) => uploadFile(\"a.png\"))": "Effect<Media, UploadFileFailure, FileSystem | Media>",
  "Effect.flatMap(RateLimit.RateLimit, ({ status }) => status)": "Effect<Status, never, RateLimit>",
  "setStock.pipe(Plaza.withTimeout(\"1 second\"))": "Effect<Product, SetStockFailure, Store>",
  "Plaza.request({ method: \"GET\", path: \"/a\", response: Schema.Unknown })": "Effect<unknown, OpenFailure, Operations>",
  "Plaza.paginate({ path: \"/a\", item: Schema.Unknown })": "Stream<unknown, OpenListFailure, Operations>",
  "live": "Layer<Services, InvalidSettings, HttpClient>",
  "Layer.provide(Plaza.layerConfig, NodeClient.layer)": "Layer<Services, ConfigError, never>",
  "Effect.provide(setStock, Layer.provide(live, NodeClient.layer))": "Effect<Product, InvalidSettings | SetStockFailure, never>",
  "FailureScope.of": "(failure: Failure | Inconclusive) => FailureScope"
}

const sdkTypes: Readonly<Record<string, string>> = {
  "plaza": "Plaza",
  "plaza.profiles.me()": "Promise<Profile>",
  "plaza.posts.create": "(post: NewPost, options?: CallOptions | undefined) => Promise<Post>",
  "plaza.posts.list()": "AsyncIterable<Post>",
  "plaza.store.setStock(\"1\", 1)": "Promise<Product>",
  "plaza.media.upload": "(file: Upload, options?: CallOptions | undefined) => Promise<Media>",
  "plaza.request({ method: \"GET\", path: \"/a\" })": "Promise<unknown>",
  "((error: unknown) => isPlazaError(error) && error._tag === \"RateLimited\" ? error : undefined)":
    "(error: unknown) => RateLimited | undefined"
}

const clientMistakes: Readonly<Record<string, string>> = {
  "Effect.flatMap(Store, ({ setStock }) => setStock(PostId.make(\"1\"), 1))":
    "Argument of type 'string & Brand<\"PostId\">' is not assignable to parameter of type 'string & Brand<\"ProductId\">'.",
  "Effect.flatMap(Store, ({ setStock }) => setStock(\"1\", 1))":
    "Argument of type 'string' is not assignable to parameter of type 'string & Brand<\"ProductId\">'.",
  "Effect.runPromise(setStock)":
    "Argument of type 'Effect<Product, SetStockFailure, Store>' is not assignable to parameter of type 'Effect<Product, SetStockFailure, never>'.",
  "Effect.runPromise(Effect.provide(setStock, live))":
    "Argument of type 'Effect<Product, InvalidSettings | SetStockFailure, HttpClient>' is not assignable to parameter of type 'Effect<Product, InvalidSettings | SetStockFailure, never>'.",
  "Plaza.layer({ baseUrl: \"https://host/open/v1\", apiKey: \"a key\" })": "Type 'string' is not assignable to type 'Redacted<string>'.",
  "export const never: Effect.Effect<unknown, never, Store> = setStock":
    "Type 'Effect<Product, SetStockFailure, Store>' is not assignable to type 'Effect<unknown, never, Store>'."
}

const sdkMistakes: Readonly<Record<string, string>> = {
  "createPlaza({ baseUrl: \"https://host/open/v1\" })":
    "Property 'apiKey' is missing in type '{ baseUrl: string; }' but required in type 'Options'.",
  "createPlaza({ baseUrl: \"https://host/open/v1\", apiKey: \"a key\", timeOut: 1 })":
    "Object literal may only specify known properties, but 'timeOut' does not exist in type 'Options'. Did you mean to write 'timeout'?",
  "plaza.store.setStock(\"1\", \"2\")": "Argument of type 'string' is not assignable to parameter of type 'number'.",
  "plaza.store.ship(\"1\", { carrier: \"DHL\" })":
    "Property 'trackingNumber' is missing in type '{ carrier: string; }' but required in type 'NewShipment'.",
  "failure._tag === \"ChatBlocked\"": expect.stringMatching(
    /^This comparison appears to be unintentional because .* and '"ChatBlocked"' have no overlap\.$/
  ) as string
}

/** A module with an expression of each type, as an error that prints it, and each mistake. All begin a line. */
const moduleOf = (name: string, head: string, types: object, mistakes: object): Module => ({
  name,
  code: [
    head,
    ...Object.keys(types).map((expression, index) => `export const wrong${index}: null = ${expression}`),
    ...Object.keys(mistakes)
  ].join("\n")
})

/** The first line of each error of the compiler, without those of the plugin for Effect, by module and line. */
let errors: ReadonlyArray<readonly [module: string, line: number, message: string]> = []

beforeAll(async () => {
  const modules = [moduleOf("Client.ts", client, clientTypes, clientMistakes), moduleOf("Sdk.ts", sdk, sdkTypes, sdkMistakes)]
  const output = await compile(folder, modules, options)
  errors = [...output.matchAll(/^\S+?(\w+\.ts)\((\d+),\d+\): error TS\d{4}: (.*)$/gm)].map(([, module = "", line, message = ""]) =>
    [module, Number(line), message] as const
  )
})

/** The messages about expressions, from a number of lines below the head on. */
const messagesOf = (module: string, head: string, below: number, expressions: object) =>
  Object.keys(expressions).map((_, index) =>
    errors.filter((error) => error[0] === module && error[1] === head.split("\n").length + 1 + below + index).map(([, , message]) =>
      message
    )
      .join("; ")
  )

const typesOf = (module: string, head: string, types: object) =>
  messagesOf(module, head, 0, types).map((message) => /^Type '(.*)' is not assignable to type 'null'\.$/.exec(message)?.[1] ?? message)

describe("the types of", () => {
  it("the client name services, resources and failures", () => {
    expect(typesOf("Client.ts", client, clientTypes)).toEqual(Object.values(clientTypes))
  })

  it("the SDK name resources and errors", () => {
    expect(typesOf("Sdk.ts", sdk, sdkTypes)).toEqual(Object.values(sdkTypes))
  })
})

describe("a mistake with", () => {
  it("the client is reported in its first line", () => {
    expect(messagesOf("Client.ts", client, Object.keys(clientTypes).length, clientMistakes)).toEqual(Object.values(clientMistakes))
  })

  it("the SDK is reported in its first line", () => {
    expect(messagesOf("Sdk.ts", sdk, Object.keys(sdkTypes).length, sdkMistakes)).toEqual(Object.values(sdkMistakes))
  })
})
