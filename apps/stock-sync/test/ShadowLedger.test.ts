/** Today's ledger and the new one, fed with the same snapshots and outcomes, contain the same after every operation. */
import { describe } from "@effect/vitest"
import * as Postgres from "@plaza/testing/Postgres"
import { legacyFile, legacySchema } from "./support/ledger/legacyLedger.ts"
import { model } from "./support/ledger/model.ts"
import { newFile, newSchema } from "./support/ledger/newLedger.ts"
import { shadow } from "./support/ledger/shadow.ts"
import { shared } from "./support/shared.ts"

describe("both ledgers in files", () => {
  model(shadow(legacyFile, newFile), 60)
})

describe("both ledgers in a database", () => {
  let server = ""
  shared(Postgres.scoped, ({ url }) => {
    server = url
  })
  model(shadow(legacySchema(() => server), newSchema(() => server)), 8)
})
