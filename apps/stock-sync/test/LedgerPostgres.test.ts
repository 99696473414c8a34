/** Ledgers in Postgres: what holds for every ledger, databases that can't be used or are lost, and owners that were replaced. */
import { describe, expect, it } from "@effect/vitest"
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, Exit, Fiber, Option } from "effect"
import { Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Ledger, Send } from "../src/ledger/Ledger.ts"
import { tableNames } from "../src/ledger/Schema.ts"
import { everything, inPostgres } from "./support/ledger/everything.ts"
import { newSchema } from "./support/ledger/newLedger.ts"
import { freshSchema, inDatabase } from "./support/ledger/places.ts"
import { fail, id, queueOf, receive, row, stateOf, take, using as usingPlace } from "./support/ledger/using.ts"
import { shared } from "./support/shared.ts"
import { utc } from "./support/utc.ts"

let server = ""
shared(Postgres.scoped, ({ url }) => {
  server = url
})

everything(newSchema(() => server), inPostgres)

const fresh = freshSchema(() => server)
const kind = newSchema(() => server)
const using = <A, E, R>(
  name: string,
  use: (ledger: Ledger["Service"]) => Effect.Effect<A, E, R>,
  access: Parameters<typeof usingPlace>[2] = "owner"
) => usingPlace({ kind, name }, use, access)
/** The sessions of the program without its lock. */
const sessionsWithoutLock = (place: string) =>
  Effect.map(
    inDatabase(place, (sql) =>
      sql`SELECT 1 FROM pg_stat_activity WHERE application_name = 'plaza-stock-sync'
        AND pid NOT IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')`),
    (rows) => rows.length
  )
const refused = (place: string) => Effect.flip(using(place, () => Effect.void))

describe("unusable databases", () => {
  it.effect("are named without the password, with what to do", () =>
    Effect.gen(function*() {
      const nobody = server.replace("plaza@", "nobody:hunter2@")
      for (
        const [place, says] of [
          ["postgres://host:port/database", "can't be read"],
          [`${server}?schema=Shop%20One`, "can't have this schema"],
          [nobody, "admits no such user"],
          [server.replace(/\/postgres$/, "/none"), "make the database"],
          ["postgres://plaza:hunter2@127.0.0.1:1/x", "can't be reached"]
        ] as const
      ) {
        const error = yield* refused(place)
        expect(error).toMatchObject({ _tag: "LedgerFault" })
        expect(error.message).toContain(says)
        expect(error.message).not.toContain("hunter2")
      }
    }))

  it.effect("a session that the server ends writes nothing more and loses its lock, and its requests are doubtful to the next one", () =>
    Effect.gen(function*() {
      const place = yield* fresh
      yield* using(place, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, row("A", 1))
          const taken = yield* take(ledger)
          if (taken === undefined) throw new Error("nothing waits")
          yield* inDatabase(place, (sql) => sql`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'`)
          const lost = yield* Effect.flip(ledger.confirm(taken))
          expect(lost).toMatchObject({ _tag: "LedgerFault" })
          expect(lost.message).toContain("cut off")
          yield* using(place, (next) =>
            Effect.gen(function*() {
              expect(yield* stateOf(next, "A")).toBe("doubtful")
              expect(yield* next.requests).toHaveLength(1)
            }))
        }))
    }))

  it.effect("a session that the server ends inside a transaction is a failure of the ledger", () =>
    Effect.gen(function*() {
      const place = yield* fresh
      yield* using(place, (ledger) =>
        Effect.gen(function*() {
          const end = inDatabase(place, (sql) => sql`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'`)
          const ended = yield* Effect.exit(receive(ledger, row("A", 1)).pipe(
            Effect.provideService(Statement.CurrentTransformer,
              (statement) => Effect.as(statement.compile()[0].includes("INSERT INTO missing") ? end : Effect.void, statement))
          ))
          expect(Exit.findErrorOption(ended)).toMatchObject(Option.some({ _tag: "LedgerFault" }))
          expect(yield* Effect.flip(ledger.counts)).toMatchObject({ _tag: "LedgerFault" })
        }))
    }))

  it.effect("the end of the session that looks whether the server responds says nothing of the server", () =>
    Effect.gen(function*() {
      const place = yield* fresh
      yield* using(place, (ledger) =>
        Effect.gen(function*() {
          const lost = yield* Effect.forkChild(Effect.flip(ledger.lost), { startImmediately: true })
          yield* TestClock.adjust("2 seconds")
          const probes = sessionsWithoutLock(place)
          yield* Effect.repeat(probes, { until: (count) => count === 1 })
          yield* inDatabase(place, (sql) =>
            sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plaza-stock-sync'
              AND pid NOT IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')`)
          yield* TestClock.adjust("2 seconds")
          yield* Effect.repeat(probes, { until: (count) => count === 1 })
          yield* receive(ledger, row("A", 1))
          expect(lost.pollUnsafe()).toBeUndefined()
        }))
    }))

  it.effect("a server that ends all sessions is noticed within two seconds, also while no statement runs", () =>
    Effect.gen(function*() {
      const place = yield* fresh
      yield* using(place, (ledger) =>
        Effect.gen(function*() {
          const lost = yield* Effect.forkChild(Effect.flip(ledger.lost), { startImmediately: true })
          yield* TestClock.adjust("2 seconds")
          yield* inDatabase(place,
            (sql) => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plaza-stock-sync'`)
          yield* TestClock.adjust("2 seconds")
          expect((yield* Fiber.join(lost)).message).toContain("cut off")
        }))
    }))

  it.effect("a schema of another role is used if the user may not create one", () =>
    Effect.gen(function*() {
      const place = yield* fresh
      const schema = new URL(place).searchParams.get("schema") ?? ""
      yield* inDatabase(server, (sql) =>
        Effect.gen(function*() {
          yield* sql.unsafe(`CREATE ROLE ${schema}_user LOGIN`)
          yield* sql.unsafe(`CREATE SCHEMA ${schema}`)
          yield* sql.unsafe(`GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${schema}_user`)
        }))
      const own = (other: string) => other.replace("plaza@", `${schema}_user@`)
      yield* using(own(place), (ledger) => receive(ledger, row("A", 1)))
      yield* using(own(place), (ledger) => Effect.map(queueOf(ledger), (queue) => expect(queue).toHaveLength(1)), "readOnly")
      expect((yield* refused(own(yield* fresh))).message).toContain("let it create a schema")
    }))

  it.effect("a ledger of another version is refused", () =>
    Effect.gen(function*() {
      const place = yield* fresh
      yield* using(place, () => Effect.void)
      yield* inDatabase(place, (sql) => sql`UPDATE ledger_migrations SET migration_id = 99`)
      expect((yield* refused(place)).message).toContain("another version")
    }))
})

