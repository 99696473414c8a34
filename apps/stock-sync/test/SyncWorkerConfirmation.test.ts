/**
 * When a stock counts as confirmed: its request succeeded, and the response shows no other stock. Judged by what the store has at the end,
 * and by what the ledger and `once` report of it.
 */
import { describe, expect, it } from "@effect/vitest"
import type { Fault } from "@plaza/sandbox"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Effect, Option, PubSub, Stream } from "effect"
import { held } from "./support/sandbox.ts"
import {
  commitsOf,
  entryOf,
  fault,
  faultsEnd,
  forEver,
  mismatch,
  once,
  patches,
  simulated,
  source,
  started,
  stockOf,
  type Wanted
} from "./support/simulation.ts"

const shows = (stock: number, times = 1) => fault(mismatch("A", stock, times))

/** What a proxy responds in place of the service. */
const refused = (status: number, body: string, when: "before" | "after"): Fault => ({
  kind: "status",
  when,
  status,
  body,
  contentType: "text/html",
  path: stockOf("A"),
  times: 1
})

const both = (stock: number): Wanted => ({ A: stock, B: 1 })

const settles = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.tap(test, faultsEnd)

describe("a response that shows another stock than the one sent", () => {
  it.effect("confirms nothing, so that a source that returns to the shown stock is sent", () =>
    simulated(both(0), (memory) =>
      Effect.gen(function*() {
        yield* once(memory, both(0))
        yield* shows(0, forEver)
        expect(yield* settles(once(memory, both(5)))).toMatchObject({ confirmed: 0, counts: { uncertain: 1, settled: 1, quarantined: 0 } })
        expect(yield* entryOf(memory.ledger, "A")).toMatchObject({ state: "uncertain", wanted: 5, confirmed: undefined })
        expect(yield* once(memory, both(0))).toMatchObject({ counts: { uncertain: 0, settled: 2 } })
        expect(yield* held("A")).toEqual({ A: 0 })
      })))

  it.effect("confirms nothing, so that a product is on sale again after it was sold out", () =>
    simulated(both(5), (memory) =>
      Effect.gen(function*() {
        yield* once(memory, both(5))
        yield* shows(5, forEver)
        expect(yield* settles(once(memory, both(0)))).toMatchObject({ counts: { uncertain: 1 } })
        expect(yield* once(memory, both(5))).toMatchObject({ counts: { uncertain: 0, settled: 2 } })
        expect(yield* held("A")).toEqual({ A: 5 })
      })))

  it.effect("once is enough: a running worker sends the source's next stock", () =>
    simulated(both(0), ({ ledger }) =>
      Effect.gen(function*() {
        const feed = yield* source(both(0))
        yield* started(feed.service, ledger)
        yield* Effect.sleep("10 seconds")
        yield* shows(0)
        yield* feed.set(both(5))
        yield* Effect.sleep("1 second")
        yield* feed.set(both(0))
        yield* Effect.sleep("10 seconds")
        expect(yield* commitsOf("A")).toEqual([0, 5, 0])
        expect(yield* ledger.counts).toMatchObject({ settled: 2, uncertain: 0 })
      })))

  it.effect("and a higher one has the stock sent again, three times, and the product is uncertain all the time", () =>
    simulated(both(0), ({ ledger }) =>
      Effect.gen(function*() {
        yield* shows(9, forEver)
        const feed = yield* source(both(2))
        const { state } = yield* started(feed.service, ledger)
        yield* Effect.sleep("1 second")
        expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "uncertain" })
        yield* Effect.sleep("30 minutes")
        const times = (yield* patches).filter(({ id }) => id === "A").map(({ millis }) => millis)
        const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
        expect(gaps).toHaveLength(3)
        expect(gaps.toSorted((one, other) => one - other)).toEqual(gaps)
        expect(yield* entryOf(ledger, "A")).toMatchObject({
          state: "uncertain",
          confirmed: undefined,
          refusal: { tag: "StockMismatch", value: 2 }
        })
        expect((yield* state).account).toMatchObject({ _tag: "Running" })
        const history = Array.from(yield* Stream.runCollect(ledger.history(Option.some("A"))))
        expect(history.map(({ code, outcome }) => [outcome, code])).toEqual(Array.from({ length: 4 }, () => ["uncertain", "StockMismatch"]))
      })))

  it.effect("and a higher one is confirmed as soon as a response shows the stock that was sent", () =>
    simulated(both(5), ({ ledger }) =>
      Effect.gen(function*() {
        yield* shows(5, 2)
        const feed = yield* source(both(0))
        yield* started(feed.service, ledger)
        yield* Effect.sleep("1 minute")
        expect(yield* commitsOf("A")).toEqual([0, 0, 0])
        expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "settled", confirmed: 0 })
      })))

  it.effect("and a lower one may be sales: the stock is not sent again, so none of five pieces is sold twice", () =>
    simulated(both(0), (memory) =>
      Effect.gen(function*() {
        for (const left of [4, 3, 2, 1]) {
          yield* shows(left, forEver)
          yield* settles(once(memory, both(5)))
        }
        expect(yield* commitsOf("A")).toEqual([5])
        yield* once(memory, both(6))
        expect(yield* commitsOf("A")).toEqual([5, 6])
        expect(yield* entryOf(memory.ledger, "A")).toMatchObject({ state: "settled", confirmed: 6 })
      })))

  it.effect("is sent again when it is named in `retry`", () =>
    simulated(both(0), (memory) =>
      Effect.gen(function*() {
        yield* shows(1, forEver)
        yield* settles(once(memory, both(5)))
        expect(yield* memory.ledger.release(Option.none())).toEqual([])
        expect(yield* memory.ledger.release(Option.some(["A"]))).toEqual(["A"])
        expect(yield* once(memory, both(5))).toMatchObject({ counts: { uncertain: 0, settled: 2 } })
      })))

  it.effect("is of no importance with `--shown-stock ignore`", () =>
    simulated(both(0), (memory) =>
      Effect.gen(function*() {
        yield* shows(1, forEver)
        expect(yield* once(memory, both(5), { shownStock: "ignore" })).toMatchObject({ confirmed: 2, counts: { uncertain: 0, settled: 2 } })
        expect(yield* once(memory, both(5), { shownStock: "ignore" })).toMatchObject({ confirmed: 0 })
        expect(yield* commitsOf("A")).toEqual([5])
      })))

  it.effect("of an uncertain product is sent again in the background if the source includes the store's sales", () =>
    simulated(both(0), ({ ledger }) =>
      Effect.gen(function*() {
        yield* shows(1)
        const feed = yield* source(both(5))
        yield* started(feed.service, ledger, { sourceIncludesSales: true })
        yield* Effect.sleep("30 minutes")
        expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "uncertain" })
        yield* Effect.sleep("45 minutes")
        expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "settled", confirmed: 5 })
      })))
})

