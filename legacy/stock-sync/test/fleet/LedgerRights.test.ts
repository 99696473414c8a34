/** The rights that a fleet needs in its database: docs/fleet.md, "Rights of the database user". */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Redacted, Stream } from "effect"
import { readFileSync } from "node:fs"
import * as FleetAccounts from "../../src/fleet/FleetAccounts.ts"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.ts"
import type { AccountNotFound, FleetDatabaseError } from "../../src/fleet/FleetError.ts"
import * as FleetMigrations from "../../src/fleet/FleetMigrations.ts"
import * as FleetStatus from "../../src/fleet/operations/FleetStatus.ts"
import * as RunnerHeartbeat from "../../src/fleet/operations/RunnerHeartbeat.ts"
import { Ownership } from "../../src/fleet/Ownership.ts"
import * as OwnershipCluster from "../../src/fleet/OwnershipCluster.ts"
import { eventually } from "../support/eventually.ts"
import * as Status from "../support/fleetStatus.ts"
import { add, type Fleet, open, prepared, runner, server } from "../support/ledger/fleet.ts"
import { bad, options, receive, refusal, row, settle, take } from "../support/ledger/using.ts"
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
    const admin = Redacted.value(fleet.url).replace(/\/postgres$/, `/${name}`)
    return { admin: Redacted.make(admin), user: Redacted.make(admin.replace("plaza@", `${name}_user@`)) }
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

const migrate = (url: Redacted.Redacted) =>
  Effect.provide(Effect.zipRight(FleetMigrations.migrate, OwnershipCluster.migrate), FleetDatabase.layer(url))

const ownership = ({ database }: Fleet) =>
  Effect.scoped(Effect.provide(
    Effect.flatMap(Ownership, ({ owned }) => owned),
    Layer.provide(OwnershipCluster.layer, Layer.succeed(FleetDatabase.FleetDatabase, database))
  ))

/** What a runner does: ownership, takeover, snapshots, sends, and its row and pages for operators. */
const run = (one: Fleet, id: string) =>
  Effect.gen(function*() {
    yield* Effect.provideService(FleetMigrations.check, FleetDatabase.FleetDatabase, one.database)
    yield* ownership(one)
    const ledger = yield* open(one, id, options)
    yield* ledger.bind({ baseUrl: "https://api.example", id: "1", keyFingerprint: "k" })
    // Enough rows for the statistics to be updated, if that is permitted.
    yield* receive(ledger, ...Array.from({ length: 1_500 }, (_, index) => row(`P${index}`, index)))
    yield* settle(ledger, "P7")
    expect(yield* take(ledger)).toBeDefined()
    expect(yield* ledger.counts).toMatchObject({ settled: 1, sending: 1, pending: 1_498 })
    expect(yield* one.ledgers.dueAccounts({ _tag: "Ids", ids: [id] })).toHaveLength(1)
    // Every other statement that writes.
    yield* ledger.adopt({ baseUrl: "https://api.example", id: "1", keyFingerprint: "other" })
    const sent = yield* take(ledger)
    if (sent !== undefined) {
      yield* ledger.fail(sent, { state: "quarantined", refusal: refusal(sent.value), retryIn: Duration.hours(1) })
      yield* ledger.release(Option.none())
      yield* ledger.observe([{ productId: sent.productId, stock: 9 }], utc(4e12), true)
    }
    yield* ledger.countRequest(Effect.void)
    yield* ledger.clockChanged(60_000)
    yield* ledger.clockChanged(-60_000)
    yield* ledger.retryNow
    const soldOut = receive(ledger, bad("odd", "is odd", 7), ...Array.from({ length: 1_500 }, (_, index) => row(`P${index}`, 0)))
    expect(yield* Effect.flip(soldOut)).toMatchObject({ _tag: "SnapshotHeld" })
    yield* ledger.confirmHeld(1)
    yield* soldOut
    expect(yield* ledger.counts).toMatchObject({ rejectedRows: 1 })
    yield* one.database.sql`UPDATE fleet_account SET problem = 'none', shard = 3 WHERE id = ${id}`
    const { backlog } = yield* eventually(FleetStatus.overview, ({ runners }) => runners.some(({ name }) => name === Status.runner)).pipe(
      Effect.provide(Layer.provide(RunnerHeartbeat.layer, Status.layerReady)),
      Effect.provideService(FleetDatabase.FleetDatabase, one.database)
    )
    expect(backlog.accounts).toBe(1)
  })

