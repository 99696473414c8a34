/** Accounts in shared tables do not disturb each other: each ends as it would alone in a database. */
import { describe, expect, it } from "@effect/vitest"
import type { Row } from "@plaza/tabular/Stock"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Duration, Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Ledger, Send } from "../../src/ledger/Ledger.ts"
import { databaseOf, type Fleet, newAccount, open, orphans, server, takeOver } from "../support/ledger/fleet.ts"
import { bad, collect, fail, id, intake, options, policy, row } from "../support/ledger/using.ts"
import { shared } from "../support/shared.ts"
import { utc } from "../support/utc.ts"

let all: Fleet
/** A database with one account at a time. */
let alone: Fleet
shared(Effect.flatMap(server, (all) => Effect.map(databaseOf(all, "alone"), (alone) => ({ all, alone }))), (built) => {
  ;({ all, alone } = built)
})

// The same products in every account.
const products = ["A", "B", "C", "D", "E"] as const

type Command =
  | {
    readonly _tag: "Snapshot"
    readonly stocks: ReadonlyArray<number | null>
    readonly zero: boolean
    readonly guarded: boolean
    readonly excluded: ReadonlyArray<string>
  }
  | { readonly _tag: "Take"; readonly how: "due" | "assert" | "trial" }
  | { readonly _tag: "Fail"; readonly state: "doubtful" | "pending" | "quarantined"; readonly retryIn: number }
  | { readonly _tag: "Observe"; readonly stock: number }
  | { readonly _tag: "Shift"; readonly millis: number }
  | { readonly _tag: "Confirm" }
  | { readonly _tag: "ConfirmHeld" | "Release" | "RetryNow" | "Request" | "Reopen" }

const tagged = <const Tag extends string>(tag: Tag) => Arbitrary.Constant(tag)
const stock = Generate.between(0, 3)
const command = Generate.weighted<Command>(
  [
    4,
    Arbitrary.all({
      _tag: tagged("Snapshot"),
      stocks: Generate.arrayOf(Generate.weighted<number | null>([6, stock], [1, Arbitrary.Constant(null)]), {
        minLength: products.length,
        maxLength: products.length
      }),
      zero: Generate.boolean,
      guarded: Generate.boolean,
      excluded: Generate.arrayOf(Generate.anyOf(products), { maxLength: 1 })
    })
  ],
  [6, Arbitrary.all({ _tag: tagged("Take"), how: Generate.elementOf(["due", "due", "assert", "trial"] as const) })],
  [4, Arbitrary.all({ _tag: tagged("Confirm") })],
  [
    3,
    Arbitrary.all({
      _tag: tagged("Fail"),
      state: Generate.anyOf(["doubtful", "pending", "quarantined"]),
      retryIn: Generate.elementOf([0, 10_000])
    })
  ],
  [1, Arbitrary.all({ _tag: tagged("Observe"), stock })],
  [1, Arbitrary.all({ _tag: tagged("Shift"), millis: Generate.elementOf([0, 3_000, -3_000]) })],
  [4, Arbitrary.all({ _tag: Generate.anyOf(["ConfirmHeld", "Release", "RetryNow", "Request", "Reopen"]) })]
)

interface Account {
  readonly fleet: Fleet
  readonly id: string
  ledger: Ledger["Service"]
  inFlight: ReadonlyArray<Send>
}

// Small, so that the limit is reached.
const limited = { ...options, historyLimit: 5 }

const start = (fleet: Fleet): Effect.Effect<Account, unknown> =>
  Effect.gen(function*() {
    const id = yield* newAccount(fleet)
    return { fleet, id, ledger: yield* open(fleet, id, limited), inFlight: [] }
  })

