/** Queries about many accounts: takeover and due products, and their plans. */
import { SqlClient } from "@effect/sql"
import type { Connection } from "@effect/sql/SqlConnection"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, Redacted, Stream, TestClock } from "effect"
import { randomUUID } from "node:crypto"
import type { AccountSelection } from "../../src/fleet/AccountSelection.ts"
import * as ApplySnapshot from "../../src/ledger/ApplySnapshot.ts"
import * as LedgerConnection from "../../src/ledger/LedgerConnection.ts"
import { LedgerFault } from "../../src/ledger/LedgerError.ts"
import * as LedgerSql from "../../src/ledger/LedgerSql.ts"
import * as OutcomeQueries from "../../src/ledger/OutcomeQueries.ts"
import { add, type Fleet, inAccount, open, prepared, server } from "../support/ledger/fleet.ts"
import { failing, id, options, policy, receive, refusal, row, settle, take, taken, unguarded } from "../support/ledger/using.ts"
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
      for (const { epoch, id, revision, shard } of taken) {
        const account = yield* fleet.accounts.get(id)
        expect(account).toMatchObject({ epoch, revision, shard, runner: "one" })
        expect(epoch).toBe(1)
      }
      for (const id of [second, other, none]) expect(yield* fleet.accounts.get(id)).toMatchObject({ epoch: 0, runner: null })
      const again = yield* fleet.ledgers.takeOver(byId(first, none, "nobody"), "two")
      expect(new Map(again.map(({ epoch, id, shard }) => [id, { epoch, shard }]))).toEqual(
        new Map([[first, { epoch: 2, shard: 101 }], [none, { epoch: 1, shard: null }]])
      )
      expect(yield* fleet.ledgers.takeOver(byShard(), "two")).toEqual([])
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
        if (name === "sending") {
          yield* take(ledger)
          yield* settle(ledger, "B")
        }
        if (name === "settled" || name === "excluded") yield* Effect.forEach(["A", "B"], (product) => settle(ledger, product))
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
      expect((yield* fleet.accounts.get(id)).epoch).toBe(1)
      yield* fleet.accounts.remove(id)
      const fault = yield* Effect.flip(beside.counts)
      expect(fault.message).toBe(`the account ${id} was removed`)
    }))
})