describe("an account that another owner has taken over", () => {
  it.effect("is written by no operation of the earlier owner, whatever it is", () =>
    Effect.gen(function*() {
      const place = yield* fresh
      const operations: ReadonlyArray<readonly [string, (ledger: Ledger["Service"], taken: Send) => Effect.Effect<unknown, unknown>]> = [
        ["take", (ledger) => ledger.take({ _tag: "Due", confirmedBefore: Option.none() })],
        ["take for a breaker", (ledger) => ledger.take({ _tag: "HalfOpen", except: [] })],
        ["take what is sold out", (ledger) => ledger.take({ _tag: "SoldOut", outcomes: "any" })],
        ["confirm", (ledger, taken) => ledger.confirm(taken)],
        ["fail", (ledger, taken) => fail(ledger, taken, "pending")],
        ["applySnapshot", (ledger) => receive(ledger, row("A", 9), row("B", 9))],
        ["the same snapshot", (ledger) => receive(ledger, row("A", 1, 2), row("B", 2, 3), row("C", 0, 4))],
        ["release", (ledger) => ledger.release(Option.none())],
        ["retryNow", (ledger) => ledger.retryNow],
        ["clockChanged", (ledger) => ledger.clockChanged(60_000)],
        ["observe", (ledger) => ledger.observe([{ productId: id("A"), stock: 7 }], utc(1), true)],
        ["countRequest", (ledger) => ledger.countRequest(Effect.void)],
        ["bind", (ledger) => ledger.bind({ baseUrl: "https://other.example", id: "2", keyFingerprint: "k" })],
        ["adopt", (ledger) => ledger.adopt({ baseUrl: "https://other.example", id: undefined, keyFingerprint: "k" })],
        ["confirmHeld", (ledger) => ledger.confirmHeld(2)],
        ["setNotices", (ledger) => ledger.setNotices("{}")],
        ["check", (ledger) => ledger.check]
      ]
      const content = inDatabase(place, (sql) => Effect.forEach(tableNames, (name) => sql.unsafe(`SELECT * FROM ${name} ORDER BY 1, 2`)))
      for (const [name, operation] of operations) {
        yield* using(place, (ledger) =>
          Effect.gen(function*() {
            yield* receive(ledger, row("A", 1, 2), row("B", 2, 3), row("C", 0, 4))
            const taken = yield* take(ledger)
            if (taken === undefined) throw new Error("nothing waits")
            yield* kind.whiteBox.takeOver(place)
            const before = yield* content
            const refusedBy = yield* Effect.exit(operation(ledger, taken))
            expect({ name, failed: Exit.isFailure(refusedBy) }).toEqual({ name, failed: true })
            expect({ name, content: yield* content }).toEqual({ name, content: before })
            const after = yield* Effect.flip(ledger.check)
            expect({ name, isTakenOver: after.isTakenOver }).toEqual({ name, isTakenOver: true })
          }))
      }
    }))
})
