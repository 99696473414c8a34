/**
 * Decides the state and the retry delay of a product after a failed request. `FailureScope` and the circuit breaker of the client
 * decide about other products.
 *
 * Source: interface v1, "Errors" and "Retry rules".
 */
import { FailureScope } from "@plaza-legacy/client"
import type { FailureOf } from "@plaza-legacy/client"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { mismatchTag, type Refusal } from "../ledger/Entry.ts"
import type { FailedSend, Send } from "../ledger/Ledger.ts"
import * as Backoff from "./Backoff.ts"
import * as FailureEvent from "./FailureEvent.ts"

export type SendFailure = FailureOf<"setStock">

const serviceFault: Backoff.Backoff = { first: Duration.millis(500), longest: Duration.minutes(1) }
// Once a minute is 1,440 requests a day, of a quota of unknown size.
const productFault: Backoff.Backoff = { ...serviceFault, longest: Duration.minutes(15) }
// The refusal of a product may end, for example when the product is created.
const quarantine = (first: Duration.Duration): Backoff.Backoff => ({ first, longest: Duration.max(first, Duration.hours(6)) })
// Long enough for other products to show whether they are refused as well.
const secondAttempt: Backoff.Backoff = { first: Duration.seconds(2), longest: Duration.minutes(1) }
// A response may lag behind its request by some seconds.
const resend: Backoff.Backoff = { first: Duration.seconds(2), longest: Duration.minutes(1) }
/** How often a stock is sent again while the responses show a higher one. */
const maxResends = 3
// The delays of the circuit breaker while it is open for refusals.
const unprovenQuarantine: Backoff.Backoff = { first: Duration.minutes(1), longest: Duration.minutes(5) }

export const refusalOf = (failure: SendFailure, value: number): Refusal => ({
  tag: failure._tag,
  code: "code" in failure && failure.code !== undefined ? FailureEvent.shortened(failure.code) : undefined,
  message: FailureEvent.shortened(failure.message),
  value
})

interface Circumstances {
  readonly breakerIsOpen: boolean
  /** Refusals of this stock, including this one. A service fault or a 429 is no refusal. */
  readonly refusals: number
  /** The delay after the first refusal of a quarantined product. */
  readonly retryRefusedAfter: Duration.Duration
  /** The service has accepted another product since it first refused this one or failed for it. */
  readonly othersAccepted: boolean
}

/**
 * The state of the product after a failure, and when it is due again. A refusal that may concern the account quarantines the product
 * only the second time, and while the circuit breaker is open only if the service has accepted another product meanwhile. Until
 * another product is accepted, it is retried at least every five minutes: in a small catalogue no other request shows that the account
 * is accepted again. A refusal by a proxy, which may have let the request through, makes the product uncertain instead.
 */
export const of = (
  send: Send,
  failure: SendFailure,
  { breakerIsOpen, othersAccepted, refusals, retryRefusedAfter }: Circumstances
): Effect.Effect<FailedSend> => {
  const refusal = refusalOf(failure, send.value)
  const doubtful = FailureScope.mayHaveHappened(failure)
  const unrefusedState = doubtful ? "doubtful" : "pending"
  const refusedState = doubtful ? "uncertain" : "quarantined"
  const after = (state: FailedSend["state"], backoff: Backoff.Backoff, failures: number) =>
    Effect.map(Backoff.delay(backoff, failures), (retryIn): FailedSend => ({ state, refusal, retryIn }))
  switch (FailureScope.of(failure)._tag) {
    case "Item":
      return Effect.map(after(refusedState, quarantine(retryRefusedAfter), refusals),
        (failed): FailedSend => failure._tag === "NotFound" && !doubtful ? { ...failed, observed: "absent" } : failed)
    case "Refusal":
      return refusals < 2 || (breakerIsOpen && !othersAccepted)
        ? after(doubtful ? "uncertain" : "pending", secondAttempt, refusals)
        : after(refusedState, othersAccepted ? quarantine(retryRefusedAfter) : unprovenQuarantine, refusals)
    case "RateLimit":
      // It pauses all products. A product that gets it again while others are accepted waits on its own.
      return othersAccepted && send.attempts > 1
        ? after(unrefusedState, productFault, send.attempts)
        : Effect.succeed({ state: unrefusedState, refusal, retryIn: Duration.zero })
    case "Service":
      return after(unrefusedState, othersAccepted ? productFault : serviceFault, send.attempts)
  }
}

/**
 * The service accepted a stock and shows another one in its response: the response is out of date, the service shows another quantity,
 * or another program changes the product. Nothing is confirmed. More than was sent may be pieces that the store sells although they are
 * gone, so the stock is sent again some times. Less may be sales, which sending would undo.
 */
export const afterMismatch = ({ mismatches, value }: Send, shown: number): Effect.Effect<FailedSend> => {
  const refusal = {
    tag: mismatchTag,
    code: undefined,
    message: `the service accepted ${value} and responded with a stock of ${shown}: compare the product with the store`,
    value
  }
  const retryIn = shown > value && mismatches < maxResends ? Backoff.delay(resend, mismatches + 1) : Effect.succeed(undefined)
  return Effect.map(retryIn, (retryIn) => ({ state: "uncertain", refusal, retryIn, observed: shown }))
}

/** The process was stopped before the response came. */
export const interrupted = (send: Send): FailedSend => ({
  state: "doubtful",
  refusal: { tag: "Interrupted", code: undefined, message: "stopped before the response came", value: send.value },
  retryIn: Duration.zero
})
