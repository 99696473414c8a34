/**
 * `fleet migrate` and `fleet accounts` against a real Postgres, with the built program where they read standard input or run at the same
 * time. Every output and every table is searched for secrets.
 */
import { afterAll, describe, expect, it } from "@effect/vitest"
import * as Postgres from "@plaza/testing/Postgres"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.ts"
import * as FleetMigrations from "../../src/fleet/FleetMigrations.ts"
import * as Command from "../support/command.ts"
import { eventually } from "../support/eventually.ts"
import { query } from "../support/fleetStatus.ts"
import * as Program from "../support/program.ts"
import { shared } from "../support/shared.ts"

const key = "plaza_0123456789012345678901234567890123456789"
const password = "hunter2hunter2"
const hidden = [key, key.slice(6), password]
const secret = "the first secret of the fleet"
const baseUrl = "https://api.example/open/v1"

const folder = mkdtempSync(join(tmpdir(), "plaza-fleet-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let server = ""
shared(Postgres.scoped, ({ url }) => {
  server = url
})

/** Every row of every table, as a backup has them. */
const dump = (url: string) =>
  Effect.gen(function*() {
    const tables = yield* query<{ name: string }>(
      url,
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = '${FleetDatabase.schema}'`
    )
    const rows = yield* Effect.forEach(tables, ({ name }) => query(url, `SELECT * FROM ${FleetDatabase.schema}.${name}`))
    return JSON.stringify(rows)
  })

interface RunOptions {
  /** Starts the built program with this standard input. */
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

interface Fleet {
  readonly url: string
  readonly run: (args: ReadonlyArray<string>, options?: RunOptions) => Effect.Effect<Program.Ended>
  /** The JSON of a run that succeeds. */
  readonly json: (args: ReadonlyArray<string>, options?: RunOptions) => Effect.Effect<unknown>
  readonly accounts: Effect.Effect<ReadonlyArray<unknown>>
}

let databases = 0
/** A fleet with an empty database. No output and no table of it ever holds a secret. */
const withFleet = <A, E>(use: (fleet: Fleet) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const name = `commands_${databases++}`
    yield* query(server, `CREATE DATABASE ${name}`)
    const url = server.replace(/\/postgres$/, `/${name}`)
    const run: Fleet["run"] = (args, { env, input } = {}) => {
      const variables = { STOCK_SYNC_FLEET_DATABASE: url, STOCK_SYNC_FLEET_SECRET: secret, ...env }
      const command = ["fleet", ...args]
      return Effect.tap(
        input === undefined ? Command.run(command, variables) : Program.run(command, { cwd: folder, env: variables, input }),
        ({ stderr, stdout }) =>
          Effect.sync(() => {
            for (const text of hidden) expect(`${stdout}${stderr}`).not.toContain(text)
          })
      )
    }
    const json: Fleet["json"] = (args, options) =>
      Effect.map(run([...args, "--json"], options), ({ status, stderr, stdout }) => {
        expect([status, stderr]).toEqual([0, ""])
        return Program.parsed(stdout)
      })
    const accounts = Effect.map(run(["accounts", "list", "--json"]),
      ({ stdout }) => stdout.split("\n").filter((line) => line !== "").map(Program.parsed))
    const result = yield* use({ url, run, json, accounts })
    const tables = yield* dump(url)
    for (const text of hidden) expect(tables).not.toContain(text)
    return result
  })

const failure = (ended: Program.Ended) => [ended.status, ended.stderr.replace(/\s+/g, " ")]

const csv = (...rows: ReadonlyArray<string>) => `${rows.join("\n")}\n`

/** Writes the file of an import, and returns its path. Without rows it is empty. */
const written = (...rows: ReadonlyArray<string>): string => {
  const file = join(folder, "accounts.csv")
  writeFileSync(file, rows.length === 0 ? "" : csv(...rows))
  return file
}

describe("fleet migrate", () => {
  it.live("prepares the database once, also if it runs several times at the same time",
    () =>
      withFleet(({ json, run }) =>
        Effect.gen(function*() {
          expect(failure(yield* run(["accounts", "list"]))).toEqual([2, expect.stringContaining("run plaza-stock-sync fleet migrate")])
          const runs = yield* Effect.all(Array.from({ length: 3 }, () => json(["migrate"], { input: "" })), { concurrency: "unbounded" })
          const migrations = runs.flatMap((result) => (result as { readonly migrations: ReadonlyArray<string> }).migrations)
          expect(migrations).toHaveLength(FleetMigrations.version)
          expect(yield* json(["migrate"])).toEqual({ migrations: [], resealed: 0, unopened: { count: 0, accounts: [] } })
          expect((yield* run(["migrate"])).stdout).toBe("The database of the fleet is up to date.\n")
        })
      ), 60_000)

  it.live("seals anew what an earlier secret sealed, and refuses a wrong secret",
    () =>
      withFleet(({ json, run, url }) =>
        Effect.gen(function*() {
          yield* json(["migrate"])
          const file = written(
            "id,baseUrl,key,source,query,source-authorization",
            `a,${baseUrl},${key},postgres://sync:${password}@db.example/shop,SELECT 1,Bearer ${password}`,
            `b,${baseUrl},env:KEY,b.csv,,`
          )
          yield* json(["accounts", "import", file])
          const other = { STOCK_SYNC_FLEET_SECRET: "another secret of the fleet" }
          const wrong = [2, expect.stringContaining("is not the secret that sealed the keys of this fleet")]
          expect(failure(yield* run(["migrate"], { env: other }))).toEqual(wrong)
          expect(failure(yield* run(["accounts", "import", file], { env: other }))).toEqual(wrong)
          const both = { STOCK_SYNC_FLEET_SECRET: `another secret of the fleet,${secret}` }
          expect(yield* json(["migrate"], { env: both })).toEqual({ migrations: [], resealed: 1, unopened: { count: 0, accounts: [] } })
          expect(yield* json(["migrate"], { env: both })).toMatchObject({ resealed: 0 })
          // What is sealed stays the same secret: nothing changes by importing it again.
          expect(yield* json(["accounts", "import", file], { env: other })).toEqual({ added: 0, updated: 0, unchanged: 2 })
          yield* query(url, "UPDATE plaza_fleet.fleet_account SET key = 'sealed:v1:00000000:AAAA' WHERE id = 'b'")
          const damaged = yield* run(["migrate"], { env: other })
          expect(failure(damaged)).toEqual([0, expect.stringContaining("opens what is sealed for 1 account (b): add the secret")])
        })
      ), 60_000)
})

