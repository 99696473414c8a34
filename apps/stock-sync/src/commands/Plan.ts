/** `plan`: what would be sent, in which order, and what would be held. Sends nothing, and leaves the ledger as it is. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { forReading } from "../config/LedgerSettings.js"
import * as ApplySnapshot from "../ledger/ApplySnapshot.js"
import { Ledger, type SnapshotPolicy } from "../ledger/Ledger.js"
import * as OpenLedger from "../ledger/Open.js"
import * as Open from "../source/Open.js"
import { Source } from "../source/Source.js"
import * as Reason from "../sync/Reason.js"
import * as Format from "./Format.js"

export interface Options extends Open.SourceOptions {
  readonly ledger: string
  readonly policy: SnapshotPolicy
}

export const run = (options: Options) =>
  Effect.gen(function*() {
    const output = yield* Output
    const ledger = yield* Ledger
    const source = yield* Source
    const before = yield* ledger.snapshot
    // Without a version to compare with there is always a snapshot.
    const { excluded, rows, unit } = Option.getOrThrow(yield* source.open(Option.none()))
    const { goneSpared, held } = yield* ledger.preview({ source: source.name, unit, excluded, rows }, options.policy)
    const queue = yield* Format.collect(ledger.queue, output.json)
    const counts = yield* ledger.counts
    const backlog = yield* ledger.backlog
    const send = Object.values(backlog.waiting).reduce((sum, each) => sum + each, 0)
    const issues = yield* Format.collect(ledger.rowIssues, output.json)
    const changes = Option.isNone(held) ? [] : yield* Format.collect(ledger.heldChanges, output.json)
    const isHeldAlready = Option.isSome(held) && Option.exists(before.held, ({ number }) => number === held.value.number)
    const steps = queue.map((entry) => ({
      productId: entry.productId,
      from: entry.confirmed,
      to: entry.wanted,
      reason: Reason.of(entry, entry.priority)
    }))
    if (output.json) {
      return yield* output.value({
        send,
        unchanged: counts.settled,
        rejectedRows: counts.rejectedRows,
        negativeRows: counts.negativeRows,
        quarantined: counts.quarantined,
        missing: counts.missing,
        goneSpared,
        held: Option.getOrNull(
          Option.map(held, (each) => ({ ...Format.heldJson(each, changes), snapshot: isHeldAlready ? each.number : null }))
        ),
        steps: steps.map((step) => ({ ...step, from: step.from ?? null })),
        rowIssues: issues.map(Format.issueJson)
      })
    }
    yield* output.one({}, [
      ["to send", send],
      ["unchanged", counts.settled],
      ["rows rejected", counts.rejectedRows],
      ...(counts.negativeRows > 0 ? [["negative, taken as 0", counts.negativeRows] as const] : []),
      ...(counts.quarantined > 0 ? [["quarantined", counts.quarantined] as const] : []),
      ...(Option.isSome(held)
        ? [
          [
            isHeldAlready ? "held" : "would be held",
            isHeldAlready ? Format.heldText(held.value) : ApplySnapshot.heldText(held.value.figures)
          ] as const
        ]
        : []),
      ...(counts.missing > 0 ? [["not named by the source", counts.missing] as const] : [])
    ])
    if (goneSpared) yield* output.note(Format.goneSpared)
    if (Option.isSome(held)) {
      yield* output.note(
        isHeldAlready
          ? `nothing of this source is sent while it is held. If these changes are right, run \`plaza-stock-sync confirm ${held.value.number}\``
          : "nothing of this source would be sent while it is held; `once` or `run` then shows the number to confirm"
      )
      yield* Format.heldTable(changes)
    }
    yield* Format.titled(
      Option.isSome(held) ? "To send once it is confirmed, in this order" : "To send, in this order",
      [{ head: "product" }, { head: "from", align: "right" }, { head: "to", align: "right" }, { head: "why" }],
      steps.map((step) => [step.productId, step.from ?? "?", step.to, Reason.texts[step.reason]])
    )
    yield* Format.issueTable(issues, (yield* ledger.snapshot).unit)
  }).pipe(Effect.scoped, Effect.provide(OpenLedger.layerCopy(options.ledger, forReading)), Effect.provide(Open.layerWaiting(options)))
