/** Why a product is sent, as `plan` and the history show it. */
import type { Entry } from "../ledger/Entry.ts"
import type { Waiting } from "../ledger/StockPriority.ts"

export type Reason = Exclude<Waiting, "rest"> | "rising" | "neverConfirmed" | "repeated"

/** The priority of an entry, with `rest` divided into its cases. */
export const of = ({ confirmed, doubt, wanted }: Entry, priority: Waiting): Reason => {
  if (priority !== "rest") return priority
  return confirmed === undefined && doubt !== undefined
    ? "repeated"
    : confirmed === undefined
    ? "neverConfirmed"
    : confirmed === wanted
    ? "repeated"
    : "rising"
}

/** The reasons in words. */
export const labels: Readonly<Record<Reason, string>> = {
  soldOut: "sold out",
  falling: "falling",
  backInStock: "back in stock",
  rising: "rising",
  neverConfirmed: "never confirmed",
  repeated: "another value may have arrived",
  doubtful: "may not have arrived"
}
