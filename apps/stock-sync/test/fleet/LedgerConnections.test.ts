/** The connections of a runner: how many its ledgers use, in which state they leave them, and what becomes of them without the server. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { SourceError } from "@plaza/tabular/SourceError"
import * as Postgres from "@plaza/testing/Postgres"
import { Deferred, Duration, Effect, Fiber, FileSystem, Layer, Redacted, Schedule, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.ts"
import type { Ledger } from "../../src/ledger/Ledger.ts"
import { stagingNames } from "../../src/ledger/Schema.ts"
import * as DatabaseProxy from "../support/databaseProxy.ts"
import { eventually } from "../support/eventually.ts"
import * as Fleets from "../support/ledger/fleet.ts"
import {
  collect,
  intake,
  options,
  policy,
  queueOf,
  receive,
  receiveOn,
  row,
  settle,
  take,
  taken,
  unguarded
} from "../support/ledger/using.ts"
import { shared } from "../support/shared.ts"

const { add, open, prepared, whileLocked } = Fleets

let fleet: Fleets.Fleet
/** Watches the runner from connections of its own. */
let beside: SqlClient.SqlClient
shared(Effect.flatMap(Fleets.server, (fleet) => Effect.map(Fleets.beside(fleet), (beside) => ({ fleet, beside }))), (built) => {
  ;({ fleet, beside } = built)
})

const queries = 6
const snapshots = 3

const opened = Effect.gen(function*() {
  const id = yield* Fleets.newAccount(fleet)
  return { id, ledger: yield* open(fleet, id, options) }
})

const ofRunner = "application_name = 'plaza-stock-sync fleet'"
const count = (query: string) =>
  Effect.suspend(() => Effect.map(beside.unsafe<{ n: number }>(`SELECT count(*) AS n FROM ${query}`), ([row]) => row?.n ?? 0))