describe("fleet accounts", () => {
  it.live("adds, lists, updates, pauses, resumes and removes an account",
    () =>
      withFleet(({ accounts, json, run }) =>
        Effect.gen(function*() {
          yield* json(["migrate"])
          expect(yield* run(["accounts", "list"])).toMatchObject({ status: 0, stdout: "", stderr: "There are no accounts.\n" })
          const account = {
            id: "shop-1",
            baseUrl,
            source: "https://shop.example/stock.csv",
            key: "sealed",
            options: { "stock-column": "qty", "source-authorization": "env:SHOP_HEADER" },
            paused: false,
            problem: null,
            runner: null
          }
          const add = ["accounts", "add", "shop-1", "--base-url", `${baseUrl}/`, "--source", account.source, "--stock-column", "qty"]
          expect(yield* json([...add, "--source-authorization", "env:SHOP_HEADER"], { input: `${key}\n` })).toEqual(account)
          expect(failure(yield* run(add, { input: key }))).toEqual([5, expect.stringContaining("account shop-1 exists already")])
          const update = ["accounts", "update", "shop-1"]
          const changed = { ...account, options: { "source-authorization": "env:SHOP_HEADER", poll: "5m" }, key: "env:SHOP_KEY" }
          const change = [...update, "--poll", "5m", "--unset", "stock-column", "--key", "env:SHOP_KEY"]
          expect(yield* json(change)).toEqual({ ...changed, changed: true })
          expect(yield* json(change)).toEqual({ ...changed, changed: false })
          expect((yield* run([...update, "--key", "-"], { input: key })).stdout).toContain("Account shop-1 is updated.")
          // The account keeps its sealed key without the secret.
          const sourced = yield* json([...update, "--source", "stock.csv"], { env: { STOCK_SYNC_FLEET_SECRET: "" } })
          expect(sourced).toMatchObject({ source: "stock.csv", key: "sealed", changed: true })

          expect(yield* json(["accounts", "pause", "shop-1", "shop-1"])).toEqual({
            paused: true,
            accounts: ["shop-1"],
            changed: ["shop-1"]
          })
          expect((yield* run(["accounts", "pause", "shop-1"])).stdout).toBe("0 accounts are paused. 1 account was in this state before.\n")
          expect(yield* accounts).toEqual([expect.objectContaining({ id: "shop-1", paused: true })])
          const table = (yield* run(["accounts", "list"])).stdout
          expect(table).toContain("shop-1")
          expect(table).toContain("paused")
          expect(failure(yield* run(["accounts", "resume", "shop-1", "x"]))).toEqual([3, expect.stringContaining("there is no account x")])
          expect(yield* accounts).toEqual([expect.objectContaining({ paused: true })])
          expect((yield* run(["accounts", "resume", "shop-1"])).stdout).toBe("1 account is resumed.\n")

          const unasked = yield* run(["accounts", "remove", "shop-1"])
          expect(failure(unasked)).toEqual([2, expect.stringContaining("use --yes in a script")])
          expect(yield* json(["accounts", "remove", "shop-1", "--yes"])).toEqual({ id: "shop-1", removed: true })
          expect(failure(yield* run(["accounts", "remove", "shop-1", "--yes"]))).toEqual([
            3,
            expect.stringContaining("there is no account shop-1")
          ])
          expect(failure(yield* run([...update, "--poll", "1m"]))).toEqual([3, expect.stringContaining("there is no account shop-1")])
        })
      ), 90_000)

  it.live("refuses what is wrong in one sentence, and stores nothing", () =>
    withFleet(({ accounts, json, run }) =>
      Effect.gen(function*() {
        yield* json(["migrate"])
        const add = (...args: ReadonlyArray<string>) => ["accounts", "add", "a", "--base-url", baseUrl, ...args]
        const valid = ["--source", "a.csv", "--key", "env:KEY"]
        const cases: ReadonlyArray<readonly [ReadonlyArray<string>, string, RunOptions?]> = [
          [["accounts", "add", "a", ...valid], "fleet accounts add requires --base-url"],
          [add("--key", "env:KEY"), "fleet accounts add requires --source"],
          [add("--source", "a.csv"), "no key was given", { input: "" }],
          [add("--source", "a.csv"), "requires STOCK_SYNC_FLEET_SECRET", { input: key, env: { STOCK_SYNC_FLEET_SECRET: "" } }],
          [add("--source", "a.csv", "--key", key), "--key must not be the key itself"],
          [add("--source", `mysql://a:${password}@db/shop`, "--key", "env:KEY"), "--source must not have a password"],
          [add(...valid, "--source-headers", `x: ${password}`), "--source-headers must not be the secret itself"],
          [add(...valid, "--poll", "soon"), "account a: \"soon\" is not a duration such as 30s: change the option poll"],
          [add(...valid, "--stock-colum", "x"), "did you mean --stock-column?"],
          [add(...valid, "--gone", "sometimes"), "change the option gone"],
          [["accounts", "update", "a", "--unset", "pol"], "pol is not an option of an account: did you mean poll?"],
          [["accounts", "update", "a", "--unset", "poll", "--poll", "1m"], "--poll is set and unset"],
          [["accounts", "pause"], "requires the argument ID"],
          [add(...valid), "STOCK_SYNC_FLEET_SECRET is too short", { env: { STOCK_SYNC_FLEET_SECRET: "short" } }],
          [add(...valid), "the fleet has no database", { env: { STOCK_SYNC_FLEET_DATABASE: "" } }],
          [add(...valid), "did you mean STOCK_SYNC_FLEET_SECRET", { input: "", env: { STOCK_SYNC_FLEET_SECRT: "x" } }]
        ]
        for (const [args, message, options] of cases) {
          expect([args.join(" "), ...failure(yield* run(args, options))]).toEqual([args.join(" "), 2, expect.stringContaining(message)])
        }
        const asJson = yield* run([...add(...valid, "--poll", "soon"), "--json"])
        expect(Program.parsed(asJson.stderr)).toMatchObject({ error: { tag: "InvalidAccount", details: { id: "a" } } })
        expect(yield* accounts).toEqual([])
      })
    ), 90_000)
})

