/** Queries about many accounts: takeover and due products, and how the statements of a ledger find the rows of its account. */
import { PgClient } from "@effect/sql-pg"
import { describe, expect, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Option, Predicate, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import type { AccountSelection } from "../../src/fleet/AccountSelection.ts"
import { FleetDatabase } from "../../src/fleet/FleetDatabase.ts"
import * as FleetLedger from "../../src/fleet/FleetLedger.ts"
import type { Ledger } from "../../src/ledger/Ledger.ts"
import { stagingNames, tableNames } from "../../src/ledger/Schema.ts"
import { add, beside, databaseOf, type Fleet, open, server, takeOver } from "../support/ledger/fleet.ts"
import {
  collect,
  failing,
  id,
  intake,
  options,
  policy,
  receive,
  receiveOn,
  row,
  settle,
  take,
  taken,
  unguarded
} from "../support/ledger/using.ts"
import { shared } from "../support/shared.ts"
import { utc } from "../support/utc.ts"

let fleet: Fleet
shared(server, (built) => {
  fleet = built
})

/** New accounts in the shards of the same position. */
const accountsIn = (...shards: ReadonlyArray<number | null>) =>
  Effect.gen(function*() {
    const ids = shards.map((_, index) => `${index}-${randomUUID()}`)
    yield* add(fleet, ...ids)
    const { sql } = fleet.database
    for (const [index, shard] of shards.entries()) yield* sql`UPDATE fleet_account SET shard = ${shard} WHERE id = ${ids[index] ?? ""}`
    return ids
  })
const byId = (...ids: ReadonlyArray<string>): AccountSelection => ({ _tag: "Ids", ids })
const byShard = (...shards: ReadonlyArray<number>): AccountSelection => ({ _tag: "Shards", shards })

describe("a takeover", () => {
  it.effect("of shards raises the epoch of each account that is not paused, and records the runner", () =>
    Effect.gen(function*() {
      const ids = yield* accountsIn(101, 101, 102, 103, null)
      const [first = "", second = "", third = "", other = "", none = ""] = ids
      yield* fleet.accounts.setPaused([second], true)
      const taken = yield* fleet.ledgers.takeOver(byShard(101, 102), "one")
      expect(new Set(taken.map(({ id }) => id))).toEqual(new Set([first, third]))
      for (const { epoch, id } of taken) {
        const account = yield* fleet.accounts.get(id)
        expect(account).toMatchObject({ epoch, runner: "one" })
        expect(epoch).toBe(1)
      }
      for (const id of [second, other, none]) expect(yield* fleet.accounts.get(id)).toMatchObject({ epoch: 0, runner: null })
      const again = yield* fleet.ledgers.takeOver(byId(first, none, "nobody"), "two")
      expect(new Map(again.map(({ epoch, id }) => [id, epoch]))).toEqual(new Map([[first, 2], [none, 1]]))
      expect(yield* fleet.ledgers.takeOver(byShard(), "two")).toEqual([])
    }))

  it.live("leaves out an account that is being removed, without waiting for it, and takes it over later", () =>
    Effect.gen(function*() {
      const [held = "", ...others] = yield* accountsIn(106, 106, 106)
      const sql = yield* beside(fleet)
      const taken = yield* sql.withTransaction(Effect.andThen(
        sql`SELECT 1 FROM account JOIN fleet_account USING (account) WHERE id = ${held} FOR UPDATE`,
        Effect.timeout(fleet.ledgers.takeOver(byShard(106), "one"), "5 seconds")
      ))
      expect(new Set(taken.map(({ id }) => id))).toEqual(new Set(others))
      expect(yield* fleet.ledgers.takeOver(byId(held), "one")).toMatchObject([{ id: held, epoch: 1 }])
    }), 30_000)

  it.effect("finds the account that the ledger is bound to", () =>
    Effect.gen(function*() {
      const [id = ""] = yield* accountsIn(105)
      expect((yield* takeOver(fleet, id)).boundTo).toEqual(Option.none())
      const account = { baseUrl: "https://one.example", id: undefined, keyFingerprint: "k" }
      yield* Effect.flatMap(open(fleet, id, options), (ledger) => ledger.bind(account))
      expect((yield* takeOver(fleet, id)).boundTo).toEqual(Option.some(account))
    }))

  it.effect("leaves the last requests of a paused account to its runner", () =>
    Effect.gen(function*() {
      const [id = ""] = yield* accountsIn(104)
      const ledger = yield* open(fleet, id, options)
      yield* receive(ledger, row("A", 1))
      const send = yield* taken(ledger)
      yield* fleet.accounts.setPaused([id], true)
      expect(yield* fleet.ledgers.takeOver(byShard(104), "next")).toEqual([])
      yield* ledger.confirm(send)
      expect(yield* ledger.counts).toMatchObject({ settled: 1 })
    }))
})

describe("due accounts", () => {
  it.effect("have the time of their next product, whatever its state", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000)
      const names = ["due", "delayed", "quarantined", "sending", "settled", "empty", "excluded", "paused"] as const
      const ids = yield* accountsIn(...names.map(() => 110))
      const dueOf = (selection: AccountSelection) =>
        Effect.map(fleet.ledgers.dueAccounts(selection),
          (due) => new Map(due.map(({ account, dueAt }) => [names[ids.indexOf(account)], dueAt])))
      expect(yield* dueOf(byShard(110))).toEqual(new Map())
      for (const [index, name] of names.entries()) {
        const ledger = yield* open(fleet, ids[index] ?? "", options)
        if (name === "empty") continue
        yield* receive(ledger, row("A", 1), row("B", 2))
        if (name === "excluded") yield* ledger.applySnapshot(intake(Stream.empty, ["A", "B"]), policy)
        if (name === "sending") {
          yield* take(ledger)
          yield* settle(ledger, "B")
        }
        if (name === "settled") yield* Effect.forEach(["A", "B"], (product) => settle(ledger, product))
        if (name === "delayed") {
          yield* failing(ledger, "A", "pending", { retryIn: Duration.minutes(2) })
          yield* failing(ledger, "B", "doubtful", { retryIn: Duration.minutes(1) })
        }
        if (name === "quarantined")
          yield* Effect.forEach(["A", "B"], (product) => failing(ledger, product, "quarantined", { retryIn: Duration.hours(1) }))
        if (name === "paused") yield* fleet.accounts.setPaused([ids[index] ?? ""], true)
      }
      const expected = new Map([
        ["due", utc(1_000_000)],
        ["delayed", utc(1_060_000)],
        ["quarantined", utc(4_600_000)],
        ["sending", utc(1_000_000)]
      ])
      expect(yield* dueOf(byShard(110))).toEqual(expected)
      expect(yield* dueOf(byId(...ids))).toEqual(expected)
      expect(yield* dueOf(byId(ids[1] ?? ""))).toEqual(new Map([["delayed", utc(1_060_000)]]))
      // A time that has come counts as now, also before a worker makes the product due.
      yield* TestClock.setTime(2_000_000)
      expect((yield* dueOf(byShard(110))).get("delayed")).toEqual(utc(2_000_000))
    }))
})

