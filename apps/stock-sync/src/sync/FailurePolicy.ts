/**
 * What a failed request means for its product. How far the failure reaches beyond it is for `FailureScope` and the circuit
 * breaker of the client to say.
 *
 * Source: interface v1, "Errors" and "Retry rules".
 */
import { FailureScope } from "@plaza/client"
import type { FailureOf } from "@plaza/client"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Refusal } from "../ledger/Entry.js"
import type { Failed, Taken } from "../ledger/Ledger.js"
import * as Backoff from "./Backoff.js"

export type SendFailure = FailureOf<"setStock">

const serviceFault: Backoff.Backoff = { first: Duration.millis(500), longest: Duration.minutes(1) }
// Once a minute is 1,440 requests a day, of a quota of unknown size.
const faultOfOne: Backoff.Backoff = { ...serviceFault, longest: Duration.minutes(15) }
// A refusal of one product may be lifted, as by creating it.
const quarantine = (first: Duration.Duration): Backoff.Backoff => ({ first, longest: Duration.max(first, Duration.hours(6)) })
// Long enough for other products to show whether they are refused as well.
const suspicion: Backoff.Backoff = { first: Duration.seconds(2), longest: Duration.minutes(1) }
// As often as the circuit breaker tries while everything is refused.
const unproven: Backoff.Backoff = { first: Duration.minutes(1), longest: Duration.minutes(5) }

const refusalOf = (failure: SendFailure, value: number): Refusal => ({
  tag: failure._tag,
  code: "code" in failure ? failure.code : undefined,
  message: failure.message,
  value
})

export interface Circumstances {
  readonly breakerIsOpen: boolean
  /** Refusals of this stock so far, this one included. A fault of the service and a 429 are none. */
  readonly refusals: number
  /** How long after a refusal a quarantined product is sent again for the first time. */
  readonly retryRefusedAfter: Duration.Duration
  /** The service has accepted another product since it first refused this one or failed for it. */
  readonly othersAccepted: boolean
}

/**
 * The state that a failure leaves the product in, and when it is due again. A refusal that may concern the account is held
 * against the product only the second time, and while the circuit breaker is open only if the service has accepted another product
 * meanwhile. Until another product is accepted it is retried every five minutes: in a small catalogue nothing else shows that the
 * account is refused no longer.
 */
export const of = (
  taken: Taken,
  failure: SendFailure,
  { breakerIsOpen, othersAccepted, refusals, retryRefusedAfter }: Circumstances
): Effect.Effect<Failed> => {
  const refusal = refusalOf(failure, taken.value)
  const doubtful = FailureScope.mayHaveHappened(failure)
  const unrefused = doubtful ? "doubtful" : "pending"
  const after = (state: Failed["state"], backoff: Backoff.Backoff, times: number) =>
    Effect.map(Backoff.delay(backoff, times), (retryIn): Failed => ({ state, refusal, retryIn }))
  switch (FailureScope.of(failure)._tag) {
    case "Item":
      return Effect.map(after("quarantined", quarantine(retryRefusedAfter), refusals),
        (failed) => failure._tag === "NotFound" ? { ...failed, seen: "absent" as const } : failed)
    case "Refusal":
      return doubtful || refusals < 2 || (breakerIsOpen && !othersAccepted)
        ? after(unrefused, suspicion, refusals)
        : after("quarantined", othersAccepted ? quarantine(retryRefusedAfter) : unproven, refusals)
    case "RateLimit":
      // It pauses all products. One that it meets again although others are accepted meanwhile waits by itself.
      return othersAccepted && taken.attempts > 1
        ? after(unrefused, faultOfOne, taken.attempts)
        : Effect.succeed({ state: unrefused, refusal, retryIn: Duration.zero })
    case "Service":
      return after(unrefused, othersAccepted ? faultOfOne : serviceFault, taken.attempts)
  }
}

const mismatchTag = "StockMismatch"

/**
 * The service accepted a stock and shows another one in its response: something else changes it, or it does not store what
 * it is sent. Sent once more, then quarantined.
 */
export const ofMismatch = (taken: Taken, shown: number, retryRefusedAfter: Duration.Duration): Effect.Effect<Failed> => {
  const again = taken.refusal?.tag === mismatchTag
  const refusal = {
    tag: mismatchTag,
    code: undefined,
    message: `the service accepted ${taken.value} and responded with a stock of ${shown}: look whether something else changes the product`,
    value: taken.value
  }
  return Effect.map(
    Backoff.delay(again ? quarantine(retryRefusedAfter) : suspicion, taken.attempts),
    (retryIn): Failed => ({ state: again ? "quarantined" : "pending", refusal, retryIn, seen: shown })
  )
}

/** The process was stopped before the response came. */
export const interrupted = (taken: Taken): Failed => ({
  state: "doubtful",
  refusal: { tag: "Interrupted", code: undefined, message: "stopped before the response came", value: taken.value },
  retryIn: Duration.zero
})