describe("fleet accounts import", () => {
  it.live("adds and updates the accounts of a file, whose empty cells are not set",
    () =>
      withFleet(({ accounts, json, run }) =>
        Effect.gen(function*() {
          yield* json(["migrate"])
          const header = "\uFEFFid;BaseUrl;key;source;stock-column;poll"
          const file = written("sep=;", header, `a;${baseUrl};${key};a.csv;qty;`, `b;${baseUrl};env:B;b.csv;;30s`,
            `"c;1";${baseUrl};env:C;c.csv;;`)
          expect((yield* run(["accounts", "import", file])).stdout).toBe("3 accounts added, 0 updated, 0 unchanged.\n")
          expect(yield* accounts).toEqual([
            expect.objectContaining({ id: "a", key: "sealed", options: { "stock-column": "qty" } }),
            expect.objectContaining({ id: "b", key: "env:B", options: { poll: "30s" } }),
            expect.objectContaining({ id: "c;1", options: {} })
          ])
          yield* json(["accounts", "pause", "b"])
          written(header, `a;${baseUrl};${key};a.csv;qty;`, `b;${baseUrl};env:B2;b.csv;;`, `d;${baseUrl};env:D;d.csv;;`)
          expect(yield* json(["accounts", "import", file])).toEqual({ added: 1, updated: 1, unchanged: 1 })
          expect(yield* accounts).toEqual([
            expect.objectContaining({ id: "a", key: "sealed" }),
            expect.objectContaining({ id: "b", key: "env:B2", options: {}, paused: true }),
            expect.objectContaining({ id: "c;1" }),
            expect.objectContaining({ id: "d" })
          ])
          const listed = yield* run(["accounts", "list", "--prefix", "c", "--json"])
          expect(Program.parsed(listed.stdout)).toMatchObject({ id: "c;1" })
        })
      ), 60_000)

  it.live("stores nothing if a row is invalid, and names every such row",
    () =>
      withFleet(({ accounts, json, run }) =>
        Effect.gen(function*() {
          yield* json(["migrate"])
          const file = csv(
            "id,baseUrl,key,source,poll",
            `a,${baseUrl},env:A,a.csv,`,
            `b,${baseUrl},env:B,b.csv,soon`,
            `a,${baseUrl},env:A,other.csv,`,
            `c,${baseUrl},env:C`,
            `,${baseUrl},env:D,d.csv,`,
            `e,nowhere,${key},e.csv,`
          )
          const refused = yield* run(["accounts", "import", "-"], { input: file })
          expect(refused.status).toBe(2)
          expect(refused.stderr).toContain(
            "standard input, line 3: account b: \"soon\" is not a duration such as 30s: change the option poll\n"
          )
          expect(refused.stderr).toContain("standard input, line 4: id \"a\" is also on line 2: keep one of them\n")
          expect(refused.stderr).toContain("standard input, line 5: it has 3 columns, and the header has 5\n")
          expect(refused.stderr).toContain("standard input, line 6: the id of an account must have 1 to 200 characters on one line\n")
          expect(refused.stderr).toContain("standard input, line 7: account e: its base URL")
          expect(refused.stderr.replace(/\s+/g, " ")).toContain(
            "standard input can't be imported: 5 of its 6 rows are invalid; nothing was stored"
          )
          const asJson = Program.parsed((yield* run(["accounts", "import", "-", "--json"], { input: file })).stderr)
          expect(asJson).toMatchObject({
            error: { tag: "UsageError", details: { rows: [{ line: 3 }, { line: 4 }, { line: 5 }, { line: 6 }, { line: 7 }] } }
          })
          const many = yield* run([
            "accounts",
            "import",
            written("id,baseUrl,key,source", ...Array.from({ length: 150 }, (_, index) => `s-${index},nowhere,env:K,s.csv`))
          ])
          expect(many.stderr.match(/^\S+accounts\.csv, line \d+: account s-/gm)).toHaveLength(100)
          expect(many.stderr.replace(/\s+/g, " ")).toContain("150 of its 150 rows are invalid; nothing was stored")
          const plain = yield* run(["accounts", "import", written("id,baseUrl,key,source", `a,${baseUrl},${key},a.csv`)], {
            env: { STOCK_SYNC_FLEET_SECRET: "" }
          })
          expect(failure(plain)).toEqual([2, expect.stringContaining("a key in the clear requires STOCK_SYNC_FLEET_SECRET")])
          const headers = [
            ["id,baseUrl,key", "there is no column \"source\""],
            ["id,base_url,key,source", "there is no column \"base_url\": did you mean baseUrl?"],
            ["id,baseUrl,key,source,stock_column", "stock_column is not an option of an account: did you mean stock-column?"],
            ["id,baseUrl,key,source,port", "port is not an option of an account: it is a setting of the runner"],
            // Without a header the first line has a key, which no message may show.
            [`a,${baseUrl},${key},a.csv`, "there is no column \"id\": the first line must have the names of the columns"],
            [`id,baseUrl,key,source,${key}`, "column 5 is not an option of an account"],
            ["", "it is empty"]
          ] as const
          for (const [header, message] of headers) {
            const ended = yield* run(["accounts", "import", header === "" ? written() : written(header)])
            expect([header, ...failure(ended)]).toEqual([header, 2, expect.stringContaining(message)])
            expect(ended.stderr).not.toContain(key)
          }
          expect(failure(yield* run(["accounts", "import", "missing.csv"]))).toEqual([2, expect.stringContaining("does not exist")])
          expect(yield* accounts).toEqual([])
        })
      ), 90_000)

  it.live("imports ten thousand accounts with sealed keys, and again without a change",
    () =>
      withFleet(({ json, url }) =>
        Effect.gen(function*() {
          yield* json(["migrate"])
          const rows = Array.from({ length: 10_000 }, (_, index) => `shop-${index},${baseUrl},${key}${index},/data/${index}.csv,qty`)
          const file = written("id,baseUrl,key,source,stock-column", ...rows)
          expect(yield* json(["accounts", "import", file])).toEqual({ added: 10_000, updated: 0, unchanged: 0 })
          const revisions = "SELECT sum(revision) AS sum, min(key) AS key FROM plaza_fleet.fleet_account"
          const before = yield* query(url, revisions)
          expect(yield* json(["accounts", "import", file])).toEqual({ added: 0, updated: 0, unchanged: 10_000 })
          expect(yield* query(url, revisions)).toEqual(before)
        })
      ), 120_000)
})

