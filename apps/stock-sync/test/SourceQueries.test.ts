/** What a read of a database leaves at the server, seen in the server's own list of sessions. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, layer, type Vitest } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import * as Postgres from "@plaza/testing/Postgres"
import { Context, Duration, Effect, Fiber, FileSystem, Layer, Option, Schedule, type Scope, Stream } from "effect"
import { type Connection, createConnection } from "mysql2"
import { type AddressInfo, connect, createServer } from "node:net"
import Pg from "pg"
import * as Open from "../src/source/Open.ts"
import type { SourceFailure } from "../src/source/Source.ts"
import * as DatabaseProxy from "./support/databaseProxy.ts"
import { eventually } from "./support/eventually.ts"
import * as Mariadb from "./support/mariadb.ts"
import * as Program from "./support/program.ts"
import { containing } from "./support/reading.ts"

interface Session {
  readonly name: string
  readonly statement: string
}

/** A server with a table `shop` of 5,000 products, and its own look at the sessions of the program. */
class Server extends Context.Service<Server, {
  readonly address: string
  readonly sessions: Effect.Effect<ReadonlyArray<Session>>
  readonly run: (statement: string) => Effect.Effect<unknown>
  /** A query that the server computes for minutes. */
  readonly slow: string
  /** Blocks readers of the table as long as the scope is open. */
  readonly lock: Effect.Effect<unknown, never, Scope.Scope>
  /** Statements that end the query and the session of the program. */
  readonly endQuery: Effect.Effect<unknown>
  readonly endSession: Effect.Effect<unknown>
}>()("Server") {}

const postgres: Effect.Effect<Server["Service"], unknown, Scope.Scope> = Effect.gen(function*() {
  const { url } = yield* Postgres.scoped
  const connected = Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Pg.Client({ connectionString: url, application_name: "admin" })
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )
  const admin = yield* connected
  const run = (statement: string) => Effect.promise(() => admin.query<Record<string, string>>(statement))
  yield* run("CREATE TABLE shop AS SELECT g::text AS product_id, 7 AS stock FROM generate_series(1, 5000) AS g")
  const others = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> 'admin'"
  return {
    address: url,
    sessions: Effect.map(run(`SELECT application_name AS name, query AS statement ${others}`),
      ({ rows }) => rows.map(({ name = "", statement = "" }) => ({ name, statement }))),
    run,
    slow: "SELECT product_id, stock FROM shop WHERE pg_sleep(0.5) IS NOT NULL",
    lock: Effect.flatMap(connected, (client) => Effect.promise(() => client.query("BEGIN; LOCK TABLE shop IN ACCESS EXCLUSIVE MODE"))),
    endQuery: run(`SELECT pg_cancel_backend(pid) ${others}`),
    endSession: run(`SELECT pg_terminate_backend(pid) ${others}`)
  }
})

