/** How often `once` sends a product that fails, and how it ends. */
import { describe, expect, it } from "@effect/vitest"
import type { Fault } from "@plaza/sandbox"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Duration, Effect } from "effect"
import { anyStock, fault, forEver, once, patches, products, simulated, stockOf } from "./support/simulation.ts"

const requestsFor = (id: string) => Effect.map(patches, (all) => all.filter((each) => each.id === id).length)

type Kind = "404" | "409" | "500" | "drop"

const failing = (kind: Kind, target: Pick<Fault, "path" | "times" | "nth">): Fault =>
  kind === "drop"
    ? { kind: "drop", when: "before", ...target }
    : { kind: "status", when: "before", status: Number(kind), ...(kind === "409" ? { code: "CONFLICT" } : {}), ...target }

describe("a run of `once`", () => {
  it.effect("sends a product that fails five times, although its delays ended with a fault of the service", () => {
    const wanted = products(60, () => 5)
    return simulated(wanted, (memory) =>
      Effect.gen(function*() {
        yield* fault(failing("500", { path: stockOf("P0000"), times: forEver }))
        // An outage ends the delay of the product, which has been sent three times by then.
        yield* Effect.forkScoped(Effect.delay(fault(failing("500", { path: anyStock, times: 6 })), "2 seconds"))
        expect(yield* once(memory, wanted, { concurrency: 1 })).toMatchObject({ ended: { _tag: "Idle" }, confirmed: 59 })
        expect(yield* requestsFor("P0000")).toBe(5)
        // The next run tries it again.
        yield* once(memory, wanted)
        expect(yield* requestsFor("P0000")).toBeGreaterThan(5)
      }))
  })

  it.effect("sends a product that is refused five times, however long the others take", () => {
    const wanted = products(600, () => 5)
    return simulated(wanted, (memory) =>
      Effect.gen(function*() {
        yield* fault(failing("404", { path: stockOf("P0000"), times: forEver }))
        yield* once(memory, wanted, { retryRefusedAfter: Duration.seconds(1) })
        expect(yield* requestsFor("P0000")).toBe(5)
      }))
  })

  const ids = Object.keys(products(8, () => 5))
  it.effect.prop(
    "never sends a product that is not confirmed more than five times",
    [
      Generate.arrayOf(
        Arbitrary.all({
          id: Generate.elementOf(ids),
          kind: Generate.anyOf(["404", "409", "500", "drop"]),
          times: Generate.elementOf([1, 2, 4, forEver])
        }),
        { maxLength: 8 }
      ),
      Generate.between(1, 8),
      Generate.between(0, 9)
    ],
    ([faults, concurrency, outage]) =>
      simulated(products(8, () => 5), (memory) =>
        Effect.gen(function*() {
          const stocks = products(8, () => 5)
          yield* Effect.forEach(faults, ({ id, kind, times }) => fault(failing(kind, { path: stockOf(id), times })), { discard: true })
          if (outage > 0) yield* fault(failing("500", { path: anyStock, times: outage }))
          yield* once(memory, stocks, { concurrency, retryRefusedAfter: Duration.seconds(1) })
          for (const id of ids) expect(yield* requestsFor(id)).toBeLessThanOrEqual(5)
        })),
    { arbitrary: { runs: 40 } }
  )
})
