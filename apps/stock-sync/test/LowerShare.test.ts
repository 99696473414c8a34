/** The share of the requests that products of lower priorities get, as the dispatcher takes them from the ledger. */
import { describe, expect, it } from "@effect/vitest"
import type { Row } from "@plaza/tabular/Stock"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, DateTime, Duration, Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Ledger, Send } from "../src/ledger/Ledger.ts"
import * as StockPriority from "../src/ledger/StockPriority.ts"
import * as LowerShare from "../src/sync/LowerShare.ts"
import { policy, row } from "./support/sandbox.ts"
import { memoryLedger } from "./support/simulation.ts"

const { priorities } = StockPriority

/** The products of a priority that wait. Endless: no request for one of them succeeds, so that they wait for ever. */
interface Class {
  readonly count: number
  readonly isEndless: boolean
}
type Backlog = Readonly<Record<StockPriority.Priority, Class>>

const oneClass = Generate.weighted<Class>(
  [1, Arbitrary.Constant({ count: 0, isEndless: false })],
  [2, Arbitrary.map(Generate.between(1, 40), (count) => ({ count, isEndless: false }))],
  [3, Arbitrary.map(Generate.between(1, 3), (count) => ({ count, isEndless: true }))]
)
const backlogs: Arbitrary.Arbitrary<Backlog> = Arbitrary.all({
  soldOut: oneClass,
  falling: oneClass,
  backInStock: oneClass,
  rest: oneClass,
  doubtful: oneClass,
  assertion: oneClass
})

/** The stock that is first confirmed, and the one that is wanted then. */
const stocks: Readonly<Record<StockPriority.Priority, readonly [before: number | undefined, wanted: number]>> = {
  soldOut: [5, 0],
  falling: [5, 3],
  backInStock: [0, 4],
  rest: [5, 7],
  doubtful: [undefined, 2],
  assertion: [6, 6]
}

const receive = (ledger: Ledger["Service"], rows: ReadonlyArray<Row>) =>
  ledger.applySnapshot(
    { source: "memory", unit: "line", excluded: new Set(), rows: Stream.fromIterable(rows) },
    { ...policy, guard: { share: 1, count: 1_000_000, window: Duration.days(1) } }
  )

const noAssertion = Option.none<DateTime.Utc>()
const refusal = (value: number) => ({ tag: "AttemptTimeout", code: undefined, message: "no response", value })
const fails = (ledger: Ledger["Service"], send: Send, state: "doubtful" | "pending") =>
  ledger.fail(send, { state, refusal: refusal(send.value), retryIn: Duration.zero })

/** Takes and records what is due, in the order of sending. */
const drain = (ledger: Ledger["Service"], record: (send: Send) => ReturnType<Ledger["Service"]["confirm"]>) =>
  Effect.gen(function*() {
    let taken = yield* ledger.take({ _tag: "Due", confirmedBefore: noAssertion })
    while (Option.isSome(taken)) {
      yield* record(taken.value)
      yield* TestClock.adjust("1 millis")
      taken = yield* ledger.take({ _tag: "Due", confirmedBefore: noAssertion })
    }
  })

/** A ledger with such a backlog. The products of lower priorities wait longer. */
const holding = (backlog: Backlog) =>
  Effect.gen(function*() {
    const { ledger } = yield* memoryLedger()
    const named = priorities.flatMap((priority) =>
      Array.from({ length: backlog[priority].count }, (_, index) => ({ id: `${priority}-${index}`, priority }))
    )
    yield* receive(ledger, named.flatMap(({ id, priority }) => {
      const [before] = stocks[priority]
      return before === undefined ? [] : [row(id, before)]
    }))
    yield* drain(ledger, ledger.confirm)
    for (const priority of priorities.toReversed()) {
      yield* TestClock.adjust("1 second")
      const wanted = named.filter((each) => priorities.indexOf(each.priority) >= priorities.indexOf(priority))
      yield* receive(ledger, wanted.map((each) => row(each.id, stocks[each.priority][1])))
      if (priority === "doubtful") {
        const sends: Array<Send> = []
        yield* drain(ledger, (send) => Effect.sync(() => void sends.push(send)))
        yield* Effect.forEach(sends, (send) => fails(ledger, send, "doubtful"), { discard: true })
      }
    }
    yield* TestClock.adjust("1 second")
    return ledger
  })

describe("of ten requests in a row for products of a priority and lower ones", () => {
  it.effect.prop("one is for a lower one if one waits, and the others are not", [backlogs],
    ([backlog]) =>
      Effect.scoped(Effect.gen(function*() {
        const ledger = yield* holding(backlog)
        const share = LowerShare.make()
        const left = new Map(priorities.map((priority) => [priority, backlog[priority].count]))
        const waits = (priority: StockPriority.Priority) => (left.get(priority) ?? 0) > 0
        /** Requests for each priority in a row while a lower one waited. */
        const inARow = new Map<StockPriority.Priority, number>(priorities.map((priority) => [priority, 0]))
        const start = yield* DateTime.now
        for (let request = 0; request < 250; request++) {
          const waiting = priorities.filter(waits)
          const confirmedBefore = Option.some(backlog.assertion.isEndless ? yield* DateTime.now : start)
          const yielding = share.yielding()
          const taken = yield* ledger.take({ _tag: "Due", confirmedBefore, yielding })
          if (Option.isNone(taken)) return expect(waiting).toEqual([])
          const send = taken.value
          const { priority } = send
          const passed = waiting.slice(0, waiting.indexOf(priority))
          expect(passed.filter((each) => !yielding.includes(each))).toEqual([])
          share.record(priority)
          const lower = waiting.filter((each) => priorities.indexOf(each) > priorities.indexOf(priority))
          for (const higher of priorities.slice(0, priorities.indexOf(priority))) inARow.set(higher, 0)
          inARow.set(priority, lower.length > 0 ? (inARow.get(priority) ?? 0) + 1 : 0)
          expect(inARow.get(priority)).toBeLessThan(LowerShare.every)
          if (!backlog[priority].isEndless) left.set(priority, (left.get(priority) ?? 0) - 1)
          if (!backlog[priority].isEndless || priority === "assertion") yield* ledger.confirm(send)
          else yield* fails(ledger, send, priority === "doubtful" ? "doubtful" : "pending")
          yield* TestClock.adjust("1 millis")
        }
      })), { arbitrary: { runs: 25 } })
})
