/**
 * `status`: what stands, what waits, what is held, doubtful and quarantined, as the ledger remembers it. Asks nobody, and may be
 * used while a pass runs. Knows nothing of how the ledger is kept.
 *
 * @since 0.1.0
 */
import { type Entries, Output } from "@plaza/terminal/Output"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { EntryState } from "../Entry.js"
import { Ledger } from "../Ledger.js"
import * as OpenLedger from "../Ledger/Open.js"
import * as Show from "../Show.js"

// What needs a look comes first.
const order: ReadonlyArray<EntryState> = ["quarantined", "doubtful", "sending", "pending", "settled"]

const moment = (millis: number | undefined) => millis === undefined ? null : new Date(millis).toISOString()

/** @since 0.1.0 @category commands */
export const run = (options: { readonly ledger: string }) =>
  Effect.gen(function*() {
    const output = yield* Output
    const ledger = yield* Ledger
    const account = yield* ledger.account
    const counts = yield* ledger.counts
    const takenAt = yield* ledger.takenAt
    const held = yield* ledger.held
    const backlog = yield* ledger.backlog
    const open = Chunk.toArray(yield* Stream.runCollect(ledger.open))
      .sort((one, other) => order.indexOf(one.state) - order.indexOf(other.state))
    const setAside = Chunk.toArray(yield* Stream.runCollect(ledger.setAside))
    if (output.json) {
      return yield* output.value({
        ledger: ledger.path,
        account: Option.getOrNull(account),
        counts,
        takenAt: moment(Option.getOrUndefined(takenAt)),
        held: Option.getOrNull(Option.map(held, ({ at, since, ...damage }) => ({ ...damage, since: moment(since), at: moment(at) }))),
        waiting: backlog.waiting,
        oldestWaiting: Option.getOrNull(Option.map(backlog.oldest, ({ productId, since }) => ({ productId, since: moment(since) }))),
        oldestConfirmation: moment(Option.getOrUndefined(backlog.oldestConfirmation)),
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
      ["rows set aside", counts.setAside],
      ["last source taken", Option.match(takenAt, { onNone: () => "never", onSome: moment })],
      ...Option.match(held, {
        onNone: () => [],
        onSome: (each): Entries => [["held", `since ${moment(each.since)}: the source would take ${Show.damageOf(each)}`]]
      }),
      ...Option.match(backlog.oldest, {
        onNone: () => [],
        onSome: ({ productId, since }): Entries => [["waits longest", `${productId}, since ${moment(since)}`]]
      })
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
  }).pipe(Effect.provide(OpenLedger.layerReader(options.ledger)))
