/** The ledgers of a fleet: what holds for every ledger, each in an account of one shared database. */
import { type Fleet, freshAccount, server } from "../support/ledger/fleet.js"
import { guard } from "../support/ledger/guard.js"
import { model } from "../support/ledger/model.js"
import { rules } from "../support/ledger/rules.js"
import { sends } from "../support/ledger/sends.js"
import { snapshots } from "../support/ledger/snapshots.js"
import { accounts } from "../support/ledger/users.js"
import { shared } from "../support/shared.js"

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
