/** `export`: writes each product of the ledger as one JSON object a line. Works beside a running worker. */
import { Output } from "@plaza-legacy/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Ledger } from "../ledger/Ledger.ts"
import * as Format from "./Format.ts"

export const run = Effect.gen(function*() {
  const output = yield* Output
  const ledger = yield* Ledger
  yield* output.ndjson(Stream.map(ledger.all, Format.entryJson))
})
