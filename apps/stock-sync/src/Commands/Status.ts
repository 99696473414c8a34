/**
 * `status`: what stands, what waits, what is doubtful and what is quarantined, as the ledger remembers it. Asks nobody, and may be
 * used while a pass runs. Knows nothing of how the ledger is kept.
 *
 * @since 0.1.0
 */
import { Output } from "@plaza/terminal/Output"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { EntryState } from "../Entry.js"
import { Ledger } from "../Ledger.js"
import * as LedgerSqlite from "../Ledger/Sqlite.js"
import * as Show from "../Show.js"

// What needs a look comes first.
const order: ReadonlyArray<EntryState> = ["quarantined", "doubtful", "sending", "pending", "settled"]

/** @since 0.1.0 @category commands */
export const run = (options: { readonly ledger: string }) =>
  Effect.gen(function*() {
    const output = yield* Output
    const ledger = yield* Ledger
    const account = yield* ledger.account
    const counts = yield* ledger.counts
    const open = Chunk.toArray(yield* Stream.runCollect(ledger.open))
      .sort((one, other) => order.indexOf(one.state) - order.indexOf(other.state))
    const setAside = Chunk.toArray(yield* Stream.runCollect(ledger.setAside))
    if (output.json) {
      return yield* output.value({
        ledger: ledger.path,
        account: Option.getOrNull(account),
        counts,
        products: open.map(Show.entryJson),
        setAsideRows: setAside.map(({ productId, ...row }) => ({ ...row, productId: productId ?? null }))
      })
    }
    yield* output.one({}, [
      ["ledger", ledger.path],
      ["account", Option.match(account, { onNone: () => "none yet", onSome: ({ baseUrl, id }) => `${id} at ${baseUrl}` })],
      ["settled", counts.settled],
      ["pending", counts.pending],
      ["being sent", counts.sending],
      ["doubtful", counts.doubtful],
      ["quarantined", counts.quarantined],
      ["rows set aside", counts.setAside]
    ])
    yield* Show.titled(
      "Not settled",
      [
        { head: "product" },
        { head: "state" },
        { head: "wanted", align: "right" },
        { head: "confirmed", align: "right" },
        { head: "tries", align: "right" },
        { head: "last answer", overflow: "wrap" }
      ],
      open.map((entry) => [entry.productId, entry.state, entry.wanted, entry.confirmed ?? "?", entry.attempts, Show.told(entry.refusal)])
    )
    yield* Show.titled(
      "Rows of the last file that were set aside",
      [{ head: "line", align: "right" }, { head: "product" }, { head: "reason", overflow: "wrap" }],
      setAside.map((row) => [row.line, row.productId, row.reason])
    )
  }).pipe(Effect.provide(LedgerSqlite.layerReader(options.ledger)))
