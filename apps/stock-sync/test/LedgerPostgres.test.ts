/** Ledgers in Postgres: what holds for every ledger, databases that can't be used or are lost, and owners that were replaced. */
import { describe, expect, it } from "@effect/vitest"
import * as Postgres from "@plaza/testing/Postgres"
import { Duration, Effect, Exit, Fiber, Option, type Scope } from "effect"
import { Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Ledger, Send } from "../src/ledger/Ledger.ts"
import { tableNames } from "../src/ledger/Schema.ts"
import type { RevertOptions } from "../src/ledger/Snapshot.ts"
import { everything, inPostgres } from "./support/ledger/everything.ts"
import { newSchema } from "./support/ledger/newLedger.ts"
import { freshSchema, inDatabase } from "./support/ledger/places.ts"
import { collect, fail, id, queueOf, receive, row, stateOf, take, taken, using as usingPlace } from "./support/ledger/using.ts"
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

describe("a command beside the owner", () => {
  const revertOptions: RevertOptions = {
    guard: { share: 1, count: 1_000_000, window: Duration.days(1) },
    confirmed: true,
    preview: false,
    limit: undefined
  }
  const wrong = [row("A", 50, 2), row("B", 0, 3), row("C", 4, 4)]
  const wantedOf = (ledger: Ledger["Service"]) =>
    Effect.map(collect(ledger.all), (all) => Object.fromEntries(all.map(({ productId, wanted }) => [productId, wanted])))
  /** A ledger whose second snapshot is wrong about A and B. */
  const onWrong = (test: (ledger: Ledger["Service"], place: string) => Effect.Effect<void, unknown, Scope.Scope>) =>
    Effect.scoped(Effect.gen(function*() {
      const place = yield* fresh
      yield* using(place, (ledger) =>
        Effect.gen(function*() {
          yield* receive(ledger, row("A", 5, 2), row("B", 7, 3), row("C", 4, 4))
          yield* receive(ledger, ...wrong)
          yield* test(ledger, place)
        }))
    }))
  /** Waits until a session of the program waits for another one, or an operation has ended. */
  const untilBlocked = (place: string, fiber: Fiber.Fiber<unknown, unknown>) =>
    Effect.repeat(
      inDatabase(place,
        (sql) => sql`SELECT 1 FROM pg_stat_activity WHERE application_name = 'plaza-stock-sync' AND wait_event_type = 'Lock'`),
      { until: (waiting) => waiting.length > 0 || fiber.pollUnsafe() !== undefined }
    )
  /** Runs an operation, and begins another one before its first statement with a text. */
  const whileRuns = <A, E, B, F>(
    place: string,
    operation: Effect.Effect<A, E>,
    text: string,
    other: Effect.Effect<B, F>
  ) =>
    Effect.gen(function*() {
      let begun: Fiber.Fiber<Exit.Exit<B, F>> | undefined
      const first = yield* Effect.exit(Effect.provideService(operation, Statement.CurrentTransformer, (statement) =>
        Effect.gen(function*() {
          if (begun === undefined && statement.compile()[0].includes(text)) {
            begun = yield* Effect.forkChild(Effect.exit(Effect.provideService(other, Statement.CurrentTransformer, undefined)), {
              startImmediately: true
            })
            yield* untilBlocked(place, begun)
          }
          return statement
        })))
      if (begun === undefined) throw new Error(`no statement has ${text}`)
      return { first, second: yield* Fiber.join(begun) }
    })
  const revertBeside = (place: string) => using(place, (beside) => beside.revert(1, revertOptions), "beside")
  const expectReverted = (ledger: Ledger["Service"]) =>
    Effect.gen(function*() {
      expect(yield* wantedOf(ledger)).toEqual({ A: 5, B: 7, C: 4 })
      expect(yield* Effect.flip(receive(ledger, ...wrong))).toMatchObject({ _tag: "SnapshotHeld", held: { figures: { reverted: 2 } } })
    })

  it.effect("reverts what a snapshot changes that is being applied", () =>
    onWrong((ledger, place) =>
      Effect.gen(function*() {
        const { first, second } = yield* whileRuns(place, receive(ledger, ...wrong.slice(0, 2), row("C", 9, 4)), "INSERT INTO past_stock",
          revertBeside(place))
        expect(first).toMatchObject({ _tag: "Success", value: { changed: 1 } })
        expect(second).toMatchObject({ _tag: "Success", value: { changed: 3, number: 4 } })
        yield* expectReverted(ledger)
      })
    ))

  it.effect("makes a snapshot wait that would be compared with what it reverts", () =>
    onWrong((ledger, place) =>
      Effect.gen(function*() {
        yield* receive(ledger, ...wrong.slice(0, 2), row("C", 9, 4))
        const { first, second } = yield* whileRuns(place, revertBeside(place), "INSERT INTO reverted_stock",
          Effect.result(receive(ledger, ...wrong.slice(0, 2), row("C", 9, 5))))
        expect(first).toMatchObject({ _tag: "Success", value: { changed: 3 } })
        expect(second).toMatchObject({ _tag: "Success", value: { _tag: "Failure", failure: { _tag: "SnapshotHeld" } } })
        yield* expectReverted(ledger)
      })
    ))

  it.effect("changes the stock that a product is taken with", () =>
    onWrong((ledger, place) =>
      Effect.gen(function*() {
        const { second } = yield* whileRuns(place, revertBeside(place), "INSERT INTO reverted_stock", taken(ledger))
        expect(second).toMatchObject({ _tag: "Success", value: { productId: "A", value: 5 } })
      })
    ))

  it.effect("records an event beside those of the owner", () =>
    onWrong((ledger, place) =>
      Effect.gen(function*() {
        const failed = { kind: "sourceFailed", code: "SourceError", detail: "x", count: 0, at: utc(5) } as const
        const { first, second } = yield* whileRuns(place, revertBeside(place), "INSERT INTO reverted_stock", ledger.record(failed))
        expect([first._tag, second._tag]).toEqual(["Success", "Success"])
        expect((yield* ledger.events).map(({ kind }) => kind)).toEqual([
          "snapshotAccepted",
          "snapshotAccepted",
          "snapshotReverted",
          "sourceFailed"
        ])
      })
    ))

  it.effect("resends while a snapshot is applied, and neither waits for the other for ever", () =>
    onWrong((ledger, place) =>
      Effect.gen(function*() {
        const ids = [id("A"), id("B"), id("C")]
        const { first, second } = yield* whileRuns(place, receive(ledger, row("A", 1, 2), row("B", 2, 3), row("C", 3, 4)),
          "INSERT INTO past_stock", using(place, (beside) => beside.resend(ids), "beside"))
        expect([first._tag, second._tag]).toEqual(["Success", "Success"])
      })
    ))
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