describe("a ledger beside its runner", () => {
  it.effect("reads, confirms a held snapshot and releases, without disturbing the runner", () =>
    Effect.gen(function*() {
      const [id = ""] = yield* accountsIn(1)
      const ledger = yield* open(fleet, id, options)
      yield* receive(ledger, row("A", 1))
      yield* failing(ledger, "A", "quarantined", { retryIn: Duration.hours(1) })
      const beside = yield* fleet.ledgers.beside(id, options)
      expect(yield* beside.counts).toMatchObject({ quarantined: 1 })
      expect(yield* beside.release(Option.none())).toEqual(["A"])
      expect(yield* take(ledger)).toMatchObject({ productId: "A", attempts: 1 })

      const many = (stock: number) => Array.from({ length: 100 }, (_, index) => row(`P${index}`, stock))
      yield* receive(ledger, ...many(9))
      expect(yield* Effect.flip(receive(ledger, ...many(0)))).toMatchObject({ _tag: "SnapshotHeld" })
      expect(yield* beside.confirmHeld(3)).toMatchObject({ number: 3, confirmed: true })
      expect(yield* receive(ledger, ...many(0))).toMatchObject({ changed: 100 })
      expect((yield* fleet.accounts.get(id)).epoch).toBe(1)

      yield* fleet.accounts.remove(id)
      const fault = yield* Effect.flip(beside.release(Option.none()))
      expect(fault.message).toBe(`the account ${id} was removed`)
    }))
})

