/** The program that ships the orders of a file, against the sandbox, in virtual time. */
import { describe, expect, it } from "@effect/vitest"
import { TestTime } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer, Predicate, Schedule } from "effect"
import { Journal, shipFile } from "../src/ship-orders/ShipOrders.ts"
import { commitsOf, journal, world } from "./support/World.ts"

const orders = Array.from({ length: 12 }, (_, number) => `O-${number}`)
const fixtures = { orders: orders.map((id) => ({ id })) }
const inProcess = (sandbox: Sandbox.Options = {}) =>
  Layer.merge(world({}, { fixtures, ...sandbox }), Layer.provide(Journal.layer, journal()))

const csv = (ids: ReadonlyArray<string>, number = (id: string) => `T-${id}`) =>
  ["orderId,carrier,trackingNumber", ...ids.map((id) => `${id},DHL,${number(id)}`)].join("\n")

const run = shipFile(csv(orders))
const statesOf = ({ entries }: Effect.Success<typeof run>) => entries.map(({ orderId, state }) => `${orderId} ${state}`)
const shipmentsOf = Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ state }) => state),
  (state) => new Map(state.orders.flatMap(({ id, shipment }) => shipment === null ? [] : [[String(id), shipment.trackingNumber] as const])))

describe("the program that ships orders", () => {
  it.effect("ships each order once, and a second run sends nothing", () =>
    Effect.gen(function*() {
      const { countRequests } = yield* Sandbox.Sandbox
      expect(statesOf(yield* run).sort()).toEqual(orders.map((id) => `${id} shipped`).sort())
      const sent = yield* countRequests()
      expect(yield* run).toMatchObject({ changed: [] })
      expect(yield* countRequests()).toBe(sent)
    }).pipe(TestTime.advancing, Effect.provide(inProcess())))

  it.effect("lists an order whose conflict follows a lost response as shipped, not verified", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "drop", when: "after", path: "/store/orders/O-1/ship" })
      expect(statesOf(yield* shipFile(csv(["O-0", "O-1"])))).toEqual(["O-0 shipped", "O-1 shipped, not verified"])
    }).pipe(TestTime.advancing, Effect.provide(inProcess())))

  it.effect("continues after an interruption, and lists what it was sending as not verified", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "delay", when: "after", millis: 20_000, path: "/store/orders/O-2/ship" })
      yield* Effect.timeoutOption(run, "10 seconds")
      const states = statesOf(yield* run)
      expect(states).toContain("O-2 shipped, not verified")
      expect(states.filter((state) => state.endsWith(" shipped"))).toHaveLength(orders.length - 1)
    }).pipe(TestTime.advancing, Effect.provide(inProcess())))

  it.effect("sends an order with an unknown outcome again in the next run", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "drop", when: "before", path: "/store/orders/O-3/ship", times: 5 })
      expect(statesOf(yield* shipFile(csv(["O-3"])))).toEqual(["O-3 sending"])
      expect(statesOf(yield* shipFile(csv(["O-3"])))).toEqual(["O-3 shipped"])
    }).pipe(TestTime.advancing, Effect.provide(inProcess())))

  it.effect("distinguishes orders that someone else has shipped, and orders that the service refuses", () =>
    Effect.gen(function*() {
      const { setOrder } = yield* Sandbox.Sandbox
      yield* setOrder({ id: "O-4", shipment: { carrier: "UPS", trackingNumber: "1Z" } })
      expect(statesOf(yield* shipFile(csv(["NONE", "O-4"])))).toEqual(["NONE refused", "O-4 shipped before"])
    }).pipe(TestTime.advancing, Effect.provide(inProcess())))

  it.effect("ends when the store refuses everything, and the next run ships it", () =>
    Effect.gen(function*() {
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "status", when: "before", status: 401, times: 50 })
      expect(yield* Effect.flip(run)).toMatchObject({ _tag: "InvalidApiKey" })
      yield* clearFaults
      expect(statesOf(yield* run).every((state) => state.endsWith(" shipped"))).toBe(true)
    }).pipe(TestTime.advancing, Effect.provide(inProcess())))

  it.effect("reports a row that changed after its shipment", () =>
    Effect.gen(function*() {
      yield* shipFile(csv(["O-5"]))
      expect(yield* shipFile(csv(["O-5"], () => "T-new"))).toMatchObject({ changed: ["O-5"] })
      expect((yield* shipmentsOf).get("O-5")).toBe("T-O-5")
    }).pipe(TestTime.advancing, Effect.provide(inProcess())))

  it.effect("sends nothing of a file with an invalid row", () =>
    Effect.gen(function*() {
      const { countRequests } = yield* Sandbox.Sandbox
      const failure = yield* Effect.flip(shipFile(`${csv(["O-6"])}\nO-7,DHL,3.4E+14\nO-8,,T-8\n`))
      expect(failure.message).toContain("row 2, trackingNumber: a spreadsheet has rounded the tracking number")
      expect(failure.message).toContain("row 3, carrier")
      expect((yield* Effect.flip(shipFile(csv(["O-6", "O-6"])))).message).toBe("order O-6: more than one row")
      expect(yield* countRequests()).toBe(0)
    }).pipe(TestTime.advancing, Effect.provide(inProcess())))

  it.effect.each([1, 2, 3, 4])("ships every order once while the service fails: latitude %i", (latitude) =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "drop", when: "after", rate: 0.3 })
      yield* addFault({ kind: "status", when: "after", status: 503, rate: 0.3 })
      yield* addFault({ kind: "status", when: "before", status: 401, rate: 0.1 })
      const again = Effect.retry(run, Schedule.spaced("1 hour").pipe(Schedule.upTo({ times: 40 })))
      const entries = yield* again.pipe(
        Effect.map((report) => report.entries),
        Effect.repeat({ until: (all) => all.every(({ state }) => state !== "sending"), times: 40 })
      )
      const shipped = yield* commitsOf("shipOrder")
      expect(shipped.map(({ params }) => String(params["id"])).sort()).toEqual(orders.toSorted())
      for (const { orderId, state, trackingNumber } of entries) {
        expect(["shipped", "shipped, not verified"]).toContain(state)
        const payload = shipped.find(({ params }) => params["id"] === orderId)?.payload
        expect(Predicate.hasProperty(payload, "trackingNumber") && payload.trackingNumber).toBe(trackingNumber)
      }
    }).pipe(TestTime.advancing, Effect.provide(inProcess({ latitude }))))
})
