/** The operations on a sandbox in process: results, lists and options of single calls. */
import * as Client from "@plaza/client"
import { names, type Operation, operations as contract } from "@plaza/domain/Operations"
import { texts } from "@plaza/domain/OperationTexts"
import { createPlaza, type Plaza } from "@plaza/sdk"
import { Context, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { getEventListeners } from "node:events"
import { describe, expect, it } from "vitest"
import { collect, failureOf } from "./support/Outcome.ts"
import { start } from "./support/Start.ts"

const areas = {
  profiles: Client.Profiles,
  posts: Client.Posts,
  media: Client.Media,
  stories: Client.Stories,
  store: Client.Store,
  chat: Client.Chat
}

/** The operations of the client, by their names in the SDK. */
const operations = Effect.runSync(Effect.scoped(Effect.map(
  Layer.build(Layer.provide(
    Client.Plaza.layer({ baseUrl: "http://127.0.0.1/open/v1", apiKey: Redacted.make("k".repeat(50)) }),
    FetchHttpClient.layer
  )),
  (context) =>
    Object.entries(areas).flatMap(([area, service]) => {
      const key: Context.Key<unknown, object> = service
      return Object.keys(Context.getUnsafe(context, key)).map((name) => [area, name] as const)
    })
)))

const operationOf = (plaza: Plaza, area: string, name: string) => {
  const found: unknown = Reflect.get(Reflect.get(plaza, area) as object, name)
  if (typeof found !== "function") throw new Error(`plaza.${area}.${name} is missing`)
  return (...args: ReadonlyArray<unknown>): unknown => Reflect.apply(found, undefined, args)
}

/** Arguments of an operation without its options. */
const argumentsOf: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  "profiles.get": ["1"],
  "profiles.find": ["ana"],
  "profiles.follow": ["1"],
  "posts.create": [{ text: "a" }],
  "posts.comment": ["1", "a"],
  "posts.like": ["1"],
  "media.upload": [{ fileName: "a.png", content: new Uint8Array(3) }],
  "media.uploadFile": [import.meta.filename],
  "stories.create": [{ timeout: 5, signal: "a story may have such fields" }],
  "store.setStock": ["1", 2],
  "store.ship": ["1", { carrier: "a", trackingNumber: "b" }],
  "chat.send": ["1", "a"]
}

const isList = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value

/** Runs a call, or a list to its end. */
const finish = (started: unknown): Promise<unknown> => isList(started) ? collect(started) : Promise.resolve(started)

