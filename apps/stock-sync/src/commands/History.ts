/** `history`: prints past requests with time, reason and response. Works beside a running worker. */
import { Output } from "@plaza/cli-kit/Output"
import { quoted } from "@plaza/tabular/Quoted"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type HistoryEntry, Ledger } from "../ledger/Ledger.ts"
import * as Format from "./Format.ts"
import * as UnknownProduct from "./UnknownProduct.ts"

export interface Options {
  readonly product: Option.Option<string>
  readonly limit: number
}

const json = (entry: HistoryEntry) => ({
  ...entry,
  since: Format.isoTime(entry.since),
  sentAt: Format.isoTime(entry.sentAt),
  endedAt: Format.isoTime(entry.endedAt),
  code: entry.code ?? null,
  message: entry.message ?? null
})

export const run = Effect.fnUntraced(function*({ limit, product }: Options) {
  const output = yield* Output
  const ledger = yield* Ledger
  const entries = Stream.take(ledger.history(product), limit)
  // The history of a product that the ledger no longer has may still be there.
  if (Option.isSome(product) && Option.isNone(yield* Stream.runHead(entries))) yield* UnknownProduct.check([product.value])
  if (output.json) return yield* output.ndjson(Stream.map(entries, json))
  yield* output.list(
    entries,
    [
      { head: "sent at" },
      { head: "product" },
      { head: "stock", align: "right" },
      { head: "why" },
      { head: "outcome" },
      { head: "response", overflow: "wrap" }
    ],
    ({ code, message, outcome, productId, reason, sentAt, value }) => [
      Format.shortTime(sentAt),
      productId,
      value,
      reason,
      outcome,
      code === undefined ? "" : `${code}: ${message ?? ""}`
    ],
    { empty: `There are no requests${Option.match(product, { onNone: () => "", onSome: (id) => ` for ${quoted(id)}` })} in the history.` }
  )
})
