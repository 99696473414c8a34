/** What a ledger keeps of its source and its account for a report, in every database. */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { LedgerEvent } from "../../../src/ledger/Ledger.ts"
import { utc } from "../utc.ts"
import type { Kind } from "./kind.ts"
import { at, collect, failing, intake, policy, receive, row, settle, using } from "./using.ts"

const event = (kind: LedgerEvent["kind"], millis: number, code?: string): LedgerEvent => ({
  at: utc(millis),
  kind,
  code,
  detail: code === undefined ? undefined : "because",
  count: 0
})

const hundred = (stockOf: (index: number) => number) =>
  Array.from({ length: 100 }, (_, index) => row(`P${index}`, stockOf(index), index + 2))

export const events = (kind: Kind): void => {
  describe("the events of a ledger", () => {
    it.effect("are snapshots with changes and held ones, and nothing for a source that repeats itself", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const before = hundred(() => 5)
            yield* receive(ledger, ...before)
            yield* TestClock.setTime(1_000)
            yield* receive(ledger, ...before)
            const empty = intake(Stream.fromIterable(hundred((index) => index < 60 ? 0 : 5)))
            yield* Effect.flip(ledger.applySnapshot(empty, policy))
            yield* TestClock.setTime(2_000)
            yield* Effect.flip(ledger.applySnapshot(empty, policy))
            yield* receive(ledger, ...before)
            yield* receive(ledger, ...hundred((index) => index === 0 ? 4 : 5))
            expect((yield* ledger.events).map(({ at, count, kind }) => [kind, count, at])).toEqual([
              ["snapshotAccepted", 100, utc(0)],
              ["snapshotHeld", 2, utc(1_000)],
              ["snapshotAccepted", 0, utc(2_000)],
              ["snapshotAccepted", 1, utc(2_000)]
            ])
          }))))

    it.effect("are the beginnings and ends of failures, each once, also after a restart", () =>
      at(kind, (place) =>
        Effect.gen(function*() {
          const happened = [
            event("accountRunning", 0),
            event("sourceRead", 0),
            event("accountPaused", 1, "INVALID_API_KEY"),
            event("sourceFailed", 2, "SourceUnreachable"),
            event("accountPaused", 3, "INVALID_API_KEY"),
            event("accountPaused", 4, "STORE_BLOCKED"),
            event("sourceFailed", 5, "SourceUnreachable"),
            event("accountRunning", 6),
            event("sourceRead", 7),
            event("accountRunning", 8),
            event("sourceRead", 9)
          ]
          for (const each of happened) yield* using(place, (ledger) => ledger.record(each))
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              expect(yield* ledger.events).toEqual([2, 3, 5, 7, 8].map((index) => happened[index]))
            }))
        })))

    it.effect("are not what was announced to a person, which is one text that the next process finds", () =>
      at(kind, (place) =>
        Effect.gen(function*() {
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              expect(yield* ledger.notices).toEqual(Option.none())
              yield* ledger.setNotices("first")
              yield* ledger.setNotices("{\"of\":\"\\u0000 'Ä' \\\\\"}")
            }))
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              expect(yield* ledger.notices).toEqual(Option.some("{\"of\":\"\\u0000 'Ä' \\\\\"}"))
              expect(yield* ledger.events).toEqual([])
            }))
        })))

    it.effect("are kept for five weeks, and requests up to their limit: the ledger knows from when on it has all", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1))
            const paused = event("accountPaused", 1, "STORE_BLOCKED")
            yield* ledger.record(paused)
            expect(yield* ledger.kept).toEqual({ requests: undefined, events: undefined })
            const later = Duration.toMillis("36 days")
            yield* TestClock.setTime(later)
            yield* ledger.record(event("accountRunning", later))
            // The last one stays until another one comes.
            expect(yield* ledger.events).toEqual([paused, event("accountRunning", later)])
            for (let request = 1; request <= 4; request++) {
              yield* TestClock.adjust("1 second")
              yield* failing(ledger, "A", "pending")
            }
            expect(yield* ledger.kept).toEqual({ requests: utc(later + 2_000), events: utc(1) })
          }), "owner", { historyLimit: 3 })))

    it.effect("have, beside them, requests that know since when their product had waited", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* TestClock.setTime(1_000)
            yield* receive(ledger, row("A", 3))
            yield* settle(ledger, "A")
            yield* TestClock.setTime(5_000)
            yield* receive(ledger, row("A", 0))
            yield* TestClock.setTime(7_000)
            yield* failing(ledger, "A", "pending")
            yield* TestClock.setTime(9_000)
            yield* settle(ledger, "A")
            expect((yield* collect(ledger.history(Option.none()))).map(({ endedAt, reason, since }) => [reason, since, endedAt])).toEqual([
              ["soldOut", utc(5_000), utc(9_000)],
              ["soldOut", utc(5_000), utc(7_000)],
              ["rest", utc(1_000), utc(1_000)]
            ])
          }))))
  })
}
