/** What an earlier runner of an account can still do: nothing. The database and its locks are real, and so are the timers. */
import { describe, expect, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Option, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Ledger, Send } from "../../src/ledger/Ledger.ts"
import { LedgerFault } from "../../src/ledger/LedgerError.ts"
import { eventually } from "../support/eventually.ts"
import * as Fleets from "../support/ledger/fleet.ts"
import {
  collect,
  fail,
  id as productId,
  intake,
  options,
  policy,
  receive,
  row,
  settle,
  stateOf,
  take,
  taken
} from "../support/ledger/using.ts"
import { shared } from "../support/shared.ts"
import { utc } from "../support/utc.ts"

const { add, open, orphans, takeOver } = Fleets

let fleet: Fleets.Fleet
/** Connections that are not of the runner. */
let beside: SqlClient.SqlClient
shared(Effect.flatMap(Fleets.server, (fleet) => Effect.map(Fleets.beside(fleet), (beside) => ({ fleet, beside }))), (built) => {
  ;({ fleet, beside } = built)
})

const newAccount = Effect.suspend(() => Fleets.newAccount(fleet))
const contentOf = (id: string) => Fleets.contentOf(fleet, id)
const whileLocked = <A, E, R>(id: string, use: Effect.Effect<A, E, R>) => Fleets.whileLocked(beside, [id], use)

const big = (count: number) => Stream.map(Stream.range(1, count), (n) => row(`N${n}`, n))

const expectTakenOver = (exit: Exit.Exit<unknown, unknown>, label = "") => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  expect([label, error instanceof LedgerFault && error.isTakenOver]).toEqual([label, true])
  expect(String(error)).toContain("another runner has taken over the account shop-")
}

/** Waits until so many statements wait for a lock. */
const waiting = (statements: number) =>
  eventually(
    Effect.suspend(() => beside`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`),
    (rows) => rows.length >= statements
  )

type Operation = (ledger: Ledger["Service"], send: Send) => Effect.Effect<unknown, unknown>

const account = { baseUrl: "https://one.example", id: "1", keyFingerprint: "k" }

const writing: ReadonlyArray<readonly [keyof Ledger["Service"], Operation]> = [
  ["bind", (ledger) => ledger.bind(account)],
  ["adopt", (ledger) => ledger.adopt(account)],
  ["check", (ledger) => ledger.check],
  ["applySnapshot", (ledger) => receive(ledger, row("A", 5), row("D", 1))],
  ["applySnapshot", (ledger) => receive(ledger, row("A", 1, 1), row("B", 2, 2), row("C", 3, 3))],
  ["previewSnapshot", (ledger) => ledger.previewSnapshot(intake(Stream.make(row("A", 6))), policy)],
  ["confirmHeld", (ledger) => ledger.confirmHeld(2)],
  ["take", (ledger) => ledger.take({ _tag: "Due", confirmedBefore: Option.none() })],
  ["take", (ledger) => ledger.take({ _tag: "SoldOut", outcomes: "any" })],
  ["take", (ledger) => ledger.take({ _tag: "HalfOpen", except: [] })],
  ["confirm", (ledger, send) => ledger.confirm(send)],
  ["fail", (ledger, send) => fail(ledger, send, "doubtful")],
  ["retryNow", (ledger) => ledger.retryNow],
  ["release", (ledger) => ledger.release(Option.none())],
  ["resend", (ledger) => ledger.resend(["C"])],
  ["revert", (ledger) => ledger.revert(1, { guard: policy.guard, confirmed: true, preview: false, limit: undefined })],
  ["record", (ledger) => ledger.record({ at: utc(4e12), kind: "accountPaused", code: "INVALID_API_KEY", detail: "refused", count: 0 })],
  ["setNotices", (ledger) => ledger.setNotices("{}")],
  ["clockChanged", (ledger) => ledger.clockChanged(1_000)],
  ["observe", (ledger) => ledger.observe([{ productId: productId("C"), stock: 9 }], utc(4e12), true)],
  ["countRequest", (ledger) => ledger.countRequest(Effect.void)]
]

