/** Who may use a ledger, and beside whom, in every database. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Option, TestClock } from "effect"
import { hostname } from "node:os"
import type { Account } from "../../../src/ledger/Ledger.ts"
import { at, bad, collect, type Fresh, inDatabase, queueOf, receive, row, settle, take, using } from "./using.ts"

export const accounts = (fresh: Fresh): void => {
  const account: Account = { baseUrl: "https://one.example/open/v1", id: "1001", keyFingerprint: "k1" }

  describe("the account of a ledger", () => {
    it.effect("is that of the first start, also after it is opened again", () =>
      at(fresh, (place) =>
        Effect.gen(function*() {
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              expect(yield* ledger.account).toEqual(Option.none())
              yield* ledger.bind(account)
            }))
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              expect(yield* ledger.account).toEqual(Option.some(account))
              yield* ledger.bind(account)
              for (const other of [{ ...account, id: "1002" }, { ...account, baseUrl: "https://two.example/open/v1" }]) {
                const error = yield* Effect.flip(ledger.bind(other))
                expect(error).toMatchObject({ _tag: "OtherAccount" })
                expect(error.message).toContain("1001")
                expect(error.message).toContain("--ledger")
              }
            }))
        })))

    // Whether the ledger is bound at once, after `adopt`, or never.
    const matrix: ReadonlyArray<
      readonly [found: string | undefined, wanted: string | undefined, key: string, address: string, "bind" | "adopt" | "never"]
    > = [
      ["1", "1", "same", "same", "bind"],
      ["1", "1", "other", "same", "bind"],
      ["1", "1", "same", "other", "adopt"],
      ["1", "1", "other", "other", "adopt"],
      ["1", "2", "same", "same", "never"],
      ["1", "2", "other", "same", "never"],
      ["1", "2", "same", "other", "never"],
      ["1", "2", "other", "other", "never"],
      ["1", undefined, "same", "same", "bind"],
      ["1", undefined, "other", "same", "adopt"],
      ["1", undefined, "same", "other", "adopt"],
      ["1", undefined, "other", "other", "adopt"],
      [undefined, "1", "same", "same", "bind"],
      [undefined, "1", "other", "same", "adopt"],
      [undefined, "1", "same", "other", "adopt"],
      [undefined, "1", "other", "other", "adopt"],
      [undefined, undefined, "same", "same", "bind"],
      [undefined, undefined, "other", "same", "adopt"],
      [undefined, undefined, "same", "other", "adopt"],
      [undefined, undefined, "other", "other", "adopt"]
    ]
    it.effect("is compared by its id, its address and its key", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            for (const [found, wanted, key, address, expected] of matrix) {
              const label = `${found} ${wanted} ${key} ${address}`
              const before: Account = { baseUrl: "https://one.example", id: found, keyFingerprint: "k1" }
              const now: Account = {
                baseUrl: address === "same" ? "https://one.example" : "https://two.example",
                id: wanted,
                keyFingerprint: key === "same" ? "k1" : "k2"
              }
              yield* inDatabase(place, (sql) => sql`DELETE FROM account`)
              yield* ledger.bind(before)
              const bound = yield* Effect.either(ledger.bind(now))
              expect([label, Either.isRight(bound)]).toEqual([label, expected === "bind"])
              if (Either.isLeft(bound)) {
                expect([label, bound.left.message.includes("plaza-stock-sync adopt")]).toEqual([label, expected === "adopt"])
                expect([label, yield* ledger.account]).toEqual([label, Option.some(before)])
              }
              expect([label, Either.isRight(yield* Effect.either(ledger.adopt(now)))]).toEqual([label, expected !== "never"])
              // An id that is known stays known.
              const after = expected === "never" ? before : { ...now, id: now.id ?? before.id }
              expect([label, yield* ledger.account]).toEqual([label, Option.some(after)])
              yield* ledger.bind(after)
            }
          }))))
  })
}

export const users = (fresh: Fresh): void => {
  describe("who may use it", () => {
    it.effect("a second worker is rejected with the owner while the first works, and accepted afterwards", () =>
      at(fresh, (place) =>
        Effect.gen(function*() {
          yield* TestClock.setTime(1_700_000_000_000)
          yield* using(place, () =>
            Effect.gen(function*() {
              const second = yield* Effect.flip(using(place, () => Effect.void))
              expect(second).toMatchObject({ _tag: "LedgerInUse" })
              expect(second.message).toContain(`process ${process.pid} on ${hostname()}, since 2023-11-14T22:13:20.000Z`)
            }))
          yield* using(place, () => Effect.void)
        })))

    it.effect("a worker notices that another one took the ledger over", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* ledger.check
            yield* inDatabase(place, (sql) => sql`UPDATE lock_owner SET token = 'another'`)
            yield* TestClock.adjust("1 second")
            for (const _ of [1, 2]) {
              const error = yield* Effect.flip(ledger.check)
              expect(error).toMatchObject({ _tag: "LedgerFault" })
              expect(error.message).toContain("was taken over by another plaza-stock-sync")
            }
          }))))

    it.effect("a reader works beside the worker and can't write", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4))
            yield* using(place, (reader) =>
              Effect.gen(function*() {
                expect(yield* collect(reader.unsettled)).toMatchObject([{ productId: "A", wanted: 4 }])
                expect(yield* Effect.flip(take(reader))).toMatchObject({ _tag: "LedgerFault" })
              }), "layerReadOnly")
          }))))

    it.effect("a temporary copy accepts writes beside the worker, and leaves the ledger unchanged", () =>
      at(fresh, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4), row("B", 1), bad("C", "is odd", 7))
            yield* settle(ledger, "A")
            yield* using(place, (copy) =>
              Effect.gen(function*() {
                expect(yield* collect(copy.rowIssues)).toHaveLength(1)
                yield* receive(copy, row("A", 0), row("B", 1), row("D", 1))
                expect(yield* queueOf(copy)).toMatchObject([{ productId: "A", priority: "soldOut", from: 4 }, { productId: "B" }, {
                  productId: "D"
                }])
              }), "layerTemporaryCopy")
            expect(yield* ledger.counts).toMatchObject({ settled: 1, pending: 1, rejectedRows: 1 })
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "B" }])
          }))))

    it.effect("a reader fails before the first start; a temporary copy is empty and leaves no file", () =>
      at(fresh, (place) =>
        Effect.gen(function*() {
          yield* using(place, (copy) =>
            Effect.gen(function*() {
              yield* receive(copy, row("C", 1))
              expect(yield* queueOf(copy)).toMatchObject([{ productId: "C" }])
            }), "layerTemporaryCopy")
          for (const how of ["layerReadOnly", "layerWithoutLock"] as const) {
            const missing = yield* Effect.flip(using(place, () => Effect.void, how))
            expect(missing).toMatchObject({ _tag: "LedgerFault" })
            expect(missing.message).toContain("does not exist yet")
          }
        })))
  })
}
