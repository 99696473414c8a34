/**
 * Databases as a source, each with the same expectations.
 */
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { describe, expect, layer, type Vitest } from "@effect/vitest"
import * as SqliteClient from "@plaza/client/sqlite"
import * as Postgres from "@plaza/testing/Postgres"
import { Context, Deferred, Duration, Effect, Fiber, FileSystem, Layer, Option, Redacted, type Scope, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient, SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { createConnection } from "mysql2"
import { DatabaseSync } from "node:sqlite"
import * as Open from "../src/source/Open.ts"
import { eventually } from "./support/eventually.ts"
import * as Mariadb from "./support/mariadb.ts"
import * as NamedPipe from "./support/namedPipe.ts"
import { all, bad, containing, good, poll } from "./support/reading.ts"

/** A database, and a way to change what is in it. */
class Database extends Context.Service<Database, {
  readonly address: string
  readonly run: (...statements: ReadonlyArray<string>) => Effect.Effect<void>
}>()("Database") {}

type Run = (address: string, statement: string) => Effect.Effect<unknown, unknown>

const database = <E>(address: Effect.Effect<string, E, Scope.Scope | FileSystem.FileSystem>, run: Run) =>
  Layer.effect(
    Database,
    Effect.map(address, (at) => ({
      address: at,
      run: (...statements: ReadonlyArray<string>) =>
        Effect.orDie(Effect.forEach(statements, (statement) => run(at, statement), { discard: true }))
    }))
  ).pipe(Layer.provideMerge(NodeServices.layer), Layer.orDie)

/** By one of Effect's clients, opened for a statement. */
const byClient =
  (connect: (address: string) => Effect.Effect<SqlClient.SqlClient, SqlError.SqlError, Scope.Scope | Reactivity.Reactivity>): Run =>
  (address, statement) =>
    Effect.scoped(Effect.flatMap(connect(address), (sql) => sql.unsafe(statement))).pipe(Effect.provide(Reactivity.layer))

const byMysql: Run = (address, statement) =>
  Effect.callback<void, unknown>((resume) => {
    const connection = createConnection({ uri: address, multipleStatements: true })
    connection.query(statement, (error) => {
      connection.destroy()
      resume(error === null ? Effect.void : Effect.fail(error))
    })
  })

const options = { idColumn: "product_id", stockColumn: "stock", timeout: Duration.seconds(30) }
const source = (query: string | undefined, more: Partial<Open.SourceOptions> = {}) =>
  Effect.flatMap(Database, ({ address }) => Open.make({ ...options, source: address, query, ...more }))
const read = (query: string, more: Partial<Open.SourceOptions> = {}) =>
  Effect.gen(function*() {
    const { open } = yield* source(query, more)
    return yield* all(Option.getOrThrow(yield* open(Option.none())).rows)
  })

const selected = "SELECT product_id, stock FROM kept"

/** Queries by which somebody could try to write, in every language. */
const tricks = [
  "INSERT INTO kept VALUES ('B', 1)",
  "INSERT INTO kept VALUES ('B', 1) RETURNING product_id, stock",
  "DELETE FROM kept",
  "UPDATE kept SET stock = 0",
  `${selected}; DELETE FROM kept`,
  `${selected};\nDELETE FROM kept; ${selected}`,
  `${selected}; COMMIT; DELETE FROM kept`,
  `COMMIT; DELETE FROM kept; ${selected}`,
  "COMMIT",
  "ROLLBACK",
  `${selected} -- ;\n; DELETE FROM kept`,
  `${selected} /* ; */ ; DELETE FROM kept /* ; */`,
  `${selected} WHERE product_id <> ';'; DELETE FROM kept`,
  `SELECT 1) AS q; DELETE FROM kept; SELECT * FROM (${selected}`,
  "WITH gone AS (DELETE FROM kept RETURNING product_id, stock) SELECT product_id, stock FROM gone",
  "CREATE TABLE made AS SELECT 1 AS one",
  "CREATE TEMPORARY TABLE made AS SELECT 1 AS one",
  "DROP TABLE kept",
  "ALTER TABLE kept ADD COLUMN more INTEGER",
  "EXPLAIN ANALYZE DELETE FROM kept"
]

interface Dialect {
  /** More of them, and what they need. */
  readonly dialectTricks: ReadonlyArray<string>
  readonly setup: ReadonlyArray<string>
  /** The type of exact numbers with three decimals. */
  readonly decimal: string
  /** An address where there is nothing, and what that is: somebody's mistake, or something that passes. */
  readonly nowhere: readonly [address: string, tag: "SourceError" | "SourceUnreachable"]
  /** What ends the connection of a query with a wide column; none where there is no connection. */
  readonly cut?: string
}

const digits = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS i`).join(" UNION ALL ")
const many =
  `WITH d AS (${digits}) SELECT 1 + a.i + 10 * b.i + 100 * c.i + 1000 * e.i + 10000 * f.i AS product_id, 7 AS stock FROM d a, d b, d c, d e, d f`

const expectations =
  ({ cut, decimal, dialectTricks, nowhere, setup }: Dialect) => (it: Vitest.MethodsNonLive<Database | NodeServices.NodeServices>) => {
    it.effect("gives a row for each of its own, whatever type its columns have", () =>
      Effect.gen(function*() {
        const { run } = yield* Database
        yield* run(
          `CREATE TABLE typed (n INTEGER PRIMARY KEY, as_text VARCHAR(40), as_int INTEGER, as_big BIGINT, as_decimal ${decimal})`,
          "INSERT INTO typed VALUES (1, '007', 7, 9007199254740993, 12.000), (2, 'ŁÓDŹ', 0, 0, 1000.000)"
        )
        expect(yield* read("SELECT as_text AS product_id, as_int AS stock FROM typed ORDER BY n")).toEqual([
          good(1, "007", 7),
          good(2, "ŁÓDŹ", 0)
        ])
        expect(yield* read("SELECT as_big AS product_id, as_decimal AS stock FROM typed ORDER BY n")).toEqual([
          good(1, "9007199254740993", 12),
          good(2, "0", 1000)
        ])
        expect(yield* read("SELECT as_int AS product_id, '12,00' AS stock FROM typed ORDER BY n")).toEqual([
          good(1, "7", 12),
          good(2, "0", 12)
        ])
      }))

    it.effect("has bad rows whose stock is nothing, no number, or none that can be sent", () =>
      Effect.gen(function*() {
        const { run } = yield* Database
        yield* run(
          `CREATE TABLE wrong (n INTEGER PRIMARY KEY, id VARCHAR(40), stock VARCHAR(40), exact ${decimal}, big BIGINT)`,
          "INSERT INTO wrong VALUES (1, 'A', NULL, NULL, NULL), (2, 'B', '', 2.500, -1), (3, NULL, 'many', 1, 1), (4, 'D', '1.000', -1.000, 9007199254740993), (5, 'E', '5', 5, 5)"
        )
        expect(yield* read("SELECT id AS product_id, stock FROM wrong ORDER BY n")).toEqual([
          bad(1, "A", "stock is null, which does not count as zero"),
          bad(2, "B", "stock is empty, which does not count as zero"),
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
      }))

    it.effect("is read to its end however many rows it gives, and from its beginning each time", () =>
      Effect.gen(function*() {
        const { open } = yield* source(many)
        for (let times = 0; times < 2; times++) {
          const { rows, version } = Option.getOrThrow(yield* open(Option.none()))
          expect(version).toEqual(Option.none())
          const sum = yield* Stream.runFold(rows, () => 0, (sum, row) => sum + (row._tag === "Valid" ? Number(row.productId) : 0))
          expect(sum).toBe(5_000_050_000)
        }
      }))

    it.effect("is let go in the middle of its rows", () =>
      Effect.gen(function*() {
        const { open } = yield* source(many)
        for (let times = 0; times < 5; times++) {
          const { rows } = Option.getOrThrow(yield* open(Option.none()))
          expect(yield* all(Stream.take(rows, 3))).toHaveLength(3)
        }
      }))

    if (cut !== undefined) {
      it.effect("is refused whole when the connection is lost between two rows", () =>
        Effect.gen(function*() {
          const { run } = yield* Database
          // Far more than fits between the two ends of a connection.
          const { open } = yield* source(`SELECT product_id, stock, REPEAT('x', 1000) AS wide FROM (${many}) AS narrow`)
          const { rows } = Option.getOrThrow(yield* open(Option.none()))
          let read = 0
          const lost = yield* Deferred.make<void>()
          const reading = yield* Effect.forkChild(Effect.flip(Stream.runForEach(rows, () =>
            read++ === 0 ? Effect.andThen(run(cut), Deferred.succeed(lost, undefined)) : Effect.void)))
          yield* Deferred.await(lost)
          // Some drivers say nothing of it, so that the time for silence has to pass.
          while (Option.isNone(yield* poll(reading))) {
            yield* Effect.promise(() =>
              new Promise((resolve) =>
                setImmediate(resolve)
              )
            )
            yield* TestClock.adjust("1 second")
          }
          const error = yield* Fiber.join(reading)
          expect(error).toMatchObject({ _tag: "SourceUnreachable", message: containing("no row of it was used") })
          expect(read).toBeGreaterThan(0)
        }))
    }

    it.effect("is never changed, whatever the query says", () =>
      Effect.gen(function*() {
        const { run } = yield* Database
        yield* run("CREATE TABLE kept (product_id VARCHAR(40), stock INTEGER)", "INSERT INTO kept VALUES ('A', 1)", ...setup)
        for (const query of [...tricks, ...dialectTricks]) {
          const outcome = yield* Effect.result(read(query))
          expect({ query, outcome }).toMatchObject({
            outcome: { _tag: "Failure", failure: { _tag: "SourceError", message: containing("no row of it was used") } }
          })
          expect({ query, kept: yield* read("SELECT product_id, stock FROM kept") }).toEqual({ query, kept: [good(1, "A", 1)] })
        }
      }), 60_000)

    it.effect("reports a second statement in one sentence", () =>
      Effect.gen(function*() {
        for (
          const query of [
            "SELECT 'A' AS product_id, 1 AS stock; SELECT 'B' AS product_id, 1 AS stock",
            "SELECT 1; DELETE FROM nothing_here"
          ]
        ) {
          expect(yield* Effect.flip(read(query))).toMatchObject({
            _tag: "SourceError",
            message: containing("the query holds more than one statement")
          })
        }
      }))

    it.effect("accepts what reads rows: comments, a semicolon at the end, WITH, semicolons in texts", () =>
      Effect.gen(function*() {
        for (
          const query of [
            "SELECT ';' AS product_id, 1 AS stock;",
            "SELECT ';' AS product_id, 1 AS stock ; \n ",
            "/* first; */ SELECT ';' AS product_id, 1 AS stock -- last; one",
            "WITH one AS (SELECT ';' AS product_id, 1 AS stock) SELECT product_id, stock FROM one ORDER BY product_id"
          ]
        ) {
          expect(yield* read(query)).toEqual([good(1, ";", 1)])
        }
      }))

    for (
      const [column, query] of [
        ["stock", "SELECT 'A' AS product_id, 1 AS stock, 7 AS other, 2 AS stock"],
        ["stock", "SELECT 'A' AS product_id, 1 AS stock, 2 AS stock FROM (SELECT 1 AS one) AS none WHERE 1 = 0"],
        ["product_id", "SELECT * FROM (SELECT 'A' AS product_id, 1 AS stock) AS a, (SELECT 'B' AS product_id) AS b"]
      ] as const
    ) {
      it.effect(`is refused if it has the column ${column} twice, in ${query}`, () =>
        Effect.gen(function*() {
          expect(yield* Effect.flip(read(query))).toMatchObject({
            _tag: "SourceError",
            message: containing(`the column "${column}" occurs 2 times; the columns are "`)
          })
        }))
    }

    for (
      const [query, message] of [
        [
          "SELECT 'A' AS productId, 1 AS stock",
          `there is no column "product_id"; the columns are "$", "stock". Did you mean "$"? Rename it in the query, with AS "product_id", or select it with --id-column`
        ],
        [
          "SELECT 'A' AS product_id, 1 AS pieces",
          `there is no column "stock"; the columns are "product_id", "pieces". Name one so in the query, with AS "stock", or select another with --stock-column`
        ],
        [
          "SELECT 'A' AS product_id, 1 AS STOCKS FROM (SELECT 1 AS one) AS none WHERE 1 = 0",
          "there is no column \"stock\"; the columns are \"product_id\", "
        ]
      ] as const
    ) {
      it.effect(`lists its columns if one is missing, in ${query}`, () =>
        Effect.gen(function*() {
          // Postgres writes names without quotes in lower case.
          const { message: found } = yield* Effect.flip(read(query))
          expect(found.replaceAll(/"productid"/gi, "\"$\"")).toContain(message)
        }))
    }

    it.effect("may have another column twice", () =>
      Effect.gen(function*() {
        expect(yield* read("SELECT 'A' AS product_id, 1 AS name, 7 AS stock, 2 AS name")).toEqual([good(1, "A", 7)])
      }))

    for (
      const [name, query, message] of [
        ["no query", undefined, "--query"],
        ["a query that is no SQL", "SELEC 1", "Correct --query"],
        ["a query of a table that isn't there", "SELECT product_id, stock FROM nothing_here", "nothing_here"],
        [
          "a query without a row",
          "SELECT 'A' AS product_id, 1 AS stock FROM (SELECT 1 AS one) AS none WHERE 1 = 0",
          "the query returns no row"
        ]
      ] as const
    ) {
      it.effect(`is refused with ${name}, in a sentence without its password`, () =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(Effect.flatMap(source(query), ({ open }) =>
            Effect.flatMap(open(Option.none()), (snapshot) => all(Option.getOrThrow(snapshot).rows))))
          expect(error).toMatchObject({ _tag: "SourceError", message: containing(message) })
          expect(error.message).not.toContain("secret")
        }))
    }

    it.effect("that doesn't respond is reported without its password", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(read("SELECT 'A' AS product_id, 1 AS stock", { source: nowhere[0] }))
        expect(error).toMatchObject({ _tag: nowhere[1], message: containing("no row of it was used") })
        expect(error.message).not.toContain("secret")
      }))
  }