describe("a user of the database", () => {
  it.live("that owns nothing but the schema can migrate it and run the fleet", () =>
    Effect.scoped(Effect.gen(function*() {
      const { admin, user } = yield* restricted("owner", "GRANT CONNECT, TEMP ON DATABASE owner TO owner_user")
      yield* Effect.flatMap(FleetDatabase.FleetDatabase, ({ sql }) => sql`CREATE SCHEMA plaza_fleet AUTHORIZATION owner_user`).pipe(
        Effect.provide(FleetDatabase.layer(admin))
      )
      yield* migrate(user)
      const one = yield* runner(user)
      yield* add(one, "shop-1")
      yield* run(one, "shop-1")
      yield* one.accounts.remove("shop-1")
      const [found] = yield* one.database.sql<{ owners: string }>`
        SELECT string_agg(DISTINCT tableowner, ',') AS owners FROM pg_tables WHERE schemaname = 'plaza_fleet'`
      expect(found?.owners).toBe("owner_user")
    })), 60_000)

  it.live("that has only the documented rights can run the fleet, and manage accounts with those for that",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { admin, user } = yield* restricted("limited")
        yield* migrate(admin)
        const administrator = yield* runner(admin)
        yield* add(administrator, "shop-1")
        const refused = yield* Effect.either(Effect.scoped(runner(user)))
        expect(refused._tag).toBe("Left")
        yield* Effect.forEach(granted("stock_sync_runner", "limited"), (grant) => administrator.database.sql.unsafe(grant))
        const one = yield* runner(user)
        const { sql } = administrator.database
        yield* sql`REVOKE CREATE ON SCHEMA plaza_fleet FROM limited_user`
        expect(yield* Effect.flip(ownership(one))).toMatchObject({
          _tag: "FleetDatabaseError",
          message: expect.stringContaining("doesn't let this user do what is needed: run the GRANT statements of docs/fleet.md") as string
        })
        yield* sql`GRANT CREATE ON SCHEMA plaza_fleet TO limited_user`
        yield* run(one, "shop-1")
        for (
          const [what, denied] of [
            ["remove", one.accounts.remove("shop-1")],
            ["add", Effect.asVoid(add(one, "shop-2"))],
            ["alter", one.database.run(Effect.asVoid(one.database.sql`ALTER TABLE fleet_account DROP COLUMN epoch`))],
            ["read other tables", one.database.run(Effect.asVoid(one.database.sql`SELECT 1 FROM ledger_history`))]
          ] as const
        ) {
          const error = yield* Effect.flip<void, AccountNotFound | FleetDatabaseError, never>(denied)
          expect([what, error.message]).toEqual([what, expect.stringContaining("doesn't let this user")])
        }
        yield* Effect.forEach(granted("stock_sync_operator", "limited"), (grant) => administrator.database.sql.unsafe(grant))
        yield* add(one, "shop-2")
        yield* one.accounts.putAll(Stream.make(FleetAccounts.settingsOf(yield* one.accounts.get("shop-2"))))
        yield* one.accounts.adopt("shop-1")
        const beside = yield* one.ledgers.beside("shop-1", options)
        yield* beside.release(Option.none())
        yield* one.accounts.remove("shop-1")
      })), 60_000)
})

describe("prepared databases", () => {
  it.live("of a later version are refused, also by the migration", () =>
    Effect.scoped(Effect.gen(function*() {
      yield* fleet.database.sql`CREATE DATABASE later`
      const { database } = yield* prepared(Redacted.make(Redacted.value(fleet.url).replace(/\/postgres$/, "/later")))
      yield* database.sql`INSERT INTO fleet_migration (migration_id, name) VALUES (99, 'later')`
      for (const use of [FleetMigrations.check, Effect.asVoid(FleetMigrations.migrate)]) {
        const error = yield* Effect.flip(Effect.provideService(use, FleetDatabase.FleetDatabase, database))
        expect(error.message).toContain("was prepared by a later version of plaza-stock-sync: install that version")
      }
    })), 60_000)
})
