/** The rights that a fleet needs in its database: docs/fleet.md, "Rights of the database user". */
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Option, Redacted, Scope } from "effect"
import { readFileSync } from "node:fs"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.js"
import type { AccountNotFound, FleetDatabaseError } from "../../src/fleet/FleetError.js"
import * as FleetMigrations from "../../src/fleet/FleetMigrations.js"
import { Ownership } from "../../src/fleet/Ownership.js"
import * as OwnershipCluster from "../../src/fleet/OwnershipCluster.js"
import { add, type Fleet, open, prepared, runner, server } from "../support/ledger/fleet.js"
import { bad, options, receive, refusal, row, settle, take } from "../support/ledger/using.js"
import { utc } from "../support/utc.js"

const scope = Effect.runSync(Scope.make())
let fleet: Fleet
beforeAll(async () => {
  fleet = await Effect.runPromise(Scope.extend(server, scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

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

const migrate = (url: Redacted.Redacted) =>
  Effect.provide(Effect.zipRight(FleetMigrations.migrate, OwnershipCluster.migrate), FleetDatabase.layer(url))

/** What a runner does: ownership, takeover, snapshots and sends. */
const run = (one: Fleet, id: string) =>
  Effect.gen(function*() {
    yield* Effect.provideService(FleetMigrations.check, FleetDatabase.FleetDatabase, one.database)
    yield* Effect.scoped(Effect.provide(
      Effect.flatMap(Ownership, ({ owned }) => owned),
      Layer.provide(OwnershipCluster.layer, Layer.succeed(FleetDatabase.FleetDatabase, one.database))
    ))
    const ledger = yield* open(one, id, options)
    yield* ledger.bind({ baseUrl: "https://api.example", id: "1", keyFingerprint: "k" })
    // Enough rows for the statistics to be updated, if that is permitted.
    yield* receive(ledger, ...Array.from({ length: 1_500 }, (_, index) => row(`P${index}`, index)))
    yield* settle(ledger, "P7")
    expect(yield* take(ledger)).toBeDefined()
    expect(yield* ledger.counts).toMatchObject({ settled: 1, sending: 1, pending: 1_498 })
    expect(yield* one.ledgers.dueAccounts({ _tag: "Ids", ids: [id] })).toHaveLength(1)
    expect((yield* one.ledgers.backlog).accounts).toBe(1)
    expect(yield* one.ledgers.backlogs([id])).toHaveLength(1)
    // Every other statement that writes.
    yield* ledger.adopt({ baseUrl: "https://api.example", id: "1", keyFingerprint: "other" })
    const sent = yield* take(ledger)
    if (sent !== undefined) {
      yield* ledger.fail(sent, { state: "quarantined", refusal: refusal(sent.value), retryIn: Duration.hours(1) })
      yield* ledger.release(Option.none())
      yield* ledger.observe([{ productId: sent.productId, stock: 9 }], utc(4e12), true)
    }
    yield* ledger.recordRequest
    yield* ledger.clockChanged(60_000)
    yield* ledger.clockChanged(-60_000)
    yield* ledger.retryNow
    const soldOut = receive(ledger, bad("odd", "is odd", 7), ...Array.from({ length: 1_500 }, (_, index) => row(`P${index}`, 0)))
    expect(yield* Effect.flip(soldOut)).toMatchObject({ _tag: "SnapshotHeld" })
    yield* ledger.confirmHeld(1)
    yield* soldOut
    expect(yield* ledger.counts).toMatchObject({ rejectedRows: 1 })
    yield* one.database.sql`UPDATE fleet_account SET problem = 'none', shard = 3 WHERE id = ${id}`
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

  it.live("that has only the documented rights can run the fleet, but not migrate it or manage accounts",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { admin, user } = yield* restricted("limited")
        yield* migrate(admin)
        const administrator = yield* runner(admin)
        yield* add(administrator, "shop-1")
        const documented = /## Rights of the database user[^]*?```sql\n([^]*?)```/.exec(
          readFileSync(new URL("../../../../docs/fleet.md", import.meta.url), "utf8")
        )?.[1] ?? ""
        const grants = documented.replaceAll("stock_sync_runner", "limited_user").replaceAll("DATABASE fleet", "DATABASE limited").split(
          ";"
        )
          .map((statement) => statement.trim()).filter((statement) => statement !== "")
        expect(grants.length).toBeGreaterThan(3)
        const refused = yield* Effect.either(Effect.scoped(runner(user)))
        expect(refused._tag).toBe("Left")
        for (const grant of grants) yield* administrator.database.sql.unsafe(grant)
        const one = yield* runner(user)
        yield* run(one, "shop-1")
        const { sql } = one.database
        for (
          const [what, denied] of [
            ["remove", one.accounts.remove("shop-1")],
            ["add", Effect.asVoid(add(one, "shop-2"))],
            ["alter", one.database.run(Effect.asVoid(sql`ALTER TABLE fleet_account DROP COLUMN epoch`))],
            ["read other tables", one.database.run(Effect.asVoid(sql`SELECT 1 FROM ledger_history`))]
          ] as const
        ) {
          const error = yield* Effect.flip<void, AccountNotFound | FleetDatabaseError, never>(denied)
          expect([what, error.message]).toEqual([what, expect.stringContaining("doesn't let this user")])
        }
      })), 60_000)
})

describe("prepared databases", () => {
  it.live("of the version before get the ledgers without losing their accounts", () =>
    Effect.scoped(Effect.gen(function*() {
      yield* fleet.database.sql`CREATE DATABASE earlier`
      const url = Redacted.make(Redacted.value(fleet.url).replace(/\/postgres$/, "/earlier"))
      const one = yield* prepared(url)
      yield* add(one, "shop-1", "shop-2")
      const { sql } = one.database
      // As version 1 was.
      yield* sql`DROP TRIGGER ledger_remove ON fleet_account`
      yield* sql`DROP FUNCTION ledger_remove, ledger_fence`
      for (const table of ["product", "account", "snapshot", "held_change", "row_issue", "history", "request"])
        yield* sql.unsafe(`DROP TABLE ledger_${table} CASCADE`)
      yield* sql`DROP FUNCTION ledger_history_number`
      yield* sql`DROP TABLE fleet_runner`
      yield* sql`ALTER TABLE fleet_account DROP COLUMN number`
      yield* sql`DELETE FROM fleet_migration WHERE migration_id > 1`
      yield* Effect.provideService(FleetMigrations.migrate, FleetDatabase.FleetDatabase, one.database)
      for (const id of ["shop-1", "shop-2"]) yield* receive(yield* open(one, id, options), row("A", 1))
      expect((yield* one.ledgers.backlog).waiting).toBe(2)
    })), 60_000)
})