const sqlite = database(
  Effect.map(Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()),
    (folder) => `sqlite:${folder}/stock of #1.db`),
  byClient((address) => SqliteClient.make({ filename: address.replace("sqlite:", "") }))
)
const aDecimal = "NUMERIC(12, 3)"

layer(sqlite)("an SQLite file", (it) => {
  expectations({
    decimal: aDecimal,
    nowhere: ["sqlite:///no/such/file.db", "SourceError"],
    setup: [],
    dialectTricks: [
      "PRAGMA user_version = 7",
      "PRAGMA journal_mode = WAL",
      "PRAGMA writable_schema = ON",
      "PRAGMA table_info(kept)",
      "ATTACH 'beside.db' AS beside",
      `${selected}; ATTACH 'beside.db' AS beside`,
      "VACUUM",
      "VACUUM INTO 'copy.db'",
      "REINDEX",
      "SELECT load_extension('beside')",
      "SAVEPOINT one",
      `SELECT product_id, stock FROM kept); DELETE FROM kept; --`
    ]
  })(it)

  it.effect("gets no other database beside it", () =>
    Effect.gen(function*() {
      const { address } = yield* Database
      const files = yield* FileSystem.FileSystem
      const folder = address.replace("sqlite:", "").replace(/[^/]*$/, "")
      // SQLite itself keeps the write-ahead log there while the file is open, and leaves it if a process is ended.
      const others = Effect.map(files.readDirectory(folder), (names) => names.filter((name) => !/-(shm|wal)$/.test(name)))
      for (
        const query of [
          `ATTACH '${folder}beside.db' AS beside`,
          `VACUUM INTO '${folder}copy.db'`,
          `SELECT 1; VACUUM INTO '${folder}copy.db'`
        ]
      ) {
        yield* Effect.flip(read(query))
      }
      expect(yield* others).toEqual(["stock of #1.db"])
    }))

  it.effect("is read after another process has written it", () =>
    Effect.gen(function*() {
      const { address, run } = yield* Database
      yield* run("CREATE TABLE waiting (product_id TEXT, stock INTEGER)", "INSERT INTO waiting VALUES ('A', 5)")
      const writer = yield* Effect.acquireRelease(
        Effect.sync(() => new DatabaseSync(address.replace("sqlite:", ""))),
        (open) => Effect.sync(() => open.close())
      )
      writer.exec("BEGIN EXCLUSIVE; UPDATE waiting SET stock = 6")
      const reading = yield* Effect.forkChild(read("SELECT product_id, stock FROM waiting"))
      // The reader has begun to wait, or will.
      for (let turn = 0; turn < 100; turn++) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      writer.exec("COMMIT")
      expect(yield* Fiber.join(reading)).toMatchObject([{ productId: "A", stock: 6 }])
    }))

  const readers = Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const children = yield* files.readFileString(`/proc/${process.pid}/task/${process.pid}/children`)
    const commands = yield* Effect.forEach(children.split(" ").filter((pid) => pid !== ""),
      (pid) =>
        Effect.map(Effect.orElseSucceed(files.readFileString(`/proc/${pid}/cmdline`), () => ""),
          (command) => ({ pid: Number(pid), command })))
    return commands.filter(({ command }) => command.includes("SqliteReader")).map(({ pid }) => pid)
  })
  const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'A' AS product_id, max(i) AS stock FROM n"

  it.effect("is given up if it computes for longer than the timeout, and other work goes on meanwhile", () =>
    Effect.gen(function*() {
      const reading = yield* Effect.forkChild(Effect.flip(read(endless)))
      const [pid] = yield* TestClock.withLive(eventually(readers, (pids) => pids.length === 1))
      yield* TestClock.adjust("30 seconds")
      expect(yield* Fiber.join(reading)).toMatchObject({
        _tag: "SourceUnreachable",
        message: containing("no response for 30s")
      })
      expect(yield* readers).not.toContain(pid)
    }))

  it.effect("leaves no process that waits, also if a signal can't be delivered to it", () =>
    Effect.gen(function*() {
      const { open } = yield* source(endless)
      for (let times = 0; times < 2; times++) {
        const { rows } = Option.getOrThrow(yield* open(Option.none()))
        const reading = yield* Effect.forkChild(Effect.flip(all(rows)))
        const [pid] = yield* TestClock.withLive(eventually(readers, (pids) => pids.length === 1))
        process.kill(Option.getOrThrow(Option.fromNullishOr(pid)), "SIGSTOP")
        yield* TestClock.adjust("30 seconds")
        expect(yield* Fiber.join(reading)).toMatchObject({ _tag: "SourceUnreachable" })
        expect(yield* readers).toEqual([])
      }
    }))

  it.effect("is refused whole when the process that reads it ends", () =>
    Effect.gen(function*() {
      const reading = yield* Effect.forkChild(Effect.flip(read(endless)))
      const [pid] = yield* TestClock.withLive(eventually(readers, (pids) => pids.length === 1))
      process.kill(Option.getOrThrow(Option.fromNullishOr(pid)), "SIGKILL")
      expect(yield* Fiber.join(reading)).toMatchObject({
        _tag: "SourceUnreachable",
        message: containing("the process that reads it ended before its last row; no row of it was used")
      })
    }))

  it.effect("is refused if it is a named pipe, which nobody may ever write", () =>
    Effect.gen(function*() {
      const { address } = yield* Database
      const pipe = address.replace("stock of", "pipe of")
      yield* NamedPipe.make(pipe.replace("sqlite:", ""))
      expect(yield* Effect.flip(read("SELECT 1", { source: pipe }))).toMatchObject({ _tag: "SourceError" })
    }))

  it.effect("is not made by asking it", () =>
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
  setup: [
    "CREATE SEQUENCE numbers",
    "CREATE FUNCTION writes() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN DELETE FROM kept; RETURN 1; END $$",
    "CREATE FUNCTION opens() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN SET TRANSACTION READ WRITE; DELETE FROM kept; RETURN 1; END $$",
    "CREATE FUNCTION commits() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN COMMIT; DELETE FROM kept; RETURN 1; END $$",
    "CREATE PROCEDURE deletes() LANGUAGE plpgsql AS $$ BEGIN COMMIT; SET TRANSACTION READ WRITE; DELETE FROM kept; COMMIT; END $$"
  ],
  dialectTricks: [
    "SELECT writes() AS product_id, 1 AS stock",
    "SELECT opens() AS product_id, 1 AS stock",
    "SELECT commits() AS product_id, 1 AS stock",
    "SELECT set_config('transaction_read_only', 'off', false) AS product_id, writes() AS stock",
    "SELECT set_config('transaction_read_only', 'off', true) AS product_id, writes() AS stock",
    "SELECT set_config('default_transaction_read_only', 'off', false) AS product_id, writes() AS stock",
    "SELECT nextval('numbers') AS product_id, 1 AS stock",
    "SELECT setval('numbers', 9) AS product_id, 1 AS stock",
    "SELECT lo_import('/etc/hostname') AS product_id, 1 AS stock",
    "SELECT lo_from_bytea(0, 'x') AS product_id, 1 AS stock",
    "SELECT product_id, stock FROM kept FOR UPDATE",
    "SELECT product_id, stock INTO made FROM kept",
    "COPY kept FROM PROGRAM 'echo B,1' CSV",
    "COPY kept TO '/tmp/kept-of-plaza.csv'",
    "CALL deletes()",
    "DO $$ BEGIN DELETE FROM kept; END $$",
    "SET TRANSACTION READ WRITE",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    `SET TRANSACTION READ WRITE; DELETE FROM kept; ${selected}`,
    `${selected}; SET TRANSACTION READ WRITE; DELETE FROM kept`,
    "PREPARE writing AS DELETE FROM kept",
    "EXECUTE writing",
    "LISTEN somebody",
    "VACUUM kept",
    `${selected} WHERE product_id <> $$;$$; DELETE FROM kept`,
    `${selected} WHERE product_id <> $a$;$$;$a$; DELETE FROM kept WHERE product_id <> $a$;$a$`,
    `${selected} /* /* ; */ ; */; DELETE FROM kept`,
    `${selected} WHERE product_id <> E'\\';'; DELETE FROM kept`,
    "WITH kept_too AS (INSERT INTO kept VALUES ('B', 1) RETURNING *) SELECT product_id, stock FROM kept_too",
    "SELECT xmlelement(name a, query_to_xml('DELETE FROM kept', true, false, '')) AS product_id, 1 AS stock"
  ],
  cut: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
}))

