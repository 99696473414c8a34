/**
 * What a person has to know first: how many products are in sync, and which ones need a person, with what helps. The status page and the page
 * of an account show it. Pure.
 */
import type * as DateTime from "effect/DateTime"
import { mismatchTag } from "../ledger/Entry.ts"
import type { NeedingEntry } from "../ledger/Ledger.ts"
import type { Commands } from "../ledger/LedgerCommands.ts"
import { placeOf, type RowIssue } from "../ledger/Snapshot.ts"
import { type LedgerSample, maxNeeding } from "./Status.ts"
import { counted, grouped, refusal as refusalText, type Text } from "./StatusText.ts"

/**
 * The products of the ledger and of rejected rows. The three parts add up to `total`. Products that a rule excludes from sending do not
 * count, nor do those that neither the source nor the store has.
 */
export interface Numbers {
  readonly total: number
  /** The service confirmed the stock of the source. */
  readonly inSync: number
  /** The worker sends them without help: pending, sending, doubtful, and uncertain ones that it sends again. */
  readonly waiting: number
  /** Quarantined, uncertain and not sent again, or with a rejected row. */
  readonly needing: number
}

/** A product with a rejected row needs a person, whatever the ledger knows of it. */
export const numbers = ({ attention: { counts, products, rejected, waiting: sent } }: Pick<LedgerSample, "attention">): Numbers => {
  // The rows are counted after the products while the worker goes on, so no part falls below zero.
  const inSync = Math.max(0, counts.settled - rejected.settled)
  const waiting = Math.max(0, sent - rejected.waiting)
  const needing = products + rejected.settled + rejected.waiting + rejected.unknown
  return { total: inSync + waiting + needing, inSync, waiting, needing }
}

/** The numbers as a sentence without its full stop. */
export const sentence = ({ inSync, needing, total, waiting }: Numbers): string => {
  if (total === 0) return "No product in the ledger"
  if (inSync === total) return total === 1 ? "1 product in sync" : `All ${grouped(total)} products in sync`
  return [
    `${grouped(inSync)} of ${counted(total, "product")} in sync`,
    ...(waiting > 0 ? [`${grouped(waiting)} waiting`] : []),
    ...(needing > 0 ? [`${grouped(needing)} ${needing === 1 ? "needs" : "need"} you`] : [])
  ].join(", ")
}

/** A product, or a row of the source, that waits for a person. */
export interface Item {
  /** The id of the product; the position of a row without one. */
  readonly subject: string
  readonly state: "uncertain" | "quarantined" | "rejected"
  /** The last response, or why the row is rejected. */
  readonly wrong: string
  readonly since: DateTime.Utc | undefined
  /** When the worker tries again by itself. */
  readonly due: DateTime.Utc | undefined
  /** What helps, in sentences. */
  readonly helps: Text
}

// The code of a response, or the tag of a failure without one.
const unknownProduct: ReadonlyArray<string> = ["NOT_FOUND", "NotFound"]
const invalid: ReadonlyArray<string> = ["VALIDATION_ERROR", "ValidationError", "InvalidInput"]

const helpsOf = ({ productId, refusal, state }: NeedingEntry, { retryProduct }: Commands): Text => {
  const retry = { code: retryProduct(productId) }
  if (state === "uncertain") {
    return refusal === undefined || refusal.tag === mismatchTag
      ? ["Compare it with the store. If the store is wrong, run ", retry, "."]
      : ["A proxy or firewall refuses it: allow the request there, and compare the product with the store. Then run ", retry, "."]
  }
  const refused = refusal?.code ?? refusal?.tag ?? ""
  if (unknownProduct.includes(refused)) return ["Correct the id in the source, or create the product in the store and run ", retry, "."]
  if (invalid.includes(refused)) return ["Correct the id or the stock in the source. To send it again as it is, run ", retry, "."]
  return ["Correct what the response names. Then run ", retry, "."]
}

/** A product that waits for a person. */
export const ofEntry = (entry: NeedingEntry, commands: Commands): Item => ({
  subject: entry.productId,
  state: entry.state === "uncertain" ? "uncertain" : "quarantined",
  wrong: refusalText(entry.refusal),
  since: entry.since,
  due: entry.dueAt,
  helps: helpsOf(entry, commands)
})

/** A rejected row. */
export const ofRow = (
  { kind, line, productId, reason }: RowIssue,
  { acceptedAt, unit }: Pick<LedgerSample, "acceptedAt" | "unit">
): Item => {
  const position = placeOf({ kind, line }, unit)
  return {
    subject: productId ?? position,
    state: "rejected",
    wrong: productId === undefined ? reason : `${position}: ${reason}`,
    since: acceptedAt,
    due: undefined,
    helps: [
      line > 0
        ? `Correct ${position} of the source. It is read again without a restart.`
        : "Correct its component in the source, or the file of kits. Both are read again without a restart."
    ]
  }
}

/** The first items, in the order of `status`: uncertain products, quarantined ones, rejected rows. At most {@link maxNeeding}. */
export const items = (sample: LedgerSample, commands: Commands): ReadonlyArray<Item> => {
  const entries = [
    ...sample.needing.filter(({ state }) => state === "uncertain"),
    ...sample.needing.filter(({ state }) => state !== "uncertain")
  ]
  // A product that is refused, and whose row is rejected, is one item.
  const listed = new Set<string>(entries.map(({ productId }) => productId))
  const rows = sample.rejectedRows.filter(({ productId }) => productId === undefined || !listed.has(productId))
  return [...entries.map((entry) => ofEntry(entry, commands)), ...rows.map((row) => ofRow(row, sample))].slice(0, maxNeeding)
}
