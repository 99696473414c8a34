/** The ledgers of a fleet: what holds for every ledger, each in an account of one shared database. */
import { afterAll, beforeAll } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { type Fleet, freshAccount, server } from "../support/ledger/fleet.js"
import { guard } from "../support/ledger/guard.js"
import { model } from "../support/ledger/model.js"
import { sends } from "../support/ledger/sends.js"
import { snapshots } from "../support/ledger/snapshots.js"
import { accounts } from "../support/ledger/users.js"

const scope = Effect.runSync(Scope.make())
let fleet: Fleet
beforeAll(async () => {
  fleet = await Effect.runPromise(Scope.extend(server, scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const fresh = freshAccount(() => fleet)

snapshots(fresh, 5)
sends(fresh, 5)
guard(fresh)
accounts(fresh)
model(fresh, 15)
