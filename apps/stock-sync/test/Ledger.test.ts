/** Ledgers in SQLite files: what holds for every ledger. */
import { everything, inFile } from "./support/ledger/everything.ts"
import { newFile } from "./support/ledger/newLedger.ts"

everything(newFile, inFile)
