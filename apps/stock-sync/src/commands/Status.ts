/** `status`: what the ledger knows. Sends nothing, and works beside a running worker. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { forReading } from "../config/LedgerSettings.js"
import type { EntryState } from "../ledger/Entry.js"
import { Ledger } from "../ledger/Ledger.js"
import * as OpenLedger from "../ledger/Open.js"
import * as Format from "./Format.js"

// What needs a look comes first.
const order: ReadonlyArray<EntryState> = ["quarantined", "doubtful", "sending", "pending", "settled"]

export const run = (options: { readonly ledger: string }) =>
  Effect.gen(function*() {
    const output = yield* Output
    const ledger = yield* Ledger
    const account = yield* ledger.account
    const counts = yield* ledger.counts
    const { rows, takenAt, unit } = yield* ledger.snapshot
    const held = yield* Format.held(ledger, output.json)
    const backlog = yield* ledger.backlog
    const open = (yield* Format.collect(ledger.unsettled, output.json)).toSorted((one, other) =>
      order.indexOf(one.state) - order.indexOf(other.state)
    )
    const issues = yield* Format.collect(ledger.rowIssues, output.json)
    if (output.json) {
      return yield* output.value({
        ledger: ledger.path,
        account: Option.getOrNull(Option.map(account, ({ baseUrl, id }) => ({ baseUrl, id: id ?? null }))),
        counts,
        snapshot: { takenAt: Format.moment(takenAt), rows: rows ?? null },
        held: held === undefined ? null : Format.heldJson(held.held, held.changes),
        waiting: backlog.waiting,
        oldestWaiting: Option.getOrNull(Option.map(backlog.oldest, ({ productId, since }) => ({ productId, since: Format.moment(since) }))),
        oldestConfirmation: Format.moment(Option.getOrUndefined(backlog.oldestConfirmation)),
        products: open.map(Format.entryJson),
        rowIssues: issues.map(Format.issueJson)
      })
    }
    yield* output.one({}, [
      ["ledger", ledger.path],
      [
        "account",
        Option.match(account, { onNone: () => "none yet", onSome: ({ baseUrl, id }) => id === undefined ? baseUrl : `${id} at ${baseUrl}` })
      ],
      ["settled", counts.settled],
      ["pending", counts.pending],
      ["being sent", counts.sending],
      ["doubtful", counts.doubtful],
      ["quarantined", counts.quarantined],
      ["not named by the source", counts.missing],
      ["rows rejected", counts.rejectedRows],
      ["negative, taken as 0", counts.negativeRows],
      ["last snapshot taken", takenAt === undefined ? "never" : `${Format.moment(takenAt)}, ${Format.count(rows ?? 0, "row")}`],
      ...(held === undefined ? [] : [["held", Format.heldText(held.held)] as const]),
      ...Option.match(backlog.oldest, {
        onNone: () => [],
        onSome: ({ productId, since }) => [["waits longest", `${productId}, since ${Format.moment(since)}`] as const]
      })
    ])
    if (held !== undefined) {
      yield* Format.heldTable(held.changes)
      if (!held.held.confirmed)
        yield* output.note(
          `if these changes are right, run \`plaza-stock-sync confirm ${held.held.number}\`; otherwise correct the source`
        )
    }
    yield* Format.titled(
      "Not settled",
      [
        { head: "product" },
        { head: "state" },
        { head: "wanted", align: "right" },
        { head: "confirmed", align: "right" },
        { head: "attempts", align: "right" },
        { head: "due" },
        { head: "last response", overflow: "wrap" }
      ],
      open.map((entry) => [
        entry.productId,
        entry.state,
        entry.wanted,
        entry.confirmed ?? "?",
        entry.attempts,
        entry.dueAt === undefined ? "now" : Format.brief(entry.dueAt),
        Format.refusalText(entry.refusal)
      ])
    )
    yield* Format.issueTable(issues, unit)
  }).pipe(Effect.provide(OpenLedger.layerReader(options.ledger, forReading)))