describe.skipIf(Mariadb.missing !== undefined)("with a MariaDB", () => {
  const mariadb = database(Mariadb.scoped, byMysql)
  layer(mariadb, { timeout: "1 minute" })("a MariaDB", expectations({
    decimal: aDecimal,
    nowhere: ["mysql://plaza:secret@127.0.0.1:1/none", "SourceUnreachable"],
    setup: [
      "CREATE SEQUENCE numbers",
      ...Mariadb.routines,
      ...(Mariadb.routines.length === 0 ? [] : [
        "CREATE PROCEDURE deletes() BEGIN COMMIT; SET SESSION TRANSACTION READ WRITE; DELETE FROM kept; SELECT 'A' AS product_id, 1 AS stock; END",
        "CREATE FUNCTION writes() RETURNS INT BEGIN DELETE FROM kept; RETURN 1; END",
        "CREATE FUNCTION opens() RETURNS INT BEGIN SET SESSION TRANSACTION READ WRITE; DELETE FROM kept; RETURN 1; END"
      ])
    ],
    dialectTricks: [
      "CALL deletes()",
      "SELECT writes() AS product_id, 1 AS stock",
      "SELECT opens() AS product_id, 1 AS stock",
      "SELECT NEXT VALUE FOR numbers AS product_id, 1 AS stock",
      "SELECT NEXTVAL(numbers) AS product_id, 1 AS stock",
      "SELECT SETVAL(numbers, 9) AS product_id, 1 AS stock",
      "SELECT product_id, stock FROM kept FOR UPDATE",
      "SELECT product_id, stock INTO @id, @stock FROM kept LIMIT 1",
      "SELECT product_id, stock FROM kept INTO OUTFILE '/tmp/kept-of-plaza.csv'",
      "SET SESSION TRANSACTION READ WRITE",
      `SET SESSION TRANSACTION READ WRITE; DELETE FROM kept; ${selected}`,
      "START TRANSACTION READ WRITE",
      "BEGIN NOT ATOMIC COMMIT; SET SESSION TRANSACTION READ WRITE; DELETE FROM kept; END",
      "EXECUTE IMMEDIATE 'DELETE FROM kept'",
      "PREPARE writing FROM 'DELETE FROM kept'",
      "DO SLEEP(0)",
      "ANALYZE DELETE FROM kept",
      "OPTIMIZE TABLE kept",
      "TRUNCATE kept",
      "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE kept",
      `${selected} # ;\n; DELETE FROM kept`,
      `${selected} /*! ; DELETE FROM kept */`,
      `${selected} WHERE product_id <> '\\';'; DELETE FROM kept`
    ],
    cut:
      "SELECT id INTO @id FROM information_schema.processlist WHERE info LIKE '%AS wide%' AND id <> connection_id(); SET @kill = CONCAT('KILL ', @id); EXECUTE IMMEDIATE @kill"
  }))
})