describe("an account that is much larger than the statistics know", () => {
  it.live("has its snapshots compared within seconds", () =>
    Effect.gen(function*() {
      const small = yield* databaseOf(fleet, "small")
      const { sql } = small.database
      yield* sql`ALTER TABLE product SET (autovacuum_enabled = off)`
      // So many that a snapshot of usual size does not update the statistics.
      yield* sql`INSERT INTO product (account, id, wanted, attempts, state, listing, queued_at, line, updated_at)
        SELECT 1000000 + n, 'P1', 5, 0, 'settled', 'named', 0, 2, 0 FROM generate_series(1, 60000) AS account (n)`
      yield* sql`ANALYZE product`
      yield* add(small, "large")
      const ledger = yield* open(small, "large", options)
      const apply = (first: number) =>
        receiveOn(ledger, unguarded, ...Array.from({ length: 9_990 }, (_, index) => row(`P${index}`, index === 0 ? first : 1, index + 1)))
      expect(yield* apply(1)).toMatchObject({ changed: 9_990 })
      // In nested loops each takes several seconds.
      for (const first of [2, 3, 4, 5, 6, 7, 8, 9]) expect(yield* apply(first)).toMatchObject({ changed: 1 })
    }), 20_000)
})

/** How a plan finds rows: the condition of each index, or the table that is read without one. */
const accesses = (plan: unknown): ReadonlyArray<string> => {
  if (Array.isArray(plan)) return plan.flatMap(accesses)
  if (!Predicate.isReadonlyObject(plan)) return []
  const own = "Index Name" in plan
    ? [`${"Index Cond" in plan ? String(plan["Index Cond"]) : `all of ${String(plan["Index Name"])}`}`]
    : plan["Node Type"] === "Seq Scan"
    ? [`all of ${String(plan["Relation Name"])}`]
    : []
  return [...own, ...Object.values(plan).flatMap(accesses)]
}

interface Explained {
  readonly text: string
  readonly accesses: ReadonlyArray<string>
}

/** A connection that explains each statement before it runs, in the same transaction and by the same settings. */
const explaining = (connection: SqlConnection.Connection, explained: Array<Explained>): SqlConnection.Connection => {
  const explain = (text: string, values: ReadonlyArray<unknown>) =>
    // The statistics of a table, which the ledger reads before it updates them.
    !/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)/.test(text) || text.includes("pg_class")
      ? Effect.void
      : Effect.map(connection.executeValues(`EXPLAIN (FORMAT JSON) ${text}`, values),
        (rows) => void explained.push({ text, accesses: accesses(rows) }))
  return {
    ...connection,
    execute: (text, values, transform) => Effect.andThen(explain(text, values), connection.execute(text, values, transform)),
    executeUnprepared: (text, values, transform) =>
      Effect.andThen(explain(text, values), connection.executeUnprepared(text, values, transform))
  }
}

/** The ledgers of a fleet, all statements of which run on one connection and are explained. */
const explainedLedgers = ({ database }: Fleet, explained: Array<Explained>) =>
  Effect.gen(function*() {
    const connection = explaining(yield* database.sql.reserve, explained)
    const sql = yield* SqlClient.make({
      acquirer: Effect.succeed(connection),
      transactionAcquirer: Effect.succeed(connection),
      compiler: PgClient.makeCompiler(),
      driver: database.sql.driver,
      spanAttributes: []
    }).pipe(Effect.provide(Reactivity.layer))
    const own = FleetDatabase.of({ ...database, sql, ledgers: { ...database.ledgers, session: () => Effect.succeed(sql) } })
    const context = yield* Layer.build(Layer.provide(Layer.fresh(FleetLedger.layer), Layer.succeed(FleetDatabase, own)))
    return Context.get(context, FleetLedger.FleetLedger)
  })

