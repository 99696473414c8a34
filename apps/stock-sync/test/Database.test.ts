/**
 * Databases as a source, each with the same expectations.
 */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Reactivity } from "@effect/experimental"
import type { SqlClient, SqlError } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { describe, expect, layer, type Vitest } from "@effect/vitest"
import { createConnection } from "mysql2"
import { Context, Deferred, Duration, Effect, Fiber, Layer, Option, Redacted, type Scope, Stream, TestClock } from "effect"
import * as Postgres from "@plaza/testing/Postgres"
import * as Open from "../src/Source/Open.js"
import * as Mariadb from "./support/mariadb.js"
import { all, bad, containing, good } from "./support/reading.js"

/** A database, and a way to change what is in it. */
class Database extends Context.Tag("Database")<Database, {
  readonly address: string
  readonly run: (...statements: ReadonlyArray<string>) => Effect.Effect<void>
}>() {}

type Run = (address: string, statement: string) => Effect.Effect<unknown, unknown>

const database = <E>(address: Effect.Effect<string, E, Scope.Scope | FileSystem.FileSystem>, run: Run) =>
  Layer.scoped(
    Database,
    Effect.map(address, (at) => ({
      address: at,
      run: (...statements: ReadonlyArray<string>) => Effect.orDie(Effect.forEach(statements, (statement) => run(at, statement), { discard: true }))
    }))
  ).pipe(Layer.provideMerge(NodeContext.layer), Layer.orDie)

/** By one of Effect's clients, opened for a statement. */
const byClient =
  (connect: (address: string) => Effect.Effect<SqlClient.SqlClient, SqlError.SqlError, Scope.Scope | Reactivity.Reactivity>): Run => (address, statement) =>
    Effect.scoped(Effect.flatMap(connect(address), (sql) => sql.unsafe(statement))).pipe(Effect.provide(Reactivity.layer))

const byMysql: Run = (address, statement) =>
  Effect.async<void, unknown>((resume) => {
    const connection = createConnection({ uri: address, multipleStatements: true })
    connection.query(statement, (error) => {
      connection.destroy()
      resume(error === null ? Effect.void : Effect.fail(error))
    })
  })

const options = { idColumn: "product_id", stockColumn: "stock", patience: Duration.seconds(30) }
const source = (query: string | undefined, told: Partial<Open.SourceOptions> = {}) =>
  Effect.flatMap(Database, ({ address }) => Open.make({ ...options, source: address, query, ...told }))
const read = (query: string, told: Partial<Open.SourceOptions> = {}) =>
  Effect.gen(function*() {
    const { open } = yield* source(query, told)
    return yield* all(Option.getOrThrow(yield* open(Option.none())).rows)
  })

interface Dialect {
  /** The type of exact numbers with three decimals. */
  readonly decimal: string
  /** An address where there is nothing, and what that is: somebody's mistake, or something that passes. */
  readonly nowhere: readonly [address: string, tag: "SourceRefused" | "SourceUnreachable"]
  /** What ends the connection that answers a question about something wide; none where there is no connection. */
  readonly cut?: string
}

