/** The options of a runner of a fleet, for the help. The fleet's own program reads them. */
import * as ObservabilitySettings from "./ObservabilitySettings.ts"
import * as Setting from "./Setting.ts"
import * as SyncSettings from "./SyncSettings.ts"

const { webhook: _, ...observability } = ObservabilitySettings.options

/** The options of `fleet run`. */
export const options = {
  ...observability,
  concurrentReads: Setting.withDefault("concurrent-reads", Setting.integer(1, 1_000), "64",
    "Sources that are read at the same time. A snapshot takes memory while it is read"),
  stopWithin: SyncSettings.sendOptions.stopWithin
}

/** The variables of the fleet's database and secret. They have no options, because every user of the machine can read options. */
export const variables = ["DATABASE", "DATABASE_FILE", "SECRET", "SECRET_FILE"].map((name) => `STOCK_SYNC_FLEET_${name}`)
