import { describe, expect, it } from "@effect/vitest"
import { Chat, Posts, Store } from "@plaza-legacy/client"
import { ConversationId, OrderId, ProductId } from "@plaza-legacy/domain"
import { type Fault, Sandbox } from "@plaza-legacy/sandbox"
import * as SimulatedTime from "@plaza-legacy/testing/SimulatedTime"
import { type Duration, Effect, Either, Exit, Schedule } from "effect"
import * as OnSandbox from "./support/OnSandbox.ts"

const faults: Record<string, typeof Fault.Type> = {
  "a 500 before it happened": { kind: "status", when: "before", status: 500 },
  "a 500 after it happened": { kind: "status", when: "after", status: 500 },
  "a connection dropped before it happened": { kind: "drop", when: "before" },
  "a connection dropped after it happened": { kind: "drop", when: "after" },
  "no answer in time, before it happened": { kind: "delay", when: "before", millis: 120_000 },
  "no answer in time, after it happened": { kind: "delay", when: "after", millis: 120_000 }
}

const happened = new Set(Object.keys(faults).filter((name) => name.includes("after")))
const inTime = Object.entries(faults).filter(([, { kind }]) => kind !== "delay")

const postsWith = (text: string) =>
  Effect.flatMap(Sandbox.Sandbox, ({ state }) => Effect.map(state, ({ posts }) => posts.filter((post) => post.text === text)))

const createsOnce = (fault: typeof Fault.Type) =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const { create } = yield* Posts
    yield* sandbox.addFault({ ...fault, method: "POST", path: "/posts" })
    const post = yield* create({ text: "only once" })
    const made = yield* postsWith("only once")
    expect(made.map(({ id }) => id)).toEqual([post.id])
  })

const quickly: OnSandbox.WorldOptions = { client: { retry: Schedule.recurs(3), settleTime: "100 millis" } }

// The service may be at work for as long as it likes, so such a post is never sent again.
const stillAtWork = "no answer in time, before it happened"

describe("a created post exists exactly once", () => {
  for (const [name, fault] of Object.entries(faults).filter(([name]) => name !== stillAtWork)) {
    it.effect(`under ${name}`, () => Effect.provide(SimulatedTime.run(createsOnce(fault)), OnSandbox.inProcess()))
  }

  it.effect(`or its outcome is unknown, under ${stillAtWork}`, () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* sandbox.addFault({ kind: "delay", when: "before", millis: 120_000, method: "POST", path: "/posts" })
      expect(yield* Effect.flip(create({ text: "only once" }))).toMatchObject({ _tag: "OutcomeUnknown", cause: { _tag: "AttemptTimeout" } })
      expect(yield* postsWith("only once")).toHaveLength(0)
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))

  for (const [name, fault] of inTime) {
    OnSandbox.itOnSockets(`under ${name}`, createsOnce(fault), quickly)
  }

  it.effect("under every sequence of faults", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      for (const fault of Object.values(faults).filter(({ kind }) => kind !== "delay")) {
        yield* sandbox.addFault({ ...fault, method: "POST", path: "/posts" })
      }
      yield* create({ text: "only once" })
      expect(yield* postsWith("only once")).toHaveLength(1)
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))

  it.effect("and two equal posts of concurrent calls stay two, under every fault", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      for (const [name, fault] of Object.entries(faults)) {
        if (name === stillAtWork) {
          continue
        }
        yield* sandbox.addFault({ ...fault, method: "POST", path: "/posts" })
        const both = yield* Effect.all([create({ text: "twice" }), create({ text: "twice" })], { concurrency: 2 })
        expect(both[0].id).not.toBe(both[1].id)
      }
      expect(yield* postsWith("twice")).toHaveLength(2 * (Object.keys(faults).length - 1))
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))

  const again = (age: Duration.DurationInput) =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* Effect.sleep("1 minute")
      // By another client of the same account.
      const earlier = yield* Effect.flatMap(Posts, ({ create }) => create({ text: "again" })).pipe(OnSandbox.asKey(sandbox.apiKey))
      yield* Effect.sleep(age)
      yield* sandbox.addFault({ kind: "drop", when: "before", method: "POST", path: "/posts" })
      return { earlier, post: yield* Effect.either(create({ text: "again" })), made: yield* postsWith("again") }
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess({ sandbox: { latitude: { dateHeader: "present" } } })))

  it.effect("and an equal post of yesterday isn't returned instead", () =>
    Effect.gen(function*() {
      const { earlier, made, post } = yield* again("30 hours")
      expect(Either.getOrThrow(post).id).not.toBe(earlier.id)
      expect(made).toHaveLength(2)
    }))

  it.effect("and after an equal post of five minutes ago the outcome is unknown", () =>
    Effect.gen(function*() {
      const { made, post } = yield* again("5 minutes")
      expect(Either.getLeft(post)).toMatchObject({ value: { _tag: "OutcomeUnknown", cause: { _tag: "Inconclusive" } } })
      expect(made).toHaveLength(1)
    }))

  it.effect("and if the account's posts can't be read, the outcome is unknown and the post is not sent again", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* sandbox.addFault({ kind: "drop", when: "after", method: "POST", path: "/posts" })
      yield* sandbox.addFault({ kind: "status", when: "before", status: 503, method: "GET", path: "/me/posts", times: 50 })
      expect(yield* Effect.flip(create({ text: "who knows" }))).toMatchObject({ _tag: "OutcomeUnknown" })
      expect(yield* postsWith("who knows")).toHaveLength(1)
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))
})

