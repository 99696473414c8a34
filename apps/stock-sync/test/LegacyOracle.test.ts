/** The tests of ledgers hold for the earlier ledger, which proves that they are right. */
import { everything } from "./support/ledger/everything.ts"
import { legacyFile } from "./support/ledger/legacyLedger.ts"

everything(legacyFile, { each: 5, rules: 20, model: 40 })
