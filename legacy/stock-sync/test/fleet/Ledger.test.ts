/** The ledgers of a fleet: what holds for every ledger, each in an account of one shared database. */
import { type Fleet, freshAccount, server } from "../support/ledger/fleet.ts"
import { guard } from "../support/ledger/guard.ts"
import { model } from "../support/ledger/model.ts"
import { rules } from "../support/ledger/rules.ts"
import { sends } from "../support/ledger/sends.ts"
import { snapshots } from "../support/ledger/snapshots.ts"
import { accounts } from "../support/ledger/users.ts"
import { shared } from "../support/shared.ts"

let fleet: Fleet
shared(server, (built) => {
  fleet = built
})

const fresh = freshAccount(() => fleet)

snapshots(fresh, 5)
rules(fresh, 25)
sends(fresh, 5)
guard(fresh)
accounts(fresh)
model(fresh, 15)
