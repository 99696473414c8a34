/**
 * Who may use a ledger, and beside whom, as laws over every kind of ledger.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, TestClock } from "effect"
import { hostname } from "node:os"
import { at, bad, collect, type Fresh, id, planOf, receive, row, settle, using } from "./using.js"

export const users = (fresh: Fresh): void => {
  const account = { baseUrl: "https://one.example/open/v1", id: "1001" }

  describe("who may use it", () => {
    it.effect("it belongs to the account of the first pass and to no other, nor to another service", () =>
      at(fresh, (place) =>
        Effect.gen(function*() {
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              expect(yield* ledger.account).toEqual(Option.none())
              yield* ledger.bind(account)
            }))
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              yield* ledger.bind(account)
              for (const other of [{ ...account, id: "1002" }, { ...account, baseUrl: "https://two.example/open/v1" }]) {
                const error = yield* Effect.flip(ledger.bind(other))
                expect(error).toMatchObject({ _tag: "OtherAccount", exitCode: 2 })
                expect(error.message).toContain("1001")
                expect(error.message).toContain("--ledger")
              }
            }))
        })))

    it.effect("a second user is turned away while the first works, told who that is, and let in afterwards", () =>
      at(fresh, (place) =>
        Effect.gen(function*() {
          yield* TestClock.setTime(1_700_000_000_000)
          yield* using(place, () =>
            Effect.gen(function*() {
              const second = yield* Effect.flip(using(place, () => Effect.void))
              expect(second).toMatchObject({ _tag: "LedgerInUse", exitCode: 2 })
              expect(second.message).toContain(`process ${process.pid} on ${hostname()}, since 2023-11-14T22:13:20.000Z`)
            }))
          yield* using(place, () => Effect.void)
        })))

    it.effect("looking at it is possible beside the one who works, and can't change it", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4))
            yield* using(place, (reader) =>
              Effect.gen(function*() {
                expect(yield* collect(reader.open)).toMatchObject([{ productId: "A", wanted: 4 }])
                expect(yield* Effect.flip(reader.begin(id("A")))).toMatchObject({ _tag: "LedgerFault" })
              }), "layerReader")
          }))))

    it.effect("a copy takes everything, beside the one who works, and leaves the ledger as it is", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4), row("B", 1), bad("C", "is odd", 7))
            yield* settle(ledger, "A")
            yield* using(place, (copy) =>
              Effect.gen(function*() {
                expect(yield* collect(copy.setAside)).toHaveLength(1)
                yield* receive(copy, row("A", 0), row("D", 1))
                expect(yield* planOf(copy)).toMatchObject([{ productId: "A", reason: "soldOut", from: 4 }, { productId: "D" }])
                yield* settle(copy, "D")
              }), "layerCopy")
            expect(yield* ledger.counts).toMatchObject({ settled: 1, pending: 1, setAside: 1 })
            expect(yield* planOf(ledger)).toMatchObject([{ productId: "B" }])
          }))))

    it.effect("there is nothing to look at before the first pass, but a copy begins empty and leaves nothing", () =>
      at(fresh, (place) =>
        Effect.gen(function*() {
          yield* using(place, (copy) =>
            Effect.gen(function*() {
              yield* receive(copy, row("C", 1))
              expect(yield* planOf(copy)).toMatchObject([{ productId: "C" }])
            }), "layerCopy")
          for (const how of ["layerReader", "layerBeside"] as const) {
            const missing = yield* Effect.flip(using(place, () => Effect.void, how))
            expect(missing).toMatchObject({ _tag: "LedgerFault", exitCode: 2 })
            expect(missing.message).toContain("does not exist yet")
          }
        })))
  })
}
