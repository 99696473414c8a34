/** The ledger of this package as a kind. A single store is account 1. */
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { single } from "../../../src/ledger/AccountLedger.ts"
import * as Open from "../../../src/ledger/Open.ts"
import { inFlight } from "../../../src/ledger/Requests.ts"
import type { Kind, WhiteBox } from "./kind.ts"
import { freshFile, freshSchema, inDatabase } from "./places.ts"

/** The tests' access to the rows of an account, in the database of the ledger at a place. */
export const whiteBoxOf = (
  inAccount: <A, E>(place: string, use: (sql: SqlClient.SqlClient, account: number) => Effect.Effect<A, E>) => Effect.Effect<A>
): WhiteBox => ({
  forgetAccount: (place) =>
    Effect.asVoid(
      inAccount(place,
        (sql, account) => sql`UPDATE account SET base_url = NULL, profile_id = NULL, key_fingerprint = NULL WHERE account = ${account}`)
    ),
  takeOver: (place) =>
    Effect.asVoid(
      inAccount(place, (sql, account) => sql`UPDATE account SET epoch = epoch + 1, owner = 'another' WHERE account = ${account}`)
    ),
  prioritiesOf: (place, products) =>
    inAccount(place, (sql, account) =>
      Effect.gen(function*() {
        for (const { confirmed = null, doubt, dueAt = null, id, listing, state, wanted } of products) {
          yield* sql`INSERT INTO product (account, id, wanted, confirmed, doubt_low, doubt_high, doubt_until, attempts, state, listing, queued_at, due_at, line, updated_at)
            VALUES (${account}, ${id}, ${wanted}, ${confirmed}, ${doubt?.lowest ?? null}, ${doubt?.highest ?? null}, ${
            doubt === undefined ? null : 5
          },
              0, ${state}, ${listing}, 0, ${dueAt}, 2, 0)`
        }
        const rows = yield* sql<
          { id: string; priority: bigint | number | null }
        >`SELECT id, priority FROM product WHERE account = ${account}`
        return new Map(rows.map((row) => [row.id, row.priority === null ? null : Number(row.priority)]))
      })),
  storedRequests: (place) =>
    Effect.map(
      inAccount(place, (sql, account) => sql<{ n: bigint | number }>`SELECT count(*) AS n FROM request WHERE account = ${account}`),
      ([row]) => Number(row?.n)
    ),
  killDuringLastRequest: (place) =>
    Effect.asVoid(
      inAccount(place, (sql, account) =>
        sql`UPDATE request SET ended_at = ${inFlight + 1}
          WHERE account = ${account} AND ended_at = (SELECT max(ended_at) FROM request WHERE account = ${account})`)
    )
})

const whiteBox = whiteBoxOf((place, use) => inDatabase(place, (sql) => use(sql, single)))

const openers = { owner: Open.layer, beside: Open.layerBeside, readOnly: Open.layerReadOnly, copy: Open.layerCopy }

const layer: Kind["layer"] = (place, access, options) => Layer.provide(openers[access](place, options), NodeServices.layer)

export const newFile: Kind = { fresh: freshFile, layer, whiteBox }

export const newSchema = (server: () => string): Kind => ({ fresh: freshSchema(server), layer, whiteBox })
