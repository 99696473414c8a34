/** The earlier ledger and this one, fed with the same snapshots and outcomes, contain the same after every operation. */
import { describe } from "@effect/vitest"
import { legacyFile } from "./support/ledger/legacyLedger.ts"
import { model } from "./support/ledger/model.ts"
import { newFile } from "./support/ledger/newLedger.ts"
import { shadow } from "./support/ledger/shadow.ts"

describe("both ledgers", () => {
  model(shadow(legacyFile, newFile), 40)
})
