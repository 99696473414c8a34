/** Accounts in shared tables do not disturb each other: each ends as it would alone in a database. */
import { describe, expect, it } from "@effect/vitest"
import type { Row } from "@plaza-legacy/tabular/Stock"
import { Duration, Effect, FastCheck, Option, Redacted, Stream, TestClock } from "effect"
import { randomUUID } from "node:crypto"
import type { Ledger, Send } from "../../src/ledger/Ledger.ts"
import { add, type Fleet, open, prepared, server, takeOver } from "../support/ledger/fleet.ts"
import { bad, collect, id, intake, options, policy, refusal, row } from "../support/ledger/using.ts"
import { shared } from "../support/shared.ts"
import { utc } from "../support/utc.ts"

const databases = Effect.gen(function*() {
  const all = yield* server
  yield* all.database.sql`CREATE DATABASE alone`
  return { all, alone: yield* prepared(Redacted.make(Redacted.value(all.url).replace(/\/postgres$/, "/alone"))) }
})

let all: Fleet
/** A database with one account at a time. */
let alone: Fleet
shared(databases, (built) => {
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
  | { readonly _tag: "Confirm" }
  | { readonly _tag: "Fail"; readonly state: "doubtful" | "pending" | "quarantined"; readonly retryIn: number }
  | { readonly _tag: "Observe"; readonly stock: number }
  | { readonly _tag: "Shift"; readonly millis: number }
  | { readonly _tag: "ConfirmHeld" | "Release" | "RetryNow" | "Request" | "Reopen" }

const tagged = <Tag extends string>(tag: Tag) => FastCheck.constant(tag)
const stock = FastCheck.nat({ max: 3 })
const command: FastCheck.Arbitrary<Command> = FastCheck.oneof(
  {
    weight: 4,
    arbitrary: FastCheck.record({
      _tag: tagged("Snapshot"),
      stocks: FastCheck.array(FastCheck.option(stock, { freq: 6 }), { minLength: products.length, maxLength: products.length }),
      zero: FastCheck.boolean(),
      guarded: FastCheck.boolean(),
      excluded: FastCheck.subarray([...products], { maxLength: 1 })
    })
  },
  {
    weight: 6,
    arbitrary: FastCheck.record({
      _tag: tagged("Take"),
      how: FastCheck.constantFrom("due" as const, "due" as const, "assert" as const, "trial" as const)
    })
  },
  { weight: 4, arbitrary: FastCheck.record({ _tag: tagged("Confirm") }) },
  {
    weight: 3,
    arbitrary: FastCheck.record({
      _tag: tagged("Fail"),
      state: FastCheck.constantFrom("doubtful" as const, "pending" as const, "quarantined" as const),
      retryIn: FastCheck.constantFrom(0, 10_000)
    })
  },
  { weight: 1, arbitrary: FastCheck.record({ _tag: tagged("Observe"), stock }) },
  { weight: 1, arbitrary: FastCheck.record({ _tag: tagged("Shift"), millis: FastCheck.constantFrom(0, 3_000, -3_000) }) },
  {
    weight: 4,
    arbitrary: FastCheck.record({
      _tag: FastCheck.constantFrom("ConfirmHeld" as const, "Release" as const, "RetryNow" as const, "Request" as const, "Reopen" as const)
    })
  }
)

interface Account {
  readonly fleet: Fleet
  readonly id: string
  ledger: Ledger["Type"]
  inFlight: ReadonlyArray<Send>
}

// Small, so that the limit is reached.
const limited = { ...options, historyLimit: 5 }

const start = (fleet: Fleet): Effect.Effect<Account, unknown> =>
  Effect.gen(function*() {
    const id = `shop-${randomUUID()}`
    yield* add(fleet, id)
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
          : ledger.fail(send, { state: command.state, refusal: refusal(send.value), retryIn: Duration.millis(command.retryIn) })
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
    FastCheck.array(FastCheck.array(command, { minLength: steps, maxLength: steps }), { minLength: 3, maxLength: 3 })
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
        expect(
          yield* alone.database
            .sql`SELECT 1 FROM ledger_product UNION ALL SELECT 1 FROM ledger_history UNION ALL SELECT 1 FROM ledger_request`
        )
          .toEqual([])
      }
    }), { fastCheck: { numRuns: 3, endOnFailure: true } })
})
