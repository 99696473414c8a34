/** Accounts of some shards, or with some ids, and the condition that selects them in a statement. */
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

export type AccountSelection =
  | { readonly _tag: "Shards"; readonly shards: Iterable<number> }
  | { readonly _tag: "Ids"; readonly ids: Iterable<string> }

/** One parameter for any number of shards or ids keeps the statement the same. */
export const condition = (sql: SqlClient) => (selection: AccountSelection): Fragment =>
  selection._tag === "Shards"
    ? sql`shard IN (SELECT value::int FROM json_array_elements_text(${JSON.stringify([...selection.shards])}::json) AS one (value))`
    : sql`id IN (SELECT value FROM json_array_elements_text(${JSON.stringify([...selection.ids])}::json) AS one (value))`
