/** Layers of the ledger for `--ledger`: the path of an SQLite file, or the address of a Postgres. Loads only the driver that is used. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { LedgerOptions } from "./Ledger.ts"

export const isPostgres = (ledger: string) => /^postgres(?:ql)?:\/\//i.test(ledger)

type Access = "layer" | "layerBeside" | "layerCopy" | "layerReadOnly"

const open = (access: Access) => (ledger: string, options: LedgerOptions) =>
  isPostgres(ledger)
    ? Layer.unwrap(Effect.map(Effect.promise(() => import("./database/Postgres.ts")), (module) => module[access](ledger, options)))
    : Layer.unwrap(Effect.map(Effect.promise(() => import("./database/File.ts")), (module) => module[access](ledger, options)))

/** For the worker. Holds the ledger's lock. */
export const layer = open("layer")

/** For writing beside a running worker. */
export const layerBeside = open("layerBeside")

/** For reading beside a running worker. */
export const layerReadOnly = open("layerReadOnly")

/** For a preview. Leaves the ledger unchanged. */
export const layerCopy = open("layerCopy")
