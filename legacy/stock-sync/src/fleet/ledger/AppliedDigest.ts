/**
 * Recognises a snapshot whose rows are those of the last applied one: after a takeover, and with a source that has no versions. Such a
 * snapshot changes nothing, so it is not compared.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import type { Row } from "@plaza-legacy/tabular/Stock"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as LedgerRows from "../../ledger/LedgerRows.ts"
import type { SnapshotInput, SnapshotPolicy, SnapshotResult } from "../../ledger/Snapshot.ts"
import { unadjusted } from "../../source/ProductRules.ts"

const Figures = Schema.Struct({
  soldOut: Schema.Int,
  fell: Schema.Int,
  rose: Schema.Int,
  missing: Schema.Int,
  catalogue: Schema.Int,
  zeroed: Schema.Int
})
const Result = Schema.parseJson(Schema.Struct({
  rows: Schema.Int,
  changed: Schema.Int,
  rejected: Schema.Int,
  negative: Schema.Int,
  figures: Figures,
  missingKept: Schema.Boolean
}))
const encodeResult = Schema.encodeSync(Result)
const resultRow = LedgerRows.first(Schema.Struct({ result: Result }))

/** The digest of all that decides what a snapshot changes. */
export const digestOf = (
  { adjustments = unadjusted, excluded, unit }: Pick<SnapshotInput<never, never>, "adjustments" | "excluded" | "unit">,
  rows: ReadonlyArray<Row>,
  policy: SnapshotPolicy
): string =>
  createHash("sha256").update(JSON.stringify([unit, [...excluded].sort(), adjustments.all, [...adjustments.products], policy, rows]))
    .digest("base64")

/** What the last applied snapshot changed, if it has this digest and no later one is held. It then counts as applied now. */
export const find = (sql: SqlClient, digest: string): Effect.Effect<Option.Option<SnapshotResult>, SqlError | ParseError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.map(
      resultRow(sql`UPDATE snapshot SET taken_at = ${now} WHERE digest = ${digest} AND held_since IS NULL RETURNING result`),
      (found) => Option.map(found, ({ result }) => ({ ...result, changed: 0, repeated: true }))
    ))

/** Records the digest of a snapshot that is being applied; null if it has none. */
export const record = (sql: SqlClient, digest: string | null) => (result: SnapshotResult): Fragment =>
  sql`, digest = ${digest}, result = ${encodeResult(result)}`
