/** Ledgers in Postgres: what holds for every ledger, and databases that can't be used or are lost. */
import { Reactivity } from "@effect/experimental"
import { PgClient } from "@effect/sql-pg"
import { describe, expect, it } from "@effect/vitest"
import * as Postgres from "@plaza-legacy/testing/Postgres"
import { Effect, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { guard, previews } from "./support/ledger/guard.ts"
import { model } from "./support/ledger/model.ts"
import { rules } from "./support/ledger/rules.ts"
import { sends } from "./support/ledger/sends.ts"
import { snapshots } from "./support/ledger/snapshots.ts"
import { accounts, users } from "./support/ledger/users.ts"
import { queueOf, receive, row, stateOf, take, using } from "./support/ledger/using.ts"
import { shared } from "./support/shared.ts"

let server = ""
shared(Postgres.scoped, ({ url }) => {
  server = url
})

const fresh = Effect.sync(() => `${server}?schema=l_${randomUUID().replaceAll("-", "_")}`)

snapshots(fresh, 5)
rules(fresh, 25)
sends(fresh, 5)
guard(fresh)
previews(fresh)
accounts(fresh)
users(fresh)
model(fresh, 40)

describe("unusable databases", () => {
  const refused = (place: string) => Effect.flip(using(place, () => Effect.void))

  it.effect("are named without the password, with what to do", () =>
    Effect.gen(function*() {
      const nobody = server.replace("plaza@", "nobody:hunter2@")
      for (
        const [place, says] of [
          ["postgres://host:port/database", "can't be read"],
          [`${server}?schema=Shop%20One`, "can't have this schema"],
          [nobody, "refuses the user or the password"],
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
          const sql = yield* PgClient.make({ url: Redacted.make(server) })
          yield* sql`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'`
          const lost = yield* Effect.flip(ledger.confirm(taken))
          expect(lost).toMatchObject({ _tag: "LedgerFault" })
          expect(lost.message).toContain("cut off")
          yield* using(place, (next) => Effect.map(stateOf(next, "A"), (state) => expect(state).toBe("doubtful")))
        }).pipe(Effect.scoped, Effect.provide(Reactivity.layer)))
    }))

  it.effect("a schema of another role is used if the user may not create one", () =>
    Effect.gen(function*() {
      const place = yield* fresh
      const schema = new URL(place).searchParams.get("schema") ?? ""
      yield* Effect.gen(function*() {
        const sql = yield* PgClient.make({ url: Redacted.make(server) })
        yield* sql.unsafe(`CREATE ROLE ${schema}_user LOGIN`)
        yield* sql.unsafe(`CREATE SCHEMA ${schema}`)
        yield* sql.unsafe(`GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${schema}_user`)
      }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
      const own = (other: string) => other.replace("plaza@", `${schema}_user@`)
      yield* using(own(place), (ledger) => receive(ledger, row("A", 1)))
      yield* using(own(place), (ledger) => Effect.map(queueOf(ledger), (queue) => expect(queue).toHaveLength(1)), "layerReadOnly")
      expect((yield* refused(own(yield* fresh))).message).toContain("let it create a schema")
    }))

  it.effect("a ledger of another version is refused", () =>
    Effect.gen(function*() {
      const place = yield* fresh
      yield* using(place, () => Effect.void)
      yield* Effect.gen(function*() {
        const sql = yield* PgClient.make({ url: Redacted.make(server) })
        yield* sql`UPDATE ${sql(new URL(place).searchParams.get("schema") ?? "")}.ledger_migrations SET migration_id = 99`
      }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
      expect((yield* refused(place)).message).toContain("another version")
    }))
})