const step = (account: Account, command: Command): Effect.Effect<unknown, unknown> =>
  Effect.gen(function*() {
    const { ledger } = account
    switch (command._tag) {
      case "Snapshot": {
        const rows = products.flatMap((product, index): ReadonlyArray<Row> => {
          const stock = command.stocks[index]
          return stock === undefined || command.excluded.includes(product)
            ? []
            : stock === null
            ? index % 2 === 0 ? [bad(product, "is odd", index)] : []
            : [row(product, stock, index)]
        })
        return yield* Effect.option(ledger.applySnapshot(intake(Stream.fromIterable(rows), command.excluded), {
          ...policy,
          missing: command.zero ? "zero" : "leave",
          guard: { ...policy.guard, ...(command.guarded ? { share: 0, count: 0 } : { share: 1, count: 1_000 }) }
        }))
      }
      case "Take": {
        const send = yield* command.how === "trial"
          ? ledger.take({ _tag: "HalfOpen", except: [] })
          : ledger.take({ _tag: "Due", confirmedBefore: command.how === "assert" ? Option.some(utc(1e12)) : Option.none() })
        account.inFlight = [...account.inFlight, ...Option.toArray(send)]
        return
      }
      case "Confirm":
      case "Fail": {
        const [send, ...others] = account.inFlight
        if (send === undefined) return
        account.inFlight = others
        return yield* command._tag === "Confirm"
          ? ledger.confirm(send)
          : fail(ledger, send, command.state, { retryIn: Duration.millis(command.retryIn) })
      }
      case "Observe":
        return yield* ledger.observe(products.map((product) => ({ productId: id(product), stock: command.stock })), utc(2e12), true)
      case "Shift":
        return yield* ledger.clockChanged(command.millis)
      case "ConfirmHeld": {
        const { held } = yield* ledger.snapshot
        return Option.isSome(held) ? yield* ledger.confirmHeld(held.value.number) : undefined
      }
      case "Release":
        return yield* ledger.release(Option.none())
      case "RetryNow":
        return yield* ledger.retryNow
      case "Request":
        return yield* ledger.countRequest(Effect.void)
      case "Reopen": {
        account.inFlight = []
        const taken = yield* takeOver(account.fleet, account.id)
        account.ledger = yield* account.fleet.ledgers.open(taken, limited, "afterTakeover")
        return
      }
    }
  })

/** Everything that a ledger shows. */
const contentOf = ({ ledger }: Account) =>
  Effect.all({
    all: collect(ledger.all),
    queue: collect(ledger.queue),
    quarantined: collect(ledger.quarantined),
    history: collect(ledger.history(Option.none())),
    ofOne: collect(ledger.history(Option.some("A"))),
    rowIssues: collect(ledger.rowIssues),
    heldChanges: collect(ledger.heldChanges),
    counts: ledger.counts,
    backlog: ledger.backlog,
    snapshot: ledger.snapshot,
    requests: ledger.requests,
    nextDue: ledger.nextDue(Option.none())
  })

const begin = 1_000_000_000_000
const interval = 7_000
const steps = 15

describe("accounts in shared tables", () => {
  it.effect.prop("end as each of them would alone", [
    Generate.arrayOf(Generate.arrayOf(command, { minLength: steps, maxLength: steps }), { minLength: 3, maxLength: 3 })
  ], ([programs]) =>
    Effect.gen(function*() {
      yield* TestClock.setTime(begin)
      const accounts = yield* Effect.forEach(programs, () => start(all))
      for (let index = 0; index < steps; index++) {
        // One step of each account, all at the same time.
        yield* Effect.forEach(accounts, (account, which) => {
          const command = programs[which]?.[index]
          return command === undefined ? Effect.void : step(account, command)
        }, { concurrency: "unbounded", discard: true })
        yield* TestClock.setTime(begin + (index + 1) * interval)
      }
      const together = yield* Effect.forEach(accounts, contentOf, { concurrency: "unbounded" })
      for (const [which, program] of programs.entries()) {
        yield* TestClock.setTime(begin)
        const account = yield* start(alone)
        for (const [index, command] of program.entries()) {
          yield* step(account, command)
          yield* TestClock.setTime(begin + (index + 1) * interval)
        }
        expect(together[which]).toEqual(yield* contentOf(account))
        yield* alone.accounts.remove(account.id)
        expect(yield* orphans(alone)).toEqual([])
      }
    }), { arbitrary: { runs: 3 } })
})