describe("a post of another call isn't returned", () => {
  const onCreate = { method: "POST", path: "/posts" } as const

  it.effect("whose response is unreadable and whose post is searched for", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* sandbox.addFault({ kind: "garbage", body: "<html>", ...onCreate })
      const first = yield* create({ text: "twice" })
      yield* sandbox.addFault({ kind: "drop", when: "before", ...onCreate })
      const second = yield* create({ text: "twice" })
      expect((yield* postsWith("twice")).map(({ id }) => id)).toEqual([first.id, second.id])
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))

  it.effect("whose outcome is unknown: the second outcome is unknown too, and the post is not sent again", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* sandbox.addFault({ kind: "drop", when: "after", ...onCreate })
      yield* sandbox.addFault({ kind: "status", when: "before", status: 403, path: "/me/posts" })
      expect(yield* Effect.flip(create({ text: "twice" }))).toMatchObject({ _tag: "OutcomeUnknown" })
      yield* sandbox.addFault({ kind: "drop", when: "before", ...onCreate })
      expect(yield* Effect.flip(create({ text: "twice" }))).toMatchObject({ _tag: "OutcomeUnknown" })
      expect(yield* postsWith("twice")).toHaveLength(1)
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))

  it.effect("whose text differs only by changes that services make", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* sandbox.addFault({ kind: "delay", when: "after", millis: 10_000, ...onCreate })
      const [one, other] = yield* Effect.all([
        create({ text: "twice" }),
        Effect.zipRight(
          Effect.sleep("1 second"),
          Effect.zipRight(sandbox.addFault({ kind: "drop", when: "before", ...onCreate }), create({ text: " twice" }))
        )
      ], { concurrency: 2 })
      expect(one.id).not.toBe(other.id)
      expect([...(yield* postsWith("twice")), ...(yield* postsWith(" twice"))].map(({ id }) => id)).toEqual([one.id, other.id])
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))
})

