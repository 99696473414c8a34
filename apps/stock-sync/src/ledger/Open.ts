/** Opens the ledger of `--ledger`: the path of an SQLite file, or the address of a Postgres. Loads only the database that is meant. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { LedgerOptions } from "./Ledger.js"

const isPostgres = (ledger: string) => /^postgres(?:ql)?:\/\//i.test(ledger)

const sqlite = Effect.promise(() => import("./Sqlite.js"))
const postgres = Effect.promise(() => import("./Postgres.js"))

const opened = (how: "layer" | "layerBeside" | "layerReader" | "layerCopy") => (ledger: string, options: LedgerOptions) =>
  isPostgres(ledger)
    ? Layer.unwrapEffect(Effect.map(postgres, (module) => module[how](ledger, options)))
    : Layer.unwrapEffect(Effect.map(sqlite, (module) => module[how](ledger, options)))

/** For the worker, which holds its lock. */
export const layer = opened("layer")

/** For writing beside a running worker. */
export const layerBeside = opened("layerBeside")

/** For reading beside a running worker. */
export const layerReader = opened("layerReader")

/** For a preview on a copy. */
export const layerCopy = opened("layerCopy")
