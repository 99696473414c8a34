/** The rights that a fleet needs in its database: docs/fleet.md, "Rights of the database user". */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Redacted, Result, Stream } from "effect"
import { readFileSync } from "node:fs"
import * as FleetAccounts from "../../src/fleet/FleetAccounts.ts"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.ts"
import type { AccountExists, AccountNotFound, FleetDatabaseError } from "../../src/fleet/FleetError.ts"
import * as FleetMigrations from "../../src/fleet/FleetMigrations.ts"
import * as FleetNotify from "../../src/fleet/operations/FleetNotify.ts"
import * as FleetStatus from "../../src/fleet/operations/FleetStatus.ts"
import * as RunnerHeartbeat from "../../src/fleet/operations/RunnerHeartbeat.ts"
import { Ownership } from "../../src/fleet/Ownership.ts"
import * as OwnershipCluster from "../../src/fleet/OwnershipCluster.ts"
import { eventually } from "../support/eventually.ts"
import * as Status from "../support/fleetStatus.ts"
import { add, addressOf, databaseOf, type Fleet, open, runner, server } from "../support/ledger/fleet.ts"
import { bad, fail, options, policy, receive, row, settle, taken } from "../support/ledger/using.ts"
import { shared } from "../support/shared.ts"
import { utc } from "../support/utc.ts"

let fleet: Fleet
shared(server, (built) => {
  fleet = built
})

