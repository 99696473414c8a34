/** What an earlier runner of an account can still do: nothing. The database and its locks are real, and so are the timers. */
import { describe, expect, it } from "@effect/vitest"
import { Cause, Chunk, Deferred, Duration, Effect, Exit, Fiber, Option, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { isTakenOver } from "../../src/fleet/ledger/FleetLedger.ts"
import * as LedgerSessions from "../../src/fleet/ledger/LedgerSessions.ts"
import type { Ledger, Send } from "../../src/ledger/Ledger.ts"
import { LedgerFault } from "../../src/ledger/LedgerError.ts"
import { eventually } from "../support/eventually.ts"
import { add, type Fleet, inAccount, open, server, takeOver, whileLocked } from "../support/ledger/fleet.ts"
import { intake, options, policy, receive, refusal, row, settle, stateOf, taken } from "../support/ledger/using.ts"
import { shared } from "../support/shared.ts"
import { utc } from "../support/utc.ts"

let fleet: Fleet
shared(server, (built) => {
  fleet = built
})

const newAccount = Effect.suspend(() => {
  const id = `shop-${randomUUID()}`
  return Effect.as(add(fleet, id), id)
})

const tables = ["account", "product", "snapshot", "held_change", "row_issue", "history", "request"]

/** Everything that is stored of an account. */
const contentOf = (id: string) =>
  inAccount(fleet, id, Effect.forEach(tables, (table) => fleet.database.sql.unsafe(`SELECT * FROM ${table} AS one ORDER BY one::text`)))

const big = (count: number) => Stream.map(Stream.range(1, count), (n) => row(`N${n}`, n))

const expectTakenOver = (exit: Exit.Exit<unknown, unknown>, label = "") => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  expect([label, error instanceof LedgerFault && isTakenOver(error)]).toEqual([label, true])
  expect(String(error)).toContain("another runner has taken over the account shop-")
}

/** Waits until so many statements wait for a lock. */
const waiting = (statements: number) =>
  eventually(
    Effect.suspend(() =>
      fleet.database.sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    ),
    (rows) => rows.length >= statements
  )

