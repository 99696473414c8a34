/** The ledger of this package as a kind. A single store is account 1. */
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import * as Open from "../../../src/ledger/Open.ts"
import { inFlight } from "../../../src/ledger/Requests.ts"
import type { Kind, WhiteBox } from "./kind.ts"
import { freshFile, freshSchema, inDatabase } from "./places.ts"

const whiteBox: WhiteBox = {
  forgetAccount: (place) =>
    Effect.asVoid(inDatabase(place, (sql) => sql`UPDATE account SET base_url = NULL, profile_id = NULL, key_fingerprint = NULL`)),
  takeOver: (place) => Effect.asVoid(inDatabase(place, (sql) => sql`UPDATE account SET epoch = epoch + 1, owner = 'another'`)),
  prioritiesOf: (place, products) =>
    inDatabase(place, (sql) =>
      Effect.gen(function*() {
        for (const { confirmed = null, doubt, dueAt = null, id, listing, state, wanted } of products) {
          yield* sql`INSERT INTO product (account, id, wanted, confirmed, doubt_low, doubt_high, doubt_until, attempts, state, listing, queued_at, due_at, line, updated_at)
            VALUES (1, ${id}, ${wanted}, ${confirmed}, ${doubt?.lowest ?? null}, ${doubt?.highest ?? null}, ${
            doubt === undefined ? null : 5
          },
              0, ${state}, ${listing}, 0, ${dueAt}, 2, 0)`
        }
        const rows = yield* sql<{ id: string; priority: bigint | number | null }>`SELECT id, priority FROM product`
        return new Map(rows.map((row) => [row.id, row.priority === null ? null : Number(row.priority)]))
      })),
  storedRequests: (place) =>
    Effect.map(
      inDatabase(place, (sql) => sql<{ n: bigint | number }>`SELECT count(*) AS n FROM request`),
      ([row]) => Number(row?.n)
    ),
  killDuringLastRequest: (place) =>
    Effect.asVoid(
      inDatabase(place, (sql) => sql`UPDATE request SET ended_at = ${inFlight + 1} WHERE ended_at = (SELECT max(ended_at) FROM request)`)
    )
}

const openers = { owner: Open.layer, beside: Open.layerBeside, readOnly: Open.layerReadOnly, copy: Open.layerCopy }

const layer: Kind["layer"] = (place, access, options) => Layer.provide(openers[access](place, options), NodeServices.layer)

export const newFile: Kind = { fresh: freshFile, layer, whiteBox }

export const newSchema = (server: () => string): Kind => ({ fresh: freshSchema(server), layer, whiteBox })
