/** The connections of a runner: how many its ledgers use, and in which state they leave them. */
import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { SourceError } from "@plaza-legacy/tabular/SourceError"
import * as Postgres from "@plaza-legacy/testing/Postgres"
import { Deferred, Effect, Fiber, Redacted, Schedule, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { ledgerConnections } from "../../src/fleet/FleetDatabase.ts"
import type { Ledger } from "../../src/ledger/Ledger.ts"
import { eventually } from "../support/eventually.ts"
import { add, type Fleet, open, prepared, runner, server, whileLocked } from "../support/ledger/fleet.ts"
import { collect, intake, options, policy, queueOf, receive, row, settle, take, taken } from "../support/ledger/using.ts"
import { shared } from "../support/shared.ts"

const watched = Effect.flatMap(server, (fleet) => {
  const other = new URL(Redacted.value(fleet.url))
  other.searchParams.set("application_name", "watcher")
  return Effect.map(runner(Redacted.make(other.href)), (watcher) => ({ fleet, watcher }))
})

let fleet: Fleet
/** Watches the runner from connections of its own. */
let watcher: Fleet
shared(watched, (built) => {
  ;({ fleet, watcher } = built)
})

const opened = Effect.gen(function*() {
  const id = `shop-${randomUUID()}`
  yield* add(fleet, id)
  return { id, ledger: yield* open(fleet, id, options) }
})

const count = (query: string) =>
  Effect.map(watcher.database.sql.unsafe<{ n: number }>(`SELECT count(*) AS n FROM ${query}`), ([row]) => row?.n ?? 0)
/** Snapshots whose rows are staged now. */
const staged = Effect.suspend(() => count("pg_class WHERE relpersistence = 't' AND relname = 'staged'"))
const temporaryTables = Effect.suspend(() => count("pg_class WHERE relpersistence = 't' AND relkind = 'r'"))

/** More rows than are read ahead, so that the snapshot keeps a connection until the gate opens. */
const gated = (gate: Deferred.Deferred<void>, end: Stream.Stream<never, SourceError> = Stream.empty) =>
  Stream.map(Stream.range(1, 12_000), (n) => row(`P${n}`, n)).pipe(
    Stream.concat(Stream.drain(Stream.fromEffect(Deferred.await(gate)))),
    Stream.concat(end)
  )

/** The state of every connection of the runner, after all temporary tables are dropped. */
const connections = Effect.gen(function*() {
  // The server drops the tables of a closed connection a moment later.
  yield* eventually(temporaryTables, (n) => n === 0)
  return yield* Effect.scoped(Effect.gen(function*() {
    const all = yield* Effect.forEach(Array.from({ length: ledgerConnections }), () => fleet.database.sql.reserve)
    const { sql } = fleet.database
    const states = yield* Effect.forEach(all, (connection) =>
      sql<{ readonly account: string; readonly memory: string }>`
        SELECT coalesce(current_setting('plaza.account', true), '') AS account, current_setting('work_mem') AS memory`.pipe(
        Effect.provideService(SqlClient.TransactionConnection, [connection, 0])
      ))
    return states.flat()
  }))
})
/** Waits until the pool has replaced the idle connections that the server has cut, of which it learns a moment later. */
const replaced = eventually(connections, () => true)
/** Each usable, without an account, and with the settings of a new one. */
const clean = Array.from({ length: ledgerConnections }, () => ({ account: "", memory: "4MB" }))

describe("the connections of a runner", () => {
  it.live("are at most nine, whatever its accounts do at the same time, and none belongs to an open ledger", () =>
    Effect.gen(function*() {
      const all = yield* Effect.forEach(Array.from({ length: 15 }), () => opened)
      const work = ({ ledger }: { readonly ledger: Ledger["Type"] }) =>
        Effect.gen(function*() {
          yield* receive(ledger, ...Array.from({ length: 6 }, (_, index) => row(`P${index}`, index)))
          for (let send = yield* take(ledger); send !== undefined; send = yield* take(ledger)) yield* ledger.confirm(send)
        })
      const most = { connections: 0 }
      const watching = yield* Effect.fork(Effect.repeat(
        Effect.tap(count("pg_stat_activity WHERE application_name = 'plaza-stock-sync fleet'"), (n) => {
          most.connections = Math.max(most.connections, n)
        }),
        Schedule.spaced("5 millis")
      ))
      yield* Effect.forEach(all, work, { concurrency: "unbounded" })
      yield* Fiber.interrupt(watching)
      expect(most.connections).toBeGreaterThan(3)
      expect(most.connections).toBeLessThanOrEqual(ledgerConnections)
      for (const { ledger } of all) expect(yield* ledger.counts).toMatchObject({ settled: 6, pending: 0 })
      // All of them at the same time: no open ledger keeps one.
      expect(yield* connections).toEqual(clean)
    }), 60_000)

  it.live("serve three snapshots at a time, each with rows of its own, and sends beside them", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const all = yield* Effect.forEach(Array.from({ length: 5 }), () => opened)
      const snapshots = yield* Effect.forEach(all, ({ ledger }) => Effect.fork(ledger.applySnapshot(intake(gated(gate)), policy)))
      yield* eventually(staged, (n) => n === 3)
      const sending = yield* Effect.forEach(Array.from({ length: 20 }), () => opened)
      yield* Effect.forEach(sending, ({ ledger }) => Effect.zipRight(receiveSmall(ledger), ledger.backlog), {
        concurrency: "unbounded",
        discard: true
      }).pipe(Effect.fork)
      // The account whose snapshot is staged can still send.
      const [first] = all
      if (first === undefined) throw new Error("no account")
      expect(yield* take(first.ledger)).toBeUndefined()
      yield* first.ledger.countRequest(Effect.void)
      expect(yield* staged).toBe(3)
      yield* Deferred.succeed(gate, undefined)
      for (const snapshot of snapshots) expect(yield* Fiber.join(snapshot)).toMatchObject({ rows: 12_000, changed: 12_000 })
      for (const { ledger } of all) expect((yield* ledger.counts).pending).toBe(12_000)
      yield* eventually(Effect.forEach(sending, ({ ledger }) => ledger.counts), (counts) => counts.every(({ pending }) => pending === 2))
      expect(yield* connections).toEqual(clean)
    }), 60_000)

  const receiveSmall = (ledger: Ledger["Type"]) => receive(ledger, row("A", 1), row("B", 2))

  it.live("are not used by a snapshot of usual size before its source has ended", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const slow = yield* Effect.forEach(Array.from({ length: 6 }), () => opened)
      const rows = Stream.concat(Stream.make(row("A", 1)), Stream.drain(Stream.fromEffect(Deferred.await(gate))))
      const snapshots = yield* Effect.forEach(slow, ({ ledger }) => Effect.fork(ledger.applySnapshot(intake(rows), policy)))
      const { ledger } = yield* opened
      yield* receiveSmall(ledger)
      expect(yield* queueOf(ledger)).toHaveLength(2)
      yield* Deferred.succeed(gate, undefined)
      for (const snapshot of snapshots) yield* Fiber.join(snapshot)
    }), 60_000)

  it.live("are clean after a snapshot that fails, is interrupted or has its connection cut", () =>
    Effect.gen(function*() {
      const { ledger } = yield* opened
      yield* receiveSmall(ledger)
      const gate = yield* Deferred.make<void>()
      yield* Deferred.succeed(gate, undefined)
      const broken = new SourceError({ source: "x", line: 1, message: "broken" })
      expect(yield* Effect.flip(ledger.applySnapshot(intake(gated(gate, Stream.fail(broken))), policy))).toBe(broken)
      expect(yield* connections).toEqual(clean)

      const closed = yield* Deferred.make<void>()
      const interrupted = yield* Effect.fork(ledger.applySnapshot(intake(gated(closed)), policy))
      yield* eventually(staged, (n) => n === 1)
      yield* Fiber.interrupt(interrupted)
      expect(yield* connections).toEqual(clean)
      expect(yield* queueOf(ledger)).toHaveLength(2)
      yield* settle(ledger, "A")

      const cut = yield* Effect.fork(ledger.applySnapshot(intake(gated(closed)), policy))
      yield* eventually(staged, (n) => n === 1)
      yield* watcher.database.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plaza-stock-sync fleet'`
      yield* Deferred.succeed(closed, undefined)
      const fault = yield* Effect.flip(Fiber.join(cut))
      expect(fault).toMatchObject({ _tag: "LedgerFault" })
      expect(fault.message).toContain("cut off")
      yield* replaced
      yield* settle(ledger, "B")
      expect(yield* connections).toEqual(clean)
    }), 60_000)

  it.live("are clean after a snapshot that is interrupted in the middle of a statement, which the server ends too",
    () =>
      Effect.gen(function*() {
        const { id, ledger } = yield* opened
        yield* receiveSmall(ledger)
        yield* whileLocked(watcher, id, Effect.gen(function*() {
          // Several rows of a product need a connection of the snapshot's own.
          const snapshot = yield* Effect.fork(receive(ledger, row("A", 5), row("B", 6), row("C", 1), row("C", 2)))
          const blocked = count("pg_stat_activity WHERE application_name = 'plaza-stock-sync fleet' AND wait_event_type = 'Lock'")
          yield* eventually(blocked, (n) => n === 1)
          yield* Fiber.interrupt(snapshot)
          yield* eventually(blocked, (n) => n === 0)
        }))
        expect(yield* connections).toEqual(clean)
        const again = yield* open(fleet, id, options)
        expect(yield* queueOf(again)).toMatchObject([{ productId: "A", to: 1 }, { productId: "B", to: 2 }])
      }), 60_000)

  it.live("that the server cuts fail the operation and the opening, and the next opening works", () =>
    Effect.gen(function*() {
      const { id, ledger } = yield* opened
      yield* receiveSmall(ledger)
      const send = yield* taken(ledger)
      yield* watcher.database.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plaza-stock-sync fleet'`
      yield* replaced
      yield* ledger.confirm(send)
      expect(yield* ledger.counts).toMatchObject({ settled: 1, pending: 1 })
      const again = yield* open(fleet, id, options)
      expect(yield* collect(again.all)).toHaveLength(2)
    }), 60_000)
})

describe("a server that is out of reach", () => {
  it.live("fails each operation, and serves again when it is back", () =>
    Effect.scoped(Effect.gen(function*() {
      const database = yield* Postgres.scoped
      const own = yield* prepared(Redacted.make(database.url))
      yield* add(own, "shop-1")
      const ledger = yield* open(own, "shop-1", options)
      yield* receive(ledger, row("A", 1))
      const send = yield* taken(ledger)
      yield* database.stop
      const fault = yield* Effect.flip(ledger.confirm(send))
      expect(fault).toMatchObject({ _tag: "LedgerFault" })
      expect(fault.message).toContain("account shop-1")
      yield* database.start
      expect(yield* Effect.flip(ledger.confirm(send))).toBe(fault)
      const again = yield* open(own, "shop-1", options)
      expect((yield* again.counts).doubtful).toBe(1)
    })), 60_000)
})