const reading: ReadonlyArray<readonly [keyof Ledger["Service"], Operation]> = [
  ["account", (ledger) => ledger.account],
  ["snapshot", (ledger) => ledger.snapshot],
  ["pastSnapshots", (ledger) => ledger.pastSnapshots],
  ["counts", (ledger) => ledger.counts],
  ["heldChanges", (ledger) => collect(ledger.heldChanges)],
  ["unsettled", (ledger) => collect(ledger.unsettled)],
  ["queue", (ledger) => collect(ledger.queue)],
  ["quarantined", (ledger) => collect(ledger.quarantined)],
  ["uncertain", (ledger) => collect(ledger.uncertain)],
  ["rowIssues", (ledger) => collect(ledger.rowIssues)],
  ["all", (ledger) => collect(ledger.all)],
  ["backlog", (ledger) => ledger.backlog],
  ["nextDelayed", (ledger) => ledger.nextDelayed],
  ["nextDue", (ledger) => ledger.nextDue(Option.none())],
  ["requests", (ledger) => ledger.requests],
  ["history", (ledger) => collect(ledger.history(Option.none()))],
  ["attention", (ledger) => ledger.attention],
  ["needing", (ledger) => collect(ledger.needing)],
  ["rejectedRows", (ledger) => collect(ledger.rejectedRows)],
  ["product", (ledger) => ledger.product("C")],
  ["events", (ledger) => ledger.events],
  ["kept", (ledger) => ledger.kept],
  ["notices", (ledger) => ledger.notices]
]

