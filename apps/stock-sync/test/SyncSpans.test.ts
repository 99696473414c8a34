/** The spans of the worker, by which an operator follows a snapshot, a request and the opening of a ledger. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { newFile } from "./support/ledger/newLedger.ts"
import { freshFile } from "./support/ledger/places.ts"
import { using } from "./support/ledger/using.ts"
import { anyStock, fault, once, simulated } from "./support/simulation.ts"
import { recordSpans } from "./support/spans.ts"

describe("the worker", () => {
  it.effect("has a span for each snapshot and each request, with the product and the outcome", () =>
    simulated({ A: 3, B: 0 }, (memory) =>
      Effect.gen(function*() {
        const { spans, tracer } = yield* recordSpans
        yield* fault({ kind: "status", when: "before", status: 500, path: anyStock, times: 1 })
        yield* Effect.withTracer(once(memory, { A: 3, B: 0 }), tracer)
        const named = (name: string) => spans.filter((span) => span.name === name).map(({ attributes }) => Object.fromEntries(attributes))
        expect(named("StockSync.applySnapshot")).toMatchObject([{ "stock_sync.rows": 2, "stock_sync.rows.changed": 2 }])
        expect(named("StockSync.dispatch")).toMatchObject([
          { "stock_sync.product.id": "B", "stock_sync.stock": 0, "stock_sync.attempt": 1, "stock_sync.outcome": "doubtful" },
          { "stock_sync.product.id": "A", "stock_sync.stock": 3, "stock_sync.priority": "rest", "stock_sync.outcome": "confirmed" },
          { "stock_sync.product.id": "B", "stock_sync.attempt": 2, "stock_sync.outcome": "confirmed" }
        ])
        const requests = spans.filter(({ name }) => name === "plaza.setStock")
        expect(requests.map(({ parent }) => parent._tag === "Some" && parent.value._tag === "Span" && parent.value.name))
          .toEqual(["StockSync.dispatch", "StockSync.dispatch", "StockSync.dispatch"])
      })))

  it.effect("has a span for the opening of a ledger, which names the database", () =>
    Effect.gen(function*() {
      const path = yield* freshFile
      const { spans, tracer } = yield* recordSpans
      yield* Effect.withTracer(using({ kind: newFile, name: path }, () => Effect.void), tracer)
      const opened = spans.filter(({ name }) => name === "StockSync.openLedger")
      expect(opened.map(({ attributes }) => attributes.get("db.system.name"))).toEqual(["sqlite"])
    }))
})
