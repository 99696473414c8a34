/** With the path of the store's list of products, the engine reads it and compares it with the confirmed values. */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Duration, Effect, PubSub } from "effect"
import { held } from "./support/sandbox.ts"
import { fault, faultsEnd, forEver, patches, products, simulated, source, started, stockOf } from "./support/simulation.ts"

const wanted = products(250, () => 5)
const ids = Object.keys(wanted)
const reconcile = { path: "/store/products", every: Duration.minutes(30) }
const reassert = { share: 0.1, after: Duration.minutes(1) }
const settings = { reconcile, reassert, sourceIncludesSales: true }
const lists = Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests),
  (records) => records.filter(({ method, path }) => method === "GET" && path.endsWith("/store/products")))

describe("a reconciliation", () => {
  it.effect("sends products again that other programs changed, and no others", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const { setProduct } = yield* Sandbox.Sandbox
        const { state } = yield* started((yield* source(wanted)).service, ledger, settings)
        yield* Effect.sleep("20 minutes")
        const before = (yield* patches).length
        expect(before).toBe(250)
        yield* setProduct({ id: "P0042", stock: 1 })
        yield* setProduct({ id: "P0142", stock: 0 })
        yield* Effect.sleep("1 hour")
        expect(yield* held(...ids)).toEqual(wanted)
        expect(new Set((yield* patches).slice(before).map(({ id }) => id))).toEqual(new Set(["P0042", "P0142"]))
        expect(yield* patches).toHaveLength(252)
        expect((yield* state).account).toMatchObject({ _tag: "Running" })
        // Three or four pages every half hour: the store has products that the source does not name.
        expect((yield* lists).length).toBeLessThan(20)
      })))

  it.effect("only counts them if the source may not include sales", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.scoped(Effect.gen(function*() {
        const { setProduct } = yield* Sandbox.Sandbox
        const { subscribe } = yield* started((yield* source(wanted)).service, ledger, { reconcile, reassert })
        const events = yield* subscribe
        yield* Effect.sleep("20 minutes")
        yield* setProduct({ id: "P0042", stock: 1 })
        yield* Effect.sleep("1 hour")
        const read = (yield* PubSub.takeAll(events)).flatMap((event) => event._tag === "Reconciled" ? [event] : [])
        expect(read.at(-1)).toMatchObject({ differing: 1, resent: false })
        expect(yield* patches).toHaveLength(250)
        expect(yield* held("P0042")).toEqual({ P0042: 1 })
      }))))

  it.effect("does not read the list while a product is due", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        yield* started((yield* source(wanted)).service, ledger, settings)
        yield* Effect.sleep("90 seconds")
        expect((yield* patches).length).toBeLessThan(250)
        expect(yield* lists).toEqual([])
      })))

  it.effect("reads the list while the service keeps failing for one product", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        yield* fault({ kind: "status", when: "before", status: 500, path: stockOf("P0000"), times: forEver })
        yield* started((yield* source(wanted)).service, ledger, settings)
        yield* Effect.sleep("160 minutes")
        // Every half hour, in three or four pages.
        expect((yield* lists).length).toBeGreaterThanOrEqual(15)
      })))

  it.effect("reports a list that can't be read, and continues to send and to read", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        const { setProduct } = yield* Sandbox.Sandbox
        yield* fault({ kind: "status", when: "before", status: 404, path: "/store/products", times: 1_000 })
        const { state } = yield* started((yield* source(wanted)).service, ledger, settings)
        yield* Effect.sleep("20 minutes")
        expect((yield* state).errors[0]).toMatchObject({ about: "service", code: "NOT_FOUND" })
        expect(yield* held(...ids)).toEqual(wanted)
        yield* setProduct({ id: "P0042", stock: 1 })
        yield* faultsEnd
        yield* Effect.sleep("1 hour")
        expect(yield* held("P0042")).toEqual({ P0042: 5 })
      })))
})
