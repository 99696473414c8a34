/** What a ledger hands out to be sent, and the outcome of a request, in every database. */
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Deferred, Duration, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { mismatchTag, states } from "../../../src/ledger/Entry.ts"
import type { Send } from "../../../src/ledger/Ledger.ts"
import * as StockPriority from "../../../src/ledger/StockPriority.ts"
import { utc } from "../utc.ts"
import type { Kind } from "./kind.ts"
import {
  at,
  bad,
  begin,
  collect,
  entryOf,
  fail,
  failing,
  id,
  options,
  queueOf,
  receive,
  receiveOn,
  receiveWithout,
  refusal,
  row,
  settle,
  stateOf,
  take,
  unguarded,
  using
} from "./using.ts"

const late = Duration.toMillis(options.lateWrites)

const orUndefined = <A>(value: Arbitrary.Arbitrary<A>) => Generate.weighted<A | undefined>([1, Arbitrary.Constant(undefined)], [4, value])

export const sends = (kind: Kind, runs: number): void => {
  describe("the outcome of a request", () => {
    it.effect("a request that a crash interrupted is doubtful at the next start, and is sent again", () =>
      at(kind, (place) =>
        Effect.gen(function*() {
          yield* using(place, (ledger) => Effect.andThen(receive(ledger, row("A", 1)), take(ledger)))
          yield* TestClock.setTime(5_000)
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              expect(yield* entryOf(ledger, "A")).toMatchObject({
                state: "doubtful",
                doubt: { lowest: 1, highest: 1, until: utc(5_000 + late) }
              })
              yield* receive(ledger, row("A", 1))
              expect(yield* queueOf(ledger)).toMatchObject([{ productId: "A", priority: "doubtful", to: 1 }])
              expect(yield* collect(ledger.history(Option.none()))).toMatchObject([{
                productId: "A",
                value: 1,
                outcome: "doubtful",
                code: "Interrupted"
              }])
              expect(yield* ledger.requests).toEqual([Duration.zero])
            }))
        })))

    it.effect("a doubt stays when another value is wanted, and when that value certainly did not arrive", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4))
            yield* settle(ledger, "A")
            yield* receive(ledger, row("A", 9))
            yield* failing(ledger, "A", "doubtful")
            yield* receive(ledger, row("A", 4))
            // The stock may be 9 by now, so that 4 is sent at once.
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "A", priority: "falling", to: 4 }])
            yield* fail(ledger, (yield* take(ledger)) as Send, "pending")
            expect(yield* collect(ledger.unsettled)).toMatchObject([
              { state: "doubtful", sent: 4, wanted: 4, confirmed: 4, doubt: { lowest: 9, highest: 9, until: utc(late) } }
            ])
            yield* settle(ledger, "A")
            // And once more when the request for 9 can no longer take effect.
            expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "doubtful", dueAt: utc(late) })
            expect(yield* take(ledger)).toBeUndefined()
            yield* TestClock.setTime(late)
            yield* settle(ledger, "A")
            expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "settled", doubt: undefined, dueAt: undefined })
          }))))

    it.effect("a confirmed stock that is wanted again before another one was sent waits until no earlier request can overwrite it", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 9))
            yield* failing(ledger, "A", "doubtful")
            yield* TestClock.setTime(1_000)
            yield* receive(ledger, row("A", 4))
            yield* settle(ledger, "A")
            yield* TestClock.setTime(2_000)
            yield* receive(ledger, row("A", 5))
            yield* receive(ledger, row("A", 4))
            expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "doubtful", dueAt: utc(late) })
            expect(yield* take(ledger)).toBeUndefined()
          }))))

    it.effect("a repeated value that is confirmed is settled at once", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 9))
            yield* failing(ledger, "A", "doubtful")
            expect(yield* take(ledger)).toMatchObject({ priority: "doubtful", attempts: 2 })
            yield* ledger.confirm({
              productId: id("A"),
              value: 9,
              priority: "doubtful",
              since: utc(0),
              attempts: 2,
              wasQuarantined: false,
              mismatches: 0,
              refusal: undefined
            })
            expect(yield* stateOf(ledger, "A")).toBe("settled")
            // Another value has to outlast the request for 9 all the same.
            yield* receive(ledger, row("A", 3))
            yield* settle(ledger, "A")
            expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "doubtful", dueAt: utc(late) })
          }))))

    it.effect("a refused product is quarantined with its reason until it is due, or another value is wanted", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4))
            yield* failing(ledger, "A", "quarantined", { retryIn: Duration.minutes(1) })
            yield* receive(ledger, row("A", 4))
            expect(yield* queueOf(ledger)).toEqual([])
            expect(yield* collect(ledger.unsettled)).toMatchObject([{
              state: "quarantined",
              refusal: refusal(4),
              attempts: 1,
              dueAt: utc(60_000)
            }])
            expect(yield* ledger.nextDue(Option.none())).toEqual(Option.none())
            yield* TestClock.setTime(59_999)
            expect(yield* take(ledger)).toBeUndefined()
            yield* TestClock.setTime(60_000)
            const again = yield* take(ledger)
            expect(again).toMatchObject({ value: 4, attempts: 2, wasQuarantined: true, refusal: refusal(4) })
            if (again !== undefined) yield* fail(ledger, again, "quarantined", { retryIn: Duration.minutes(2) })
            yield* receive(ledger, row("A", 5))
            expect(yield* take(ledger)).toMatchObject({ value: 5, attempts: 1, wasQuarantined: false, refusal: undefined })
          }))))

    it.effect("a product that a person resends is sent again, whatever the service confirmed or refused", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4), row("B", 2), row("C", 0), row("D", 1))
            yield* settle(ledger, "A")
            yield* failing(ledger, "B", "quarantined", { retryIn: Duration.minutes(1) })
            yield* settle(ledger, "C")
            expect(yield* ledger.resend(["A", "B", "C", "NOPE"])).toHaveLength(3)
            // C is sold out, and D has waited longer than A and B.
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "C" }, { productId: "A" }, { productId: "B" }, { productId: "D" }])
            const sent = yield* take(ledger)
            expect(sent).toMatchObject({ productId: "C", value: 0 })
            expect(yield* ledger.resend(["C"])).toEqual([])
            if (sent !== undefined) yield* ledger.confirm(sent)
            expect(yield* ledger.product("C")).toMatchObject({ value: { state: "settled", confirmed: 0 } })
            expect(yield* ledger.counts).toMatchObject({ settled: 1, pending: 3, quarantined: 0 })
          }))))

    it.effect("the status of a product says how many are sent before it", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4), row("B", 0), row("C", 1))
            const aheadOf = (id: string) => Effect.map(ledger.product(id), Option.map(({ ahead }) => ahead))
            expect(yield* ledger.product("NOPE")).toEqual(Option.none())
            expect(yield* aheadOf("B")).toEqual(Option.some(0))
            expect(yield* aheadOf("A")).toEqual(Option.some(1))
            expect(yield* aheadOf("C")).toEqual(Option.some(2))
            yield* settle(ledger, "B")
            expect(yield* aheadOf("B")).toEqual(Option.some(undefined))
            expect(yield* aheadOf("C")).toEqual(Option.some(1))
            expect(yield* ledger.product("A")).toMatchObject({ value: { listing: "named", wanted: 4, state: "pending" } })
          }))))

    it.effect("a refusal holds for the refused value, not for one that is wanted since", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4), row("B", 4))
            for (const each of ["A", "B"]) {
              const taken = yield* begin(ledger, each)
              yield* receive(ledger, row("A", 5), row("B", each === "B" ? 5 : 4))
              yield* fail(ledger, taken, "quarantined", each === "B" ? { observed: "absent" } : {})
              expect(yield* entryOf(ledger, each)).toMatchObject({ state: "pending", wanted: 5, dueAt: undefined })
            }
          }))))

    it.effect("a product that does not exist at the service has no late writes", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4))
            yield* failing(ledger, "A", "doubtful")
            const taken = yield* begin(ledger, "A")
            yield* receive(ledger, row("A", 5))
            yield* fail(ledger, taken, "quarantined", { observed: "absent" })
            expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "pending", wanted: 5, doubt: undefined })
          }))))

    it.effect("a product that does not exist at the service is sent even if its earlier confirmed value is wanted again", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4))
            yield* settle(ledger, "A")
            yield* receive(ledger, row("A", 5))
            yield* failing(ledger, "A", "quarantined", { observed: "absent" })
            yield* receive(ledger, row("A", 4))
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "A", priority: "rest", from: undefined, to: 4 }])
          }))))

    it.effect("a confirmation has its time of the wall clock", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4))
            yield* TestClock.setTime(1_700_000_000_000)
            yield* settle(ledger, "A")
            yield* receive(ledger, row("A", 5))
            expect(yield* collect(ledger.unsettled)).toMatchObject([{ confirmed: 4, confirmedAt: utc(1_700_000_000_000) }])
          }))))

    it.effect("a doubt outlives a refusal: the value at the service is not assumed to be the confirmed one", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const doubted = Effect.gen(function*() {
              yield* receiveOn(ledger, unguarded, row("A", 4))
              yield* settle(ledger, "A")
              yield* receiveOn(ledger, unguarded, row("A", 9))
              yield* failing(ledger, "A", "doubtful")
              yield* receiveOn(ledger, unguarded, row("A", 77))
              yield* failing(ledger, "A", "quarantined", { retryIn: Duration.hours(1) })
            })
            yield* doubted
            yield* receive(ledger, row("A", 4))
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "A", priority: "falling", to: 4 }])
            yield* settle(ledger, "A")
            yield* doubted
            expect(yield* collect(ledger.quarantined)).toMatchObject([{ productId: "A", state: "quarantined", refusal: refusal(77) }])
            yield* ledger.release(Option.none())
            expect(yield* collect(ledger.quarantined)).toEqual([])
            expect(yield* collect(ledger.unsettled)).toMatchObject([{ state: "doubtful", doubt: { lowest: 9, highest: 9 }, wanted: 77 }])
          }))))

    it.effect("a response with another stock confirms neither the sent nor the shown one, and the next different stock is sent", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 0))
            yield* settle(ledger, "A")
            for (
              const { shown, wanted } of [{ wanted: 5, shown: 0 }, { wanted: 4, shown: 7 }, { wanted: 3, shown: 2.5 }, {
                wanted: 2,
                shown: 1e300
              }]
            ) {
              yield* receive(ledger, row("A", wanted))
              yield* failing(ledger, "A", "uncertain", { observed: shown, retryIn: undefined })
              expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "uncertain", confirmed: undefined, dueAt: undefined, wanted })
              expect(yield* ledger.counts).toMatchObject({ uncertain: 1, pending: 0, settled: 0 })
              expect(yield* collect(ledger.uncertain)).toHaveLength(1)
              // While the same stock is wanted, nothing is sent.
              yield* receive(ledger, row("A", wanted))
              expect(yield* take(ledger)).toBeUndefined()
            }
            yield* receive(ledger, row("A", 0))
            expect(yield* take(ledger)).toMatchObject({ value: 0, priority: "soldOut", mismatches: 0 })
          }))))

    it.effect("an uncertain product is sent again when it is due, or when it is named in a release, until a response shows its stock", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* TestClock.setTime(1_000)
            yield* receive(ledger, row("A", 4))
            const again = { observed: 9, retryIn: Duration.seconds(2), refusal: { ...refusal(4), tag: mismatchTag } }
            yield* failing(ledger, "A", "uncertain", again)
            expect(yield* collect(ledger.uncertain)).toMatchObject([{ productId: "A", dueAt: utc(3_000) }])
            expect(yield* ledger.nextDue(Option.none())).toEqual(Option.some(utc(3_000)))
            expect(yield* take(ledger)).toBeUndefined()
            yield* TestClock.setTime(3_000)
            const second = yield* take(ledger)
            expect(second).toMatchObject({ productId: "A", value: 4, priority: "falling", attempts: 2, mismatches: 1 })
            if (second !== undefined) yield* fail(ledger, second, "uncertain", { ...again, retryIn: undefined })
            expect(yield* ledger.release(Option.none())).toEqual([])
            expect(yield* ledger.release(Option.some(["A"]))).toEqual(["A"])
            const third = yield* take(ledger)
            expect(third).toMatchObject({ productId: "A", attempts: 1, mismatches: 0 })
            if (third !== undefined) yield* ledger.confirm(third)
            expect(yield* entryOf(ledger, "A")).toMatchObject({ state: "settled", confirmed: 4, doubt: undefined })
          }))))

    it.effect("a refusal by a proxy leaves the product uncertain: the earlier stock is no longer taken for that of the store", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 0))
            yield* settle(ledger, "A")
            yield* receive(ledger, row("A", 5))
            yield* failing(ledger, "A", "uncertain", { retryIn: Duration.hours(1) })
            expect(yield* collect(ledger.uncertain)).toMatchObject([{ productId: "A", doubt: { lowest: 5, highest: 5 } }])
            // Nothing waits for the hour to end.
            expect(yield* ledger.nextDue(Option.none())).toEqual(Option.none())
            yield* receive(ledger, row("A", 0))
            expect(yield* take(ledger)).toMatchObject({ value: 0, priority: "soldOut" })
          }))))

    it.effect("texts that no database can store do not stop the ledger", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 4))
            const odd = "no\0 \uD800"
            yield* failing(ledger, "A", "pending", { refusal: { tag: "UnrecognizedError", code: odd, message: odd, value: 4 } })
            expect((yield* entryOf(ledger, "A"))?.refusal).toEqual({
              tag: "UnrecognizedError",
              code: "no\uFFFD \uFFFD",
              message: "no\uFFFD \uFFFD",
              value: 4
            })
            expect(yield* collect(ledger.history(Option.none()))).toMatchObject([{ code: "no\uFFFD \uFFFD", message: "no\uFFFD \uFFFD" }])
            expect(yield* ledger.observe([{ productId: id(odd), stock: 1 }], utc(1), true)).toBe(0)
            expect(yield* ledger.release(Option.some([odd]))).toEqual([])
          }))))

    it.effect("a product is delayed after a failure, and due at once when the service works again", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const rest = [row("A", 4), row("B", 5), row("C", 6)]
            yield* receive(ledger, ...rest, row("D", 7), row("E", 4))
            yield* settle(ledger, "E")
            yield* receive(ledger, ...rest, row("D", 7), row("E", 9))
            yield* failing(ledger, "E", "doubtful")
            yield* receive(ledger, ...rest, row("D", 7), row("E", 4))
            yield* failing(ledger, "E", "pending", { retryIn: Duration.minutes(1) })
            yield* failing(ledger, "A", "pending", { retryIn: Duration.millis(1_500.5) })
            yield* failing(ledger, "B", "quarantined", { retryIn: Duration.minutes(1) })
            yield* failing(ledger, "C", "doubtful", { retryIn: Duration.minutes(1) })
            yield* failing(ledger, "D", "doubtful")
            yield* receive(ledger, ...rest, row("D", 8), row("E", 4))
            yield* settle(ledger, "D")
            expect(yield* ledger.nextDue(Option.none())).toEqual(Option.some(utc(1_501)))
            expect(yield* ledger.nextDue(Option.some(1))).toEqual(Option.some(utc(late)))
            expect(yield* take(ledger)).toBeUndefined()
            yield* ledger.retryNow
            // Not the one that waits for an earlier request.
            expect(yield* take(ledger)).toMatchObject({ productId: "E" })
            expect(yield* take(ledger)).toMatchObject({ productId: "A" })
            expect(yield* take(ledger)).toMatchObject({ productId: "C" })
            expect(yield* take(ledger)).toBeUndefined()
            expect(yield* ledger.nextDue(Option.none())).toEqual(Option.some(utc(late)))
          }))))
  })

  describe("the product that is taken", () => {
    // Every combination of what is confirmed, what may arrive, and what is wanted now.
    const stocks = [0, 2, 5]
    const ways = [undefined, ...stocks].flatMap((confirmed) =>
      [undefined, ...stocks].flatMap((doubted) => stocks.map((wanted) => ({ confirmed, doubted, wanted })))
    )

    it.effect("has the order of the StockPriority.priorities, whatever the ledger holds; settled products only on request, the oldest first", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const named = ways.map((way, index) => ({ ...way, name: `P${String(index).padStart(2, "0")}` }))
            const rows = (of: (way: (typeof named)[number]) => number | undefined) =>
              named.flatMap((way) => Option.toArray(Option.map(Option.fromUndefinedOr(of(way)), (stock) => row(way.name, stock))))
            yield* receive(ledger, ...rows((way) => way.confirmed))
            for (let next = yield* take(ledger); next !== undefined; next = yield* take(ledger)) yield* ledger.confirm(next)
            yield* receiveOn(ledger, unguarded, ...rows((way) => way.doubted))
            // What is confirmed already is not sent, so it has no doubt either.
            const doubted = yield* queueOf(ledger)
            for (const each of doubted) yield* failing(ledger, each.productId, "doubtful")
            yield* TestClock.setTime(1_000)
            yield* receiveOn(ledger, unguarded, ...rows((way) => way.wanted))

            const expected = named.flatMap(({ confirmed, doubted, name, wanted }) => {
              const doubt = doubted === undefined || doubted === confirmed ? undefined : { lowest: doubted, highest: doubted }
              return confirmed === wanted && doubt === undefined ? [] : [[name, StockPriority.of({ wanted, confirmed, doubt })] as const]
            })
            const backlog = yield* ledger.backlog
            const queue = yield* queueOf(ledger)
            const taken: Array<Send> = []
            for (let next = yield* take(ledger); next !== undefined; next = yield* take(ledger)) taken.push(next)
            expect(new Map(taken.map((each) => [each.productId, each.priority]))).toEqual(new Map(expected))
            // Of those that are sold out, the ones whose last request has a known outcome come first.
            const unknown = new Set<string>(doubted.map((each) => each.productId))
            const isLater = (each: (typeof queue)[number]) => Number(each.priority === "soldOut" && unknown.has(each.productId))
            const rank = (each: (typeof queue)[number]) => StockPriority.priorities.indexOf(each.priority)
            const sorted = queue.toSorted((one, other) => rank(one) - rank(other) || isLater(one) - isLater(other))
            expect(taken.map((each) => [each.productId, each.value])).toEqual(sorted.map((each) => [each.productId, each.to]))
            const order = taken.map((each) => StockPriority.priorities.indexOf(each.priority))
            expect(order).toEqual([...order].sort((a, b) => a - b))
            for (const each of taken) expect(each.value).toBe(named.find(({ name }) => name === each.productId)?.wanted)
            expect(Object.entries(backlog.waiting)).toEqual(
              StockPriority.priorities.slice(0, 5).map((priority) => [priority, taken.filter((each) => each.priority === priority).length])
            )
            expect(yield* ledger.backlog).toMatchObject({ sending: taken.length, oldest: Option.none(), waiting: { soldOut: 0, rest: 0 } })
            const settled = named.length - taken.length
            expect(settled).toBeGreaterThan(0)
            let asserted = 0
            while ((yield* take(ledger, 2_000))?.priority === "assertion") asserted++
            expect(asserted).toBe(settled)
          }))))

    const stock = Generate.oneOf(Generate.elementOf([0, 1, 2, Number.MAX_SAFE_INTEGER]), Generate.between(0, 4))
    const product = Arbitrary.all({
      wanted: stock,
      confirmed: orUndefined(stock),
      doubt: orUndefined(
        Arbitrary.map(Arbitrary.all([stock, stock]), ([a, b]) => ({ lowest: Math.min(a, b), highest: Math.max(a, b) }))
      ),
      state: Generate.anyOf(states),
      listing: Generate.anyOf(["named", "zeroed", "missing", "excluded"]),
      dueAt: orUndefined(Arbitrary.Constant(9))
    })

    it.effect.prop("has the priority of `StockPriority` in the database as well", [
      Generate.arrayOf(product, { minLength: 1, maxLength: 60 })
    ], ([products]) =>
      at(kind, (place) =>
        Effect.gen(function*() {
          yield* using(place, () => Effect.void)
          const priorityOf = (each: (typeof products)[number]) => {
            if (each.state === "sending" || each.listing === "excluded") return null
            if (each.state === "settled" || (each.state === "uncertain" && each.dueAt === undefined))
              return each.listing === "named" || each.listing === "zeroed"
                ? StockPriority.priorities.indexOf("assertion")
                : null
            return StockPriority.priorities.indexOf(
              StockPriority.of({ wanted: each.wanted, confirmed: each.confirmed, doubt: each.doubt })
            )
          }
          const stored = products.map((each, index) => ({ ...each, id: `P${index}` }))
          expect(yield* kind.whiteBox.prioritiesOf(place.name, stored))
            .toEqual(new Map(stored.map((each) => [each.id, priorityOf(each)])))
        })), { arbitrary: { runs } })

    it.effect("of one priority is the one that waits longest, never one that is sent or delayed, with its current value", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("B", 1))
            yield* TestClock.setTime(1_000)
            yield* receive(ledger, row("B", 1), row("A", 1), row("C", 1))
            yield* TestClock.setTime(2_000)
            yield* receive(ledger, row("B", 7), row("A", 1), row("C", 1))
            expect(yield* ledger.backlog).toMatchObject({
              oldest: Option.some({ productId: "B", since: utc(0) }),
              longest: { soldOut: undefined, rest: utc(0) }
            })
            const taken = yield* take(ledger)
            expect(taken).toEqual({
              productId: "B",
              value: 7,
              priority: "rest",
              since: utc(0),
              attempts: 1,
              wasQuarantined: false,
              mismatches: 0,
              refusal: undefined
            })
            yield* failing(ledger, "A", "pending", { retryIn: Duration.seconds(9) })
            expect(yield* ledger.backlog).toMatchObject({
              oldest: Option.some({ productId: "C", since: utc(1_000) }),
              waiting: { rest: 2 },
              sending: 1
            })
            expect(yield* take(ledger)).toMatchObject({ productId: "C" })
            expect(yield* take(ledger)).toBeUndefined()
            yield* receive(ledger, row("B", 0), row("A", 1), row("C", 1))
            if (taken !== undefined) yield* ledger.confirm(taken)
            expect(yield* take(ledger)).toMatchObject({ productId: "B", value: 0, priority: "soldOut", since: utc(2_000) })
            yield* TestClock.setTime(11_000)
            expect(yield* take(ledger)).toMatchObject({ productId: "A", attempts: 2, refusal: refusal(1) })
          }))))

    it.effect("for the reserved request is sold out: first one of which no request has an unknown outcome", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 0), row("B", 0), row("C", 5))
            yield* failing(ledger, "A", "doubtful")
            const next = (outcomes: "any" | "known") =>
              Effect.map(ledger.take({ _tag: "SoldOut", outcomes }), (taken) => Option.getOrUndefined(taken)?.productId)
            expect(yield* next("known")).toBe("B")
            expect(yield* next("known")).toBeUndefined()
            expect(yield* next("any")).toBe("A")
            expect(yield* next("any")).toBeUndefined()
          }))))

    it.effect("is the oldest confirmation if nothing is due, and only one from before the given time", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3))
            for (const [index, each] of ["B", "C", "A"].entries()) {
              yield* TestClock.setTime(1_000 * (index + 1))
              yield* settle(ledger, each)
            }
            expect((yield* ledger.backlog).oldestConfirmation).toEqual(Option.some(utc(1_000)))
            expect(yield* take(ledger)).toBeUndefined()
            expect(yield* take(ledger, 1_000)).toBeUndefined()
            const asserted = yield* take(ledger, 2_500)
            expect(asserted).toMatchObject({ productId: "B", value: 2, priority: "assertion", since: utc(1_000), attempts: 1 })
            expect(yield* take(ledger, 2_500)).toMatchObject({ productId: "C" })
            if (asserted !== undefined) yield* ledger.confirm(asserted)
            expect(yield* take(ledger, 2_500)).toBeUndefined()
            expect(yield* stateOf(ledger, "B")).toBe("settled")
          }))))

    it.effect("for a half-open breaker is any unsettled product, due or not, except those that were tried", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const trial = (...except: ReadonlyArray<string>) =>
              Effect.map(ledger.take({ _tag: "HalfOpen", except: except.map(id) }), (taken) => Option.getOrUndefined(taken)?.productId)
            yield* receive(ledger, row("A", 0), row("B", 2), row("C", 3), row("D", 3), row("E", 3))
            yield* failing(ledger, "A", "pending", { retryIn: Duration.minutes(2) })
            yield* failing(ledger, "B", "pending", { retryIn: Duration.minutes(1) })
            yield* failing(ledger, "D", "quarantined", { retryIn: Duration.minutes(1) })
            yield* settle(ledger, "E")
            expect(yield* trial()).toBe("C")
            expect(yield* trial("A")).toBe("B")
            expect(yield* trial()).toBe("A")
            expect(yield* trial()).toBeUndefined()
          }))))

    it.effect("for a half-open breaker is no quarantined product, and first one whose wanted stock has not failed, from either end", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            const trial = (from: "first" | "last") =>
              Effect.map(ledger.take({ _tag: "HalfOpen", except: [], from }), (taken) => Option.getOrUndefined(taken)?.productId)
            yield* receive(ledger, row("A", 0), row("B", 0), row("C", 3), row("D", 3), row("E", 3))
            yield* failing(ledger, "A", "quarantined")
            yield* failing(ledger, "B", "pending")
            expect(yield* trial("last")).toBe("E")
            expect(yield* trial("first")).toBe("C")
            expect(yield* trial("first")).toBe("D")
            expect(yield* trial("last")).toBe("B")
            expect(yield* trial("first")).toBeUndefined()
          }))))

    it.effect("is no excluded product; it is sent again once it is no longer excluded, whether the source names it or not", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3))
            yield* settle(ledger, "C")
            expect(yield* receiveWithout(ledger, ["A", "C", "X"], row("B", 2), bad("A", "stock is empty"))).toMatchObject({
              rows: 1,
              rejected: 0,
              changed: 0,
              figures: { missing: 0 }
            })
            expect(yield* queueOf(ledger)).toMatchObject([{ productId: "B" }])
            yield* settle(ledger, "B")
            expect(yield* take(ledger, 1_000)).toMatchObject({ productId: "B" })
            expect(yield* take(ledger, 1_000)).toBeUndefined()
            expect(yield* ledger.nextDue(Option.none())).toEqual(Option.none())
            expect(yield* ledger.counts).toMatchObject({ missing: 0 })
            yield* receive(ledger, row("C", 3), row("B", 2))
            expect(yield* take(ledger)).toMatchObject({ productId: "A", value: 1 })
          }))))

    it.effect("is no excluded product, whatever its state was, so it counts as neither waiting nor refused", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3), row("D", 4), row("E", 5), row("F", 6))
            yield* settle(ledger, "B")
            yield* failing(ledger, "C", "doubtful")
            yield* failing(ledger, "D", "quarantined")
            yield* failing(ledger, "E", "uncertain")
            yield* begin(ledger, "F")
            const before = yield* ledger.counts
            expect(before).toMatchObject({ settled: 1, pending: 1, sending: 1, quarantined: 1 })
            expect(before.doubtful + before.uncertain).toBe(2)
            yield* receiveWithout(ledger, ["A", "B", "C", "D", "E", "F"], row("G", 1))
            yield* settle(ledger, "G")
            expect(yield* ledger.counts).toMatchObject({ settled: 2, pending: 0, sending: 1, doubtful: 0, quarantined: 0, uncertain: 0 })
            const lists = [yield* collect(ledger.unsettled), yield* collect(ledger.quarantined), yield* collect(ledger.uncertain)]
            expect(lists.map((each) => each.map(({ productId }) => productId))).toEqual([["F"], [], []])
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3), row("D", 4), row("E", 5), row("F", 6), row("G", 1))
            expect(yield* ledger.counts).toEqual({ ...before, settled: 2 })
          }))))
  })

  describe("the queue", () => {
    it.effect("has due products by priority, then delayed ones by their time", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 0), row("B", 2), row("C", 3), row("D", 0), row("E", 5))
            yield* failing(ledger, "D", "pending", { retryIn: Duration.minutes(2) })
            yield* failing(ledger, "B", "pending", { retryIn: Duration.minutes(1) })
            yield* failing(ledger, "E", "quarantined", { retryIn: Duration.minutes(1) })
            expect((yield* queueOf(ledger)).map(({ priority, productId }) => [productId, priority])).toEqual([
              ["A", "soldOut"],
              ["C", "rest"],
              ["B", "rest"],
              ["D", "soldOut"]
            ])
            expect(yield* ledger.backlog).toMatchObject({
              waiting: { soldOut: 2, rest: 2 },
              oldest: Option.some({ productId: "A", since: utc(0) })
            })
          }))))
  })

  describe("a wall clock that is set", () => {
    it.effect("back moves times in the future to now", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* TestClock.setTime(5_000)
            yield* receive(ledger, row("A", 1), row("B", 1), row("C", 1))
            yield* settle(ledger, "A")
            yield* TestClock.setTime(900_000)
            yield* settle(ledger, "B")
            yield* receive(ledger, row("A", 1), row("B", 1), row("C", 2))
            yield* TestClock.setTime(100_000)
            yield* ledger.clockChanged(-800_000)
            expect(yield* take(ledger)).toMatchObject({ productId: "C", since: utc(5_000) })
            yield* TestClock.setTime(200_000)
            expect(yield* take(ledger, 200_000)).toMatchObject({ productId: "A", since: utc(5_000) })
            expect(yield* take(ledger, 200_000)).toMatchObject({ productId: "B", since: utc(100_000) })
          }))))

    for (const [way, jump] of [["back", -3_600_000], ["forward", 3_600_000]] as const) {
      it.effect(`${way} shifts delays, late writes and the requests of the window`, () =>
        at(kind, (place) =>
          using(place, (ledger) =>
            Effect.gen(function*() {
              yield* TestClock.setTime(10_000_000)
              yield* receive(ledger, row("A", 1), row("B", 2))
              yield* failing(ledger, "A", "pending", { retryIn: Duration.seconds(30) })
              yield* failing(ledger, "B", "doubtful")
              yield* receive(ledger, row("A", 1), row("B", 3))
              yield* settle(ledger, "B")
              const now = 10_000_000 + jump
              yield* TestClock.setTime(now)
              yield* ledger.clockChanged(jump)
              expect(yield* ledger.nextDue(Option.none())).toEqual(Option.some(utc(now + 30_000)))
              expect(yield* entryOf(ledger, "B")).toMatchObject({ dueAt: utc(now + late), doubt: { until: utc(now + late) } })
              expect(yield* ledger.requests).toEqual([Duration.zero, Duration.zero, Duration.zero])
              yield* TestClock.setTime(now + late)
              yield* settle(ledger, "B")
              expect(yield* stateOf(ledger, "B")).toBe("settled")
            }))))
    }

    it.effect("back while no worker runs leaves no delay longer than it was", () =>
      at(kind, (place) =>
        Effect.gen(function*() {
          yield* TestClock.setTime(1_000_000_000)
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3))
              yield* failing(ledger, "A", "pending", { retryIn: Duration.seconds(30) })
              yield* failing(ledger, "B", "quarantined", { retryIn: Duration.hours(6) })
              yield* failing(ledger, "C", "doubtful")
              yield* receive(ledger, row("A", 1), row("B", 2), row("C", 4))
              yield* settle(ledger, "C")
            }))
          yield* TestClock.setTime(5_000)
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              yield* ledger.clockChanged(0)
              expect(yield* entryOf(ledger, "A")).toMatchObject({ dueAt: utc(35_000) })
              expect(yield* entryOf(ledger, "B")).toMatchObject({ dueAt: utc(5_000 + 6 * 3_600_000) })
              expect(yield* entryOf(ledger, "C")).toMatchObject({ dueAt: utc(5_000 + late), doubt: { until: utc(5_000 + late) } })
              // How long ago they were is not known.
              expect(yield* ledger.requests).toHaveLength(4)
            }))
        })))
  })

  describe("requests of the rate window", () => {
    it.effect("are those of products and others, as long as they count", () =>
      at(kind, (place) =>
        Effect.gen(function*() {
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              yield* receive(ledger, row("A", 1), row("B", 2))
              yield* settle(ledger, "A")
              yield* TestClock.setTime(20_000)
              yield* ledger.countRequest(Effect.void)
              yield* failing(ledger, "B", "pending")
              expect((yield* ledger.requests).map(Duration.toMillis)).toEqual([20_000, 0, 0])
            }))
          yield* TestClock.setTime(70_000)
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              expect((yield* ledger.requests).map(Duration.toMillis)).toEqual([50_000, 50_000])
              yield* ledger.countRequest(Effect.void)
              expect((yield* ledger.requests).map(Duration.toMillis)).toEqual([50_000, 50_000, 0])
            }))
          expect(yield* kind.whiteBox.storedRequests(place.name)).toBe(3)
        })))

    it.effect("are also those in flight, from before they are sent until a window after the process has ended", () =>
      at(kind, (place) =>
        Effect.gen(function*() {
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              const ages = Effect.map(ledger.requests, (all) => all.map(Duration.toMillis))
              const sent = yield* Deferred.make<void>()
              const slow = yield* Effect.forkChild(ledger.countRequest(Effect.andThen(Deferred.succeed(sent, undefined), Effect.never)))
              yield* Deferred.await(sent)
              yield* TestClock.adjust("2 minutes")
              expect(yield* ages).toEqual([0])
              expect(yield* ledger.countRequest(ages)).toEqual([0, 0])
              yield* ledger.clockChanged(5_000)
              yield* TestClock.adjust("10 seconds")
              expect(yield* ages).toEqual([10_000, 0])
              yield* Fiber.interrupt(slow)
              yield* TestClock.adjust("10 seconds")
              expect(yield* ages).toEqual([20_000, 10_000])
            }))
          yield* kind.whiteBox.killDuringLastRequest(place.name)
          yield* TestClock.adjust("5 seconds")
          yield* using(place, (ledger) =>
            Effect.gen(function*() {
              yield* TestClock.adjust("5 seconds")
              expect((yield* ledger.requests).map(Duration.toMillis)).toEqual([30_000, 5_000])
            }))
        })))
  })

  describe("the history", () => {
    it.effect("has each request with its outcome, the latest first, of one product on request, and ends at its limit", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 0))
            yield* TestClock.setTime(1_000)
            const taken = yield* begin(ledger, "A")
            yield* TestClock.setTime(2_000)
            yield* ledger.confirm(taken)
            yield* failing(ledger, "B", "quarantined")
            expect(yield* collect(ledger.history(Option.none()))).toEqual([
              {
                productId: "B",
                value: 0,
                reason: "soldOut",
                since: utc(0),
                sentAt: utc(2_000),
                endedAt: utc(2_000),
                outcome: "quarantined",
                code: "NOT_FOUND",
                message: "no such product"
              },
              {
                productId: "A",
                value: 1,
                reason: "rest",
                since: utc(0),
                sentAt: utc(1_000),
                endedAt: utc(2_000),
                outcome: "confirmed",
                code: undefined,
                message: undefined
              }
            ])
            expect((yield* collect(ledger.history(Option.some("A")))).map((each) => each.productId)).toEqual(["A"])
            yield* ledger.release(Option.none())
            for (const outcome of ["doubtful", "pending", "doubtful", "pending"] as const) yield* failing(ledger, "B", outcome)
            expect((yield* collect(ledger.history(Option.none()))).map((each) => each.outcome)).toEqual([
              "pending",
              "doubtful",
              "pending",
              "doubtful",
              "quarantined"
            ])
            expect(yield* collect(ledger.history(Option.some("A")))).toEqual([])
          }), "owner", { historyLimit: 5 })))
  })

  describe("a list of the store", () => {
    const observed = [["A", 1], ["B", 7], ["C", 3], ["OTHERS", 4]] as const
    const seen = observed.map(([each, stock]) => ({ productId: id(each), stock }))

    it.effect("has differing products sent again on request, and confirms equal ones", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 0))
            for (const each of ["A", "B", "C"]) yield* settle(ledger, each)
            yield* TestClock.setTime(9_000)
            expect(yield* ledger.observe(seen, utc(8_000), false)).toBe(2)
            expect(yield* take(ledger)).toBeUndefined()
            expect(yield* ledger.observe(seen, utc(8_000), true)).toBe(2)
            expect(yield* take(ledger)).toMatchObject({ productId: "C", value: 0, priority: "soldOut", since: utc(9_000) })
            expect(yield* take(ledger)).toMatchObject({ productId: "B", value: 2, priority: "falling", since: utc(9_000) })
            expect(yield* take(ledger)).toBeUndefined()
            expect((yield* ledger.backlog).oldestConfirmation).toEqual(Option.some(utc(8_000)))
          }))))

    it.effect("is ignored for products that were sent, refused, changed or missing since its reading started", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3), row("D", 4), row("E", 5))
            for (const each of ["A", "B", "C", "D", "E"]) yield* settle(ledger, each)
            yield* TestClock.setTime(5_000)
            const asserted = yield* take(ledger, 1_000)
            if (asserted !== undefined) yield* ledger.confirm(asserted)
            expect(asserted).toMatchObject({ productId: "A" })
            yield* receive(ledger, row("A", 1), row("B", 9), row("C", 5), row("D", 5))
            yield* begin(ledger, "C")
            yield* failing(ledger, "D", "doubtful")
            const before = yield* collect(ledger.unsettled)
            expect(yield* ledger.observe(["A", "B", "C", "D", "E"].map((each) => ({ productId: id(each), stock: 50 })), utc(4_000), true))
              .toBe(
                0
              )
            expect(yield* collect(ledger.unsettled)).toEqual(before)
            expect(yield* stateOf(ledger, "A")).toBe("settled")
          }))))

    it.effect("confirms none of its numbers: they may be out of date", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 5))
            yield* settle(ledger, "A")
            yield* TestClock.setTime(9_000)
            expect(yield* ledger.observe([{ productId: id("A"), stock: 0 }], utc(8_000), true)).toBe(1)
            yield* receive(ledger, row("A", 0))
            expect(yield* take(ledger)).toMatchObject({ productId: "A", value: 0, priority: "soldOut" })
          }))))

    it.effect("has uncertain products sent again on request, and does not confirm them", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 5), row("B", 5))
            for (const each of ["A", "B"]) yield* failing(ledger, each, "uncertain", { observed: 3, retryIn: undefined })
            yield* TestClock.setTime(9_000)
            const list = [{ productId: id("A"), stock: 5 }, { productId: id("B"), stock: 3 }]
            expect(yield* ledger.observe(list, utc(8_000), true)).toBe(0)
            expect(yield* stateOf(ledger, "A")).toBe("uncertain")
            expect(yield* take(ledger)).toMatchObject({ productId: "B", value: 5 })
            expect(yield* take(ledger)).toBeUndefined()
          }))))

    it.effect("may contain numbers that are no stock", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 2))
            for (const each of ["A", "B"]) yield* settle(ledger, each)
            yield* TestClock.setTime(9_000)
            expect(yield* ledger.observe([{ productId: id("A"), stock: 0.5 }, { productId: id("B"), stock: 1e300 }], utc(8_000), true))
              .toBe(2)
            expect(yield* queueOf(ledger)).toEqual([
              { productId: "B", priority: "falling", from: undefined, to: 2 },
              { productId: "A", priority: "backInStock", from: undefined, to: 1 }
            ])
          }))))
  })

  describe("a release", () => {
    it.effect("has quarantined products sent again, all or those with these ids, and returns them", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1), row("B", 1), row("C", 1), row("D", 1))
            for (const each of ["A", "B", "C"]) yield* failing(ledger, each, "quarantined", { retryIn: Duration.hours(1) })
            yield* settle(ledger, "D")
            expect(yield* take(ledger)).toBeUndefined()
            // From beside, as another process does it.
            expect(yield* using(place, (other) => other.release(Option.some(["B", "D", "X"])), "beside")).toEqual(["B"])
            expect(yield* take(ledger)).toMatchObject({ productId: "B", attempts: 1 })
            expect([...(yield* ledger.release(Option.none()))].sort()).toEqual(["A", "C"])
            expect(yield* ledger.counts).toMatchObject({ quarantined: 0, pending: 2, sending: 1, settled: 1 })
          }))))
  })
}
