/** The programs of the guides against services that differ in what the document leaves open, such as their codes. */
import { describe, expect, it } from "@effect/vitest"
import { ClientError, Plaza, TestTime } from "@plaza/client"
import { Latitude, Sandbox } from "@plaza/sandbox"
import { Effect, Layer, Result } from "effect"
import { sendIfAllowed } from "../guides/ChatRules.ts"
import { shipOrders } from "../guides/ShipOrders.ts"

const client = Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl })))

const seeds = Array.from({ length: 48 }, (_, seed) => seed)

/** A service of this seed, without what responds instead of the chosen faults: gateways, small bursts, pauses after a 503. */
const latitudeOf = (seed: number): Latitude.Latitude => ({
  ...Latitude.fromSeed(seed),
  gatewayStatus: null,
  dailyQuota: null,
  rateBurst: null,
  retryAfterOn503Seconds: 0
})

const against = (seed: number) => Layer.provideMerge(client, Sandbox.layerHttpClient({ latitude: latitudeOf(seed) }))

const page = "<html>Forbidden</html>"

describe("the programs of the guides", () => {
  it.effect.each(seeds)("ship orders of the service of seed %i, and report the state of each", (seed) =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const hasNewCode = latitudeOf(seed).newCodes.includes("CONFLICT")
      const shipment = (order: string) => ({ order, carrier: "DHL", trackingNumber: `T-${order}` })
      const stateAfterShipping = (order: string) => Effect.map(shipOrders([shipment(order)]), ([result]) => result?.state)
      const numberOf = (order: string) =>
        Effect.map(sandbox.state, ({ orders }) => orders.find(({ id }) => id === order)?.shipment?.trackingNumber)
      for (const id of ["one", "two", "three", "four"]) yield* sandbox.setOrder({ id })

      expect(yield* shipOrders([shipment("one")])).toEqual([{ order: "one", state: "shipped" }])
      expect(yield* shipOrders([shipment("one"), shipment("NO SUCH")])).toEqual([
        { order: "one", state: "already shipped" },
        { order: "NO SUCH", state: "unknown order" }
      ])
      // A conflict with a new code may mean another state of the order.
      yield* sandbox.addFault({ kind: "status", when: "after", status: 503, path: "/store/orders/*/ship" })
      expect(yield* stateAfterShipping("two")).toBe(hasNewCode ? "check the order" : "check the tracking number")
      for (const status of [403, 404, 409] as const) {
        yield* sandbox.addFault({ kind: "status", when: "after", status, body: page, path: "/store/orders/*/ship" })
        yield* sandbox.setOrder({ id: "three" })
        expect(yield* stateAfterShipping("three")).toBe("check the order")
        expect(yield* numberOf("three")).toBe("T-three")
      }
      yield* sandbox.addFault({ kind: "status", when: "before", status: 403, code: "STORE_BLOCKED", path: "/store/orders/*/ship" })
      const blocked = yield* Effect.result(shipOrders([shipment("four")]))
      expect(Result.match(blocked, { onFailure: ClientError.categoryOf, onSuccess: () => undefined })).toBe("Forbidden")
      expect(yield* numberOf("four")).toBe(undefined)
    }).pipe(TestTime.advancing, Effect.provide(against(seed))))

  it.effect.each(seeds)("send messages through the service of seed %i as its chat rules allow", (seed) =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { newCodes } = latitudeOf(seed)
      const { keys } = yield* sandbox.state
      const shop = String(keys[0]?.accountId)
      const person = yield* sandbox.createAccount({ username: "new.person" })
      const conversation = yield* sandbox.createConversation({ peerId: person.id })
      const send = sendIfAllowed(conversation, "Your order is on its way.")
      const count = Effect.map(sandbox.state,
        ({ messages }) => messages.filter(({ conversationId }) => conversationId === conversation).length)

      expect(yield* send).toBe(newCodes.includes("CHAT_NOT_ALLOWED") ? "not allowed" : "wait for a message or a follow")
      yield* sandbox.setRelation(person.id, shop, { follows: true })
      expect(yield* send).toBe("sent")
      expect(yield* count).toBe(1)
      yield* sandbox.addFault({ kind: "status", when: "after", status: 500, method: "POST" })
      expect(yield* send).toBe("look before you send again")
      for (const status of [403, 404, 409] as const) {
        yield* sandbox.addFault({ kind: "status", when: "after", status, body: page, method: "POST" })
        expect(yield* send).toBe("look before you send again")
      }
      expect(yield* count).toBe(5)
      yield* sandbox.addFault({ kind: "status", when: "before", status: 404, method: "POST" })
      expect(yield* send).toBe("forget the conversation")
      yield* sandbox.setRelation(person.id, shop, { blocks: true })
      expect(yield* send).toBe(newCodes.includes("CHAT_BLOCKED") ? "not allowed" : "stop")
      expect(yield* count).toBe(5)
    }).pipe(TestTime.advancing, Effect.provide(against(seed))))
})