const blocked = count(`pg_stat_activity WHERE ${ofRunner} AND wait_event_type = 'Lock'`)
const endSessions = Effect.suspend(() => beside.unsafe(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${ofRunner}`))

/** A runner with other limits. */
const limited = (url: Redacted.Redacted, limits: Partial<Parameters<typeof FleetDatabase.layerWith>[1]>) => {
  const usual = {
    statement: Duration.seconds(20),
    snapshot: Duration.minutes(3),
    askAfter: Duration.seconds(5),
    reading: Duration.minutes(1)
  }
  return Fleets.runner(url, FleetDatabase.layerWith(url, { ...usual, ...limits }))
}

/** Snapshots that have a session. */
const staging = Effect.suspend(() => Effect.map(fleet.database.connections, ({ used }) => used))

/** More rows than are read ahead, so that the snapshot keeps a connection until the gate opens. */
const gated = (gate: Deferred.Deferred<void>, end: Stream.Stream<never, SourceError> = Stream.empty) =>
  Stream.map(Stream.range(1, 12_000), (n) => row(`P${n}`, n)).pipe(
    Stream.concat(Stream.drain(Stream.fromEffect(Deferred.await(gate)))),
    Stream.concat(end)
  )

/** Uses every connection of the runner at the same time: no ledger keeps one, and the rows and settings of no snapshot are left. */
const expectClean = () =>
  Effect.gen(function*() {
    const { connections, ledgers, sql } = fleet.database
    yield* Effect.scoped(Effect.gen(function*() {
      yield* Effect.forEach(Array.from({ length: queries }), () => sql.reserve)
      const sessions = yield* Effect.forEach(Array.from({ length: snapshots }), () => ledgers.session("read"))
      for (const session of sessions) {
        const settings = yield* session<{ nestloop: string; tables: number }>`SELECT current_setting('enable_nestloop') AS nestloop,
        (SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relkind = 'r') AS tables`
        const tables = settings[0]?.tables === 0 ? 0 : stagingNames.length
        expect(settings).toEqual([{ nestloop: "on", tables }])
        if (tables === 0) continue
        for (const name of stagingNames) expect([name, yield* session.unsafe(`SELECT * FROM ${name}`)]).toEqual([name, []])
      }
    }))
    expect(yield* connections).toMatchObject({ used: 0, waiting: 0 })
  })

const receiveSmall = (ledger: Ledger["Service"]) => receive(ledger, row("A", 1), row("B", 2))

describe("the connections of a runner", () => {
  it.live("are at most nine, whatever its accounts do at the same time, and none belongs to an open ledger", () =>
    Effect.gen(function*() {
      const all = yield* Effect.forEach(Array.from({ length: 15 }), () => opened)
      const work = ({ ledger }: { readonly ledger: Ledger["Service"] }) =>
        Effect.gen(function*() {
          yield* receive(ledger, ...Array.from({ length: 6 }, (_, index) => row(`P${index}`, index)))
          for (let send = yield* take(ledger); send !== undefined; send = yield* take(ledger)) yield* ledger.confirm(send)
        })
      const most = { connections: 0, used: 0, waiting: 0 }
      const watching = yield* Effect.forkChild(Effect.repeat(
        Effect.gen(function*() {
          const { idle, used, waiting } = yield* fleet.database.connections
          const connections = yield* count(`pg_stat_activity WHERE ${ofRunner}`)
          most.connections = Math.max(most.connections, connections, used + idle)
          most.used = Math.max(most.used, used)
          most.waiting = Math.max(most.waiting, waiting)
        }),
        Schedule.spaced("5 millis")
      ))
      const read = ({ id }: { readonly id: string }) => Effect.flatMap(fleet.ledgers.beside(id, options), (ledger) => ledger.backlog)
      yield* Effect.forEach(all, (each) => Effect.all([work(each), read(each)], { concurrency: 2 }), { concurrency: "unbounded" })
      yield* Fiber.interrupt(watching)
      expect(most.connections).toBeGreaterThan(3)
      expect(most.connections).toBeLessThanOrEqual(queries + snapshots)
      expect(most.used).toBeGreaterThan(3)
      expect(most.waiting).toBeGreaterThan(0)
      for (const { ledger } of all) expect(yield* ledger.counts).toMatchObject({ settled: 6, pending: 0 })
      yield* expectClean()
    }), 60_000)

  it.live("serve two snapshots of large sources at a time, each with rows of its own, and those of usual size and sends beside them",
    () =>
      Effect.gen(function*() {
        const gate = yield* Deferred.make<void>()
        const all = yield* Effect.forEach(Array.from({ length: 5 }), () => opened)
        const received = yield* Effect.forEach(all, ({ ledger }) => Effect.forkChild(ledger.applySnapshot(intake(gated(gate)), policy)))
        yield* eventually(staging, (n) => n === snapshots - 1)
        const sending = yield* Effect.forEach(Array.from({ length: 20 }), () => opened)
        yield* Effect.forEach(sending, ({ ledger }) => receiveSmall(ledger), { concurrency: "unbounded", discard: true })
        // An account whose snapshot is staged, or waits for that, can still send.
        for (const { ledger } of all) {
          expect(yield* take(ledger)).toBeUndefined()
          yield* ledger.countRequest(Effect.void)
        }
        expect(yield* staging).toBe(snapshots - 1)
        yield* Deferred.succeed(gate, undefined)
        for (const snapshot of received) expect(yield* Fiber.join(snapshot)).toMatchObject({ rows: 12_000, changed: 12_000 })
        for (const { ledger } of all) expect((yield* ledger.counts).pending).toBe(12_000)
        for (const { ledger } of sending) expect((yield* ledger.counts).pending).toBe(2)
        yield* expectClean()
      }), 60_000)

  it.live("are given to snapshots of usual size and sends first: a source that is read waits for them, and for a limited time",
    () =>
      Effect.gen(function*() {
        const begin = Effect.forkChild(fleet.database.ledgers.giveWay, { startImmediately: true })
        expect((yield* begin).pollUnsafe()).toMatchObject({ _tag: "Success" })
        const all = yield* Effect.forEach(Array.from({ length: 5 }), () => opened)
        yield* Effect.forEach(all, ({ ledger }) => receiveSmall(ledger))
        const ids = all.map(({ id }) => id)
        const sends = yield* whileLocked(beside, ids, Effect.gen(function*() {
          const sends = yield* Effect.forEach(all, ({ ledger }) => Effect.forkChild(taken(ledger)))
          yield* eventually(blocked, (n) => n >= 4)
          const waiting = yield* begin
          expect(waiting.pollUnsafe()).toBeUndefined()
          // They wait still.
          yield* Fiber.join(waiting)
          return sends
        }))
        for (const send of sends) yield* Fiber.join(send)
      }), 60_000)

  it.live("are asked for by a large source before each of its batches, for a limited number of times", () =>
    Effect.gen(function*() {
      let times = 0
      const giveWay = Effect.sync(() => ++times > 0)
      const layer = Layer.effect(FleetDatabase.FleetDatabase,
        Effect.map(FleetDatabase.FleetDatabase, (database) => ({ ...database, ledgers: { ...database.ledgers, giveWay } })))
      const own = yield* Fleets.runner(fleet.url, layer.pipe(Layer.provide(FleetDatabase.layer(fleet.url))))
      const ledger = yield* Effect.flatMap(Fleets.newAccount(own), (id) => open(own, id, options))
      yield* receiveSmall(ledger)
      expect(times).toBe(0)
      const rows = Stream.rechunk(Stream.map(Stream.range(1, 11_000), (n) => row(`P${n}`, n)), 10)
      yield* ledger.applySnapshot(intake(rows), policy)
      expect(times).toBeGreaterThan(0)
      expect(times).toBeLessThanOrEqual(100)
    }), 60_000)

  it.live("have no old rows in their way, however many snapshots they have served", () =>
    Effect.gen(function*() {
      const { ledger } = yield* opened
      const rows = (stock: number) => Array.from({ length: 400 }, (_, index) => row(`P${index}`, stock + index))
      for (let n = 0; n < 30; n++) yield* receiveOn(ledger, unguarded, ...rows(1_000 + n))
      yield* Effect.scoped(Effect.gen(function*() {
        const sessions = yield* Effect.forEach(Array.from({ length: snapshots }), () => fleet.database.ledgers.session("read"))
        const sizes = yield* Effect.forEach(sessions, (session) =>
          session<{ size: number }>`SELECT coalesce(sum(pg_relation_size(oid)), 0) AS size FROM pg_class
            WHERE relnamespace = pg_my_temp_schema() AND relkind = 'r'`)
        for (const [row] of sizes) expect(Number(row?.size)).toBeLessThan(400_000)
      }))
    }), 60_000)

  it.live("are left for what keeps the accounts going, however many slow reports are read", () =>
    Effect.gen(function*() {
      const { report, run, sql } = fleet.database
      const slow = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(report(sql`SELECT pg_sleep(2)`)))
      yield* eventually(fleet.database.connections, ({ used }) => used > 0)
      expect(yield* Effect.timeout(run(sql`SELECT 1 AS one`), "1 second")).toEqual([{ one: 1 }])
      yield* Fiber.interruptAll(slow)
    }), 60_000)

  it.live("are waited for by another large source for a limited time, which then says why it is not read and keeps its ledger",
    () =>
      Effect.gen(function*() {
        const own = yield* limited(fleet.url, { reading: Duration.seconds(1) })
        const ledgerOf = Effect.flatMap(Fleets.newAccount(own), (id) => open(own, id, options))
        const gate = yield* Deferred.make<void>()
        const others = yield* Effect.forEach([1, 2],
          () => Effect.flatMap(ledgerOf, (ledger) => Effect.forkChild(ledger.applySnapshot(intake(gated(gate)), policy))))
        yield* eventually(own.database.connections, ({ used }) => used === 2)
        const ledger = yield* ledgerOf
        const apply = ledger.applySnapshot(intake(gated(gate)), policy)
        expect(yield* Effect.flip(Effect.timeout(apply, "20 seconds"))).toMatchObject({
          _tag: "SourceUnreachable",
          message:
            "stock.csv: 2 other sources of this runner with more than 10,000 rows are still being read after 1s, and it is tried again; " +
            "no row of it was used"
        })
        expect(yield* own.database.connections).toMatchObject({ used: 2, waiting: 0 })
        yield* Deferred.succeed(gate, undefined)
        for (const other of others) yield* Fiber.join(other)
        expect(yield* apply).toMatchObject({ changed: 12_000 })
      }), 60_000)

  it.live("are kept for a source that sends nothing for longer than a statement may take", () =>
    Effect.gen(function*() {
      const own = yield* limited(fleet.url, { snapshot: Duration.seconds(3) })
      const ledger = yield* Effect.flatMap(Fleets.newAccount(own), (id) => open(own, id, options))
      const gate = yield* Deferred.make<void>()
      yield* Effect.forkChild(Effect.delay(Deferred.succeed(gate, undefined), "6 seconds"))
      expect(yield* ledger.applySnapshot(intake(gated(gate)), policy)).toMatchObject({ changed: 12_000 })
    }), 60_000)

  it.live("that are lost while a source is read leave the ledger as it is if the source fails", () =>
    Effect.gen(function*() {
      const { ledger } = yield* opened
      yield* receiveSmall(ledger)
      const gate = yield* Deferred.make<void>()
      const broken = new SourceError({ source: "x", line: 1, message: "broken" })
      const reading = yield* Effect.forkChild(Effect.flip(ledger.applySnapshot(intake(gated(gate, Stream.fail(broken))), policy)))
      yield* eventually(staging, (n) => n === 1)
      // All of its rows are staged then.
      yield* Effect.sleep("2 seconds")
      yield* beside.unsafe(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${ofRunner} AND query LIKE '%staged_row%'`)
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(reading)).toBe(broken)
      expect(yield* queueOf(ledger)).toHaveLength(2)
      yield* expectClean()
    }), 60_000)

  it.live("are left for statements about several accounts, however many sends wait for the database", () =>
    Effect.gen(function*() {
      const all = yield* Effect.forEach(Array.from({ length: 2 * queries }), () => opened)
      const ids = all.map(({ id }) => id)
      yield* Effect.forEach(all, ({ ledger }) => receiveSmall(ledger))
      const sends = yield* whileLocked(beside, ids, Effect.gen(function*() {
        const sends = yield* Effect.forEach(all, ({ ledger }) => Effect.forkChild(taken(ledger)))
        yield* eventually(blocked, (n) => n >= 4)
        const due = fleet.ledgers.dueAccounts({ _tag: "Ids", ids })
        expect(yield* Effect.timeout(due, "10 seconds")).toHaveLength(ids.length)
        expect(yield* fleet.database.connections).toMatchObject({ used: 4, waiting: all.length - 4 })
        return sends
      }))
      for (const send of sends) yield* Fiber.join(send)
    }), 60_000)

  it.live("are not used by a snapshot of usual size before its source has ended", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const slow = yield* Effect.forEach(Array.from({ length: 6 }), () => opened)
      const rows = Stream.concat(Stream.make(row("A", 1)), Stream.drain(Stream.fromEffect(Deferred.await(gate))))
      const received = yield* Effect.forEach(slow, ({ ledger }) => Effect.forkChild(ledger.applySnapshot(intake(rows), policy)))
      const { ledger } = yield* opened
      yield* receiveSmall(ledger)
      expect(yield* queueOf(ledger)).toHaveLength(2)
      yield* Deferred.succeed(gate, undefined)
      for (const snapshot of received) yield* Fiber.join(snapshot)
    }), 60_000)

  it.live("are clean after a snapshot that fails, is interrupted or has its connection cut", () =>
    Effect.gen(function*() {
      const { ledger } = yield* opened
      yield* receiveSmall(ledger)
      const gate = yield* Deferred.make<void>()
      yield* Deferred.succeed(gate, undefined)
      const broken = new SourceError({ source: "x", line: 1, message: "broken" })
      expect(yield* Effect.flip(ledger.applySnapshot(intake(gated(gate, Stream.fail(broken))), policy))).toBe(broken)
      yield* expectClean()

      const closed = yield* Deferred.make<void>()
      const interrupted = yield* Effect.forkChild(ledger.applySnapshot(intake(gated(closed)), policy))
      yield* eventually(staging, (n) => n === 1)
      yield* Fiber.interrupt(interrupted)
      yield* expectClean()
      expect(yield* queueOf(ledger)).toHaveLength(2)
      yield* settle(ledger, "A")

      const cut = yield* Effect.forkChild(ledger.applySnapshot(intake(gated(closed)), policy))
      yield* eventually(staging, (n) => n === 1)
      yield* endSessions
      yield* Deferred.succeed(closed, undefined)
      const fault = yield* Effect.flip(Fiber.join(cut))
      expect(fault).toMatchObject({ _tag: "LedgerFault" })
      expect(fault.message).toContain("cut off")
      yield* expectClean()
    }), 60_000)

  it.live("are clean after snapshots of accounts that were taken over, so that no account gets the rows of another one",
    () =>
      Effect.gen(function*() {
        const all = yield* Effect.forEach(Array.from({ length: 2 * snapshots }), () => opened)
        for (const { id, ledger } of all) {
          yield* Fleets.takeOver(fleet, id)
          expect(yield* Effect.flip(receive(ledger, row("MINE", 2), row("OTHER", 2)))).toMatchObject({ isTakenOver: true })
        }
        yield* expectClean()
        const { ledger } = yield* opened
        yield* receiveSmall(ledger)
        expect((yield* collect(ledger.all)).map(({ productId }) => productId)).toEqual(["A", "B"])
      }), 60_000)

  it.live("are clean after a snapshot that is interrupted in the middle of a statement, which the server ends too",
    () =>
      Effect.gen(function*() {
        const { id, ledger } = yield* opened
        yield* receiveSmall(ledger)
        yield* whileLocked(beside, [id], Effect.gen(function*() {
          const snapshot = yield* Effect.forkChild(receive(ledger, row("A", 5), row("B", 6), row("C", 1)))
          yield* eventually(blocked, (n) => n === 1)
          yield* Fiber.interrupt(snapshot)
          yield* eventually(blocked, (n) => n === 0)
        }))
        yield* expectClean()
        const again = yield* open(fleet, id, options)
        expect(yield* queueOf(again)).toMatchObject([{ productId: "A", to: 1 }, { productId: "B", to: 2 }])
      }), 60_000)

  it.live("that the server cuts fail at most the operations that use them, and the next opening works", () =>
    Effect.gen(function*() {
      const { id, ledger } = yield* opened
      yield* receiveSmall(ledger)
      yield* whileLocked(beside, [id], Effect.gen(function*() {
        const taking = yield* Effect.forkChild(take(ledger))
        yield* eventually(blocked, (n) => n === 1)
        yield* endSessions
        const fault = yield* Effect.flip(Fiber.join(taking))
        expect(fault.message).toContain("cut off")
        expect(yield* Effect.flip(ledger.counts)).toBe(fault)
      }))
      yield* eventually(Effect.exit(expectClean()), (exit) => exit._tag === "Success")
      const again = yield* open(fleet, id, options)
      expect(yield* queueOf(again)).toHaveLength(2)
    }), 60_000)
})

