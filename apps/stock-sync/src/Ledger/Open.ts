/**
 * From the text of `--ledger` to a ledger: the path of an SQLite file, or the address of a Postgres. Loads the database that is meant
 * and no other. Knows nothing of what is done with it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const isPostgres = (ledger: string) => /^postgres(?:ql)?:\/\//i.test(ledger)

const sqlite = Effect.promise(() => import("./Sqlite.js"))
const postgres = Effect.promise(() => import("./Postgres.js"))

const opened = (how: "layer" | "layerBeside" | "layerReader" | "layerCopy") => (ledger: string) =>
  isPostgres(ledger)
    ? Layer.unwrapEffect(Effect.map(postgres, (module) => module[how](ledger)))
    : Layer.unwrapEffect(Effect.map(sqlite, (module) => module[how](ledger)))

/**
 * To work with, alone.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = opened("layer")

/**
 * For a word to a process that works with it, or to the next one.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerBeside = opened("layerBeside")

/**
 * To look at.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerReader = opened("layerReader")

/**
 * To try something out on a copy.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerCopy = opened("layerCopy")