describe("a 4xx response without the document's envelope", () => {
  for (
    const [status, body] of [
      [400, "<html>Bad Request</html>"],
      [403, "<html>blocked</html>"],
      [404, "<html>nginx</html>"],
      [404, "{\"message\":\"no Route matched\"}"],
      [404, ""],
      [405, ""],
      [409, "conflict"],
      [413, "<html>too large</html>"],
      [499, ""]
    ] as const
  ) {
    it.effect(`does not show that the earlier stock is still in the store (${status} ${body})`, () =>
      simulated(both(0), (memory) =>
        Effect.gen(function*() {
          yield* once(memory, both(0))
          for (let attempt = 0; attempt < 5; attempt++) yield* fault(refused(status, body, "after"))
          const { counts } = yield* settles(once(memory, both(5)))
          expect(counts.settled).toBe(1)
          expect(counts.uncertain + counts.doubtful).toBe(1)
          expect(yield* held("A")).toEqual({ A: 5 })
          expect(yield* once(memory, both(0))).toMatchObject({ counts: { settled: 2 } })
          expect(yield* held("A")).toEqual({ A: 0 })
        })))
  }

  it.effect("leaves the product uncertain, and it is sent again at growing intervals until the service accepts it", () =>
    simulated(both(0), ({ ledger }) =>
      Effect.gen(function*() {
        yield* Effect.forEach(Array.from({ length: 6 }), () => fault(refused(403, "<html>blocked</html>", "before")))
        const feed = yield* source(both(5))
        const { subscribe } = yield* started(feed.service, ledger)
        const events = yield* subscribe
        yield* Effect.sleep("30 seconds")
        expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "uncertain", doubt: { lowest: 5, highest: 5 } })
        // It is reported once.
        const uncertain = (yield* PubSub.takeAll(events)).flatMap((event) =>
          event._tag === "Sent" && event.outcome === "uncertain" ? [event.wasUncertain] : []
        )
        expect(uncertain.length).toBeGreaterThan(1)
        expect(uncertain.filter((isRepeated) => !isRepeated)).toHaveLength(1)
        yield* Effect.sleep("2 hours")
        expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "settled", confirmed: 5 })
      })))
})

