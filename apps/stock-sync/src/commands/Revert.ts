/** `revert`: makes the stock of an earlier snapshot the wanted stock. Sends nothing itself, and works beside a running worker. */
import { Output } from "@plaza/cli-kit/Output"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Ledger } from "../ledger/Ledger.ts"
import { LedgerCommands } from "../ledger/LedgerCommands.ts"
import type { PastSnapshot, Reverted } from "../ledger/Snapshot.ts"
import type * as DropGuard from "../ledger/snapshot/DropGuard.ts"
import * as Judge from "../ledger/snapshot/Judge.ts"
import * as Format from "./Format.ts"

/** The drop guard holds the revert. Nothing was changed. */
export class RevertHeld extends Data.TaggedError("RevertHeld")<{
  readonly message: string
}> {}

export interface Options {
  readonly snapshot: number
  readonly guard: DropGuard.Limits
  /** Reverts although the drop guard would hold it. */
  readonly confirmed: boolean
  /** Shows what would change. */
  readonly dryRun: boolean
}

const pastJson = ({ changed, number, revertedTo, rows, takenAt }: PastSnapshot) => ({
  snapshot: number,
  takenAt: Format.isoTime(takenAt),
  rows,
  changed,
  revertedTo: revertedTo ?? null
})

/** Lists the snapshots whose stock can be restored. */
export const list = Effect.gen(function*() {
  const output = yield* Output
  const ledger = yield* Ledger
  const past = yield* ledger.pastSnapshots
  if (output.json) return yield* output.ndjson(Stream.map(Stream.fromIterable(past), pastJson))
  yield* output.list(
    Stream.fromIterable(past),
    [
      { head: "snapshot", align: "right" },
      { head: "taken at" },
      { head: "rows", align: "right" },
      { head: "changed", align: "right" },
      { head: "" },
      { head: "" }
    ],
    ({ changed, number, revertedTo, rows, takenAt }) => [
      number,
      Format.shortTime(takenAt),
      rows,
      changed,
      number === past[0]?.number ? "the wanted stock now" : "",
      revertedTo === undefined ? "" : `reverted to ${revertedTo}`
    ],
    { empty: "There are no snapshots yet." }
  )
})

const json = ({ changed, changes, figures, isImplausible, number, to }: Reverted) => ({
  revertedTo: to.number,
  snapshot: number ?? null,
  changed,
  implausible: isImplausible,
  ...figures,
  changes: changes.map(({ kind, ...change }) => ({ ...change, implausible: kind ?? null }))
})

const textOf = ({ changed, isImplausible, number, to }: Reverted, dryRun: boolean): string => {
  const snapshot = `snapshot ${to.number} of ${Format.shortTime(to.takenAt)}`
  if (changed === 0) return `The wanted stock is that of ${snapshot} already: nothing changes.`
  const products = Format.count(changed, "product")
  if (number !== undefined) {
    return `The stock of ${snapshot} is wanted again: ${products} changed, as snapshot ${number}. A running worker sends them within seconds, ` +
      "otherwise the next `once`. A source that sets a product to its stock before the revert is held: correct it, or confirm it then."
  }
  return `${products} would change${isImplausible && dryRun ? ", and the drop guard would hold that unless --confirm is set" : ""}.`
}

/** Restores the stock of a snapshot. */
export const run = Effect.fnUntraced(function*({ confirmed, dryRun, guard, snapshot }: Options) {
  const output = yield* Output
  const ledger = yield* Ledger
  const limit = output.json ? undefined : Format.maxRows + 1
  const reverted = yield* ledger.revert(snapshot, { guard, confirmed, preview: dryRun, limit })
  const isHeld = reverted.isImplausible && !confirmed && !dryRun
  if (output.json) yield* output.value(json(reverted))
  else {
    if (!isHeld) yield* output.done({}, textOf(reverted, dryRun))
    yield* Format.titled(
      reverted.number === undefined ? "Would change" : "Changed",
      [{ head: "product" }, { head: "from", align: "right" }, { head: "to", align: "right" }, { head: "implausible" }],
      reverted.changes.map(({ from, kind, productId, to }) => [productId, from, to, kind === undefined ? "" : Judge.changeTexts[kind]])
    )
  }
  if (isHeld) {
    return yield* new RevertHeld({
      message:
        `the stock of snapshot ${snapshot} is implausible, and nothing was changed: ${Judge.describe(reverted.figures)}. If it is right, ` +
        `run \`${(yield* LedgerCommands).revert(snapshot)} --confirm\``
    })
  }
})
