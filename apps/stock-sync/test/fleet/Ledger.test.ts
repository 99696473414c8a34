/** The ledgers of a fleet: what holds for every ledger, each in an account of one shared database. */
import { inFleet, inPostgres } from "../support/ledger/everything.ts"
import { account, type Fleet, server } from "../support/ledger/fleet.ts"
import { shared } from "../support/shared.ts"

let fleet: Fleet
shared(server, (built) => {
  fleet = built
})

inFleet(account(() => fleet), { ...inPostgres, model: 15 })