/** A database that nobody but its owner and this new role may use. */
const restricted = (name: string, ...grants: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { sql } = fleet.database
    yield* sql.unsafe(`CREATE DATABASE ${name}`)
    yield* sql.unsafe(`CREATE ROLE ${name}_user LOGIN`)
    yield* sql.unsafe(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC`)
    for (const grant of grants) yield* sql.unsafe(grant)
    const admin = addressOf(fleet, name)
    return { admin, user: Redacted.make(Redacted.value(admin).replace("plaza@", `${name}_user@`)) }
  })

/** The documented statements for a user, for the user of a restricted database. */
const granted = (user: string, name: string): ReadonlyArray<string> => {
  const [, rights = ""] = readFileSync(new URL("../../../../docs/fleet.md", import.meta.url), "utf8").split(
    "## Rights of the database user"
  )
  const statements = Array.from(rights.matchAll(/```sql\n([^]*?)```/g)).flatMap(([, text = ""]) => text.match(/GRANT [^;]+/g) ?? [])
  const own = statements.filter((statement) => statement.includes(user))
  expect(own.length).toBeGreaterThan(2)
  return own.map((statement) => statement.replace(user, `${name}_user`).replace("DATABASE fleet", `DATABASE ${name}`))
}

const withDatabase = <A, E>({ database }: Fleet, use: Effect.Effect<A, E, FleetDatabase.FleetDatabase>) =>
  Effect.provideService(use, FleetDatabase.FleetDatabase, database)
const migrate = (url: Redacted.Redacted) => Effect.flatMap(runner(url), (one) => withDatabase(one, FleetMigrations.migrate))

const ownership = ({ database }: Fleet) =>
  Effect.scoped(
    Effect.flatMap(
      Effect.provide(Ownership, Layer.provide(Layer.fresh(OwnershipCluster.layer), Layer.succeed(FleetDatabase.FleetDatabase, database))),
      ({ owned }) => owned
    )
  )

/** What a runner does: ownership, takeover, snapshots, sends, and its row and pages for operators. */
const run = (one: Fleet, id: string) =>
  Effect.gen(function*() {
    yield* withDatabase(one, FleetMigrations.check)
    yield* ownership(one)
    const ledger = yield* open(one, id, options)
    yield* ledger.bind({ baseUrl: "https://api.example", id: "1", keyFingerprint: "k" })
    // Enough rows for the statistics to be updated, if that is permitted.
    yield* receive(ledger, ...Array.from({ length: 1_500 }, (_, index) => row(`P${index}`, index)))
    yield* settle(ledger, "P7")
    yield* taken(ledger)
    expect(yield* ledger.counts).toMatchObject({ settled: 1, sending: 1, pending: 1_498 })
    expect(yield* one.ledgers.dueAccounts({ _tag: "Ids", ids: [id] })).toHaveLength(1)
    // Every other statement that writes.
    yield* ledger.adopt({ baseUrl: "https://api.example", id: "1", keyFingerprint: "other" })
    const sent = yield* taken(ledger)
    yield* fail(ledger, sent, "quarantined", { retryIn: Duration.hours(1) })
    yield* ledger.release(Option.none())
    yield* ledger.observe([{ productId: sent.productId, stock: 9 }], utc(4e12), true)
    yield* ledger.countRequest(Effect.void)
    yield* ledger.clockChanged(60_000)
    yield* ledger.clockChanged(-60_000)
    yield* ledger.retryNow
    const soldOut = receive(ledger, bad("odd", "is odd", 7), ...Array.from({ length: 1_500 }, (_, index) => row(`P${index}`, 0)))
    expect(yield* Effect.flip(soldOut)).toMatchObject({ _tag: "SnapshotHeld" })
    yield* ledger.confirmHeld(2)
    yield* soldOut
    expect(yield* ledger.counts).toMatchObject({ rejectedRows: 1 })
    yield* open(one, id, options)
    const { read, write } = yield* withDatabase(one, FleetNotify.store)
    for (const text of ["once", "twice"]) yield* write(text)
    expect(yield* read).toEqual(Option.some("twice"))
    yield* one.database.sql`UPDATE fleet_account SET problem = 'none', shard = 3 WHERE id = ${id}`
    const { backlog } = yield* withDatabase(
      one,
      eventually(FleetStatus.overview, ({ runners }) => runners.some(({ name }) => name === Status.runner)).pipe(
        Effect.provide(Layer.provide(RunnerHeartbeat.layer, Status.layerReady()))
      )
    )
    expect(backlog.accounts).toBe(1)
  })

const denial = "doesn't let this user do what is needed: run the GRANT statements of docs/fleet.md"

describe("a user of the database", () => {
  it.live("that owns nothing but the schema can migrate it and run the fleet", () =>
    Effect.gen(function*() {
      const { admin, user } = yield* restricted("owner", "GRANT CONNECT, TEMP ON DATABASE owner TO owner_user")
      yield* Effect.flatMap(runner(admin), ({ database: { sql } }) => sql`CREATE SCHEMA plaza_fleet AUTHORIZATION owner_user`)
      yield* migrate(user)
      const one = yield* runner(user)
      yield* add(one, "shop-1")
      yield* run(one, "shop-1")
      yield* one.accounts.remove("shop-1")
      const found = yield* one.database.sql<{ owners: string }>`
        SELECT string_agg(DISTINCT tableowner, ',') AS owners FROM pg_tables WHERE schemaname = 'plaza_fleet'`
      expect(found).toEqual([{ owners: "owner_user" }])
    }), 60_000)

  it.live("that has only the documented rights can run the fleet, and manage accounts with those for that", () =>
    Effect.gen(function*() {
      const { admin, user } = yield* restricted("limited")
      yield* migrate(admin)
      const administrator = yield* runner(admin)
      const { sql } = administrator.database
      yield* add(administrator, "shop-1")
      expect((yield* Effect.flip(runner(user))).message).toContain("doesn't let this user")
      yield* Effect.forEach(granted("stock_sync_runner", "limited"), (grant) => sql.unsafe(grant))
      const one = yield* runner(user)
      yield* run(one, "shop-1")
      for (
        const [what, denied] of [
          ["remove", one.accounts.remove("shop-1")],
          ["add", Effect.asVoid(add(one, "shop-2"))],
          ["alter", one.database.run(Effect.asVoid(one.database.sql`ALTER TABLE fleet_account DROP COLUMN key`))],
          ["create", one.database.run(Effect.asVoid(one.database.sql`CREATE TABLE other ()`))]
        ] as const
      ) {
        const error = yield* Effect.flip<void, AccountExists | AccountNotFound | FleetDatabaseError, never>(denied)
        expect([what, error.message]).toEqual([what, expect.stringContaining(denial)])
      }
      yield* Effect.forEach(granted("stock_sync_operator", "limited"), (grant) => sql.unsafe(grant))
      yield* add(one, "shop-2")
      yield* one.accounts.putAll(Stream.make(FleetAccounts.settingsOf(yield* one.accounts.get("shop-2"))))
      yield* one.accounts.adopt("shop-1")
      const beside = yield* one.ledgers.beside("shop-1", options)
      yield* beside.release(Option.none())
      const [, earlier] = yield* beside.pastSnapshots
      const reverting = { guard: policy.guard, confirmed: true, preview: false, limit: undefined }
      expect(yield* beside.revert(earlier?.number ?? Number.NaN, reverting)).toMatchObject({ changed: 1_499 })
      yield* one.accounts.remove("shop-1")
    }), 60_000)
})

describe("prepared databases", () => {
  it.live("of a later version are refused, also by the migration", () =>
    Effect.gen(function*() {
      const later = yield* databaseOf(fleet, "later")
      yield* later.database.sql`INSERT INTO fleet_migration (migration_id, name) VALUES (99, 'later')`
      for (const use of [FleetMigrations.check, FleetMigrations.migrate]) {
        const refused = yield* withDatabase(later, Effect.result<unknown, FleetDatabaseError, FleetDatabase.FleetDatabase>(use))
        expect(Result.isFailure(refused) ? refused.failure.message : "").toContain(
          "was prepared by a later version of plaza-stock-sync: install that version"
        )
      }
    }), 60_000)
})