describe("the operations of the client", () => {
  it("are those of the SDK", () => {
    const plaza = createPlaza({ baseUrl: "http://127.0.0.1/open/v1", apiKey: "k".repeat(50) })
    const own = Object.keys(areas).flatMap((area) => Object.keys(Reflect.get(plaza, area) as object).map((name) => `${area}.${name}`))
    expect(own.toSorted()).toEqual(operations.map((path) => path.join(".")).toSorted())
    expect(operations.length).toBeGreaterThan(15)
  })

  it("have arguments in `argumentsOf` if they take any", () => {
    const taking = names.filter((name) => {
      const { parameters, path, payload }: Operation = contract[name]
      return payload !== undefined || (parameters !== undefined && path.includes(":"))
    })
    expect(taking.map((name) => `${contract[name].area}.${texts[name].clientMethod}`).filter((path) => !(path in argumentsOf))).toEqual([])
  })

  for (const [area, name] of operations) {
    const path = `${area}.${name}`
    const given = argumentsOf[path] ?? []

    it(`${path} ends with the reason of its signal, before and during its request`, async () => {
      const reason = new Error("enough")
      const seen: Array<AbortSignal | null | undefined> = []
      const plaza = createPlaza({
        baseUrl: "http://127.0.0.1/open/v1",
        apiKey: "k".repeat(50),
        fetch: (_, init) => {
          seen.push(init?.signal)
          return new Promise(() => {})
        }
      })
      const call = operationOf(plaza, area, name)
      await expect(finish(call(...given, { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason)
      expect(seen).toEqual([])

      const controller = new AbortController()
      const running = finish(call(...given, { signal: controller.signal }))
      running.catch(() => {})
      await expect.poll(() => seen.length).toBe(1)
      controller.abort(reason)
      await expect(running).rejects.toBe(reason)
      await expect.poll(() => seen[0]?.aborted).toBe(true)
      await plaza.close()
    })

    it(`${path} takes options, and reports wrong ones`, async () => {
      const attempts: Array<string> = []
      await using started = await start({ logger: () => {} })
      await started.sandbox.addFault({ kind: "status", when: "before", status: 429, retryAfter: "100", times: 1 })
      const call = operationOf(started.plaza, area, name)
      const onAttempt = ({ status }: { readonly status: number | undefined }) => void attempts.push(String(status))
      expect(await failureOf(finish(call(...given, { maxWait: 0, onAttempt })))).toMatchObject({ category: "RateLimited" })
      expect(attempts).toEqual(["429"])
      for (
        const [options, message] of [
          [{ timeout: "soon" }, /^timeout must be a finite duration/],
          [{ maxWait: -1 }, /^maxWait must be a finite duration/],
          [{ retry: true }, /^retry must be false or an object/],
          [{ retry: { times: 0.5 } }, /^retry.times must be a whole number/],
          [{ retry: { delay: "0s" } }, /^retry.delay must be a finite duration above zero/],
          [{ onAttempt: "log" }, /^onAttempt must be a function/],
          [{ signal: "stop" }, /^signal must be an AbortSignal/],
          ["fast", /^options must be an object/]
        ] as const
      ) {
        expect(await failureOf(finish(call(...given, options)))).toMatchObject({
          _tag: "InvalidInput",
          message: expect.stringMatching(message) as unknown
        })
      }
    })
  }
})

describe("on a sandbox", () => {
  it("every area works, with dates, strings and plain objects", async () => {
    await using started = await start({ sandbox: { assumptions: { requestsPerWindow: 1_000 } } })
    const { plaza, sandbox } = started
    const { conversations: [conversation], orders: [order], products: [product] } = await sandbox.state()
    const me = await plaza.profiles.me()
    expect(me.username).toBe("corner-shop")
    const { mediaId } = await plaza.media.upload({ fileName: "a.png", content: new Uint8Array([1, 2, 3]) })
    const post = await plaza.posts.create({ text: "Hello", mediaIds: [mediaId] })
    expect(post.createdAt).toBeInstanceOf(Date)
    expect(Object.getPrototypeOf(post)).toBe(Object.prototype)
    expect(await collect(plaza.posts.list({ limit: 1 }))).toMatchObject([{ id: post.id, text: "Hello" }])
    expect(await plaza.posts.like(post.id)).toBeUndefined()
    expect(await plaza.posts.comment(post.id, "Nice")).toMatchObject({ text: "Nice" })
    expect(await plaza.store.setStock(product?.id ?? "", 7)).toMatchObject({ id: product?.id, stock: 7 })
    const shipment = { carrier: "DHL", trackingNumber: "JD01" }
    expect(await plaza.store.ship(order?.id ?? "", shipment)).toMatchObject({ id: order?.id, ...shipment })
    expect((await collect(plaza.chat.list())).map(({ id }) => id)).toContain(conversation?.id)
    expect((await plaza.rateLimit.status()).free).toBeLessThan(120)
  })

  it("a list has pages with cursors, continues from one, and starts again for each loop", async () => {
    await using started = await start({ sandbox: { assumptions: { requestsPerWindow: 1_000 } } })
    const { plaza } = started
    const list = plaza.posts.list({ pageSize: 2, limit: 5 })
    const first = await collect(list)
    expect(first).toHaveLength(5)
    expect(await collect(list)).toEqual(first)
    const [page] = await collect(plaza.posts.pages({ pageSize: 2, limit: 2 }))
    expect(page?.data).toEqual(first.slice(0, 2))
    const rest = await collect(plaza.posts.list({ cursor: page?.nextCursor ?? "", limit: 3 }))
    expect(rest).toEqual(first.slice(2))
  })

  it("a list that is left early or aborted between items requests no further page", async () => {
    await using started = await start()
    const { plaza, sandbox } = started
    for await (const _ of plaza.posts.list({ pageSize: 1 })) break
    const requests = await sandbox.countRequests()
    // The page that was read, and the one ahead of it.
    expect(requests).toBeLessThanOrEqual(2)
    const controller = new AbortController()
    const seen: Array<string> = []
    await expect((async () => {
      for await (const { id } of plaza.posts.list({ pageSize: 100, signal: controller.signal })) {
        seen.push(id)
        if (seen.length === 2) controller.abort(new Error("two are enough"))
      }
    })()).rejects.toThrow("two are enough")
    expect(seen).toHaveLength(2)
  })

  it("a list that is never read leaves no listener on its signal", () => {
    const plaza = createPlaza({ baseUrl: "http://127.0.0.1/open/v1", apiKey: "k".repeat(50) })
    const { signal } = new AbortController()
    for (let index = 0; index < 20; index++) plaza.posts.list({ signal })[Symbol.asyncIterator]()
    expect(getEventListeners(signal, "abort")).toEqual([])
  })

  it("an iterator serves calls of next in their order, and return ends a page that is on its way", async () => {
    await using started = await start()
    const { plaza, sandbox } = started
    const whole = (await collect(plaza.posts.list({ limit: 5 }))).map(({ id }) => id)
    const iterator = plaza.posts.list({ pageSize: 2, limit: 5 })[Symbol.asyncIterator]()
    const results = await Promise.all(Array.from({ length: 7 }, () => iterator.next()))
    expect(results.map((result) => result.done === true ? undefined : result.value.id)).toEqual([...whole, undefined, undefined])
    expect(results.map(({ done }) => done)).toEqual([false, false, false, false, false, true, true])
    expect(await iterator.next()).toEqual({ done: true, value: undefined })

    await sandbox.addFault({ kind: "delay", when: "before", millis: 86_400_000 })
    const waiting = plaza.posts.list()[Symbol.asyncIterator]()
    const next = waiting.next()
    await expect.poll(() => sandbox.countRequests({ path: "/me/posts" })).toBe(5)
    expect(await waiting.return?.()).toEqual({ done: true, value: undefined })
    expect(await next).toEqual({ done: true, value: undefined })

    await sandbox.addFault({ kind: "status", when: "before", status: 404 })
    const failing = plaza.posts.list()[Symbol.asyncIterator]()
    expect(await failureOf(failing.next())).toMatchObject({ _tag: "UnrecognizedError", status: 404 })
    expect(await failing.next()).toEqual({ done: true, value: undefined })
  })

  it("undocumented endpoints are read as JSON, or as a function parses it", async () => {
    await using started = await start()
    const { plaza } = started
    expect(await plaza.request({ method: "GET", path: "/me" })).toMatchObject({ username: "corner-shop" })
    const parse = (json: unknown): string => {
      if (typeof json === "object" && json !== null && "username" in json && typeof json.username === "string") return json.username
      throw new Error("it has no username")
    }
    expect(await plaza.request({ method: "GET", path: "/me", parse })).toBe("corner-shop")
    expect(await failureOf(plaza.request({ method: "GET", path: "/me/posts", parse, retry: false }))).toMatchObject({
      category: "ServiceFault",
      message: expect.stringContaining("it has no username") as unknown
    })
    expect(await collect(plaza.paginate({ path: "/me/posts", limit: 3, pageSize: 2 }))).toHaveLength(3)
    expect(await failureOf(collect(plaza.paginate({ path: "/me/posts", parse })))).toMatchObject({ _tag: "UnreadableItem", position: 1 })
    const late = () => Promise.reject(new Error("late"))
    expect(await failureOf(plaza.request({ method: "GET", path: "/me", parse: late, retry: false }))).toMatchObject({
      category: "ServiceFault",
      message: expect.stringContaining("it returned a Promise") as unknown
    })
    expect(await failureOf(collect(plaza.paginate({ path: "/me/posts", parse: late })))).toMatchObject({ _tag: "UnreadableItem" })
    const cursor = 5 as never
    expect(await failureOf(collect(plaza.paginate({ path: "/me/posts", cursor })))).toMatchObject({ _tag: "InvalidInput" })
    expect(await failureOf(plaza.request({ method: "GET", path: "me" }))).toMatchObject({ _tag: "InvalidInput", field: "path" })
  })
})