describe("after a takeover", () => {
  it.live("every operation of the earlier opening fails, and writes nothing", () =>
    Effect.gen(function*() {
      const id = yield* newAccount
      const account = { baseUrl: "https://one.example", id: "1", keyFingerprint: "k" }
      const prepare = Effect.gen(function*() {
        const ledger = yield* open(fleet, id, options)
        yield* receive(ledger, row("A", 1), row("B", 2), row("C", 3))
        return [ledger, yield* taken(ledger)] as const
      })
      const operations: ReadonlyArray<readonly [string, (ledger: Ledger["Type"], send: Send) => Effect.Effect<unknown, unknown>]> = [
        ["account", (ledger) => ledger.account],
        ["bind", (ledger) => ledger.bind(account)],
        ["adopt", (ledger) => ledger.adopt(account)],
        ["check", (ledger) => ledger.check],
        ["applySnapshot", (ledger) => receive(ledger, row("A", 5), row("D", 1))],
        ["previewSnapshot", (ledger) => ledger.previewSnapshot(intake(Stream.make(row("A", 6))), policy)],
        ["snapshot", (ledger) => ledger.snapshot],
        ["confirmHeld", (ledger) => ledger.confirmHeld(1)],
        ["counts", (ledger) => ledger.counts],
        ["heldChanges", (ledger) => Stream.runDrain(ledger.heldChanges)],
        ["unsettled", (ledger) => Stream.runDrain(ledger.unsettled)],
        ["queue", (ledger) => Stream.runDrain(ledger.queue)],
        ["quarantined", (ledger) => Stream.runDrain(ledger.quarantined)],
        ["uncertain", (ledger) => Stream.runDrain(ledger.uncertain)],
        ["rowIssues", (ledger) => Stream.runDrain(ledger.rowIssues)],
        ["all", (ledger) => Stream.runDrain(ledger.all)],
        ["backlog", (ledger) => ledger.backlog],
        ["take", (ledger) => ledger.take({ _tag: "Due", confirmedBefore: Option.none() })],
        ["take half-open", (ledger) => ledger.take({ _tag: "HalfOpen", except: [] })],
        ["confirm", (ledger, send) => ledger.confirm(send)],
        ["fail", (ledger, send) => ledger.fail(send, { state: "doubtful", refusal: refusal(1), retryIn: Duration.zero })],
        ["retryNow", (ledger) => ledger.retryNow],
        ["nextDelayed", (ledger) => ledger.nextDelayed],
        ["nextDue", (ledger) => ledger.nextDue(Option.none())],
        ["release", (ledger) => ledger.release(Option.none())],
        ["clockChanged", (ledger) => ledger.clockChanged(1_000)],
        ["observe", (ledger, send) => ledger.observe([{ productId: send.productId, stock: 9 }], utc(4e12), true)],
        ["countRequest", (ledger) => ledger.countRequest(Effect.void)],
        ["requests", (ledger) => ledger.requests],
        ["history", (ledger) => Stream.runDrain(ledger.history(Option.none()))]
      ]
      const [sample] = yield* prepare
      // `lost` waits for the database, which a runner watches for all of its accounts.
      expect(new Set(operations.map(([name]) => name.replace(" half-open", "")))).toEqual(
        new Set(Object.keys(sample).filter((name) => name !== "path" && name !== "lost"))
      )
      // Each on an opening of its own, because a fault holds for all later operations.
      const openings = yield* Effect.forEach(operations, () => prepare)
      yield* takeOver(fleet, id, "next")
      const before = yield* contentOf(id)
      for (const [index, [name, operation]] of operations.entries()) {
        const opening = openings[index]
        if (opening === undefined) throw new Error("no opening")
        expectTakenOver(yield* Effect.exit(operation(...opening)), name)
        expectTakenOver(yield* Effect.exit(opening[0].check), `${name}, then another`)
      }
      expect(yield* contentOf(id)).toEqual(before)
    }), 60_000)

  it.live("an operation that has begun is undone, and the takeover does not wait for it", () =>
    Effect.gen(function*() {
      for (
        const operation of [
          (ledger: Ledger["Type"]) => taken(ledger),
          (ledger: Ledger["Type"], send: Send) => ledger.confirm(send),
          (ledger: Ledger["Type"]) => receive(ledger, row("A", 5), row("B", 6), row("C", 7))
        ]
      ) {
        const id = yield* newAccount
        const ledger = yield* open(fleet, id, options)
        yield* receive(ledger, row("A", 1), row("B", 2))
        const send = yield* taken(ledger)
        const before = yield* contentOf(id)
        const fiber = yield* whileLocked(fleet, id, Effect.gen(function*() {
          const fiber = yield* Effect.fork(operation(ledger, send))
          yield* waiting(1)
          yield* takeOver(fleet, id, "next")
          return fiber
        }))
        expectTakenOver(yield* Fiber.await(fiber))
        expect(yield* contentOf(id)).toEqual(before)
      }
    }), 60_000)

  it.live("a transaction of a runner that is suspended is ended, and its locks with it", () =>
    Effect.gen(function*() {
      const id = yield* newAccount
      const ledger = yield* open(fleet, id, options)
      yield* receive(ledger, row("A", 1))
      const suspended = yield* takeOver(fleet, id)
      const { operation, sql } = yield* LedgerSessions.make(fleet.database)
      const locked = yield* Deferred.make<void>()
      const resumed = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(operation(suspended, sql`SELECT id FROM product FOR UPDATE`.pipe(
        Effect.zipRight(Deferred.succeed(locked, undefined)),
        Effect.zipRight(Deferred.await(resumed))
      )))
      yield* Deferred.await(locked)
      const next = yield* open(fleet, id, options)
      expect(yield* Effect.timeoutOption(taken(next), "20 seconds")).toMatchObject({ _tag: "Some" })
      yield* Deferred.succeed(resumed, undefined)
      expect(yield* Effect.flip(Fiber.join(fiber))).toMatchObject({ _tag: "SqlError" })
    }), 60_000)

  it.live("a snapshot whose rows are being read or staged is given up", () =>
    Effect.gen(function*() {
      for (const rows of [10, 15_000]) {
        const id = yield* newAccount
        const ledger = yield* open(fleet, id, options)
        yield* receive(ledger, row("A", 1))
        const before = yield* contentOf(id)
        const source = Stream.concat(big(rows), Stream.drain(Stream.fromEffect(takeOver(fleet, id, "next")))).pipe(
          Stream.concat(Stream.make(row("A", 9)))
        )
        expectTakenOver(yield* Effect.exit(ledger.applySnapshot(intake(source), policy)))
        expect(yield* contentOf(id)).toEqual(before)
      }
    }), 60_000)

  it.live("the next runner finds products in flight as doubtful, and their requests in the rate window", () =>
    Effect.gen(function*() {
      const id = yield* newAccount
      const first = yield* open(fleet, id, options)
      yield* receive(first, row("A", 1), row("B", 2), row("C", 3))
      yield* settle(first, "A")
      const sent = [yield* taken(first), yield* taken(first)]
      const next = yield* takeOver(fleet, id, "next")
      expect(yield* fleet.ledgers.dueAccounts({ _tag: "Ids", ids: [id] })).toHaveLength(1)
      // Opened again without a takeover in between, which changes nothing.
      const again = yield* fleet.ledgers.open(next, options, "again")
      expect((yield* again.counts).sending).toBe(2)
      const second = yield* fleet.ledgers.open(next, options, "afterTakeover")
      for (const { productId } of sent) expect(yield* stateOf(second, productId)).toBe("doubtful")
      expect(yield* second.requests).toHaveLength(3)
      expect((yield* second.counts).settled).toBe(1)
      for (const send of sent) expectTakenOver(yield* Effect.exit(first.confirm(send)))
    }), 60_000)

  it.live("of many accounts at the same time, two runners never own one account both", () =>
    Effect.gen(function*() {
      const ids = Array.from({ length: 50 }, () => `both-${randomUUID()}`)
      yield* add(fleet, ...ids)
      const selection = { _tag: "Ids" as const, ids }
      const taken = yield* Effect.all(
        ["one", "two", "one", "two"].map((name) => fleet.ledgers.takeOver(selection, name)),
        { concurrency: "unbounded" }
      )
      const owners = yield* Effect.forEach(Chunk.fromIterable(taken), (each) =>
        Effect.map(
          Effect.forEach(each,
            (account) => Effect.flatMap(fleet.ledgers.open(account, options, "again"), (ledger) => Effect.isSuccess(ledger.check)), {
            concurrency: 4
          }),
          (valid) => valid.filter((is) => is).length
        ))
      // Each account is owned by the last takeover of it alone.
      expect(owners.reduce((sum, count) => sum + count, 0)).toBe(50)
      expect(taken.flat().map(({ epoch }) => epoch).sort((one, other) => one - other)).toEqual(
        [1, 2, 3, 4].flatMap((epoch) => Array.from({ length: 50 }, () => epoch))
      )
    }), 60_000)
})