describe("a server that is out of reach", () => {
  it.live("fails each operation, and serves again when it is back", () =>
    Effect.gen(function*() {
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
    }), 60_000)
})

describe("a server that falls silent", () => {
  /** A runner whose connections stay open, and over which nothing comes back. */
  const behind = Effect.gen(function*() {
    const proxy = yield* DatabaseProxy.start(Redacted.value(fleet.url))
    return { proxy, own: yield* Fleets.runner(Redacted.make(proxy.url)) }
  })

  it.live("fails the operations in flight once it is noticed, and serves again when it responds", () =>
    Effect.gen(function*() {
      const { own, proxy } = yield* behind
      const ids = yield* Effect.forEach(Array.from({ length: 8 }), () => Fleets.newAccount(own))
      const ledgers = yield* Effect.forEach(ids, (id) => open(own, id, options))
      yield* Effect.forEach(ledgers, (ledger) => receiveOn(ledger, unguarded, row("A", 1), row("B", 2)))
      const gate = yield* Deferred.make<void>()
      const [snapshot, ...sending] = ledgers
      if (snapshot === undefined) throw new Error("no ledger")
      yield* proxy.set("stalled")
      const operations: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        snapshot.applySnapshot(intake(gated(gate)), policy),
        ...sending.map((ledger) => taken(ledger))
      ]
      const working = yield* Effect.forEach(operations, (operation) => Effect.forkChild(Effect.flip(operation)))
      yield* Effect.sleep("100 millis")
      expect(working.map((fiber) => fiber.pollUnsafe())).toEqual(working.map(() => undefined))
      expect(yield* Effect.timeoutOption(own.database.silent, "4 seconds")).toMatchObject({ _tag: "Some" })
      // Four operations have their turn. The others try to connect first, for which they have some seconds.
      const faults = yield* Effect.timeout(Effect.forEach(working.slice(0, 5), (fiber) => Fiber.join(fiber)), "2 seconds")
      const later = yield* Effect.timeout(Effect.forEach(working.slice(5), (fiber) => Fiber.join(fiber)), "10 seconds")
      for (const fault of [...faults, ...later]) expect(fault).toMatchObject({ _tag: "LedgerFault" })
      yield* proxy.set("open")
      for (const id of ids) expect(yield* queueOf(yield* open(own, id, options))).toHaveLength(2)
    }), 60_000)

  it.live("is noticed over a socket file too, and lets a stop pass", () =>
    Effect.gen(function*() {
      const folder = yield* FileSystem.FileSystem.use((files) => files.makeTempDirectoryScoped())
      const proxy = yield* DatabaseProxy.start(Redacted.value(fleet.url), { folder })
      const stopped = yield* Effect.scoped(Effect.gen(function*() {
        const own = yield* Fleets.runner(Redacted.make(proxy.url))
        const ledger = yield* Effect.flatMap(Fleets.newAccount(own), (id) => open(own, id, options))
        yield* receiveSmall(ledger)
        yield* proxy.set("stalled")
        const taking = yield* Effect.forkDetach(Effect.exit(take(ledger)), { startImmediately: true })
        expect(yield* Effect.timeoutOption(own.database.silent, "4 seconds")).toMatchObject({ _tag: "Some" })
        return Effect.timeoutOption(Fiber.join(taking), "4 seconds")
      }))
      expect(yield* stopped).toMatchObject({ _tag: "Some" })
    }).pipe(Effect.provide(NodeServices.layer)), 30_000)

  it.live("is not taken for silent while it responds", () =>
    Effect.gen(function*() {
      const { own, proxy } = yield* behind
      yield* proxy.set("slow")
      expect(yield* Effect.timeoutOption(own.database.silent, "4 seconds")).toMatchObject({ _tag: "None" })
    }), 60_000)

  it.live("is not waited for by a snapshot whose statement never arrived, because the network forgot the connection, and keeps the others",
    () =>
      Effect.gen(function*() {
        const { proxy } = yield* behind
        const own = yield* limited(Redacted.make(proxy.url), { askAfter: Duration.seconds(1), statement: Duration.seconds(3) })
        const [id, other] = [yield* Fleets.newAccount(fleet), yield* Fleets.newAccount(fleet)]
        const ledger = yield* open(own, id, options)
        const gate = yield* Deferred.make<void>()
        const reading = yield* Effect.forkChild(Effect.flip(ledger.applySnapshot(intake(gated(gate)), policy)))
        yield* eventually(own.database.connections, ({ used }) => used === 1)
        yield* Effect.sleep("1 second")
        yield* proxy.set("forgotten")
        // Each of the other connections fails a statement first.
        const { sql } = own.database
        yield* Effect.forEach(Array.from({ length: queries }), () => Effect.exit(sql`SELECT pg_sleep(0.1)`), { concurrency: "unbounded" })
        yield* Effect.flatMap(open(own, other, options), receiveSmall)
        const working = yield* whileLocked(beside, [other], Effect.gen(function*() {
          const working = yield* Effect.forkChild(
            Effect.flatMap(open(own, other, options), (ledger) => receive(ledger, row("A", 5), row("B", 6)))
          )
          yield* eventually(blocked, (n) => n === 1)
          yield* Deferred.succeed(gate, undefined)
          expect(yield* Effect.timeout(Fiber.join(reading), "15 seconds")).toMatchObject({ _tag: "LedgerFault" })
          return working
        }))
        yield* Fiber.join(working)
        const again = yield* open(own, id, options)
        yield* receiveSmall(again)
        expect(yield* queueOf(again)).toHaveLength(2)
      }), 60_000)

  it.live("is waited for by a snapshot while it works", () =>
    Effect.gen(function*() {
      const own = yield* limited(fleet.url, { askAfter: Duration.millis(500) })
      const id = yield* Fleets.newAccount(own)
      const ledger = yield* open(own, id, options)
      yield* receiveSmall(ledger)
      const received = yield* whileLocked(beside, [id], Effect.gen(function*() {
        const received = yield* Effect.forkChild(receive(ledger, row("A", 5), row("B", 6)))
        yield* eventually(blocked, (n) => n === 1)
        yield* Effect.sleep("3 seconds")
        return received
      }))
      yield* Fiber.join(received)
      expect(yield* queueOf(ledger)).toMatchObject([{ productId: "A", to: 5 }, { productId: "B", to: 6 }])
    }), 60_000)

  it.live("fails a snapshot in the middle of a statement", () =>
    Effect.gen(function*() {
      const { proxy } = yield* behind
      const own = yield* limited(Redacted.make(proxy.url), { snapshot: Duration.seconds(2) })
      const ledger = yield* Effect.flatMap(Fleets.newAccount(own), (id) => open(own, id, options))
      const gate = yield* Deferred.make<void>()
      const reading = yield* Effect.forkChild(Effect.flip(ledger.applySnapshot(intake(gated(gate)), policy)))
      yield* eventually(own.database.connections, ({ used }) => used === 1)
      yield* Effect.sleep("2 seconds")
      yield* proxy.set("stalled")
      yield* Deferred.succeed(gate, undefined)
      const fault = yield* Effect.timeout(Fiber.join(reading), "20 seconds")
      expect(fault._tag).toBe("LedgerFault")
      expect(fault.message).toContain("did not respond in time")
    }), 60_000)

  /** Slow statements on all connections for accounts and their ledgers. */
  const whileBusy = <A, E, R>(own: Fleets.Fleet, use: Effect.Effect<A, E, R>) =>
    Effect.gen(function*() {
      const { connections, run, sql } = own.database
      const ids = yield* Effect.forEach(Array.from({ length: 4 }), () => Fleets.newAccount(own))
      const ledgers = yield* Effect.forEach(ids, (id) => open(own, id, options))
      yield* Effect.forEach(ledgers, receiveSmall)
      return yield* whileLocked(beside, ids, Effect.gen(function*() {
        yield* Effect.forEach(ledgers, (ledger) => Effect.forkChild(Effect.exit(take(ledger))))
        yield* Effect.forEach([1, 2], () => Effect.forkChild(Effect.exit(run(sql`SELECT pg_sleep(5)`))))
        yield* eventually(connections, ({ used }) => used === queries)
        return yield* use
      }))
    })

  it.live("is not taken for silent while slow statements use all connections", () =>
    Effect.gen(function*() {
      const own = yield* Fleets.runner(fleet.url)
      const silent = Effect.timeoutOption(own.database.silent, "4 seconds")
      expect(yield* whileBusy(own, silent)).toMatchObject({ _tag: "None" })
    }), 60_000)

  it.live("is noticed also while slow statements use all connections", () =>
    Effect.gen(function*() {
      const { own, proxy } = yield* behind
      const silent = Effect.andThen(proxy.set("stalled"), Effect.timeoutOption(own.database.silent, "4 seconds"))
      expect(yield* whileBusy(own, silent)).toMatchObject({ _tag: "Some" })
    }), 60_000)

  it.live("fails everything at once after it was abandoned", () =>
    Effect.gen(function*() {
      const { own, proxy } = yield* behind
      const id = yield* Fleets.newAccount(own)
      const ledger = yield* open(own, id, options)
      yield* proxy.set("stalled")
      const taking = yield* Effect.forkChild(Effect.flip(take(ledger)))
      yield* own.database.abandon
      // To connect alone may take five seconds.
      const failures = Effect.all([Fiber.join(taking), Effect.flip(own.accounts.get(id)), Effect.flip(own.ledgers.beside(id, options))])
      expect((yield* Effect.timeout(failures, "4 seconds")).map(({ _tag }) => _tag)).toEqual([
        "LedgerFault",
        "FleetDatabaseError",
        "FleetDatabaseError"
      ])
    }), 20_000)

  it.live("lets the runner stop with operations in flight", () =>
    Effect.gen(function*() {
      const own = yield* Effect.scoped(Effect.gen(function*() {
        const { own, proxy } = yield* behind
        const id = yield* Fleets.newAccount(own)
        const ledger = yield* open(own, id, options)
        yield* receiveSmall(ledger)
        yield* proxy.set("stalled")
        return { id, taking: yield* Effect.forkDetach(Effect.exit(take(ledger)), { startImmediately: true }) }
      }))
      expect(yield* Fiber.join(own.taking)).toMatchObject({ _tag: "Failure" })
      expect(yield* queueOf(yield* open(fleet, own.id, options))).toHaveLength(2)
    }), 20_000)
})
