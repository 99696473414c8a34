/** A fleet's database, and its accounts as places of ledgers. */
import { PgClient } from "@effect/sql-pg"
import * as Postgres from "@plaza/testing/Postgres"
import { Context, Deferred, Effect, Fiber, Layer, Redacted, type Scope, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import * as FleetAccounts from "../../../src/fleet/FleetAccounts.ts"
import * as FleetDatabase from "../../../src/fleet/FleetDatabase.ts"
import * as FleetLedger from "../../../src/fleet/FleetLedger.ts"
import * as FleetMigrations from "../../../src/fleet/FleetMigrations.ts"
import { types } from "../../../src/ledger/database/Connections.ts"
import { Ledger, type LedgerOptions } from "../../../src/ledger/Ledger.ts"
import { tableNames } from "../../../src/ledger/Schema.ts"
import type { Kind } from "./kind.ts"
import { whiteBoxOf } from "./newLedger.ts"

export interface Fleet {
  readonly url: Redacted.Redacted
  readonly accounts: FleetAccounts.FleetAccounts["Service"]
  readonly database: FleetDatabase.FleetDatabase["Service"]
  readonly ledgers: FleetLedger.FleetLedger["Service"]
}

/** One runner's services. */
export const runner = (url: Redacted.Redacted, database = FleetDatabase.layer(url)) => {
  const services = Layer.provideMerge(Layer.merge(FleetAccounts.layer, FleetLedger.layer), database)
  return Effect.map(Layer.build(Layer.fresh(services)), (context): Fleet => ({
    url,
    accounts: Context.get(context, FleetAccounts.FleetAccounts),
    database: Context.get(context, FleetDatabase.FleetDatabase),
    ledgers: Context.get(context, FleetLedger.FleetLedger)
  }))
}

/** Creates the tables in a database, and returns one runner's services. */
export const prepared = (url: Redacted.Redacted) =>
  Effect.tap(runner(url), ({ database }) => Effect.provideService(FleetMigrations.migrate, FleetDatabase.FleetDatabase, database))

/** A server of its own with a prepared database. */
export const server = Effect.flatMap(Postgres.scoped, ({ url }) => prepared(Redacted.make(url)))

/** The address of another database of the server. */
export const addressOf = ({ url }: Pick<Fleet, "url">, database: string): Redacted.Redacted =>
  Redacted.make(Redacted.value(url).replace(/\/postgres$/, `/${database}`))

/** Another database of the server. */
export const databaseOf = (fleet: Fleet, name: string) =>
  Effect.andThen(fleet.database.sql.unsafe(`CREATE DATABASE ${name}`), prepared(addressOf(fleet, name)))

/** Connections to the database that are not of a runner. */
export const beside = ({ url }: Pick<Fleet, "url">): Effect.Effect<SqlClient.SqlClient, unknown, Scope.Scope> =>
  Effect.map(
    Layer.build(Layer.fresh(PgClient.layer({
      url,
      types,
      applicationName: "beside",
      startupParameters: { search_path: FleetDatabase.schema }
    }))),
    (context) => Context.get(context, SqlClient.SqlClient)
  )

/** Adds accounts that have nothing but an id. */
export const add = ({ accounts }: Pick<Fleet, "accounts">, ...ids: ReadonlyArray<string>) =>
  accounts.putAll(Stream.map(Stream.fromIterable(ids), (id) => ({
    id,
    baseUrl: "https://api.example/open/v1",
    key: { _tag: "Env", name: "KEY" },
    source: { _tag: "Plain", text: "stock.csv" },
    options: {}
  })))

/** A new account. */
export const newAccount = (fleet: Fleet) =>
  Effect.suspend(() => {
    const id = `shop-${randomUUID()}`
    return Effect.as(add(fleet, id), id)
  })

/** Takes one account over. */
export const takeOver = ({ ledgers }: Fleet, id: string, name = "runner"): Effect.Effect<FleetLedger.OwnedAccount> =>
  Effect.flatMap(
    Effect.orDie(ledgers.takeOver({ _tag: "Ids", ids: [id] }, name)),
    ([taken]) => taken === undefined ? Effect.die(new Error(`the account ${id} was not taken over`)) : Effect.succeed(taken)
  )

/** Takes one account over and opens its ledger. */
export const open = (fleet: Fleet, id: string, options: LedgerOptions) =>
  Effect.flatMap(takeOver(fleet, id), (taken) => fleet.ledgers.open(taken, options, "afterTakeover"))

/** Runs statements on the rows of one account, past its ledger. */
export const inAccount = <A, E>(
  { database: { sql } }: Fleet,
  id: string,
  use: (sql: SqlClient.SqlClient, account: number) => Effect.Effect<A, E>
) =>
  Effect.flatMap(sql<{ account: number }>`SELECT account FROM fleet_account WHERE id = ${id}`, ([row]) =>
    row === undefined ? Effect.die(new Error(`there is no account ${id}`)) : use(sql, row.account))

/** Everything that is stored of an account. */
export const contentOf = (fleet: Fleet, id: string) =>
  inAccount(fleet, id, (sql, account) =>
    Effect.forEach(tableNames, (table) =>
      sql.unsafe(`SELECT * FROM ${table} AS one WHERE account = ${account} ORDER BY one::text`)))

/** The rows in the tables of the ledgers that are of no account. */
export const orphans = ({ database: { sql } }: Fleet) =>
  Effect.map(
    Effect.forEach(tableNames, (table) =>
      sql.unsafe(`SELECT 1 FROM ${table} WHERE NOT EXISTS (SELECT 1 FROM fleet_account WHERE fleet_account.account = ${table}.account)`)),
    (rows) => rows.flat()
  )

/** Holds locks on the products of accounts until the effect ends. `sql` has connections of its own. */
export const whileLocked = <A, E, R>(sql: SqlClient.SqlClient, ids: ReadonlyArray<string>, use: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const locked = yield* Deferred.make<void>()
    const done = yield* Deferred.make<void>()
    const holder = yield* Effect.forkChild(sql.withTransaction(
      sql`SELECT 1 FROM product WHERE account IN (SELECT account FROM fleet_account WHERE id IN ${sql.in(ids)}) FOR UPDATE`.pipe(
        Effect.andThen(Deferred.succeed(locked, undefined)),
        Effect.andThen(Deferred.await(done))
      )
    ))
    yield* Deferred.await(locked)
    const result = yield* use
    yield* Deferred.succeed(done, undefined)
    yield* Fiber.join(holder)
    return result
  })

/** An account of a shared database for each test. */
export const account = (fleet: () => Fleet): Kind => ({
  fresh: Effect.suspend(() => Effect.orDie(newAccount(fleet()))),
  layer: (id, access, options) =>
    Layer.effect(
      Ledger,
      Effect.suspend(() =>
        access === "owner"
          ? open(fleet(), id, options)
          : access === "beside"
          ? Effect.orDie(fleet().ledgers.beside(id, options))
          : Effect.die(new Error(`a fleet has no ${access}`))
      )
    ),
  whiteBox: whiteBoxOf((id, use) => Effect.orDie(Effect.suspend(() => inAccount(fleet(), id, use))))
})
