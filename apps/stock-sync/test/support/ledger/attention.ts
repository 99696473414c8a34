/** What waits for a person, in every ledger: the numbers of the headline are compared with a plain count of what happened to each product. */
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, DateTime, Duration, Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { mismatchTag } from "../../../src/ledger/Entry.ts"
import { type Ledger, type Send } from "../../../src/ledger/Ledger.ts"
import * as LedgerCommands from "../../../src/ledger/LedgerCommands.ts"
import * as Headline from "../../../src/observability/Headline.ts"
import { sampleLedger } from "../../../src/observability/StatusSampler.ts"
import type { Kind } from "./kind.ts"
import { at, bad, begin, fail, intake, policy, receiveOn, refusal, row, settle, unguarded, using } from "./using.ts"

const mismatch = (value: number, shown: number) => ({
  refusal: { tag: mismatchTag, code: undefined, message: `the service responded with a stock of ${shown}`, value },
  observed: shown
})

/** What becomes of the first request of a product, and where the headline counts it. */
const fates = {
  settled: { part: "inSync", end: (ledger: Ledger["Service"], send: Send) => ledger.confirm(send) },
  sending: { part: "waiting", end: () => Effect.void },
  doubtful: { part: "waiting", end: (ledger: Ledger["Service"], send: Send) => fail(ledger, send, "doubtful") },
  retried: {
    part: "waiting",
    end: (ledger: Ledger["Service"], send: Send) => fail(ledger, send, "pending", { retryIn: Duration.minutes(5) })
  },
  showsMore: {
    part: "waiting",
    end: (ledger: Ledger["Service"], send: Send) =>
      fail(ledger, send, "uncertain", { ...mismatch(send.value, send.value + 1), retryIn: Duration.seconds(2) })
  },
  showsLess: {
    part: "needing",
    end: (ledger: Ledger["Service"], send: Send) =>
      fail(ledger, send, "uncertain", { ...mismatch(send.value, send.value - 1), retryIn: undefined })
  },
  refusedByProxy: {
    part: "needing",
    end: (ledger: Ledger["Service"], send: Send) =>
      fail(ledger, send, "uncertain", {
        refusal: { tag: "Unrecognized", code: undefined, message: "403 from a firewall", value: send.value },
        retryIn: Duration.minutes(1)
      })
  },
  quarantined: {
    part: "needing",
    end: (ledger: Ledger["Service"], send: Send) => fail(ledger, send, "quarantined", { retryIn: Duration.minutes(1) })
  }
} as const
type Fate = keyof typeof fates

/** What the next snapshot does with a product. */
type Next = "changed" | "excluded" | "missing" | "rejected" | "rejectedTwice" | "same"

interface Product {
  readonly fate: Fate
  readonly next: Next
}

const partOf = ({ fate, next }: Product): "inSync" | "needing" | "out" | "waiting" => {
  const { part } = fates[fate]
  switch (next) {
    case "same":
      return part
    case "missing":
      // An id that was corrected: neither the source nor the store has the product.
      return fate === "quarantined" ? "out" : part
    case "changed":
      return "waiting"
    case "rejected":
    case "rejectedTwice":
      return "needing"
    case "excluded":
      // The stock of a settled product stays confirmed, and a request in flight ends.
      return fate === "settled" || fate === "sending" ? part : "out"
  }
}

const product = Arbitrary.all({
  fate: Generate.anyOf(["settled", "sending", "doubtful", "retried", "showsMore", "showsLess", "refusedByProxy", "quarantined"]),
  next: Generate.anyOf(["same", "same", "changed", "missing", "rejected", "rejectedTwice", "excluded"])
})

const commands = LedgerCommands.ofStore()

const sample = (ledger: Ledger["Service"]) => Effect.flatMap(DateTime.now, (now) => sampleLedger(ledger, now))