describe("after a takeover", () => {
  it.live("every operation of the earlier opening that writes fails, and so do all that follow", () =>
    Effect.gen(function*() {
      const id = yield* newAccount
      const prepare = Effect.gen(function*() {
        const ledger = yield* open(fleet, id, options)
        yield* receive(ledger, row("A", 1, 1), row("B", 2, 2), row("C", 3, 3))
        return [ledger, yield* taken(ledger, 4e12)] as const
      })
      const [sample] = yield* prepare
      yield* settle(sample, "C")
      // `lost` waits for the database, which a runner watches for all of its accounts.
      expect(new Set([...writing, ...reading].map(([name]) => name))).toEqual(
        new Set(Object.keys(sample).filter((name) => name !== "path" && name !== "lost"))
      )
      // Each on an opening of its own, because a fault holds for all later operations.
      const openings = yield* Effect.forEach(writing, () => prepare)
      yield* takeOver(fleet, id, "next")
      const before = yield* contentOf(id)
      for (const [index, [name, operation]] of writing.entries()) {
        const opening = openings[index]
        if (opening === undefined) throw new Error("no opening")
        expectTakenOver(yield* Effect.exit(operation(...opening)), name)
        for (const [later, read] of reading) expectTakenOver(yield* Effect.exit(read(...opening)), `${name}, then ${later}`)
      }
      expect(yield* contentOf(id)).toEqual(before)
    }), 60_000)

  it.live("a snapshot that is being written is undone, and the takeover does not wait for it", () =>
    Effect.gen(function*() {
      const id = yield* newAccount
      const ledger = yield* open(fleet, id, options)
      yield* receive(ledger, row("A", 1), row("B", 2))
      const before = yield* contentOf(id)
      const fiber = yield* whileLocked(id, Effect.gen(function*() {
        const fiber = yield* Effect.forkChild(receive(ledger, row("A", 5), row("B", 6), row("C", 7)))
        yield* waiting(1)
        yield* takeOver(fleet, id, "next")
        return fiber
      }))
      expectTakenOver(yield* Fiber.await(fiber))
      const [taken, ...others] = before
      const [, ...othersNow] = yield* contentOf(id)
      expect(taken).toHaveLength(1)
      expect(othersNow).toEqual(others)
    }), 60_000)

  it.live("a send that is being recorded is recorded before the next runner begins", () =>
    Effect.gen(function*() {
      for (const operation of ["take", "confirm"] as const) {
        const id = yield* newAccount
        const ledger = yield* open(fleet, id, options)
        yield* receive(ledger, row("A", 1))
        const operate: Effect.Effect<unknown, LedgerFault> = operation === "take" ? take(ledger) : ledger.confirm(yield* taken(ledger))
        const [fiber, next] = yield* whileLocked(id, Effect.gen(function*() {
          const fiber = yield* Effect.forkChild(operate)
          yield* waiting(1)
          return [fiber, yield* fleet.ledgers.takeOver({ _tag: "Ids", ids: [id] }, "next")] as const
        }))
        expect(next).toEqual([])
        yield* Fiber.join(fiber)
        // The takeover follows the request that left, so the next runner counts it.
        const opened = yield* open(fleet, id, options)
        expect([operation, yield* stateOf(opened, "A")]).toEqual([operation, operation === "take" ? "doubtful" : "settled"])
        expect([operation, yield* opened.requests]).toEqual([operation, [expect.anything()]])
        expectTakenOver(yield* Effect.exit(taken(ledger)))
      }
    }), 60_000)

  it.live("a transaction of a runner that is suspended is ended, and its locks with it", () =>
    Effect.gen(function*() {
      const id = yield* newAccount
      yield* receive(yield* open(fleet, id, options), row("A", 1))
      const { sql } = fleet.database
      const resumed = yield* Deferred.make<void>()
      const locked = yield* Deferred.make<void>()
      const suspended = yield* Effect.forkChild(sql.withTransaction(
        sql`SELECT 1 FROM product JOIN fleet_account USING (account) WHERE fleet_account.id = ${id} FOR UPDATE`.pipe(
          Effect.andThen(Deferred.succeed(locked, undefined)),
          Effect.andThen(Deferred.await(resumed))
        )
      ))
      yield* Deferred.await(locked)
      const next = yield* open(fleet, id, options)
      expect(yield* Effect.timeoutOption(taken(next), "15 seconds")).toMatchObject({ _tag: "Some" })
      yield* Deferred.succeed(resumed, undefined)
      expect(Exit.isFailure(yield* Fiber.await(suspended))).toBe(true)
    }), 60_000)

  it.live("a snapshot whose rows are being read or staged is given up", () =>
    Effect.gen(function*() {
      for (const rows of [10, 15_000]) {
        const id = yield* newAccount
        const ledger = yield* open(fleet, id, options)
        yield* receive(ledger, row("A", 1))
        const [, ...before] = yield* contentOf(id)
        const source = big(rows).pipe(
          Stream.concat(Stream.drain(Stream.fromEffect(takeOver(fleet, id, "next")))),
          Stream.concat(Stream.make(row("A", 9)))
        )
        expectTakenOver(yield* Effect.exit(ledger.applySnapshot(intake(source), policy)))
        const [, ...after] = yield* contentOf(id)
        expect(after).toEqual(before)
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
      expectTakenOver(yield* Effect.exit(Effect.forEach(sent, first.confirm)))
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
      const owners = yield* Effect.forEach(taken, (each) =>
        Effect.map(
          Effect.forEach(each,
            (account) => Effect.flatMap(fleet.ledgers.open(account, options, "again"), (ledger) => Effect.isSuccess(ledger.check)), {
            concurrency: 4
          }),
          (valid) => valid.filter((is) => is).length
        ))
      // Each account is owned by the last takeover of it alone. Takeovers at the same time leave accounts to each other.
      expect(owners.reduce((sum, count) => sum + count, 0)).toBe(50)
      for (const id of ids) {
        const epochs = taken.flat().filter((account) => account.id === id).map(({ epoch }) => epoch)
        expect(epochs.toSorted((one, other) => one - other)).toEqual(Array.from(epochs, (_, index) => index + 1))
      }
    }), 60_000)
})

describe("a removed account", () => {
  it.live("stops its runner, and is empty when it is added again", () =>
    Effect.gen(function*() {
      const [id, other, neighbour] = yield* Effect.all([newAccount, newAccount, newAccount])
      for (const each of [id, other, neighbour]) yield* receive(yield* open(fleet, each, options), row("A", 1), row("B", 2))
      const ledger = yield* open(fleet, id, options)
      yield* settle(ledger, "A")
      const before = yield* contentOf(other)
      yield* fleet.accounts.remove(id)
      expectTakenOver(yield* Effect.exit(taken(ledger)))
      expect(yield* Effect.flip(fleet.ledgers.beside(id, options))).toMatchObject({ _tag: "AccountNotFound", id })
      expect(yield* orphans(fleet)).toEqual([])
      yield* add(fleet, id)
      const again = yield* open(fleet, id, options)
      expect(yield* collect(again.all)).toEqual([])
      expect(yield* collect(again.history(Option.none()))).toEqual([])
      expect(yield* contentOf(other)).toEqual(before)
    }), 60_000)

  it.live("leaves no row of a snapshot that is being written", () =>
    Effect.gen(function*() {
      const id = yield* newAccount
      const ledger = yield* open(fleet, id, options)
      yield* receive(ledger, row("A", 1))
      const [snapshot, removal] = yield* whileLocked(id, Effect.gen(function*() {
        const snapshot = yield* Effect.forkChild(receive(ledger, row("A", 5), row("B", 1)))
        yield* waiting(1)
        const removal = yield* Effect.forkChild(fleet.accounts.remove(id))
        yield* waiting(2)
        return [snapshot, removal] as const
      }))
      // Each may be first, and then nothing or all of the snapshot is removed.
      yield* Fiber.await(snapshot)
      yield* Fiber.join(removal)
      expect(yield* Effect.flip(fleet.accounts.get(id))).toMatchObject({ _tag: "AccountNotFound" })
      expect(yield* orphans(fleet)).toEqual([])
    }), 60_000)
})