describe("a removed account", () => {
  it.live("stops its runner, and is empty when it is added again", () =>
    Effect.gen(function*() {
      const id = yield* newAccount
      const [other, neighbour] = yield* Effect.all([newAccount, newAccount])
      for (const each of [id, other, neighbour]) yield* receive(yield* open(fleet, each, options), row("A", 1), row("B", 2))
      const ledger = yield* open(fleet, id, options)
      yield* settle(ledger, "A")
      const before = yield* contentOf(other)
      yield* fleet.accounts.remove(id)
      expectTakenOver(yield* Effect.exit(taken(ledger)))
      expect(yield* Effect.flip(fleet.ledgers.beside(id, options))).toMatchObject({ _tag: "AccountNotFound", id })
      const rows = yield* Effect.forEach(tables, (table) =>
        fleet.database.sql.unsafe(
          `SELECT 1 FROM ledger_${table} AS one WHERE NOT EXISTS (SELECT 1 FROM fleet_account WHERE number = one.account)`
        ))
      expect(rows.flat()).toEqual([])
      yield* add(fleet, id)
      expect((yield* (yield* open(fleet, id, options)).counts).pending).toBe(0)
      expect(yield* contentOf(other)).toEqual(before)
    }), 60_000)

  it.live("that is removed while a snapshot is written has the snapshot undone", () =>
    Effect.gen(function*() {
      const id = yield* newAccount
      const ledger = yield* open(fleet, id, options)
      yield* receive(ledger, row("A", 1))
      const [snapshot, removal] = yield* whileLocked(fleet, id, Effect.gen(function*() {
        const snapshot = yield* Effect.fork(receive(ledger, row("A", 5), row("B", 1)))
        yield* waiting(1)
        const removal = yield* Effect.fork(fleet.accounts.remove(id))
        yield* waiting(2)
        return [snapshot, removal] as const
      }))
      expect(Exit.isFailure(yield* Fiber.await(snapshot))).toBe(true)
      yield* Fiber.join(removal)
      expect(
        yield* fleet.database
          .sql`SELECT 1 FROM ledger_product AS one WHERE NOT EXISTS (SELECT 1 FROM fleet_account WHERE number = one.account)`
      )
        .toEqual([])
    }), 60_000)
})
