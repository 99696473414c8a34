/** `plan`: prints what would be sent, in which order, and what would be held. Works on a copy of the ledger and sends nothing. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Ledger } from "../ledger/Ledger.ts"
import { LedgerCommands } from "../ledger/LedgerCommands.ts"
import type { SnapshotPolicy } from "../ledger/Snapshot.ts"
import * as Judge from "../ledger/snapshot/Judge.ts"
import { Source } from "../source/Source.ts"
import * as Reason from "../sync/Reason.ts"
import * as Format from "./Format.ts"

export { layer as layerSource } from "./WaitingSource.ts"

const preview = (policy: SnapshotPolicy) =>
  Effect.gen(function*() {
    const output = yield* Output
    const ledger = yield* Ledger
    const source = yield* Source
    const before = yield* ledger.snapshot
    // Without a version to compare with, the source always returns a snapshot.
    const snapshot = Option.getOrThrow(yield* source.open(Option.none()))
    const { held, missingKept } = yield* ledger.previewSnapshot({ ...snapshot, source: source.name }, policy)
    const queue = yield* Format.collect(ledger.queue, output.json)
    const { waiting } = yield* ledger.backlog
    return {
      counts: yield* ledger.counts,
      due: Object.values(waiting).reduce((sum, each) => sum + each, 0),
      steps: queue.map((entry) => ({
        productId: entry.productId,
        from: entry.confirmed,
        to: entry.wanted,
        reason: Reason.of(entry, entry.priority)
      })),
      missingKept,
      held: Option.getOrUndefined(held),
      /** The number of the snapshot that is held already; a snapshot that would be held has no number yet. */
      heldNumber: Option.getOrUndefined(
        Option.map(Option.filter(held, ({ number }) => Option.exists(before.held, (one) => one.number === number)), ({ number }) => number)
      ),
      changes: Option.isNone(held) ? [] : yield* Format.collect(ledger.heldChanges, output.json),
      issues: yield* Format.collect(ledger.rowIssues, output.json),
      unit: (yield* ledger.snapshot).unit
    }
  })

type Preview = Effect.Success<ReturnType<typeof preview>>

const json = ({ changes, counts, due, held, heldNumber, issues, missingKept, steps }: Preview) => ({
  send: due,
  unchanged: counts.settled,
  rejectedRows: counts.rejectedRows,
  negativeRows: counts.negativeRows,
  ruleIssues: counts.ruleIssues,
  quarantined: counts.quarantined,
  uncertain: counts.uncertain,
  missing: counts.missing,
  missingKept,
  held: held === undefined ? null : { ...Format.heldJson(held, changes), snapshot: heldNumber ?? null },
  steps: steps.map((step) => ({ ...step, from: step.from ?? null })),
  rowIssues: issues.map(Format.issueJson)
})

const summary = ({ counts, due, held, heldNumber }: Preview) => [
  ["to send", due] as const,
  ["unchanged", counts.settled] as const,
  ["rows rejected", counts.rejectedRows] as const,
  ...(counts.negativeRows > 0 ? [["negative, accepted as 0", counts.negativeRows] as const] : []),
  ...(counts.ruleIssues > 0 ? [["rules without a row", counts.ruleIssues] as const] : []),
  ...(counts.quarantined > 0 ? [["quarantined", counts.quarantined] as const] : []),
  ...(counts.uncertain > 0 ? [["uncertain", counts.uncertain] as const] : []),
  ...(held === undefined ? [] : [
    heldNumber === undefined
      ? ["would be held", Judge.describe(held.figures)] as const
      : ["held", Format.heldText(held)] as const
  ]),
  ...(counts.missing > 0 ? [["missing in the source", counts.missing] as const] : [])
]

export const run = (policy: SnapshotPolicy) =>
  Effect.gen(function*() {
    const output = yield* Output
    const found = yield* preview(policy)
    if (output.json) return yield* output.value(json(found))
    const { changes, held, heldNumber, issues, missingKept, steps, unit } = found
    yield* output.one({}, summary(found))
    if (missingKept) yield* output.note(Format.missingKept)
    if (held !== undefined) {
      yield* output.note(
        heldNumber === undefined
          ? "nothing of this source would be sent while it is held; `once` or `run` then shows the number to confirm"
          : `nothing of this source is sent while it is held. If these changes are right, run \`${
            (yield* LedgerCommands).confirm(heldNumber)
          }\``
      )
      yield* Format.heldTable(changes)
    }
    yield* Format.titled(
      held === undefined ? "To send, in this order" : "To send once it is confirmed, in this order",
      [{ head: "product" }, { head: "from", align: "right" }, { head: "to", align: "right" }, { head: "why" }],
      steps.map((step) => [step.productId, step.from ?? "?", step.to, Reason.labels[step.reason]])
    )
    yield* Format.issueTable(issues, unit)
  }).pipe(Effect.scoped)
