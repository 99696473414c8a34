/** Ledgers in SQLite files: what holds for every ledger. */
import { everything, inFile } from "./support/ledger/everything.ts"
import { newFile } from "./support/ledger/newLedger.ts"
import { turns } from "./support/ledger/turns.ts"

everything(newFile, inFile)
turns(newFile)