describe("the ledger of an account", () => {
  it.live("is changed beside its runner: products are released, snapshots confirmed, and a named key is adopted",
    () =>
      withFleet(({ json, run, url }) =>
        Effect.gen(function*() {
          yield* json(["migrate"])
          yield* json(["accounts", "import", written("id,baseUrl,key,source", `a b,${baseUrl},env:KEY,a.csv`)])
          const number = "(SELECT account FROM plaza_fleet.fleet_account)"
          const revision = Effect.map(
            query<{ revision: number }>(url, "SELECT revision FROM plaza_fleet.fleet_account"),
            ([row]) => row?.revision ?? Number.NaN
          )
          const binding = query(url, "SELECT base_url, key_fingerprint FROM plaza_fleet.account")
          // A ledger that is not bound yet stays so.
          yield* json(["accounts", "update", "a b", "--key", "env:KEY"])
          expect(yield* binding).toEqual([{ base_url: null, key_fingerprint: null }])
          yield* query(url, `UPDATE plaza_fleet.snapshot SET last_number = 2, held_since = 0, held_at = 0,
            held_figures = '{"catalogue":10,"soldOut":9,"fell":0,"rose":0,"missing":0,"zeroed":0,"reverted":0}'`)
          yield* query(url, "UPDATE plaza_fleet.account SET base_url = 'https://old.example', key_fingerprint = 'old'")
          yield* query(url,
            `INSERT INTO plaza_fleet.product (account, id, wanted, state, listing, queued_at, line, updated_at, refused_stock, attempts)
            VALUES (${number}, 'P', 1, 'quarantined', 'named', 0, 2, 0, 1, 1)`)

          expect((yield* run(["status", "a b"])).stdout).toContain("9")
          expect(failure(yield* run(["accounts", "confirm", "a b", "3"]))).toEqual([
            1,
            expect.stringContaining("`plaza-stock-sync fleet accounts confirm 'a b' 2`")
          ])
          const before = yield* revision
          expect(yield* json(["accounts", "confirm", "a b", "2"])).toMatchObject({ confirmed: 2, soldOut: 9 })
          const confirmed = yield* revision
          expect(yield* json(["accounts", "retry", "a b"])).toEqual({ released: ["P"] })
          const released = yield* revision
          expect([confirmed > before, released > confirmed]).toEqual([true, true])
          expect((yield* run(["accounts", "retry", "c"])).status).toBe(3)
          expect(yield* json(["accounts", "resend", "a b", "P"])).toEqual({ due: ["P"] })
          expect((yield* revision) > released).toBe(true)

          // Snapshot 1 had 1 and snapshot 2 has changed it to 9.
          yield* query(url,
            `INSERT INTO plaza_fleet.past_snapshot VALUES (${number}, 1, 0, 1, 1, 1, NULL), (${number}, 2, 0, 1, 1, 1, NULL)`)
          yield* query(url, `INSERT INTO plaza_fleet.past_stock VALUES (${number}, 2, 'P', 0)`)
          expect((yield* run(["accounts", "revert", "a b"])).stdout).toMatch(/^2\t1970-01-01T00:00:00Z\t1\t1\tthe wanted stock now\t\n1\t/)
          yield* json(["accounts", "update", "a b", "--guard-count", "0", "--guard-share", "0%"])
          expect(failure(yield* run(["accounts", "revert", "a b", "1"]))).toEqual([
            2,
            expect.stringContaining("run `plaza-stock-sync fleet accounts revert 'a b' 1 --confirm`")
          ])
          expect(yield* json(["accounts", "revert", "a b", "1", "--confirm"])).toMatchObject({ revertedTo: 1, snapshot: 3, changed: 1 })

          yield* json(["accounts", "update", "a b", "--poll", "5m"])
          expect(yield* binding).toEqual([{ base_url: "https://old.example", key_fingerprint: "old" }])
          yield* json(["accounts", "update", "a b", "--key", "env:KEY"])
          expect(yield* binding).toEqual([{ base_url: baseUrl, key_fingerprint: "" }])
        })
      ), 120_000)
})

