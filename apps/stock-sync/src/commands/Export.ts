/** `export`: writes each product of the ledger as one JSON object a line. Works beside a running worker. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Ledger } from "../ledger/Ledger.ts"
import * as Format from "./Format.ts"

export const run = Effect.gen(function*() {
  const output = yield* Output
  const ledger = yield* Ledger
  let isEmpty = true
  yield* output.ndjson(Stream.map(ledger.all, (entry) => {
    isEmpty = false
    return Format.entryJson(entry)
  }))
  // With --json, standard error has one object and nothing else.
  if (isEmpty && !output.json) yield* output.note(`There are no products in the ledger ${ledger.path}.`)
})
