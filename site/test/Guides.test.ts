/** The programs of the guides against the sandbox. */
import { NodeServices } from "@effect/platform-node"
import { expect, layer } from "@effect/vitest"
import { Plaza, TestTime } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer } from "effect"
import { sendIfAllowed } from "../guides/ChatRules.ts"
import { postWithMedia } from "../guides/PostWithMedia.ts"
import { shipOrders } from "../guides/ShipOrders.ts"

const client = Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl })))

layer(Layer.mergeAll(Layer.provideMerge(client, Sandbox.layerHttpClient()), NodeServices.layer))((it) => {
  it.effect("a post shows its files in the given order", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const paths = ["mug.jpg", "shelf.jpg", "tea.jpg"].map((name) => `${folder}/${name}`)
      yield* Effect.forEach(paths, (path) => fs.writeFileString(path, path))
      const { id } = yield* postWithMedia("Back.", paths)
      const { media, posts } = yield* (yield* Sandbox.Sandbox).state
      const names = posts.find((post) => post.id === id)?.mediaIds?.map((mediaId) => media.find((file) => file.id === mediaId)?.name)
      expect(names).toEqual(["mug.jpg", "shelf.jpg", "tea.jpg"])
    }))

  it.effect("orders are shipped once, and each has a state", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const shipment = (order: string) => ({ order, carrier: "DHL", trackingNumber: `T-${order}` })
      const { orders } = yield* sandbox.state
      const [one = "", two = "", three = ""] = orders.map(({ id }) => String(id))
      yield* shipOrders([shipment(one)])
      yield* sandbox.addFault({ kind: "status", when: "after", status: 503, path: "/store/orders/*/ship" })
      expect(yield* shipOrders([shipment(three)])).toEqual([{ order: three, state: "check the tracking number" }])
      expect(yield* shipOrders([shipment(one), shipment("NO SUCH"), shipment(two)])).toEqual([
        { order: one, state: "already shipped" },
        { order: "NO SUCH", state: "unknown order" },
        { order: two, state: "shipped" }
      ])
      yield* sandbox.addFault({ kind: "status", when: "before", status: 403, code: "STORE_BLOCKED" })
      expect(yield* Effect.flip(shipOrders([shipment(one)]))).toMatchObject({ _tag: "StoreBlocked" })
    }).pipe(TestTime.advancing))

  it.effect("a message is sent where the chat rules allow it", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { keys } = yield* sandbox.state
      const shop = String(keys[0]?.accountId)
      const person = yield* sandbox.createAccount({ username: "new.person" })
      const conversation = yield* sandbox.createConversation({ peerId: person.id })
      const send = sendIfAllowed(conversation, "Your order is on its way.")
      expect(yield* send).toBe("wait for a message or a follow")
      yield* sandbox.setRelation(person.id, shop, { follows: true })
      expect(yield* send).toBe("sent")
      yield* sandbox.addFault({ kind: "status", when: "after", status: 500, method: "POST" })
      expect(yield* send).toBe("look before you send again")
      yield* sandbox.setRelation(person.id, shop, { blocks: true })
      expect(yield* send).toBe("stop")
    }).pipe(TestTime.advancing))
})
