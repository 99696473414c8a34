/** The options that may stand anywhere on the command line. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import { config } from "./config/Configuration.ts"
import { ledger } from "./config/LedgerSettings.ts"

const Json = GlobalFlag.Setting("json")({
  flag: Flag.withAlias(
    Flags.boolean("json", "Print the result as JSON, and a failure as one JSON object on standard error."),
    "j"
  )
})

const Quiet = GlobalFlag.Setting("quiet")({
  flag: Flag.withAlias(Flags.boolean("quiet", "Print no progress and no notes."), "q")
})

/** The path or the address of the ledger. */
export const Ledger = GlobalFlag.Setting("ledger")({ flag: ledger })

/** The config file. */
export const ConfigFile = GlobalFlag.Setting("config")({ flag: config })

/** Of every command. */
export const all = [Json, Quiet] as const

/** Of the commands of one store. */
export const ofStore = [Ledger, ConfigFile] as const

/** How to print. */
export const output = Effect.all({ json: Json, quiet: Quiet })
