/**
 * A loop that reads the store's products where somebody says where they are listed: what others changed is found and put right.
 */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Duration, Effect } from "effect"
import { answersAfter, fault, inShop, latency, patches, products, source, started } from "./support/looping.js"
import { held } from "./support/world.js"

const wanted = products(250, () => 5)
const ids = Object.keys(wanted)
const settings = {
  reconcile: { path: "/store/products", every: Duration.minutes(30) },
  assertions: { share: 0.1, after: Duration.minutes(1) }
}
const lists = Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests), (records) =>
  records.filter(({ method, path }) => method === "GET" && path.endsWith("/store/products")))

describe("a loop that reads the store's products", () => {
  it.live("finds what others changed and puts it right, and sends nothing else", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        const { setProduct } = yield* Sandbox.Sandbox
        const feed = yield* source(wanted)
        const { standing } = yield* started(feed.service, ledger, settings)
        yield* Effect.sleep("20 minutes")
        const before = (yield* patches).length
        expect(before).toBe(250)
        yield* setProduct({ id: "P0042", stock: 1 })
        yield* setProduct({ id: "P0142", stock: 0 })
        yield* Effect.sleep("1 hour")
        expect(yield* held(...ids)).toEqual(wanted)
        expect(new Set((yield* patches).slice(before).map(({ id }) => id))).toEqual(new Set(["P0042", "P0142"]))
        expect(yield* patches).toHaveLength(252)
        expect((yield* standing.state).account).toMatchObject({ _tag: "Running" })
        // Three or four pages each half hour: the shop holds products that the source doesn't name.
        expect((yield* lists).length).toBeLessThan(20)
      })))

  it.live("reads nothing while something waits", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        const feed = yield* source(wanted)
        yield* started(feed.service, ledger, settings)
        yield* Effect.sleep("90 seconds")
        expect((yield* patches).length).toBeLessThan(250)
        expect(yield* lists).toEqual([])
      })))

  it.live("says so where the list can't be read, and goes on sending and looking", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        const { setProduct } = yield* Sandbox.Sandbox
        yield* fault({ kind: "status", when: "before", status: 404, path: "/store/products", times: 1_000 })
        const feed = yield* source(wanted)
        const { standing } = yield* started(feed.service, ledger, settings)
        yield* Effect.sleep("20 minutes")
        expect((yield* standing.state).errors[0]).toMatchObject({ about: "service", code: "NOT_FOUND" })
        expect(yield* held(...ids)).toEqual(wanted)
        yield* setProduct({ id: "P0042", stock: 1 })
        yield* answersAfter(latency)
        yield* Effect.sleep("1 hour")
        expect(yield* held("P0042")).toEqual({ P0042: 5 })
      })))
})
