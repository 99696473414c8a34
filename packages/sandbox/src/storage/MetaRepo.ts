/** The table `meta`: single values by name. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Db } from "./Db.ts"

const Value = Schema.Struct({ value: Schema.String })

export class MetaRepo extends Context.Service<MetaRepo>()("@plaza/sandbox/MetaRepo", {
  make: Effect.map(Db, (db) => ({
    isEmpty: () => !db.exists`SELECT 1 FROM meta`,
    find: (key: string) => db.first(Value)`SELECT value FROM meta WHERE key = ${key}`?.value,
    set: (key: string, value: string) =>
      db.run`INSERT INTO meta (key, value) VALUES (${key}, ${value}) ON CONFLICT (key) DO UPDATE SET value = excluded.value`
  }))
}) {
  static readonly layer = Layer.effect(MetaRepo, MetaRepo.make)
}
