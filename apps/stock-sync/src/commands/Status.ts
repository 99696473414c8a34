/** `status`: prints the state of the products in the ledger. Sends nothing, and works beside a running worker. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { EntryState } from "../ledger/Entry.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { LedgerCommands } from "../ledger/LedgerCommands.ts"
import * as Format from "./Format.ts"

// States that need attention come first.
const order: ReadonlyArray<EntryState> = ["uncertain", "quarantined", "doubtful", "sending", "pending", "settled"]

/** Reads what the status of a ledger shows. */
export const report = Effect.gen(function*() {
  const output = yield* Output
  const ledger = yield* Ledger
  const { held, reverted, rows, takenAt, unit } = yield* ledger.snapshot
  const unsettled = yield* Format.collect(ledger.unsettled, output.json)
  return {
    path: ledger.path,
    account: yield* ledger.account,
    counts: yield* ledger.counts,
    backlog: yield* ledger.backlog,
    snapshot: { rows, takenAt, unit, reverted },
    held: Option.getOrUndefined(held),
    changes: Option.isNone(held) ? [] : yield* Format.collect(ledger.heldChanges, output.json),
    unsettled: unsettled.toSorted((one, other) => order.indexOf(one.state) - order.indexOf(other.state)),
    issues: yield* Format.collect(ledger.rowIssues, output.json)
  }
})

type Report = Effect.Success<typeof report>

export const json = ({ account, backlog, changes, counts, held, issues, snapshot: { reverted, rows, takenAt }, unsettled }: Report) => ({
  account: Option.getOrNull(Option.map(account, ({ baseUrl, id }) => ({ baseUrl, id: id ?? null }))),
  counts,
  snapshot: { takenAt: Format.isoTime(takenAt), rows: rows ?? null },
  reverted: reverted === undefined ? null : { to: reverted.to, at: Format.isoTime(reverted.at) },
  held: held === undefined ? null : Format.heldJson(held, changes),
  waiting: backlog.waiting,
  oldestWaiting: Option.getOrNull(Option.map(backlog.oldest, ({ productId, since }) => ({ productId, since: Format.isoTime(since) }))),
  oldestConfirmation: Format.isoTime(Option.getOrUndefined(backlog.oldestConfirmation)),
  products: unsettled.map(Format.entryJson),
  rowIssues: issues.map(Format.issueJson)
})

export const summary = ({ account, backlog, counts, held, snapshot: { reverted, rows, takenAt } }: Report) => [
  [
    "account",
    Option.match(account, { onNone: () => "none yet", onSome: ({ baseUrl, id }) => id === undefined ? baseUrl : `${id} at ${baseUrl}` })
  ] as const,
  ["settled", counts.settled] as const,
  ["pending", counts.pending] as const,
  ["sending", counts.sending] as const,
  ["doubtful", counts.doubtful] as const,
  ["uncertain", counts.uncertain] as const,
  ["quarantined", counts.quarantined] as const,
  ["missing in the source", counts.missing] as const,
  ["rows rejected", counts.rejectedRows] as const,
  ["negative, accepted as 0", counts.negativeRows] as const,
  ...(counts.ruleIssues > 0 ? [["rules without a row", counts.ruleIssues] as const] : []),
  ["last snapshot", takenAt === undefined ? "none yet" : `${Format.shortTime(takenAt)}, ${Format.count(rows ?? 0, "row")}`] as const,
  ...(reverted === undefined ? [] : [["reverted", `to snapshot ${reverted.to}, ${Format.shortTime(reverted.at)}`] as const]),
  ...(held === undefined ? [] : [["held", Format.heldText(held)] as const]),
  ...Option.match(backlog.oldest, {
    onNone: () => [],
    onSome: ({ productId, since }) => [["waits longest", `${productId}, since ${Format.shortTime(since)}`] as const]
  })
]

/** Writes the lists of a report as tables. */
export const tables = (found: Report) =>
  Effect.gen(function*() {
    const output = yield* Output
    const { changes, held, issues, snapshot, unsettled } = found
    if (held !== undefined) {
      yield* Format.heldTable(changes)
      const { confirm } = yield* LedgerCommands
      if (!held.confirmed) yield* output.note(`if these changes are right, run \`${confirm(held.number)}\`; otherwise correct the source`)
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
      unsettled.map((entry) => [
        entry.productId,
        entry.state,
        entry.wanted,
        entry.confirmed ?? "?",
        entry.attempts,
        entry.dueAt === undefined ? entry.state === "uncertain" ? "-" : "now" : Format.shortTime(entry.dueAt),
        Format.refusalText(entry.refusal)
      ])
    )
    yield* Format.issueTable(issues, snapshot.unit)
  })

export const run = Effect.gen(function*() {
  const output = yield* Output
  const found = yield* report
  if (output.json) return yield* output.value({ ledger: found.path, ...json(found) })
  yield* output.one({}, [["ledger", found.path], ...summary(found)])
  yield* tables(found)
})