describe("fleet run and fleet status", () => {
  it.live("run the accounts until the runner is stopped, and show their state",
    () =>
      withFleet(({ accounts, json, run, url }) =>
        Effect.scoped(Effect.gen(function*() {
          yield* json(["migrate"])
          yield* json(["accounts", "import", "-"], {
            input: csv("id,baseUrl,key,source", `a,${baseUrl},env:MISSING_KEY,a.csv`, `b,${baseUrl},${key},b.csv`)
          })
          yield* json(["accounts", "pause", "b"])
          expect(yield* json(["status"])).toMatchObject({ runners: [], accounts: { total: 2, running: 0, paused: 1, pending: 1 } })
          expect(failure(yield* run(["run"], { env: { STOCK_SYNC_FLEET_SECRET: "another secret of the fleet" } }))).toEqual([
            2,
            expect.stringContaining("is not the secret that sealed the keys of this fleet")
          ])
          expect(failure(yield* run(["run"], { env: { STOCK_SYNC_FLEET_SECRET: "" } }))).toEqual([
            2,
            expect.stringContaining("the fleet has sealed keys: set STOCK_SYNC_FLEET_SECRET")
          ])
          const runner = yield* Program.start(["fleet", "run", "--log-format", "json"], {
            cwd: folder,
            env: { STOCK_SYNC_FLEET_DATABASE: url, STOCK_SYNC_FLEET_SECRET: secret }
          })
          // The account fails by its missing key, which its runner records.
          const failing = yield* eventually(accounts,
            (all) => all.some((account) => (account as { readonly problem: string | null }).problem !== null))
          expect(failing).toEqual([
            expect.objectContaining({
              id: "a",
              problem: "account a: the variable MISSING_KEY with its key is not set: set it for this runner"
            }),
            expect.objectContaining({ id: "b", paused: true, key: "sealed", problem: null })
          ])
          expect(yield* json(["status"])).toMatchObject({ runners: [{ alive: true }], accounts: { running: 1, paused: 1 } })
          expect((yield* run(["status", "a"])).status).toBe(0)
          yield* runner.kill("SIGTERM")
          const ended = yield* runner.ended
          expect([ended.status, ended.stderr.includes(key)]).toEqual([0, false])
        }))
      ), 120_000)
})
