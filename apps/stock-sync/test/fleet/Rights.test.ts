/**
 * The commands of a fleet, each by a user that has exactly the rights of docs/fleet.md, "Rights of the database user". The runner, and what
 * reads standard input, is the built program. Timers are real.
 */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, FileSystem, Layer, Redacted, Schema } from "effect"
import { readFileSync } from "node:fs"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.ts"
import * as Command from "../support/command.ts"
import { eventually } from "../support/eventually.ts"
import * as Program from "../support/program.ts"
import { shared } from "../support/shared.ts"

let server = ""
shared(Postgres.scoped, ({ url }) => {
  server = url
})

/** The lists of rights in the documentation. */
const lists = Array.from(
  readFileSync(new URL("../../../../docs/fleet.md", import.meta.url), "utf8").split("## Rights of the database user")[1]
    ?.matchAll(/```sql\n([^]*?)```/g) ?? [],
  ([, statements = ""]) => statements.split(";").map((statement) => statement.trim()).filter((statement) => statement !== "")
)

/** Runs statements as the administrator. */
const administer = (database: string, ...statements: ReadonlyArray<string>) =>
  Effect.provide(
    Effect.flatMap(FleetDatabase.FleetDatabase,
      ({ run, sql }) => Effect.forEach(statements, (statement) => run(sql.unsafe(statement)), { discard: true })),
    Layer.fresh(FleetDatabase.layer(Redacted.make(server.replace(/\/postgres$/, `/${database}`))))
  )

const addressOf = (database: string, user: string) => server.replace("plaza@", `${user}@`).replace(/\/postgres$/, `/${database}`)

/** A database that nobody but its administrator may use, and the users of the documentation without any right. */
const database = (name: string) =>
  Effect.gen(function*() {
    yield* administer("postgres", `CREATE DATABASE ${name}`, `REVOKE ALL ON DATABASE ${name} FROM PUBLIC`)
    for (const user of ["migrator", "runner", "operator"]) yield* administer("postgres", `CREATE ROLE ${name}_${user} LOGIN`)
    const granted = (statements: ReadonlyArray<string>, user: "runner" | "operator" = "operator") =>
      administer(name,
        ...statements.map((statement) =>
          statement.replace(`stock_sync_${user}`, `${name}_${user}`).replace("DATABASE fleet", `DATABASE ${name}`)
        ))
    return {
      name,
      granted,
      migrator: addressOf(name, `${name}_migrator`),
      runner: addressOf(name, `${name}_runner`),
      operator: addressOf(name, `${name}_operator`)
    }
  })

const secret = "the secret of this fleet"

const run = (url: string, args: ReadonlyArray<string>, input?: string) => {
  const env = { STOCK_SYNC_FLEET_DATABASE: url, STOCK_SYNC_FLEET_SECRET: secret }
  const command = ["fleet", ...args]
  return input === undefined ? Command.run(command, env) : Program.run(command, { cwd: "/", env, input })
}

/** The JSON of a command that succeeds. */
const json = (url: string, args: ReadonlyArray<string>, input?: string) =>
  Effect.map(run(url, [...args, "--json"], input), ({ status, stderr, stdout }) => {
    expect([args.join(" "), status, stderr]).toEqual([args.join(" "), 0, ""])
    return stdout
  })

const Fleet = Schema.fromJsonString(Schema.Struct({
  runners: Schema.Array(Schema.Struct({ alive: Schema.Boolean })),
  accounts: Schema.Struct({ total: Schema.Int, running: Schema.Int, held: Schema.Int }),
  products: Schema.Struct({ quarantined: Schema.Int }),
  heldSnapshots: Schema.Array(Schema.Struct({ account: Schema.String, snapshot: Schema.Int }))
}))
const Account = Schema.fromJsonString(Schema.Struct({
  problem: Schema.NullOr(Schema.String),
  status: Schema.Struct({ counts: Schema.Struct({ settled: Schema.Int, quarantined: Schema.Int }) })
}))

const ids = Array.from({ length: 30 }, (_, index) => `P${index}`)
const csv = (stock: number) => `productId,stock\n${ids.map((id) => `${id},${stock}\n`).join("")}NO-SUCH-PRODUCT,1\nBAD-ROW,many\n`