const digits = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS i`).join(" UNION ALL ")
const many = `WITH d AS (${digits}) SELECT 1 + a.i + 10 * b.i + 100 * c.i + 1000 * e.i + 10000 * f.i AS product_id, 7 AS stock FROM d a, d b, d c, d e, d f`

const expectations = ({ cut, decimal, nowhere }: Dialect) => (it: Vitest.MethodsNonLive<Database | NodeContext.NodeContext>) => {
  it.scoped("gives a row for each of its own, whatever type its columns have", () =>
    Effect.gen(function*() {
      const { run } = yield* Database
      yield* run(
        `CREATE TABLE typed (n INTEGER PRIMARY KEY, as_text VARCHAR(40), as_int INTEGER, as_big BIGINT, as_decimal ${decimal})`,
        "INSERT INTO typed VALUES (1, '007', 7, 9007199254740993, 12.000), (2, 'ŁÓDŹ', 0, 0, 1000.000)"
      )
      expect(yield* read("SELECT as_text AS product_id, as_int AS stock FROM typed ORDER BY n")).toEqual([good(1, "007", 7), good(2, "ŁÓDŹ", 0)])
      expect(yield* read("SELECT as_big AS product_id, as_decimal AS stock FROM typed ORDER BY n")).toEqual([good(1, "9007199254740993", 12), good(2, "0", 1000)])
      expect(yield* read("SELECT as_int AS product_id, '12,00' AS stock FROM typed ORDER BY n")).toEqual([good(1, "7", 12), good(2, "0", 12)])
    }))

  it.scoped("has rows set aside whose stock is nothing, no number, or none that can be sent", () =>
    Effect.gen(function*() {
      const { run } = yield* Database
      yield* run(
        `CREATE TABLE wrong (n INTEGER PRIMARY KEY, id VARCHAR(40), stock VARCHAR(40), exact ${decimal}, big BIGINT)`,
        "INSERT INTO wrong VALUES (1, 'A', NULL, NULL, NULL), (2, 'B', '', 2.500, -1), (3, NULL, 'many', 1, 1), (4, 'D', '1.000', -1.000, 9007199254740993), (5, 'E', '5', 5, 5)"
      )
      expect(yield* read("SELECT id AS product_id, stock FROM wrong ORDER BY n")).toEqual([
        bad(1, "A", "stock is null, which is not taken for zero"),
        bad(2, "B", "stock is empty, which is not taken for zero"),
        bad(3, undefined, "product_id is null"),
        bad(4, "D", "thousands"),
        good(5, "E", 5)
      ])
      expect(yield* read("SELECT id AS product_id, exact AS stock FROM wrong WHERE id IS NOT NULL ORDER BY n")).toEqual([
        bad(1, "A", "is null"),
        bad(2, "B", "is not a whole number"),
        bad(3, "D", "is negative"),
        good(4, "E", 5)
      ])
      expect(yield* read("SELECT id AS product_id, big AS stock FROM wrong WHERE id IS NOT NULL ORDER BY n")).toEqual([
        bad(1, "A", "is null"),
        bad(2, "B", "is negative"),
        bad(3, "D", "is over"),
        good(4, "E", 5)
      ])
      expect(yield* Effect.flip(read("SELECT id AS product_id, exact FROM wrong"))).toMatchObject({ message: containing("there is no stock") })
    }))

  it.scoped("is read to its end however many rows it gives, and from its beginning each time", () =>
    Effect.gen(function*() {
      const { open } = yield* source(many)
      for (let times = 0; times < 2; times++) {
        const { rows, version } = Option.getOrThrow(yield* open(Option.none()))
        expect(version).toEqual(Option.none())
        const sum = yield* Stream.runFold(rows, 0, (sum, row) => sum + (row._tag === "Good" ? Number(row.productId) : 0))
        expect(sum).toBe(5_000_050_000)
      }
    }))

  it.scoped("is let go in the middle of its rows", () =>
    Effect.gen(function*() {
      const { open } = yield* source(many)
      for (let times = 0; times < 5; times++) {
        const { rows } = Option.getOrThrow(yield* open(Option.none()))
        expect(yield* all(Stream.take(rows, 3))).toHaveLength(3)
      }
    }))

  if (cut !== undefined) {
    it.scoped("is refused whole when the connection is lost between two rows", () =>
      Effect.gen(function*() {
        const { run } = yield* Database
        // Far more than fits between the two ends of a connection.
        const { open } = yield* source(`SELECT product_id, stock, REPEAT('x', 1000) AS wide FROM (${many}) AS narrow`)
        const { rows } = Option.getOrThrow(yield* open(Option.none()))
        let read = 0
        const lost = yield* Deferred.make<void>()
        const reading = yield* Effect.fork(Effect.flip(Stream.runForEach(rows, () =>
          read++ === 0 ? Effect.zipRight(run(cut), Deferred.succeed(lost, undefined)) : Effect.void)))
        yield* Deferred.await(lost)
        // Some drivers say nothing of it, so that the time for silence has to pass.
        while (Option.isNone(yield* Fiber.poll(reading))) {
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
          yield* TestClock.adjust("1 second")
        }
        const error = yield* Fiber.join(reading)
        expect(error).toMatchObject({ _tag: "SourceUnreachable", message: containing("nothing of it was taken") })
        expect(read).toBeGreaterThan(0)
      }))
  }

  it.scoped("is never changed, whatever the question says", () =>
    Effect.gen(function*() {
      const { run } = yield* Database
      yield* run("CREATE TABLE kept (product_id VARCHAR(40), stock INTEGER)")
      expect(yield* Effect.flip(read("INSERT INTO kept VALUES ('A', 1)"))).toMatchObject({ _tag: "SourceRefused", message: containing("Correct --query") })
      expect(yield* read("SELECT count(*) AS product_id, 0 AS stock FROM kept")).toEqual([good(1, "0", 0)])
    }))

  for (const [name, query, message] of [
    ["no question", undefined, "--query"],
    ["a question in no language of it", "SELEC 1", "Correct --query"],
    ["a question about a table that isn't there", "SELECT product_id, stock FROM nothing_here", "nothing_here"],
    ["a question without an answer", "SELECT 'A' AS product_id, 1 AS stock FROM (SELECT 1 AS one) AS none WHERE 1 = 0", "the query gives no row"]
  ] as const) {
    it.scoped(`is refused with ${name}, in a sentence without its password`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.flatMap(source(query), ({ open }) =>
          Effect.flatMap(open(Option.none()), (snapshot) => all(Option.getOrThrow(snapshot).rows))))
        expect(error).toMatchObject({ _tag: "SourceRefused", message: containing(message) })
        expect(error.message).not.toContain("secret")
      }))
  }

  it.scoped("where there is none is told, without its password", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(read("SELECT 'A' AS product_id, 1 AS stock", { source: nowhere[0] }))
      expect(error).toMatchObject({ _tag: nowhere[1], message: containing("nothing of it was taken") })
      expect(error.message).not.toContain("secret")
    }))
}

const sqlite = database(
  Effect.map(Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()), (folder) => `sqlite:${folder}/stock of #1.db`),
  byClient((address) => SqliteClient.make({ filename: address.replace("sqlite:", "") }))
)
const aDecimal = "NUMERIC(12, 3)"

