/** The tests of ledgers hold for today's ledger, which proves that they are right. */
import { describe } from "@effect/vitest"
import * as Postgres from "@plaza/testing/Postgres"
import { everything, inFile, inPostgres } from "./support/ledger/everything.ts"
import { guard } from "./support/ledger/guard.ts"
import { legacyFile, legacySchema, legacyStagingFile } from "./support/ledger/legacyLedger.ts"
import { model } from "./support/ledger/model.ts"
import { rules } from "./support/ledger/rules.ts"
import { snapshots } from "./support/ledger/snapshots.ts"
import { shared } from "./support/shared.ts"

describe("today's ledger in a file", () => {
  everything(legacyFile, inFile)
})

describe("today's ledger in a file, if it stages every snapshot", () => {
  snapshots(legacyStagingFile, 20)
  rules(legacyStagingFile, 60)
  guard(legacyStagingFile)
  model(legacyStagingFile, 40)
})

describe("today's ledger in a database", () => {
  let server = ""
  shared(Postgres.scoped, ({ url }) => {
    server = url
  })
  everything(legacySchema(() => server), inPostgres)
})
