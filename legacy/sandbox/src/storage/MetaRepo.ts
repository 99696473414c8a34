/**
 * The table `meta`: single values by name.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Sql } from "./Sql.ts"
import * as SqlSchema from "./SqlSchema.ts"

const Value = Schema.Struct({ value: Schema.String }).pipe(Schema.pluck("value"))

/** @since 0.1.0 @category constructors */
export const make = Effect.map(Sql, (sql) => ({
  find: SqlSchema.findOne({
    Result: Value,
    execute: (key: string) => sql.first`SELECT value FROM meta WHERE key = ${key}`
  }),
  set: (key: string, value: string) =>
    Effect.asVoid(sql`INSERT INTO meta (key, value) VALUES (${key}, ${value})
      ON CONFLICT (key) DO UPDATE SET value = excluded.value`)
}))

/** @since 0.1.0 @category services */
export class MetaRepo extends Context.Tag("@plaza-legacy/sandbox/MetaRepo")<MetaRepo, Effect.Effect.Success<typeof make>>() {}