describe("users with exactly the documented rights", () => {
  it("are three lists", () => {
    expect(lists.map((statements) => statements.length)).toEqual([9, 3, 5])
  })

  it.live("migrate the database, run accounts, show their state and change them", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const cwd = yield* files.makeTempDirectoryScoped()
      const sandbox = yield* Sandbox.Sandbox
      const store = yield* sandbox.createAccount({ id: "store" })
      const key = Redacted.value((yield* sandbox.createKey(store.id)).apiKey)
      yield* sandbox.addFixtures({ products: ids.map((id) => ({ id, accountId: store.id })) })
      const { granted, migrator, name, operator, runner } = yield* database("rights")
      const [ofRunner = [], ofStatus = [], ofAccounts = []] = lists

      expect((yield* run(migrator, ["migrate"])).stderr).toContain("doesn't let this user")
      yield* administer("postgres", `GRANT CONNECT, CREATE ON DATABASE ${name} TO ${name}_migrator`)
      yield* json(migrator, ["migrate"])
      yield* json(migrator, ["migrate"])

      yield* granted(ofStatus)
      const status = Effect.flatMap(json(operator, ["status"]), Schema.decodeEffect(Fleet))
      expect((yield* status).accounts.total).toBe(0)
      expect(
        (yield* run(operator, ["accounts", "add", "a", "--base-url", sandbox.baseUrl, "--source", "a.csv", "--key", "env:KEY"])).stderr
      )
        .toContain("doesn't let this user")
      yield* granted(ofAccounts)
      yield* json(operator, ["accounts", "import", "-"], `id,baseUrl,key,source,poll\nshop,${sandbox.baseUrl},${key},shop.csv,1s\n`)
      yield* json(operator, ["accounts", "add", "other", "--base-url", sandbox.baseUrl, "--source", "other.csv", "--key", "env:KEY"])

      yield* files.writeFileString(`${cwd}/shop.csv`, csv(5))
      const started = Program.start(["fleet", "run", "--port", "0", "--log-level", "debug"], {
        cwd,
        env: { STOCK_SYNC_FLEET_DATABASE: runner, STOCK_SYNC_FLEET_SECRET: secret }
      })
      expect((yield* (yield* started).ended).stderr).toContain("doesn't let this user")
      yield* granted(ofRunner, "runner")
      const running = yield* started
      const account = Effect.flatMap(json(operator, ["status", "shop"]), Schema.decodeEffect(Account))
      yield* eventually(account, ({ status: { counts } }) => counts.settled === ids.length && counts.quarantined === 1)
      yield* eventually(status, ({ accounts, runners }) => runners.some(({ alive }) => alive) && accounts.running === 2)

      const url = /address=(http:\S+)/.exec(running.stderr())?.[1] ?? ""
      const get = (path: string) =>
        Effect.promise(() => fetch(`${url}${path}`).then(async (response) => [response.status, await response.text()] as const))
      for (const path of ["/", "/accounts/shop", "/readyz"]) expect([path, (yield* get(path))[0]]).toEqual([path, 200])

      yield* files.writeFileString(`${cwd}/shop.csv`, csv(0))
      const { heldSnapshots } = yield* eventually(status, ({ heldSnapshots }) => heldSnapshots.length === 1)
      yield* eventually(get("/metrics"), ([, text]) =>
        text.includes("plaza_stock_sync_fleet_accounts{state=\"held\"} 1\n") && text.includes("plaza_stock_sync_fleet_runners 1\n"))
      yield* json(operator, ["accounts", "confirm", "shop", String(heldSnapshots[0]?.snapshot)])
      yield* eventually(status, ({ accounts }) => accounts.held === 0)
      yield* json(operator, ["accounts", "retry", "shop"])
      yield* json(operator, ["accounts", "update", "shop", "--key", "-", "--poll", "2s"], key)
      yield* json(operator, ["accounts", "pause", "shop"])
      yield* json(operator, ["accounts", "resume", "shop"])
      yield* json(operator, ["accounts", "list"])
      const zero = Effect.map(sandbox.state, ({ products }) => products.filter(({ id, stock }) => ids.includes(id) && stock === 0).length)
      yield* eventually(zero, (count) => count === ids.length)
      yield* json(operator, ["accounts", "remove", "other", "--yes"])

      yield* running.kill("SIGTERM")
      const ended = yield* running.ended
      expect(ended.status).toBe(0)
      expect(ended.stderr.split("\n").filter((line) => /doesn't let|permission denied|unrecorded|unsampled/.test(line))).toEqual([])
      expect((yield* status).runners).toEqual([])
      yield* json(operator, ["accounts", "remove", "shop", "--yes"])
      expect((yield* status).products.quarantined).toBe(0)
    }).pipe(Effect.provide(Layer.merge(NodeServices.layer, Sandbox.layerServer()))), 180_000)

  it.live("learn which right to the leases of shards a runner lacks, before it appears in the fleet", () =>
    Effect.gen(function*() {
      const { granted, migrator, name, operator, runner } = yield* database("leases")
      yield* administer("postgres", `GRANT CONNECT, CREATE ON DATABASE ${name} TO ${name}_migrator`)
      yield* json(migrator, ["migrate"])
      const [ofRunner = [], ofStatus = []] = lists
      yield* granted(ofStatus)
      yield* granted(ofRunner, "runner")
      for (
        const [right, object] of [
          ["SELECT", "plaza_fleet.cluster_runners"],
          ["DELETE", "plaza_fleet.cluster_locks"],
          ["USAGE", "plaza_fleet.cluster_runners_machine_id_seq"]
        ]
      ) {
        yield* administer(name, `REVOKE ${right} ON ${object} FROM ${name}_runner`)
        const { status, stderr } = yield* run(runner, ["run"])
        expect([right, status]).toEqual([right, 2])
        expect(stderr).toContain(`doesn't let this user do what is needed: grant it ${right} on ${object}`)
        yield* administer(name, `GRANT ${right} ON ${object} TO ${name}_runner`)
      }
      expect((yield* Effect.flatMap(json(operator, ["status"]), Schema.decodeEffect(Fleet))).runners).toEqual([])
    }), 120_000)

  it.live("migrate a schema that an administrator has created", () =>
    Effect.gen(function*() {
      const { migrator, name } = yield* database("owned")
      yield* administer("postgres", `GRANT CONNECT ON DATABASE ${name} TO ${name}_migrator`)
      yield* administer(name, `CREATE SCHEMA plaza_fleet AUTHORIZATION ${name}_migrator`)
      yield* json(migrator, ["migrate"])
    }), 60_000)
})