const mariadb: Effect.Effect<Server["Service"], unknown, Scope.Scope> = Effect.gen(function*() {
  const address = yield* Mariadb.scoped
  const ask = (connection: Connection, statement: string) =>
    Effect.callback<ReadonlyArray<Record<string, string | null>>>((resume) => {
      connection.query(statement, (error, rows) => {
        // The driver's type has every form of a result.
        resume(error === null ? Effect.succeed(rows as unknown as ReadonlyArray<Record<string, string | null>>) : Effect.die(error))
      })
    })
  const own = new Set<string>()
  const connected = Effect.acquireRelease(
    Effect.sync(() => createConnection({ uri: address })),
    (connection) => Effect.sync(() => connection.destroy())
  ).pipe(Effect.tap((connection) => Effect.map(ask(connection, "SELECT CONNECTION_ID() AS id"), ([row]) => own.add(String(row?.["id"])))))
  const admin = yield* connected
  const run = (statement: string) => ask(admin, statement)
  yield* run("CREATE TABLE shop AS SELECT seq AS product_id, 7 AS stock FROM seq_1_to_5000")
  const threads = Effect.map(run("SELECT id, info FROM information_schema.processlist WHERE user = 'plaza'"),
    (rows) => rows.filter(({ id }) => !own.has(String(id))))
  const each = (what: string) => Effect.flatMap(threads, (rows) => Effect.forEach(rows, ({ id }) => run(`${what} ${id}`)))
  return {
    address,
    // A list of threads has no names, so the query has the name of the program.
    sessions: Effect.map(threads,
      (rows) => rows.map(({ info }) => ({ name: /^\/\* (\S+) \w+ \*\//.exec(info ?? "")?.[1] ?? "", statement: info ?? "" }))),
    run,
    slow: "SELECT product_id, stock FROM shop WHERE SLEEP(0.5) = 0",
    lock: Effect.flatMap(connected, (connection) => ask(connection, "LOCK TABLES shop WRITE")),
    endQuery: each("KILL QUERY"),
    endSession: each("KILL")
  }
})

const opened = (address: string, query: string, timeout: Duration.Input) =>
  Open.make({ source: address, query, timeout: Duration.fromInputUnsafe(timeout), idColumn: "product_id", stockColumn: "stock" })

const read = ({ open }: Effect.Success<ReturnType<typeof opened>>) =>
  Effect.scoped(Effect.flatMap(open(Option.none()), (snapshot) => Stream.runCount(Option.getOrThrow(snapshot).rows)))

const every = "SELECT product_id, stock FROM shop"

const running = ({ sessions }: Server["Service"]) =>
  eventually(sessions, (list) => list.some(({ statement }) => /shop|FETCH/.test(statement)))

/** The built program, which reads for minutes. */
const started = (server: Server["Service"], args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const env = {
      ...yield* Program.account,
      STOCK_SYNC_SOURCE: server.address,
      STOCK_SYNC_ID_COLUMN: "product_id",
      STOCK_SYNC_QUERY: server.slow,
      STOCK_SYNC_SOURCE_TIMEOUT: "10 minutes"
    }
    const program = yield* Program.start(args, { cwd: yield* files.makeTempDirectoryScoped(), env })
    yield* running(server)
    return program
  })

const layerOf = (server: Effect.Effect<Server["Service"], unknown, Scope.Scope>) =>
  Layer.mergeAll(Layer.orDie(Layer.effect(Server, server)), NodeServices.layer, Sandbox.layerServer())

const expectations = (it: Vitest.MethodsNonLive<NodeServices.NodeServices | Sandbox.Sandbox | Server>) => {
  const against =
    <E>(test: (server: Server["Service"]) => Effect.Effect<unknown, E, NodeServices.NodeServices | Sandbox.Sandbox | Scope.Scope>) => () =>
      Effect.flatMap(Server, test)

  it.effect("has one session at a time, with the name of the program, and none at its end", against((server) =>
    Effect.gen(function*() {
      const source = yield* opened(server.address, server.slow, "10 seconds")
      const reading = yield* Effect.forkChild(read(source))
      expect((yield* running(server)).map(({ name }) => name)).toEqual(["plaza-stock-sync"])
      yield* Fiber.interrupt(reading)
      expect(yield* server.sessions).toEqual([])
      expect(yield* read(yield* opened(server.address, every, "10 seconds"))).toBe(5_000)
      expect(yield* server.sessions).toEqual([])
    })
  ))

  it.effect("that times out is over at the server before the next one begins", against((server) =>
    Effect.gen(function*() {
      const source = yield* opened(server.address, server.slow, "300 millis")
      const seen: Array<ReadonlyArray<Session>> = []
      const queries = Effect.map(server.sessions, (list) => seen.push(list.filter(({ statement }) => /shop|FETCH/.test(statement))))
      yield* Effect.forkScoped(Effect.repeat(queries, Schedule.spaced("20 millis")))
      for (let times = 0; times < 5; times++) {
        expect(yield* Effect.flip(read(source))).toMatchObject({ message: containing("no response for 300ms") })
        expect(yield* server.sessions).toEqual([])
      }
      expect(seen.some((list) => list.length > 0)).toBe(true)
      expect(seen.filter((list) => list.length > 1)).toEqual([])
    })
  ))

  const ends: ReadonlyArray<
    readonly [how: string, act: (server: Server["Service"], reading: Fiber.Fiber<number, SourceFailure>) => Effect.Effect<unknown>]
  > = [
    ["is stopped", (_, reading) => Fiber.interrupt(reading)],
    // Again and again: between two fetches there is no query to end.
    [
      "whose query an operator ends",
      ({ endQuery }, reading) => Effect.raceFirst(Fiber.await(reading), Effect.forever(Effect.delay(Effect.exit(endQuery), "100 millis")))
    ],
    ["whose session an operator ends", ({ endSession }) => endSession]
  ]
  for (const [how, act] of ends) {
    for (
      const [what, queryOf, before] of [
        ["while the server computes", ({ slow }: Server["Service"]) => slow, () => Effect.void],
        ["while it waits for a lock", () => every, ({ lock }: Server["Service"]) => lock],
        ["between two rows", ({ slow }: Server["Service"]) => `${every} UNION ALL ${slow}`, () => Effect.void]
      ] as const
    ) {
      it.effect(`that ${how} ${what} leaves nothing`, against((server) =>
        Effect.gen(function*() {
          yield* before(server)
          const source = yield* opened(server.address, queryOf(server), "20 seconds")
          const reading = yield* Effect.forkChild(read(source))
          yield* running(server)
          yield* act(server, reading)
          expect((yield* Fiber.await(reading))._tag).toBe("Failure")
          expect(yield* eventually(server.sessions, (list) => list.length === 0)).toEqual([])
        })
      ))
    }
  }

  it.effect("that its consumer leaves after a few rows leaves nothing", against((server) =>
    Effect.gen(function*() {
      const { open } = yield* opened(server.address, `${every} UNION ALL ${server.slow}`, "20 seconds")
      for (let times = 0; times < 3; times++) {
        const { rows } = Option.getOrThrow(yield* open(Option.none()))
        expect(yield* Stream.runCount(Stream.take(rows, 3))).toBe(3)
        expect(yield* server.sessions).toEqual([])
      }
    })
  ))

  it.effect("ends soon if the server does not respond to its end, and the next one ends what is left first",
    against((server) =>
      Effect.gen(function*() {
        const proxy = yield* DatabaseProxy.start(server.address)
        const source = yield* opened(proxy.url, server.slow, "20 seconds")
        const reading = yield* Effect.forkChild(read(source))
        yield* running(server)
        yield* proxy.set("stalled")
        yield* Fiber.interrupt(reading)
        const [left, ...others] = yield* server.sessions
        expect(others).toEqual([])
        // Only new connections: the server never learns that the earlier one has ended.
        yield* proxy.set("forgotten")
        const again = yield* Effect.forkChild(read(source))
        // A query has a text of its own.
        yield* eventually(server.sessions,
          (list) => list.length === 1 && list.some(({ statement }) => /shop|FETCH/.test(statement) && statement !== left?.statement))
        yield* Fiber.interrupt(again)
        // The proxy closes the connection of the client before that of the server.
        expect(yield* eventually(server.sessions, (list) => list.length === 0)).toEqual([])
      })
    ))

  for (
    const [args, signal, status] of [
      [["run"], "SIGTERM", 0],
      [["run"], "SIGINT", 0],
      [["once"], "SIGINT", 130],
      [["once"], "SIGTERM", 143],
      [["plan"], "SIGINT", 130]
    ] as const
  ) {
    it.effect(
      `of ${args[0]} is over at the server after ${signal}`,
      against((server) =>
        Effect.gen(function*() {
          const program = yield* started(server, args)
          yield* program.kill(signal)
          expect((yield* program.ended).status).toBe(status)
          expect(yield* server.sessions).toEqual([])
        })
      )
    )
  }

  it.effect("ends soon while it connects to a server that does not respond", against((server) =>
    Effect.gen(function*() {
      const proxy = yield* DatabaseProxy.start(server.address)
      yield* proxy.set("stalled")
      const source = yield* opened(proxy.url, every, "300 millis")
      for (let times = 0; times < 3; times++) {
        expect(yield* Effect.flip(read(source))).toMatchObject({ _tag: "SourceUnreachable" })
      }
      yield* proxy.set("cut")
      expect(yield* eventually(server.sessions, (list) => list.length === 0)).toEqual([])
    })
  ))
}

const timeout = "1 minute"
layer(layerOf(postgres), { timeout, excludeTestServices: true })("a read of a Postgres", (it) => {
  expectations(it)

  it.effect("is over although the program was killed", () =>
    Effect.gen(function*() {
      const server = yield* Server
      const program = yield* started(server, ["run"])
      yield* program.kill("SIGKILL")
      yield* program.ended
      expect(yield* eventually(server.sessions, (list) => list.length === 0)).toEqual([])
    }))

  for (
    const [parameter, shown] of [
      ["application_name=stock", "stock"],
      ["options=-c%20application_name%3Dstock", "stock"],
      ["application_name=", "plaza-stock-sync"]
    ] as const
  ) {
    it.effect(`has the name ${shown} with ${parameter} in the address`, () =>
      Effect.gen(function*() {
        const server = yield* Server
        const reading = yield* Effect.forkChild(read(yield* opened(`${server.address}?${parameter}`, server.slow, "20 seconds")))
        const list = yield* eventually(server.sessions, (sessions) => sessions.some(({ statement }) => statement.includes("FETCH")))
        expect(list.map(({ name }) => name)).toEqual([shown])
        yield* Fiber.interrupt(reading)
      }))
  }
})

describe.skipIf(Mariadb.missing !== undefined)("with a MariaDB", () => {
  layer(layerOf(mariadb), { timeout, excludeTestServices: true })("a read of a MariaDB", (it) => {
    expectations(it)

    it.effect("names the program in the attributes of its connection", () =>
      Effect.gen(function*() {
        const { address } = yield* Server
        const { hostname, port } = new URL(address)
        let sent = ""
        const relay = createServer((client) => {
          const upstream = connect(Number(port), hostname)
          client.on("data", (bytes) => (sent += bytes.toString("latin1"))).on("error", () => undefined).pipe(upstream)
          upstream.on("error", () => undefined).pipe(client)
        })
        yield* Effect.acquireRelease(
          Effect.callback<void>((resume) => void relay.listen(0, "127.0.0.1", () => resume(Effect.void))),
          () => Effect.sync(() => relay.close())
        )
        // The address of a server on a port is no text.
        const url = Object.assign(new URL(address), { port: String((relay.address() as AddressInfo).port) })
        expect(yield* read(yield* opened(url.href, every, "10 seconds"))).toBe(5_000)
        // Each text has its length before it.
        expect(sent).toContain("program_name\x10plaza-stock-sync")
      }))
  })
})
