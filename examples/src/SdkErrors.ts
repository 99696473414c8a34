import type { Failures } from "@plaza/sdk"

/** What a person reads after a failed shipment. */
export const explain = (failure: Failures["store"]["ship"]): string => {
  if (failure._tag === "OutcomeUnknown" && failure.likely === "done") return "It is shipped. Compare the tracking number."
  if (failure.mayHaveHappened) return "It may be shipped. Look at the order before you ship it again."
  return failure.category === "Conflict" ? "It was shipped before." : `It is not shipped: ${failure.message}.`
}