describe("a thousand accounts with a thousand products each", () => {
  /** Every operation, and the page of each list that is read first. */
  const operations: ReadonlyArray<readonly [keyof Ledger["Service"], (ledger: Ledger["Service"]) => Effect.Effect<unknown, unknown>]> = [
    ["check", (ledger) => ledger.check],
    ["bind", (ledger) => ledger.bind({ baseUrl: "https://api.example", id: "1", keyFingerprint: "" })],
    ["adopt", (ledger) => ledger.adopt({ baseUrl: "https://api.example", id: "1", keyFingerprint: "k" })],
    ["account", (ledger) => ledger.account],
    ["confirm", (ledger) => Effect.flatMap(taken(ledger, 1e15), ledger.confirm)],
    ["take", (ledger) => take(ledger)],
    ["take", (ledger) => ledger.take({ _tag: "Due", confirmedBefore: Option.none(), except: [id("P1")], yielding: ["rest"] })],
    ["take", (ledger) => ledger.take({ _tag: "SoldOut", outcomes: "any" })],
    ["fail", (ledger) => failing(ledger, "P4", "uncertain", { retryIn: Duration.minutes(1), observed: 7 })],
    ["nextDue", (ledger) => ledger.nextDue(Option.none())],
    ["nextDelayed", (ledger) => ledger.nextDelayed],
    ["counts", (ledger) => ledger.counts],
    ["backlog", (ledger) => ledger.backlog],
    ["requests", (ledger) => ledger.requests],
    ["countRequest", (ledger) => ledger.countRequest(Effect.void)],
    ["snapshot", (ledger) => ledger.snapshot],
    ["queue", (ledger) => collect(ledger.queue)],
    ["quarantined", (ledger) => collect(ledger.quarantined)],
    ["uncertain", (ledger) => collect(ledger.uncertain)],
    ["unsettled", (ledger) => collect(ledger.unsettled)],
    ["all", (ledger) => collect(ledger.all)],
    ["rowIssues", (ledger) => collect(ledger.rowIssues)],
    ["heldChanges", (ledger) => collect(ledger.heldChanges)],
    ["history", (ledger) => Effect.all([collect(ledger.history(Option.none())), collect(ledger.history(Option.some("P1")))])],
    ["record", (ledger) => ledger.record({ at: utc(0), kind: "accountPaused", code: "STORE_BLOCKED", detail: undefined, count: 0 })],
    ["events", (ledger) => ledger.events],
    ["kept", (ledger) => ledger.kept],
    ["setNotices", (ledger) => ledger.setNotices("{}")],
    ["notices", (ledger) => ledger.notices],
    ["attention", (ledger) => ledger.attention],
    ["needing", (ledger) => collect(ledger.needing)],
    ["rejectedRows", (ledger) => collect(ledger.rejectedRows)],
    ["product", (ledger) => ledger.product("P3")],
    ["resend", (ledger) => ledger.resend(["P12"])],
    ["release", (ledger) => Effect.all([ledger.release(Option.some(["P8"])), ledger.release(Option.none())])],
    ["observe", (ledger) => ledger.observe([{ productId: id("P20"), stock: 9 }], utc(4e12), true)],
    ["clockChanged", (ledger) => Effect.all([ledger.clockChanged(0), ledger.clockChanged(60_000), ledger.clockChanged(-60_000)])],
    ["retryNow", (ledger) => ledger.retryNow],
    ["confirmHeld", (ledger) => Effect.ignore(ledger.confirmHeld(2))],
    ["applySnapshot", (ledger) =>
      Effect.gen(function*() {
        const rows = (stock: number) => Array.from({ length: 900 }, (_, index) => row(`P${index + 1}`, index < 300 ? stock : 5, index + 1))
        const zeroing = { ...unguarded, missing: "zero" } as const
        expect(yield* receiveOn(ledger, zeroing, ...rows(4))).toMatchObject({ changed: 400 })
        expect(yield* receiveOn(ledger, zeroing, ...rows(4))).toMatchObject({ repeated: true })
        expect(yield* receiveOn(ledger, unguarded, ...rows(4), row("N", 1, 901), row("N", 2, 902))).toMatchObject({ rejected: 2 })
        expect(yield* Effect.flip(receive(ledger, ...rows(0)))).toMatchObject({ _tag: "SnapshotHeld" })
        expect(yield* receiveOn(ledger, unguarded, ...rows(5))).toMatchObject({ changed: 300 })
      })],
    ["pastSnapshots", (ledger) => ledger.pastSnapshots],
    ["revert", (ledger) =>
      Effect.gen(function*() {
        const last = (yield* ledger.snapshot).lastNumber
        const options = { guard: policy.guard, confirmed: true, preview: false, limit: undefined }
        expect(yield* ledger.revert(last - 2, options)).toMatchObject({ changed: 300 })
      })]
  ]

  it.live("are read by indexes that begin with the account, before and after the statistics are known",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const large = yield* databaseOf(fleet, "large")
        const { sql } = large.database
        for (const table of tableNames) yield* sql.unsafe(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`)
        yield* add(large, ...Array.from({ length: 1_000 }, (_, index) => `shop-${index}`))
        // A hundredth is due, delayed, quarantined or in flight.
        yield* sql`INSERT INTO product (account, id, wanted, confirmed, confirmed_at, attempts, state, listing, queued_at, due_at, line, updated_at)
        SELECT account, 'P' || n, 5, CASE WHEN n > 10 THEN 5 END, 0, 0,
          CASE WHEN n > 10 THEN 'settled' WHEN n = 10 THEN 'sending' WHEN n > 7 THEN 'quarantined' ELSE 'pending' END,
          'named', n, CASE WHEN n BETWEEN 5 AND 9 THEN n::bigint << 40 END, n, 0
        FROM fleet_account CROSS JOIN generate_series(1, 1000) AS product (n)`
        yield* sql`UPDATE account SET base_url = 'https://api.example', key_fingerprint = ''`
        yield* sql`INSERT INTO request (account, ended_at) SELECT account, n FROM account CROSS JOIN generate_series(1, 20) AS request (n)`
        yield* sql`INSERT INTO row_issue (account, place, line, kind, reason)
        SELECT account, n, n, 'rejected', 'is odd' FROM account CROSS JOIN generate_series(1, 20) AS issue (n)`
        yield* sql`INSERT INTO held_change (account, id, kind, was, wanted)
        SELECT account, 'P' || n, 'soldOut', 5, 0 FROM account CROSS JOIN generate_series(1, 20) AS held (n)`
        yield* sql`INSERT INTO history (account, n, product_id, value, priority, waiting_since, sent_at, ended_at, outcome)
        SELECT account, n, 'P1', 1, 1, 0, 0, 0, 'confirmed' FROM account CROSS JOIN generate_series(1, 50) AS past (n)`
        yield* sql`INSERT INTO event (account, n, at, kind, amount)
        SELECT account, n, n, 'snapshotAccepted', 1 FROM account CROSS JOIN generate_series(1, 50) AS past (n)`

        yield* sql`INSERT INTO notice (account, state) SELECT account, '{}' FROM account`
        yield* sql`INSERT INTO past_snapshot (account, number, taken_at, row_count, changed, kept)
        SELECT account, n, n, 1000, 20, 20 FROM account CROSS JOIN generate_series(1, 20) AS past (n)`
        yield* sql`INSERT INTO past_stock (account, number, id, stock)
        SELECT account, 20, 'P' || n, 5 FROM account CROSS JOIN generate_series(1, 20) AS past (n)`
        yield* sql`UPDATE snapshot SET last_number = 20`
        // Of products that the source does not name.
        yield* sql`INSERT INTO reverted_stock (account, id, stock)
        SELECT account, 'Q' || n, 5 FROM account CROSS JOIN generate_series(1, 20) AS undone (n)`

        const temporary = new RegExp(`^all of (${stagingNames.join("|")})$`)
        for (const [account, areAnalyzed] of [["shop-500", false], ["shop-501", true]] as const) {
          if (areAnalyzed) yield* sql`ANALYZE`
          const explained: Array<Explained> = []
          const ledgers = yield* explainedLedgers(large, explained)
          const owned = yield* takeOver(large, account)
          const ledger = yield* ledgers.open(owned, options, "afterTakeover")
          expect(new Set(operations.map(([name]) => name))).toEqual(
            new Set(Object.keys(ledger).filter((name) => !["path", "lost", "previewSnapshot"].includes(name)))
          )
          for (const [name, operation] of operations) {
            const before = explained.length
            yield* operation(ledger)
            expect([name, explained.length > before]).toEqual([name, true])
          }
          const found = explained.flatMap(({ accesses, text }) => accesses.map((access) => ({ access, text })))
            .filter(({ access }) => !temporary.test(access))
          expect(found.length).toBeGreaterThan(100)
          const condition = new RegExp(`^\\(+account = '?${owned.account}\\b`)
          expect(found.filter(({ access }) => !condition.test(access))).toEqual([])
        }

        const explained: Array<Explained> = []
        const ledgers = yield* explainedLedgers(large, explained)
        const due = yield* ledgers.dueAccounts(byId(...Array.from({ length: 1_000 }, (_, index) => `shop-${index}`)))
        expect(due).toHaveLength(1_000)
        const accessesOfDue = explained.flatMap(({ accesses }) => accesses)
        expect(accessesOfDue).toContainEqual(expect.stringMatching(/^\(+account = fleet_account\.account/))
        expect(accessesOfDue.filter((access) => access.startsWith("all of product"))).toEqual([])
      })), 180_000)
})