type Behaviour =
  | { readonly _tag: "honest" }
  | { readonly _tag: "shows"; readonly stock: number }
  | { readonly _tag: "proxy"; readonly status: number; readonly when: "before" | "after" }
  | { readonly _tag: "fails"; readonly when: "before" | "after" }
  | { readonly _tag: "drops"; readonly when: "before" | "after" }

const when = Generate.anyOf(["before", "after"])
const shownStock = Arbitrary.all({ _tag: Arbitrary.Constant("shows" as const), stock: Generate.between(0, 6) })
const behaviour = Generate.oneOf<Behaviour>(
  Arbitrary.Constant({ _tag: "honest" }),
  shownStock,
  shownStock,
  Arbitrary.all({ _tag: Arbitrary.Constant("proxy" as const), status: Generate.elementOf([400, 403, 404, 499]), when }),
  Arbitrary.all({ _tag: Arbitrary.Constant("fails" as const), when }),
  Arbitrary.all({ _tag: Arbitrary.Constant("drops" as const), when })
)

/** How the service responds to the nth request for A from now on. A response may show any stock: out of date, less reserved pieces, or wrong. */
const behaves = (behaviours: ReadonlyArray<Behaviour>) =>
  Effect.forEach(behaviours, (each, index) => {
    const target = { path: stockOf("A"), nth: index + 1, times: 1 }
    switch (each._tag) {
      case "honest":
        return Effect.void
      case "shows":
        return fault({ ...mismatch("A", each.stock, 1), ...target })
      case "proxy":
        return fault({ ...refused(each.status, "<html>", each.when), ...target })
      case "fails":
        return fault({ kind: "status", when: each.when, status: 503, ...target })
      case "drops":
        return fault({ kind: "drop", when: each.when, ...target })
    }
  }, { discard: true })

describe("whatever the responses show", () => {
  it.effect.prop(
    "the store has the source's stock at the end, or the product is not reported as confirmed",
    [Generate.arrayOf(Arbitrary.all([Generate.between(0, 5), Generate.arrayOf(behaviour, { maxLength: 6 })]), {
      minLength: 1,
      maxLength: 6
    })],
    ([runs]) =>
      simulated(both(0), (memory) =>
        Effect.gen(function*() {
          for (const [wanted, behaviours] of runs) {
            yield* behaves(behaviours)
            const { counts, ended } = yield* settles(once(memory, both(wanted)))
            const isReported = ended._tag !== "Idle" || counts.settled < 2
            const { A } = yield* held("A")
            if (A !== wanted) expect({ wanted, A, isReported }).toEqual({ wanted, A, isReported: true })
            yield* Effect.sleep("3 minutes")
          }
          // A stock that was not wanted before is sent, whatever was shown, and confirmed by an honest response.
          yield* Effect.sleep("6 hours")
          expect(yield* once(memory, both(9))).toMatchObject({ counts: { settled: 2 } })
          expect(yield* held("A")).toEqual({ A: 9 })
        })),
    { arbitrary: { runs: 40 } }
  )
})