layer(sqlite)("an SQLite file", (it) => {
  expectations({ decimal: aDecimal, nowhere: ["sqlite:///no/such/file.db", "SourceRefused"] })(it)

  it.scoped("is not made by asking it", () =>
    Effect.gen(function*() {
      const { address } = yield* Database
      const files = yield* FileSystem.FileSystem
      const none = address.replace("stock of", "none of")
      yield* Effect.flip(read("SELECT 1", { source: none }))
      expect(yield* files.exists(none.replace("sqlite:", ""))).toBe(false)
    }))
})

// A password is not asked for, but must be told nowhere in any case.
const postgres = database(
  Effect.map(Postgres.scoped, ({ url }) => url.replace("plaza@", "plaza:secret@")),
  byClient((address) => PgClient.make({ url: Redacted.make(address) }))
)
layer(postgres, { timeout: "1 minute" })("a Postgres", expectations({
  decimal: aDecimal,
  nowhere: ["postgres://plaza:secret@127.0.0.1:1/none", "SourceUnreachable"],
  cut: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
}))

describe.skipIf(Mariadb.missing !== undefined)("with a MariaDB", () => {
  const mariadb = database(Mariadb.scoped, byMysql)
  layer(mariadb, { timeout: "1 minute" })("a MariaDB", expectations({
    decimal: aDecimal,
    nowhere: ["mysql://plaza:secret@127.0.0.1:1/none", "SourceUnreachable"],
    cut: "SELECT id INTO @id FROM information_schema.processlist WHERE info LIKE '%AS wide%' AND id <> connection_id(); SET @kill = CONCAT('KILL ', @id); EXECUTE IMMEDIATE @kill"
  }))
})
