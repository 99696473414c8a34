/** A fleet's database, and its accounts as places of ledgers. */
import * as Postgres from "@plaza-legacy/testing/Postgres"
import { Context, Deferred, Effect, Fiber, Layer, Redacted, type Scope, Stream } from "effect"
import { randomUUID } from "node:crypto"
import * as FleetAccounts from "../../../src/fleet/FleetAccounts.ts"
import * as FleetDatabase from "../../../src/fleet/FleetDatabase.ts"
import * as FleetMigrations from "../../../src/fleet/FleetMigrations.ts"
import { FleetLedger, type Taken } from "../../../src/fleet/ledger/FleetLedger.ts"
import * as FleetLedgerLive from "../../../src/fleet/ledger/FleetLedgerLive.ts"
import { Ledger, type LedgerOptions } from "../../../src/ledger/Ledger.ts"
import { type Fresh, register } from "./using.ts"

export interface Fleet {
  readonly url: Redacted.Redacted
  readonly accounts: FleetAccounts.FleetAccounts["Type"]
  readonly database: FleetDatabase.FleetDatabase["Type"]
  readonly ledgers: FleetLedger["Type"]
}

/** One runner's services. */
export const runner = (url: Redacted.Redacted): Effect.Effect<Fleet, unknown, Scope.Scope> =>
  Effect.map(
    Layer.build(Layer.provideMerge(Layer.merge(FleetAccounts.layer, FleetLedgerLive.layer), FleetDatabase.layer(url))),
    (context) => ({
      url,
      accounts: Context.get(context, FleetAccounts.FleetAccounts),
      database: Context.get(context, FleetDatabase.FleetDatabase),
      ledgers: Context.get(context, FleetLedger)
    })
  )

/** Creates the tables in a database, and returns one runner's services. */
export const prepared = (url: Redacted.Redacted) =>
  Effect.tap(runner(url), ({ database }) => Effect.provideService(FleetMigrations.migrate, FleetDatabase.FleetDatabase, database))

/** A server of its own with a prepared database. */
export const server = Effect.flatMap(Postgres.scoped, ({ url }) => prepared(Redacted.make(url)))

/** Adds accounts that have nothing but an id. */
export const add = ({ accounts }: Fleet, ...ids: ReadonlyArray<string>) =>
  accounts.putAll(Stream.map(Stream.fromIterable(ids), (id) => ({
    id,
    baseUrl: "https://api.example/open/v1",
    key: { _tag: "Env", name: "KEY" },
    source: { _tag: "Plain", text: "stock.csv" },
    options: {}
  })))

/** Takes one account over. */
export const takeOver = ({ ledgers }: Fleet, id: string, name = "runner"): Effect.Effect<Taken> =>
  Effect.flatMap(
    Effect.orDie(ledgers.takeOver({ _tag: "Ids", ids: [id] }, name)),
    ([taken]) => taken === undefined ? Effect.dieMessage(`the account ${id} was not taken over`) : Effect.succeed(taken)
  )

/** Takes one account over and opens its ledger. */
export const open = (fleet: Fleet, id: string, options: LedgerOptions) =>
  Effect.flatMap(takeOver(fleet, id), (taken) => fleet.ledgers.open(taken, options, "afterTakeover"))

/** Runs statements on the rows of one account, past its ledger. */
export const inAccount = <A, E>(
  { database: { sql } }: Fleet,
  id: string,
  use: Effect.Effect<A, E>
) =>
  sql.withTransaction(Effect.zipRight(
    sql`SELECT set_config('plaza.account', (SELECT number::text FROM fleet_account WHERE id = ${id}), true)`,
    use
  ))

/** Holds locks on the products of an account until the effect ends. */
export const whileLocked = <A, E, R>(fleet: Fleet, id: string, use: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const locked = yield* Deferred.make<void>()
    const done = yield* Deferred.make<void>()
    const holder = yield* Effect.fork(inAccount(
      fleet,
      id,
      fleet.database.sql`SELECT id FROM product FOR UPDATE`.pipe(
        Effect.zipRight(Deferred.succeed(locked, undefined)),
        Effect.zipRight(Deferred.await(done))
      )
    ))
    yield* Deferred.await(locked)
    const result = yield* use
    yield* Deferred.succeed(done, undefined)
    yield* Fiber.join(holder)
    return result
  })

/** An account of a shared database for each test. */
export const freshAccount = (fleet: () => Fleet): Fresh =>
  Effect.suspend(() => {
    const id = `shop-${randomUUID()}`
    const shared = fleet()
    register(id, {
      layer: (how, options) =>
        Layer.effect(
          Ledger,
          how === "layer"
            ? open(shared, id, options)
            : how === "layerWithoutLock"
            ? Effect.orDie(shared.ledgers.beside(id, options))
            : Effect.dieMessage(`a fleet has no ${how}`)
        ),
      inDatabase: (use) => inAccount(shared, id, use(shared.database.sql))
    })
    return Effect.orDie(Effect.as(add(shared, id), id))
  })