describe("a thousand accounts with a thousand products each", () => {
  /** How a plan finds rows: the condition of each index, or the table that is read without one. */
  const accesses = (plan: unknown): ReadonlyArray<string> => {
    if (Array.isArray(plan)) return plan.flatMap(accesses)
    if (typeof plan !== "object" || plan === null) return []
    const own = "Index Name" in plan
      ? [`${"Index Cond" in plan ? String(plan["Index Cond"]) : `all of ${String(plan["Index Name"])}`}`]
      : "Node Type" in plan && plan["Node Type"] === "Seq Scan" && "Relation Name" in plan
      ? [`all of ${String(plan["Relation Name"])}`]
      : []
    return [...own, ...Object.values(plan).flatMap(accesses)]
  }

  interface Recorded {
    readonly text: string
    readonly values: ReadonlyArray<unknown>
  }

  /** The statements of the operations that a worker repeats, and of those of a status page. */
  const statementsOf = (fleet: Fleet, account: string) =>
    Effect.gen(function*() {
      const statements: Array<Recorded> = []
      const { sql } = fleet.database
      const inLedger = LedgerConnection.make(sql, "large", (error) => new LedgerFault({ path: "large", message: String(error) }), true)
      const ledger = LedgerSql.make(inLedger, options)
      yield* inAccount(
        fleet,
        account,
        Effect.flatMap(Effect.serviceOption(SqlClient.TransactionConnection), (found) => {
          if (Option.isNone(found)) return Effect.dieMessage("no transaction")
          const [connection, depth] = found.value
          const recording: Connection = {
            execute: (text, values, transform) => {
              statements.push({ text, values })
              return connection.execute(text, values, transform)
            },
            executeRaw: (text, values) => connection.executeRaw(text, values),
            executeStream: (text, values, transform) => connection.executeStream(text, values, transform),
            executeValues: (text, values) => connection.executeValues(text, values),
            executeUnprepared: (text, values, transform) => connection.executeUnprepared(text, values, transform)
          }
          return Effect.gen(function*() {
            yield* ledger.confirm(yield* taken(ledger, 1e15))
            const second = yield* ledger.take({ _tag: "HalfOpen", except: [id("P1")] })
            if (Option.isNone(second)) return yield* Effect.dieMessage("nothing is due")
            yield* ledger.fail(second.value, { state: "pending", refusal: refusal(5), retryIn: Duration.minutes(1) })
            yield* ledger.nextDue(Option.none())
            yield* ledger.counts
            yield* ledger.backlog
            yield* ledger.requests
            yield* ledger.snapshot
            yield* ledger.account
            yield* Stream.runDrain(Stream.take(ledger.queue, 1))
            yield* Stream.runDrain(Stream.take(ledger.quarantined, 1))
            yield* Stream.runDrain(Stream.take(ledger.unsettled, 1))
            yield* Stream.runDrain(Stream.take(ledger.history(Option.none()), 1))
            yield* OutcomeQueries.markInterrupted(sql, options)
            yield* ledger.nextDelayed
            yield* ledger.retryNow
            yield* ledger.release(Option.some(["P8"]))
            yield* ledger.clockChanged(0)
            const snapshot = Array.from({ length: 1_000 }, (_, index) => row(`P${index + 1}`, index === 0 ? 4 : 5, index + 1))
            const applied = yield* ApplySnapshot.applySmall(inLedger, snapshot, { excluded: new Set(), unit: "line" }, {
              ...policy,
              ...unguarded
            }, () => sql``)
            expect(applied).toMatchObject(Option.some({ changed: 1 }))
          }).pipe(Effect.provideService(SqlClient.TransactionConnection, [recording, depth]))
        })
      )
      return statements
    })

  it.live("are read by indexes that begin with the account, before and after the statistics are known",
    () =>
      Effect.scoped(Effect.gen(function*() {
        yield* fleet.database.sql`CREATE DATABASE large`
        const large = yield* prepared(Redacted.make(Redacted.value(fleet.url).replace(/\/postgres$/, "/large")))
        const { sql } = large.database
        yield* add(large, ...Array.from({ length: 1_000 }, (_, index) => `shop-${index}`))
        // A hundredth is due, delayed, quarantined or in flight.
        yield* sql`INSERT INTO ledger_product (account, id, wanted, confirmed, confirmed_at, attempts, state, part, since, due_at, line, updated_at)
        SELECT number, 'P' || n, 5, CASE WHEN n > 10 THEN 5 END, 0, 0,
          CASE WHEN n > 10 THEN 'settled' WHEN n = 10 THEN 'sending' WHEN n > 7 THEN 'quarantined' ELSE 'pending' END,
          'named', n, CASE WHEN n BETWEEN 5 AND 9 THEN n::bigint << 40 END, n, 0
        FROM fleet_account CROSS JOIN generate_series(1, 1000) AS product (n)`
        yield* sql`INSERT INTO ledger_snapshot (account, one) SELECT number, 1 FROM fleet_account`
        yield* sql`INSERT INTO ledger_account (account, one, base_url, key_fingerprint) SELECT number, 1, 'https://api.example', '' FROM fleet_account`
        yield* sql`INSERT INTO ledger_request (account, at) SELECT number, n FROM fleet_account CROSS JOIN generate_series(1, 20) AS request (n)`
        yield* sql`INSERT INTO ledger_row_issue (account, place, line, kind, reason)
        SELECT number, n, n, 'rejected', 'is odd' FROM fleet_account CROSS JOIN generate_series(1, 20) AS issue (n)`
        yield* sql`INSERT INTO ledger_held_change (account, id, kind, was, wanted)
        SELECT number, 'P' || n, 'soldOut', 5, 0 FROM fleet_account CROSS JOIN generate_series(1, 20) AS held (n)`
        yield* sql`ALTER TABLE ledger_history DISABLE TRIGGER ledger_history_number`
        yield* sql`INSERT INTO ledger_history (account, n, product_id, value, priority, sent_at, ended_at, outcome)
        SELECT number, n, 'P1', 1, 1, 0, 0, 'confirmed' FROM fleet_account CROSS JOIN generate_series(1, 50) AS past (n)`
        yield* sql`ALTER TABLE ledger_history ENABLE TRIGGER ledger_history_number`
        const statements = yield* statementsOf(large, "shop-500")
        expect(statements.length).toBeGreaterThan(30)
        let found = 0
        for (const isAnalyzed of [false, true]) {
          if (isAnalyzed) yield* sql`ANALYZE`
          const explained = Effect.forEach(statements, ({ text, values }) =>
            text.startsWith("SET LOCAL")
              ? Effect.as(sql.unsafe(text), [])
              : Effect.map(sql.unsafe<{ readonly [plan: string]: unknown }>(`EXPLAIN (FORMAT JSON) ${text}`, values),
                ([row]) => accesses(row?.["QUERY PLAN"]).map((access) => `${access} in ${text}`)))
          for (const access of (yield* inAccount(large, "shop-500", explained)).flat()) {
            found++
            expect(access).toMatch(/^\(+account = \(current_setting\(/)
          }
        }
        expect(found).toBeGreaterThan(60)
        const due = yield* large.ledgers.dueAccounts(byId(...Array.from({ length: 1_000 }, (_, index) => `shop-${index}`)))
        expect(due).toHaveLength(1_000)
      })), 180_000)
})
