/** `export`: the ledger's products, each as one JSON object a line. Works beside a running worker. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { forReading } from "../config/LedgerSettings.js"
import { Ledger } from "../ledger/Ledger.js"
import * as OpenLedger from "../ledger/Open.js"
import * as Format from "./Format.js"

export const run = (options: { readonly ledger: string }) =>
  Effect.gen(function*() {
    const output = yield* Output
    const ledger = yield* Ledger
    yield* output.ndjson(Stream.map(ledger.all, Format.entryJson))
  }).pipe(Effect.provide(OpenLedger.layerReader(options.ledger, forReading)))
