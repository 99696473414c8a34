/**
 * The memory in a Postgres: the laws of every ledger, and what is said of a database that can't be used or is lost.
 */
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { randomUUID } from "node:crypto"
import * as Postgres from "@plaza/testing/Postgres"
import { brake } from "./support/ledger/brake.js"
import { sends } from "./support/ledger/sends.js"
import { snapshots } from "./support/ledger/snapshots.js"
import { using } from "./support/ledger/using.js"
import { users } from "./support/ledger/users.js"

const scope = Effect.runSync(Scope.make())
let server = ""
beforeAll(async () => {
  server = (await Effect.runPromise(Scope.extend(Postgres.scoped, scope))).url
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const fresh = Effect.sync(() => `${server}?schema=l_${randomUUID().replaceAll("-", "_")}`)

snapshots(fresh, 5)
sends(fresh)
brake(fresh)
users(fresh)

describe("databases it can't use", () => {
  const refused = (place: string) => Effect.flip(using(place, () => Effect.void))

  it.effect("are named without the password, with what to do", () =>
    Effect.gen(function*() {
      const nobody = server.replace("plaza@", "nobody:hunter2@")
      for (const [place, says] of [
        ["postgres://host:port/database", "can't be read"],
        [`${server}?schema=Shop%20One`, "can't have this schema"],
        [nobody, "refuses the user or the password"],
        [server.replace(/\/postgres$/, "/none"), "make the database"],
        ["postgres://plaza:hunter2@127.0.0.1:1/x", "can't be reached"]
      ] as const) {
        const error = yield* refused(place)
        expect(error).toMatchObject({ _tag: "LedgerFault", exitCode: 2 })
        expect(error.message).toContain(says)
        expect(error.message).not.toContain("hunter2")
      }
    }))
})