describe("comments and messages are never created twice", () => {
  const conversation = Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const { accounts, keys } = yield* sandbox.state
    const shop = keys[0]?.accountId ?? accounts[0]?.id ?? ""
    const peer = yield* sandbox.createAccount()
    yield* sandbox.setRelation(peer.id, shop, { hasWritten: true })
    return yield* sandbox.createConversation({ peerId: peer.id })
  })

  const sendsAtMostOnce = (name: string, fault: typeof Fault.Type) =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { comment, create } = yield* Posts
      const { send } = yield* Chat
      const post = yield* create({ text: "to comment on" })
      const to = yield* conversation
      for (const path of ["/posts/*/comments", "/conversations/*/messages"]) {
        yield* sandbox.addFault({ ...fault, method: "POST", path })
      }
      const outcomes = [yield* Effect.either(comment(post.id, "once")), yield* Effect.either(send(ConversationId.make(to), "once"))]
      expect(outcomes.map(Either.getLeft)).toMatchObject([
        { value: { _tag: "OutcomeUnknown" } },
        { value: { _tag: "OutcomeUnknown" } }
      ])
      const { comments, messages } = yield* sandbox.state
      const times = happened.has(name) ? 1 : 0
      expect(comments.filter(({ text }) => text === "once")).toHaveLength(times)
      expect(messages.filter(({ text }) => text === "once")).toHaveLength(times)
    })

  for (const [name, fault] of Object.entries(faults)) {
    it.effect(`under ${name}`, () => Effect.provide(SimulatedTime.run(sendsAtMostOnce(name, fault)), OnSandbox.inProcess()))
  }
  for (const [name, fault] of inTime) {
    OnSandbox.itOnSockets(`under ${name}`, sendsAtMostOnce(name, fault), quickly)
  }
})

describe("a shipment of another call doesn't confirm a call", () => {
  const order = OrderId.make("o")
  const shipmentOf = Effect.flatMap(Sandbox.Sandbox,
    ({ state }) => Effect.map(state, ({ orders }) => orders.find(({ id }) => id === order)?.shipment?.trackingNumber))
  const ship = (trackingNumber: string) => Effect.flatMap(Store, ({ ship }) => ship(order, { carrier: "Post", trackingNumber }))
  const drop = { kind: "drop", when: "before", method: "POST", path: "/store/orders/*/ship" } as const

  it.effect("when the order was shipped before", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.setOrder({ id: order })
      yield* ship("first")
      yield* sandbox.addFault(drop)
      expect(yield* Effect.flip(ship("second"))).toMatchObject({ _tag: "OutcomeUnknown", cause: { _tag: "Conflict" } })
      expect(yield* shipmentOf).toBe("first")
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))

  it.effect("when the shop reverted the earlier shipment", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.setOrder({ id: order })
      yield* ship("first")
      // The document shows the moves of the interface, not all those of an order.
      yield* sandbox.setOrder({ id: order })
      yield* sandbox.addFault({ ...drop, when: "after" })
      expect(yield* Effect.flip(ship("second"))).toMatchObject({ _tag: "OutcomeUnknown", cause: { _tag: "Conflict" } })
      expect(yield* shipmentOf).toBe("second")
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))

  it.effect("when two calls ship the order concurrently", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.setOrder({ id: order })
      yield* sandbox.addFault(drop)
      const [first, second] = yield* Effect.all([Effect.either(ship("first")), Effect.either(ship("second"))], {
        concurrency: 2
      })
      expect(Either.isRight(first)).toBe(true)
      expect(Either.getLeft(second)).toMatchObject({ value: { _tag: "Conflict" } })
      expect(yield* shipmentOf).toBe("first")
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))
})

describe("stock and shipping arrive", () => {
  for (const [name, fault] of Object.entries(faults)) {
    it.effect(`under ${name}`, () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { setStock, ship } = yield* Store
        yield* sandbox.setProduct({ id: "p/1?", stock: 1 })
        yield* sandbox.setOrder({ id: "o/1?" })
        const shipment = { carrier: "Post", trackingNumber: "42" }
        yield* sandbox.addFault({ ...fault, method: "PATCH" })
        yield* sandbox.addFault({ ...fault, method: "POST" })
        yield* setStock(ProductId.make("p/1?"), 7)
        const shipped = yield* Effect.either(ship(OrderId.make("o/1?"), shipment))
        expect(shipped).toMatchObject(
          happened.has(name)
            ? Either.left({ _tag: "OutcomeUnknown", likely: "done", cause: { _tag: "Conflict" } })
            : Either.right({ id: "o/1?", ...shipment })
        )
        const { orders, products } = yield* sandbox.state
        expect(products.find(({ id }) => id === "p/1?")?.stock).toBe(7)
        expect(orders.find(({ id }) => id === "o/1?")?.shipment).toEqual(shipment)
        expect(Exit.isFailure(yield* Effect.exit(ship(OrderId.make("o/1?"), shipment)))).toBe(true)
      }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))
  }
})