/** Each product has its fate, and then the next snapshot comes, with rows of products that the ledger does not know. */
const live = (ledger: Ledger["Service"], products: ReadonlyArray<Product>, unknown: number, unnamed: number) =>
  Effect.gen(function*() {
    const named = products.map((each, index) => ({ ...each, name: `P-${index}` }))
    yield* receiveOn(ledger, unguarded, row("SAFE", 1), ...named.map(({ name }) => row(name, 5)))
    yield* settle(ledger, "SAFE")
    for (const { fate, name } of named) yield* Effect.flatMap(begin(ledger, name), (send) => fates[fate].end(ledger, send))
    const rows = named.flatMap(({ name, next }) => {
      switch (next) {
        case "same":
        case "excluded":
          return [row(name, 5)]
        case "changed":
          return [row(name, 9)]
        case "rejected":
          return [bad(name, "no stock")]
        case "rejectedTwice":
          return [bad(name, "no stock"), bad(name, "no stock either")]
        case "missing":
          return []
      }
    })
    const others = [
      ...Array.from({ length: unknown }, (_, index) => bad(`U-${index}`, "no stock")),
      ...Array.from({ length: unnamed }, () => bad(undefined, "no id"))
    ]
    const excluded = named.flatMap(({ name, next }) => next === "excluded" ? [name] : [])
    yield* ledger.applySnapshot(
      intake(Stream.fromIterable([row("SAFE", 1), ...rows, ...others].map((each, index) => ({ ...each, line: index + 2 }))), excluded),
      { ...policy, ...unguarded, maxBadRows: 1 }
    )
  })

export const attention = (kind: Kind, runs: number): void => {
  describe("the headline", () => {
    it.effect.prop(
      "counts each product once, as in sync, waiting or needing a person, and lists those that need one",
      [Generate.arrayOf(product, { maxLength: 8 }), Generate.between(0, 3), Generate.between(0, 2)],
      ([products, unknown, unnamed]) =>
        at(kind, (place) =>
          using(place, (ledger) =>
            Effect.gen(function*() {
              yield* live(ledger, products, unknown, unnamed)
              const count = (part: ReturnType<typeof partOf>) => products.filter((each) => partOf(each) === part).length
              const found = yield* sample(ledger)
              const numbers = Headline.numbers(found)
              expect(numbers).toEqual({
                total: products.length - count("out") + 1 + unknown + unnamed,
                inSync: count("inSync") + 1,
                waiting: count("waiting"),
                needing: count("needing") + unknown + unnamed
              })
              const subjects = Headline.items(found, commands).map(({ subject }) => subject)
              expect(new Set(subjects).size).toBe(subjects.length)
              expect(subjects).toHaveLength(numbers.needing)
            }))),
      { arbitrary: { runs } }
    )

    it.effect("counts at one moment, although products are sent while the rest is read", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receiveOn(ledger, unguarded, row("A", 1), row("B", 2), row("C", 3))
            yield* settle(ledger, "A")
            const busy = { ...ledger, backlog: Effect.andThen(settle(ledger, "B"), ledger.backlog) }
            expect(Headline.numbers(yield* sample(busy))).toEqual({ total: 3, inSync: 1, waiting: 2, needing: 0 })
          }))))

    it.effect("counts a product that is released as waiting, and one whose retry is due as needing a person", () =>
      at(kind, (place) =>
        using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receiveOn(ledger, unguarded, row("A", 1), row("B", 2))
            for (const name of ["A", "B"]) {
              const send = yield* begin(ledger, name)
              yield* fail(ledger, send, "quarantined", { refusal: refusal(send.value), retryIn: Duration.minutes(1) })
            }
            const numbers = Effect.map(sample(ledger), Headline.numbers)
            expect(yield* numbers).toMatchObject({ total: 2, waiting: 0, needing: 2 })
            yield* TestClock.adjust("2 minutes")
            // Due now, before and after the ledger makes refused products due.
            expect(yield* numbers).toMatchObject({ total: 2, needing: 2 })
            yield* ledger.take({ _tag: "SoldOut", outcomes: "any" })
            expect(yield* numbers).toMatchObject({ total: 2, needing: 2 })
            // The id was corrected: the source has another one by now, and the store never had this one.
            yield* receiveOn(ledger, unguarded, row("A", 1), row("C", 2))
            expect(yield* numbers).toMatchObject({ total: 2, waiting: 1, needing: 1 })
            yield* receiveOn(ledger, unguarded, row("A", 1), row("B", 2))
            yield* ledger.release(Option.some(["A"]))
            // A is released, and C is missing in the source.
            expect(yield* numbers).toMatchObject({ total: 3, waiting: 2, needing: 1 })
          }))))
  })
}
